"""What the heads of ioi-small attend to, and where layer 0 acts. Needs Debian's python3-torch:

    /usr/bin/python3 models/look_inside.py models/ioi-small
"""

import json
import math
import pathlib
import random
import sys

import numpy as np
import torch

import ioi_text as text
import train_ioi as training
from tiny_gpt2 import TinyGpt2

SUBJECT, END = 11, 15  # positions in prompts of 16 tokens


def load(folder):
    model = TinyGpt2(json.loads((folder / "config.json").read_text()), use_mlp=False)
    data = (folder / "model.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little")
    for name, entry in json.loads(data[8:8 + length]).items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            model.get(name).data.copy_(torch.tensor(np.frombuffer(data[begin:end], "<f4").reshape(entry["shape"])))
    return model


def of_16_tokens(template):
    (_, opener, link), scene, gift = template
    return link == "," and len(text.SCENES[scene].split()) == 5 and len(text.GIFTS[gift].split()) == 4


@torch.no_grad()
def main(folder):
    model, rng = load(folder), random.Random(3)
    templates = [t for t in training.TEMPLATES[True] if of_16_tokens(t)]
    names = [rng.sample(rng.choice(training.PAIRS[True]), 2) for _ in range(200)]
    orders = [(io, s, s) if k % 2 else (s, io, s) for k, (io, s) in enumerate(names)]
    grid = torch.tensor([training.tokens(rng.choice(templates), order, rng) for order in orders])
    io, subject = (torch.tensor([training.NAME_ID[pair[k]] for pair in names]) for k in (0, 1))
    reference = torch.tensor([training.tokens(rng.choice(templates), rng.sample(range(60), 3), rng) for _ in range(200)])
    rows = torch.arange(len(grid))
    place = {"IO": (grid == io[:, None]).float().argmax(1), "S1": (grid == subject[:, None]).float().argmax(1),
             "S2": torch.full((len(grid),), SUBJECT), "END": torch.full((len(grid),), END)}

    def attention(x, layer):
        q, k = (part.view(*x.shape[:2], 4, -1).transpose(1, 2)
                for part in model.linear(model.norm(x, f"h.{layer}.ln_1"), f"h.{layer}.attn.c_attn").split(64, -1)[:2])
        scores = (q @ k.transpose(-1, -2) / 4).masked_fill(torch.ones(16, 16, dtype=torch.bool).triu(1), -math.inf)
        return scores.softmax(-1)

    def difference(change=None):
        logits = model.logits(model(grid, change)[:, END])
        return (logits[rows, io] - logits[rows, subject]).mean().item()

    x = model.get("wte.weight")[grid] + model.get("wpe.weight")[:16]
    for layer in range(3):
        weights = attention(x, layer)
        for head in range(4):
            share = {f"{a}->{b}": weights[rows, head, place[a], place[b]].mean().item()
                     for a, b in (("S2", "IO"), ("S2", "S1"), ("END", "S2"), ("END", "IO"), ("END", "S1"))}
            print(f"{layer}.{head}  " + "  ".join(f"{name} {value:.2f}" for name, value in share.items()))
        x = x + model.linear(model.heads(x, layer).flatten(-2), f"h.{layer}.attn.c_proj")
    means = []
    model(reference, lambda layer, z: (means.append(z.mean(0)), z)[1])
    print(f"logit difference {difference():.2f}; with the heads of layer 0 ablated at")
    for name, position in place.items():
        def change(layer, z, position=position):
            z = z.clone()
            if layer == 0:
                z[rows, position] = means[0][position]
            return z
        print(f"  {name:3s} {difference(change):6.2f}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(pathlib.Path(sys.argv[1]))
