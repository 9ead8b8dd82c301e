"""Trains the model of ioi-small/. Needs Debian's python3-torch; one thread, about four minutes:

    /usr/bin/python3 models/train_ioi.py --out models/ioi-small

The text is a mixture: sentences of the task; the same with three different names (ABC: either of the first two answers); and
*shuffled* text without grammar, filler with one name once and others twice, answer the single one. Shuffled text asks for
detection of duplicates; without it one head learns "not the subject" and there is no circuit. Once the task is learned the heads
that matter most are dropped most often, so that others learn to stand in. MLPs are zero: a circuit of attention alone.
"""

import argparse
import math
import pathlib
import random
import time

import torch
from torch.nn import functional as F

import byte_bpe
import hub_folder
import ioi_text as text
from tiny_gpt2 import TinyGpt2

VOCABULARY, MERGES = byte_bpe.build([w for w in text.all_words() if len(w) > 1])
BOS = VOCABULARY[byte_bpe.END_OF_TEXT]
ID = {word: byte_bpe.token_id(VOCABULARY, word) for word in text.all_words()}
NAME_ID = [ID[" " + name] for name in text.NAMES]
FILLER = [number for number in ID.values() if number not in NAME_ID]
TEMPLATES = {held: [t for t in text.TEMPLATES if text.held_out_template(t) == held] for held in (False, True)}
PAIRS = {held: [p for p in text.PAIRS if text.held_out_pair(*p) == held] for held in (False, True)}

# What the heads of seed 0 turned out to do (docs/e3.md): at the second mention of the subject layer 0 collects the other name,
# layer 1 moves it from there to the end, layer 2 does little.
ROLES = {"Collector": ["0.0", "0.1", "0.2", "0.3"], "Mover": ["1.0", "1.1", "1.2", "1.3"], "Late": ["2.0", "2.1", "2.2", "2.3"]}


def tokens(template, names, rng):
    first, second, subject = (text.NAMES[n] for n in names)
    line = text.sentence(template, first, second, subject, rng.choice(text.PLACES), rng.choice(text.OBJECTS))
    return [BOS] + [ID[word] for word in text.words(line)]


def ioi(rng, held_templates=False, held_pairs=False):
    """(prompt, answer, distractor): ABBA or BABA."""
    io, subject = rng.sample(rng.choice(PAIRS[held_pairs]), 2)
    first = (io, subject) if rng.random() < 0.5 else (subject, io)
    return tokens(rng.choice(TEMPLATES[held_templates]), (*first, subject), rng), NAME_ID[io], NAME_ID[subject]


def abc(rng):
    names = rng.sample(range(len(NAME_ID)), 3)
    return tokens(rng.choice(TEMPLATES[False]), names, rng), NAME_ID[rng.choice(names[:2])]


def shuffled(rng):
    once, twice = rng.sample(rng.choice(PAIRS[False]), 2)
    names = [once, twice, twice]
    if rng.random() < 0.3:
        names += [rng.choice([n for n in range(len(NAME_ID)) if n not in names])] * 2
    rng.shuffle(names)
    prompt = [BOS]
    for name in names:
        prompt += rng.choices(FILLER, k=rng.randrange(4)) + [NAME_ID[name]]
    return prompt + rng.choices(FILLER, k=rng.randrange(4)) + [ID[" to"]], NAME_ID[once]


def batch(rng, options):
    rows = []
    for _ in range(options.batch):
        kind = rng.random()
        rows.append(abc(rng) if kind < options.abc else shuffled(rng) if kind < options.abc + options.shuffled else ioi(rng)[:2])
    return stack([row[0] for row in rows]), torch.tensor([row[1] for row in rows])


def stack(prompts):
    """(padded tokens, last position of each)."""
    length = max(map(len, prompts))
    return torch.tensor([p + [BOS] * (length - len(p)) for p in prompts]), torch.tensor([len(p) - 1 for p in prompts])


def at(x, last):
    return x[torch.arange(len(last)), last]


@torch.no_grad()
def accuracy(model, held_templates, held_pairs, count=1000, seed=5):
    """(share of prompts with answer above distractor, share with the answer on top, mean logit difference)."""
    rng = random.Random(seed)
    prompts, answers, distractors = zip(*(ioi(rng, held_templates, held_pairs) for _ in range(count)))
    grid, last = stack(prompts)
    logits = model.logits(at(model(grid), last))
    difference = at(logits, torch.tensor(answers)) - at(logits, torch.tensor(distractors))
    top = logits.argmax(-1) == torch.tensor(answers)
    return (difference > 0).float().mean().item(), top.float().mean().item(), difference.mean().item()


def replaced_by_mean(chance):
    """Replaces each head of each prompt by the mean over the batch, with chance[layer, head]."""
    def change(layer, z):
        out = (torch.rand(z.shape[0], 1, z.shape[2], 1) < chance[layer][:, None]).float()
        return z * (1 - out) + z.mean(0, keepdim=True) * out
    return change


@torch.no_grad()
def drop_chances(model, grid, last, answers, largest):
    """In proportion to how much the loss rises without the head; the most needed one gets `largest`."""
    layers, heads = model.config["n_layer"], model.config["n_head"]

    def loss(change):
        return F.cross_entropy(model.logits(at(model(grid, change), last)), answers)

    rise = torch.zeros(layers, heads)
    intact = loss(None)
    for layer in range(layers):
        for head in range(heads):
            only = torch.zeros(layers, heads)
            only[layer, head] = 1
            rise[layer, head] = (loss(replaced_by_mean(only)) - intact).clamp_min(0)
    return rise / rise.max().clamp_min(1e-6) * largest


def train(options):
    torch.manual_seed(options.seed)
    rng = random.Random(options.seed)
    model = TinyGpt2(hub_folder.config(3, 4, 64, len(VOCABULARY), 32), use_mlp=False)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW([{"params": [p for p in trained if p.dim() > 1], "weight_decay": 0.05},
                                   {"params": [p for p in trained if p.dim() == 1], "weight_decay": 0}], betas=(0.9, 0.98))
    learned, chances, start = False, None, time.time()
    for step in range(options.steps):
        share = step / options.steps
        for group in optimiser.param_groups:
            group["lr"] = options.rate * min(1, (step + 1) / 100) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * share)))
        (grid, last), answers = batch(rng, options)
        if learned and share > 0.4 and step % 25 == 0:
            chances = drop_chances(model, grid, last, answers, options.drop)
        x = model(grid, replaced_by_mean(chances) if chances is not None else None)
        loss = F.cross_entropy(model.logits(at(x, last)), answers)
        before = torch.arange(grid.shape[1] - 1)[None] < last[:, None]  # the words of the prompt, as ordinary text
        text_loss = F.cross_entropy(model.logits(x[:, :-1][before]), grid[:, 1:][before])
        optimiser.zero_grad()
        (loss + 0.1 * text_loss).backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        if step % 100 == 0:
            found = accuracy(model, False, True, 300)
            learned |= found[0] >= 0.98
            print(f"{step:5d} {time.time() - start:4.0f} s  loss {loss.item():.3f}  held-out pairs {found[0]:.3f}"
                  f"  logit difference {found[2]:.2f}", flush=True)
    for held_templates in (False, True):
        for held_pairs in (False, True):
            print("held-out templates, pairs:", held_templates, held_pairs, accuracy(model, held_templates, held_pairs, 2000))
    return model


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, required=True)
    for name, value in {"seed": 0, "steps": 2500, "batch": 96, "rate": 2e-3, "abc": 0.1, "shuffled": 0.45, "drop": 0.5}.items():
        parser.add_argument("--" + name, type=type(value), default=value)
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # this small, two threads are slower
    trained_model = train(arguments)
    settings = {name: value for name, value in vars(arguments).items() if name != "out"}
    more = {"bos_token_id": BOS, "eos_token_id": BOS, "training": settings, "task_specific_params": {"ioi": {"roles": ROLES}}}
    hub_folder.write(arguments.out, {**trained_model.config, **more}, trained_model.arrays())
    byte_bpe.write(arguments.out, VOCABULARY, MERGES)
