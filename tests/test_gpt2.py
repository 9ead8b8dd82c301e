"""The transformer engine and the tokenizer beside their owners: transformers (stored logits, and itself in make test-full),
tokenizers."""

import json
import pathlib
import random
import subprocess

import gpt2_folders
import numpy as np
import pytest
import tokenizers
from conftest import HIFI, ROOT

PARTS = pathlib.Path(HIFI).parent / "circuit_parts"
FIXTURES = pathlib.Path(__file__).parent / "fixtures" / "gpt2"


def parts(what, folder, lines):
    text = "".join(json.dumps(line) + "\n" for line in lines)
    result = subprocess.run([PARTS, what, folder], input=text, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return result.stdout.split("\n")[:-1]


def logits(folder, prompts):
    return [np.array(line.split(), float) for line in parts("logits", folder, prompts)]


@pytest.mark.parametrize("name", gpt2_folders.CONFIGURATIONS)
def test_logits_are_the_owners(tmp_path, name):
    config = gpt2_folders.config_of(name)
    weights = gpt2_folders.weights_of(config)
    stored = json.loads((FIXTURES / "logits.json").read_text())[name]
    prompts = gpt2_folders.prompts_of(config)
    bare = gpt2_folders.write_folder(tmp_path / "bare", config, weights)
    whole = gpt2_folders.write_folder(tmp_path / "whole", config, gpt2_folders.prefixed(weights), shards=3)
    ours = logits(bare, prompts)
    for mine, theirs in zip(ours, stored, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-4)
    for one, other in zip(ours, logits(whole, prompts), strict=True):
        assert (one == other).all()


@pytest.mark.parametrize("dtype", ["F16", "BF16"])
def test_narrow_weights(tmp_path, dtype):
    """The logits are those of the weights as the file rounds them."""
    config = gpt2_folders.config_of("plain")
    weights = gpt2_folders.weights_of(config)
    if dtype == "F16":
        rounded = {k: v.astype(np.float16).astype(np.float32) for k, v in weights.items()}
    else:
        rounded = {k: (v.view(np.uint32) >> 16 << 16).view(np.float32) for k, v in weights.items()}
    prompts = gpt2_folders.prompts_of(config)
    narrow = logits(gpt2_folders.write_folder(tmp_path / "narrow", config, weights, dtype), prompts)
    wide = logits(gpt2_folders.write_folder(tmp_path / "wide", config, rounded), prompts)
    for one, other in zip(narrow, wide, strict=True):
        assert (one == other).all()


@pytest.mark.full
def test_stored_logits_are_the_owners():
    python = ROOT / "build" / "judge" / "bin" / "python"
    assert python.exists(), "`setup/setup.sh judge` installs transformers"
    result = subprocess.run([python, FIXTURES / "make_fixtures.py", "--check"], capture_output=True, text=True)
    assert result.returncode == 0 and "stored logits are those" in result.stdout, result.stderr


def strings(count):
    """Words, numbers, contractions, emoji, CJK, runs of white space of every kind, and any characters at all."""
    pick = random.Random(0)
    alphabets = ["abcdefgh", "ABC xyz", "0123456789 ", "'s't're've'm'll'd", " \t\n\r\v\f", "\u00a0\u1680\u2003\u2028\u3000\u180e\u200b\u0085",
                 "日本語漢字かなカナ한국어", "😀👩‍👩‍👧🏽🇩🇪❤️", "äöüßéñçø", "αβγдежשלוםمرحبا", "½²³¼٣१", "-_.,;:!?()[]{}<>|/\\\"'`~@#$%^&*+="]
    result = ["", " ", "  ", "   a", "a   ", "\n\n a", "don't we'll I'd", "<|endoftext|>", "a<|endoftext|> b", "naïve café"]
    while len(result) < count:
        text = ""
        for _ in range(pick.randint(1, 12)):
            alphabet = pick.choice(alphabets)
            text += "".join(pick.choice(alphabet) for _ in range(pick.randint(1, 8)))
            if pick.random() < 0.2:
                text += " " * pick.randint(1, 20)
            if pick.random() < 0.1:
                text += chr(pick.choice([pick.randint(0x20, 0x24F), pick.randint(0x250, 0xD7FF), pick.randint(0x10000, 0x1FFFF)]))
        result.append(text)
    return result


@pytest.mark.parametrize("vocabulary", ["ioi-small", "gpt2"])
def test_tokens_are_the_owners(request, vocabulary):
    """GPT-2's own vocabulary, and that of the small model, which is always there."""
    folder = ROOT / "models" / vocabulary if vocabulary == "ioi-small" else request.getfixturevalue("shared") / "data" / "gpt2"
    owner = tokenizers.ByteLevelBPETokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))
    owner.add_special_tokens(["<|endoftext|>"])
    size = owner.get_vocab_size()
    own = [owner.decode([token], skip_special_tokens=False) for token in range(0, size, max(1, size // 700))]
    texts = strings(10_000) + [text for text in own if "\ufffd" not in text]
    ours = [[int(word) for word in line.split()] for line in parts("tokenize", folder, texts)]
    wrong = [(text, mine, owner.encode(text).ids) for text, mine in zip(texts, ours, strict=True)
             if mine != owner.encode(text).ids]
    assert not wrong, f"{len(wrong)} of {len(texts)}: {wrong[:3]}"
    back = [json.loads(line) for line in parts("decode", folder, ours)]
    assert back == texts


def test_invalid_text_is_refused(shared):
    folder = shared / "data" / "gpt2"
    found = subprocess.run([PARTS, "decode", folder], input="[50257]\n[-1]\n", capture_output=True, text=True)
    assert found.stdout.count("error:") == 2
