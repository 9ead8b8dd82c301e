"""A GPT-2 whose weights are set by hand, so that the value of every set of heads has a closed form.

    python3 models/planted_circuit.py FOLDER [--spread 0.3]        writes config.json, model.safetensors and task.json

Prompts have nine tokens: BOS N1 and N2 went , S2 gave to. The subject S2 is one of the two names, the answer is the other one;
in the reference prompts the three names differ. With mean ablation and the logit difference as measure

    v(heads) = u [UNI] - h [NEG] + c [B1 or B2] + e [MOV and DUP]

  UNI 0.3       moves the subject's name to the end and subtracts u from its logit
  NEG 1.2       the same with the wrong sign: harmful
  B1 0.2, B2 1.1 each writes the subject's name into a scratch space, where an MLP clips the sum of both at 1: backups
  DUP 0.0, MOV 1.0 DUP flags a subject that was named before; MOV moves the name only if it is flagged: a chain of two layers
  BUSY 0.1, NULL 1.3 one writes what nobody reads, one does nothing

`--spread w` makes u, h, c, e differ by name (their means over the names stay), so that prompts differ: see `value`.
How LayerNorm is kept out of it: two coordinates hold +C and -C, so large that the rest does not change the scale; every column of
a matrix sums to zero (made so on a coordinate that is always 0), so that the mean does not matter. Two heads that both wrote to
the logit would not be redundant: a sum has no backup. Hence the clipping.
"""

import argparse
import itertools
import json
import math
import pathlib

import numpy as np

import hub_folder

NAMES, LENGTH, WIDTH, HEADS = 8, 9, 64, 4
HEAD = WIDTH // HEADS
SUBJECT, END = 6, 8  # positions
BOS, AND, WENT, COMMA, GAVE, TO, NAME = range(7)  # tokens; names are NAME .. NAME + 7
# Coordinates of the residual stream.
PLUS, MINUS, ZERO = range(3)
TOKEN = 3
POSITION = TOKEN + NAME + NAMES
SCRATCH = POSITION + LENGTH
FLAG = SCRATCH + NAMES
UNREAD = FLAG + 1
LARGE = 8000.0
SHARP = 80.0  # attention score of a match; a sink at half of it takes what does not match
EFFECT = {"u": 1.0, "h": 0.5, "c": 2.0, "e": 3.0}
PLAYERS = {"DUP": "0.0", "BUSY": "0.1", "B1": "0.2", "UNI": "0.3", "MOV": "1.0", "B2": "1.1", "NEG": "1.2", "NULL": "1.3"}


def effects(spread):
    """Effect of each kind by name: its mean over the names is EFFECT."""
    weights = np.linspace(-1, 1, NAMES)
    return {kind: effect * (1 + spread * np.roll(weights, 2 * k)) for k, (kind, effect) in enumerate(EFFECT.items())}


class Weights:
    def __init__(self, config):
        self.tensors = {name: np.zeros(shape) for name, shape in hub_folder.shapes(config).items()}
        for name, tensor in self.tensors.items():
            if "ln_" in name and name.endswith("weight"):
                tensor[:] = LARGE * math.sqrt(2 / WIDTH)  # undoes the division
        self.tensors["wte.weight"][range(NAME + NAMES), range(TOKEN, TOKEN + NAME + NAMES)] = 1
        self.tensors["wpe.weight"][range(LENGTH), range(POSITION, POSITION + LENGTH)] = 1
        self.tensors["wpe.weight"][:, PLUS], self.tensors["wpe.weight"][:, MINUS] = LARGE, -LARGE
        self.match = math.sqrt(SHARP * math.sqrt(HEAD))

    def head(self, layer, head):
        """Views of (query, key, value, output weights, query bias)."""
        joint, bias = self.tensors[f"h.{layer}.attn.c_attn.weight"], self.tensors[f"h.{layer}.attn.c_attn.bias"]
        query, key, value = (joint[:, k * WIDTH + head * HEAD:][:, :HEAD] for k in range(3))
        return query, key, value, self.tensors[f"h.{layer}.attn.c_proj.weight"][head * HEAD:][:HEAD], bias[head * HEAD:][:HEAD]

    def sink(self, layer, head, strength):
        """Every query finds BOS with this share of SHARP."""
        _, key, _, _, bias = self.head(layer, head)
        key[TOKEN + BOS, HEAD - 1], bias[HEAD - 1] = self.match * strength, self.match

    def move_name(self, layer, head, output, flagged=False):
        """The end attends to the subject (only if flagged, if asked for), else to BOS; output[name] is what it writes then."""
        query, key, value, out, _ = self.head(layer, head)
        query[POSITION + END, 0] = key[POSITION + SUBJECT, 0] = self.match
        if flagged:
            key[FLAG, 0] = self.match
        self.sink(layer, head, 1.5 if flagged else 0.5)
        for name in range(NAMES):
            value[TOKEN + NAME + name, name] = 1
            out[name] = output[name]

    def detect_duplicate(self, layer, head):
        """A token attends to an earlier place of its own name in the first clause, else to BOS, and flags itself."""
        query, key, value, out, _ = self.head(layer, head)
        for name in range(NAMES):
            query[TOKEN + NAME + name, name] = key[TOKEN + NAME + name, name] = self.match
        query[POSITION + SUBJECT, NAMES] = self.match  # for the subject alone: the first two do not flag themselves
        for position in (1, 3):
            key[POSITION + position, NAMES] = self.match
            value[POSITION + position, 0] = 1
        self.sink(layer, head, 1.5)
        out[0, FLAG] = 1

    def clip_scratch(self, layer, output, low=0.5, high=0.75, slope=48.0):
        """The MLP adds output[name] when the name's scratch is above `high`, nothing below `low`: a ramp of two GELUs."""
        inner, bias = self.tensors[f"h.{layer}.mlp.c_fc.weight"], self.tensors[f"h.{layer}.mlp.c_fc.bias"]
        out = self.tensors[f"h.{layer}.mlp.c_proj.weight"]
        for name, (unit, (kink, sign)) in itertools.product(range(NAMES), enumerate(((low, 1), (high, -1)))):
            inner[SCRATCH + name, 2 * name + unit] = slope
            bias[2 * name + unit] = -slope * kink
            out[2 * name + unit] = sign / (slope * (high - low)) * output[name]

    def finish(self):
        for name, tensor in self.tensors.items():
            if name.endswith(("c_attn.weight", "c_fc.weight")):
                tensor[ZERO] = -tensor.sum(0)
        return self.tensors


def to_names(start, amounts):
    return np.stack([amount * np.eye(WIDTH)[start + name] for name, amount in enumerate(amounts)])


def write_model(folder, spread=0.0):
    config = hub_folder.config(2, HEADS, WIDTH, NAME + NAMES, LENGTH)
    weights, by_name, logits = Weights(config), effects(spread), TOKEN + NAME
    weights.detect_duplicate(0, 0)
    weights.move_name(0, 1, np.outer(np.arange(NAMES) - 3.5, np.eye(WIDTH)[UNREAD]))
    weights.move_name(0, 2, to_names(SCRATCH, np.ones(NAMES)))
    weights.move_name(0, 3, to_names(logits, -by_name["u"]))
    weights.move_name(1, 0, to_names(logits, -by_name["e"]), flagged=True)
    weights.move_name(1, 1, to_names(SCRATCH, np.ones(NAMES)))
    weights.move_name(1, 2, to_names(logits, by_name["h"]))
    weights.clip_scratch(1, to_names(logits, -by_name["c"]))
    hub_folder.write(pathlib.Path(folder), config, weights.finish())


def prompt(first, second, subject):
    return [BOS, NAME + first, AND, NAME + second, WENT, COMMA, NAME + subject, GAVE, TO]


def all_pairs():
    """(answer, subject, answer is named first), each once."""
    return [(io, s, first) for io, s in itertools.permutations(range(NAMES), 2) for first in (True, False)]


def task(pairs):
    """Each name is the third of exactly one reference prompt, so the mean of a moved name is the same for all names."""
    prompts = [{"tokens": prompt(io, s, s) if first else prompt(s, io, s), "answer": NAME + io, "distractor": NAME + s}
               for io, s, first in pairs]
    reference = [{"tokens": prompt((k + 1) % NAMES, (k + 2) % NAMES, k)} for k in range(NAMES)]
    roles = {"Chain": ["0.0", "1.0"], "Backup": ["0.2", "1.1"], "Unique": ["0.3"], "Harmful": ["1.2"], "Idle": ["0.1", "1.3"]}
    return {"schema": "hifi.task/1", "prompts": prompts, "reference": reference, "roles": roles}


def value(kept, answer, subject, spread=0.0):
    """v of a set of role names on one prompt. A moved name that is ablated to its mean leaves an eighth with every name."""
    by_name = effects(spread)

    def moved(kind, role):
        amounts = by_name[kind]
        return amounts[subject] if role in kept else (amounts[subject] - amounts[answer]) / NAMES

    return (moved("u", "UNI") - moved("h", "NEG") + by_name["c"][subject] * bool({"B1", "B2"} & set(kept))
            + by_name["e"][subject] * ({"MOV", "DUP"} <= set(kept)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--spread", type=float, default=0.0)
    arguments = parser.parse_args()
    write_model(arguments.folder, arguments.spread)
    (arguments.folder / "task.json").write_text(json.dumps(task(all_pairs()), indent=1) + "\n")
