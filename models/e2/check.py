#!/usr/bin/python3
"""Writes check.npz: a dozen held-out radiographs and what the shipped TorchScript files say to them, for the tests.

  models/e2/check.py DIR            DIR as for train.py
"""
import pathlib
import sys

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from train import classes, read  # noqa: E402

torch.set_num_threads(1)
here = pathlib.Path(__file__).parent
images, findings = read(pathlib.Path(sys.argv[1]))
chosen = range(len(images) - 12, len(images))
answers = {name: torch.jit.load(str(here / f"{name}.pt"))(images[list(chosen)]).numpy() for name in ("plain", "filled")}
truth = np.array([classes({name for name, _, _ in findings[i]}) for i in chosen], np.float32)
pixels = np.load(pathlib.Path(sys.argv[1]) / "images.npy")[list(chosen)]
np.savez_compressed(here / "check.npz", pixels=pixels, classes=truth, **answers)
