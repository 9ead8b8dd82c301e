"""Whole lattices of a tree model against the owner's own predict of the same masked rows.

    python benchmarks/tree_lattice.py build/release

500 trees of depth 6. The sums of `hifi explain --exact` are first compared with XGBoost's `inplace_predict` of every
masked row of some pairs. Then both are timed in turns on 2 threads: the owner on rows that lie ready in large batches,
`hifi` from start to finish (reading model and tables, masks, lattice, intervals and verdicts of all players). Wall clock
and processor time, best of three turns.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import xgboost as xgb

HIFI = Path(sys.argv[1] if len(sys.argv) > 1 else "build/release") / "hifi"
ROWS = {8: 512, 12: 512, 16: 512}  # instances, and as many background rows
GOAL = {8: 100, 12: 800, 16: 5000}


def make(folder, n):
    rng = np.random.default_rng(n)
    x = rng.normal(size=(4000, n)).astype(np.float32)
    y = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + 0.5 * x @ rng.normal(size=n) + np.abs(x[:, 3]) * x[:, 4]
    y += 0.3 * rng.normal(size=len(y))
    booster = xgb.train({"max_depth": 6, "eta": 0.1, "nthread": 2}, xgb.DMatrix(x, y), 500)
    booster.save_model(folder / "model.json")
    for name, part in (("data", slice(0, ROWS[n])), ("background", slice(1000, 1000 + ROWS[n]))):
        header = ",".join([*(f"f{i}" for i in range(n)), "y"])
        np.savetxt(folder / f"{name}.csv", np.column_stack([x[part], y[part]]), "%.17g", ",", header=header, comments="")
    return booster, x[:ROWS[n]], y[:ROWS[n]], x[1000:1000 + ROWS[n]]


def hybrids(x, z, n):
    inside = (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(bool)
    return np.where(inside[None], x[:, None], z[:, None]).reshape(-1, n)


def processor():
    return sum(getattr(resource.getrusage(who), key) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
               for key in ("ru_utime", "ru_stime"))


def timed(action):
    clock, cpu = time.perf_counter(), processor()
    action()
    return np.array([time.perf_counter() - clock, processor() - cpu])


def explain(folder, *flags):
    subprocess.run([HIFI, "explain", "--model", folder / "model.json", "--target", "y", "--exact", "--threads", "2", "--quiet",
                    *flags], check=True)


def verify(booster, x, y, folder, n):
    """pi and last of every player on 8 instances and one background row against the owner."""
    table = (folder / "data.csv").read_text().splitlines()
    (folder / "few.csv").write_text("\n".join(table[:9]) + "\n")
    explain(folder, "--data", folder / "few.csv", "--background", "row:0", "--pairs", "none", "--json", folder / "few.json")
    profile = json.loads((folder / "few.json").read_text())
    assert profile["provenance"]["engine"] == "trees"
    rows = hybrids(x[:8], np.repeat(x[:1], 8, axis=0), n)
    loss = ((booster.inplace_predict(rows).reshape(8, -1).astype(float) - y[:8, None]) ** 2).mean(axis=0)
    full = (1 << n) - 1
    for i, feature in enumerate(profile["features"]):
        for key, gain in (("pi", loss[0] - loss[1 << i]), ("last", loss[full ^ 1 << i] - loss[full])):
            assert abs(feature[key]["plugin"] - gain) < 2e-5 * loss.max(), (n, i, key)


for n in ROWS:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        booster, x, y, z = make(folder, n)
        verify(booster, x, y, folder, n)
        some = max(1, (1 << 20) >> n)
        pick = np.arange(some) % len(x)
        rows = hybrids(x[pick], z[pick], n)
        booster.inplace_predict(rows[:1000])
        ours, owner = [], []
        for turn in range(3):
            ours.append(timed(lambda: explain(folder, "--data", folder / "data.csv", "--background", folder / "background.csv",
                                              "--pairs", "none", "--json", folder / "out.json")))
            owner.append(timed(lambda: booster.inplace_predict(rows)))
        pairs = len(x) * len(z)
        ours, owner = np.min(ours, axis=0) / pairs, np.min(owner, axis=0) / some
        ratio = owner / ours
        print(f"n={n}: owner {1 / owner[0]:.4g} pairs/s, hifi {1 / ours[0]:.6g} pairs/s; "
              f"{ratio[0]:.0f} times on the clock, {ratio[1]:.0f} times by processor time (goal {GOAL[n]})", flush=True)
