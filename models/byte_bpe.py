"""vocab.json and merges.txt of byte-level BPE (as GPT-2's) in which given words are single tokens."""

import json

END_OF_TEXT = "<|endoftext|>"


def printable_bytes():
    """GPT-2 writes each byte as one printable character: itself where it is one, else the next from U+0100 on."""
    plain = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in plain]
    return {b: chr(b) for b in plain} | {b: chr(256 + k) for k, b in enumerate(others)}


def build(tokens):
    """(vocabulary, merges). A word is built from its left end, so each merge makes a prefix of a word; words with a
    leading space come first, because none of their prefixes occurs inside another word."""
    letters = printable_bytes()
    vocabulary = {letter: number for number, letter in enumerate(letters.values())}
    merges = []
    for token in sorted(tokens, key=lambda t: (not t.startswith(" "), t)):
        symbols = [letters[b] for b in token.encode()]
        for k in range(1, len(symbols)):
            left, right = "".join(symbols[:k]), symbols[k]
            if left + right not in vocabulary:
                vocabulary[left + right] = len(vocabulary)
                merges.append((left, right))
    vocabulary[END_OF_TEXT] = len(vocabulary)
    return vocabulary, merges


def token_id(vocabulary, token):
    letters = printable_bytes()
    return vocabulary["".join(letters[b] for b in token.encode())]


def write(folder, vocabulary, merges):
    (folder / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False) + "\n")
    (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in merges))
