"""Sentences of the indirect-object task ("When Mary and John went to the store, John gave a drink to" -> Mary), from
ioi_grammar.json. hifi has the same grammar and the same rule of what is held out (src/data/ioi_task.cc)."""

import itertools
import json
import pathlib

GRAMMAR = json.loads((pathlib.Path(__file__).parent / "ioi_grammar.json").read_text())
NAMES, PLACES, OBJECTS = GRAMMAR["names"], GRAMMAR["places"], GRAMMAR["objects"]
SCENES, GIFTS = GRAMMAR["scenes"], GRAMMAR["gifts"]
# (opener, link) with the opener's number over all frames.
FRAMES = [(number, opener, link)
          for number, (opener, links) in enumerate((o, f["links"]) for f in GRAMMAR["frames"] for o in f["openers"])
          for link in links]
TEMPLATES = list(itertools.product(FRAMES, range(len(SCENES)), range(len(GIFTS))))
PAIRS = list(itertools.combinations(range(len(NAMES)), 2))


def held_out_pair(i, j):
    """Two names that never meet in training: a fifth of the pairs, all names alike."""
    return (i + j) % 5 == 0


def held_out_template(template):
    """A tenth of the combinations, and one scene with one gift under every opener."""
    (opener, _, _), scene, gift = template
    return (opener + 2 * scene + 3 * gift) % 10 == 0 or (scene == 5 and gift == 1)


def sentence(template, first, second, subject, place, thing):
    (_, opener, link), scene, gift = template
    text = f"{opener} {first} and {second} {SCENES[scene]}{link} {subject} {GIFTS[gift]}"
    return text.replace("{place}", place).replace("{object}", thing)


def words(text):
    """Text as its tokens: words with their leading space, and punctuation."""
    out = []
    for number, word in enumerate(text.split(" ")):
        stem = word.rstrip(",.")
        out.append((" " if number else "") + stem)
        out += list(word[len(stem):])
    return out


def all_words():
    """Every token of every sentence, in a fixed order."""
    found = {}
    for template in TEMPLATES:
        found |= dict.fromkeys(words(sentence(template, NAMES[0], NAMES[1], NAMES[0], PLACES[0], OBJECTS[0])))
    for word in (*PLACES, *OBJECTS, *NAMES):
        found[" " + word] = None
    return list(found)
