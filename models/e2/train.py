#!/usr/bin/python3
"""Trains the networks of experiment E2; run by hand with Debian's python3-torch 1.13, one thread.

  build/release/write_radiographs DIR 6000 1        the training images, seed 1
  models/e2/train.py DIR plain                      12 epochs on the images as they are
  models/e2/train.py DIR filled                     20 epochs, every second batch with random patches filled

Writes DIR/NAME.pt (TorchScript) and DIR/NAME.onnx (opset 13). The last 1,000 images are held out. A network that never
saw a filled patch reacts to the fill itself; `filled` has learnt that a finding counts if 40 % of its box is visible.
"""
import csv
import pathlib
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from network import Network  # noqa: E402

BATCH, HELD_OUT, SIDE, SEED = 64, 1000, 84, 0


def gaussian(images, sigma):
    """Images (N, 1, H, W) blurred, edges repeated."""
    radius = int(3 * sigma + 0.5)
    kernel = torch.exp(-torch.arange(-radius, radius + 1.0) ** 2 / (2 * sigma ** 2))
    kernel = (kernel / kernel.sum())[None, None, :, None]
    images = F.conv2d(F.pad(images, (0, 0, radius, radius), mode="replicate"), kernel)
    return F.conv2d(F.pad(images, (radius, radius, 0, 0), mode="replicate"), kernel.transpose(2, 3))


def read(folder):
    images = torch.tensor(np.load(folder / "images.npy")).float()[:, None] / 255
    findings = [[] for _ in images]
    with open(folder / "findings.csv", newline="") as file:
        for row in csv.DictReader(file):
            x, y, w, h = (int(row[name]) for name in "xywh")
            findings[int(row["image"])].append((row["finding"], slice(y, y + h), slice(x, x + w)))
    return images, findings


def classes(seen):
    return [float("A" in seen), float("B" in seen and "C" in seen)]


def fill_patches(images, blurred, findings, random):
    """Random patches of a random grid replaced, edges hard or soft; classes of what is still visible."""
    patches = int(random.choice([4, 7, 14]))
    width, count = SIDE // patches, len(images)
    shift = random.integers(width, size=2)
    share = random.uniform(0, 1, size=(count, 1, 1))
    on = (random.random((count, patches + 1, patches + 1)) < share).repeat(width, 1).repeat(width, 2)
    visible = torch.tensor(on[:, shift[0]:shift[0] + SIDE, shift[1]:shift[1] + SIDE]).float()[:, None]
    if random.random() < 0.6:
        visible = gaussian(visible, random.uniform(1, 2.5))
    kind = random.integers(4)
    fill = blurred
    if kind == 1:
        fill = images.mean((2, 3), keepdim=True)
    elif kind == 2:
        fill = blurred + 0.07 * torch.randn(images.shape)
    elif kind == 3:
        fill = torch.full_like(images, float(random.uniform(0, 1)))
    truth = [classes({name for name, y, x in boxes if visible[k, 0, y, x].mean() >= 0.4})
             for k, boxes in enumerate(findings)]
    return fill + visible * (images - fill), torch.tensor(truth)


def train(images, findings, epochs, filled):
    count = len(images) - HELD_OUT
    truth = torch.tensor([classes({name for name, _, _ in boxes}) for boxes in findings])
    blurred = torch.cat([gaussian(part, 9) for part in images.split(500)]) if filled else images
    network = Network()
    steps = count // BATCH
    optimiser = torch.optim.AdamW(network.parameters(), 1e-3, weight_decay=1e-2)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimiser, 5e-3, total_steps=epochs * steps + 1)
    started = time.time()
    for epoch in range(epochs):
        network.train()
        order = torch.randperm(count)
        for step in range(steps):
            chosen = order[BATCH * step:BATCH * (step + 1)]
            x, y = images[chosen], truth[chosen]
            if filled and step % 2:
                x, y = fill_patches(x, blurred[chosen], [findings[i] for i in chosen.tolist()],
                                    np.random.default_rng([SEED, epoch, step]))
            if torch.rand(()) < 0.5:
                x = x.flip(3)
            loss = F.binary_cross_entropy_with_logits(network(x), 0.98 * y + 0.01)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            rate.step()
        network.eval()
        with torch.no_grad():
            logits = torch.cat([network(part) for part in images[count:].split(250)])
        right = ((logits > 0) == (truth[count:] > 0.5)).float().mean(0)
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}, held-out accuracy {right[0]:.3f} {right[1]:.3f}, "
              f"{time.time() - started:.0f} s", flush=True)
    return network


def settle(network, images, findings, filled):
    """Batch statistics as a plain mean over 80 batches: running ones still swing between filled and whole batches."""
    torch.manual_seed(SEED + 1)
    layers = [layer for layer in network.modules() if isinstance(layer, torch.nn.BatchNorm2d)]
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None
    network.train()
    with torch.no_grad():
        for step in range(80):
            chosen = slice(BATCH // 2 * step, BATCH // 2 * (step + 2))
            x = images[chosen]
            if filled and step % 2:
                x, _ = fill_patches(x, gaussian(x, 9), findings[chosen], np.random.default_rng([SEED, 1000, step]))
            network(x)
    return network.eval()


def main():
    folder, name = pathlib.Path(sys.argv[1]), sys.argv[2]
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    images, findings = read(folder)
    network = train(images, findings, {"plain": 12, "filled": 20}[name], name == "filled")
    settle(network, images, findings, name == "filled")
    for parameter in network.parameters():
        parameter.requires_grad_(False)
    torch.jit.trace(network, images[:2]).save(str(folder / f"{name}.pt"))
    torch.onnx.export(network, images[:2], str(folder / f"{name}.onnx"), opset_version=13, input_names=["pixels"],
                      output_names=["logits"], dynamic_axes={"pixels": {0: "batch"}, "logits": {0: "batch"}})


if __name__ == "__main__":
    main()
