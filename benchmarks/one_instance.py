"""One instance of a tree model against shapiq's ExactComputer on the same model.

    python benchmarks/one_instance.py build/release

500 trees of depth 6, 12 columns, 100 background rows, value game (the mean prediction), Shapley interactions of order 2.
hifi is timed from the start of the command to its end (reading model and tables, all 4,096 coalitions x 100 rows, the
profile with its pairs, then the command for the indices); shapiq from a loaded model in a warm process, its imputer with
the same background on 2 threads. The values are compared first.
"""

import json
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import shapiq
import xgboost as xgb

HIFI = Path(sys.argv[1] if len(sys.argv) > 1 else "build/release") / "hifi"
N = 12


def write(path, x):
    np.savetxt(path, x, "%.17g", ",", header=",".join(f"f{i}" for i in range(N)), comments="")


def ours(folder):
    begin = time.perf_counter()
    subprocess.run([HIFI, "explain", "--model", folder / "model.json", "--data", folder / "x.csv", "--background",
                    folder / "z.csv", "--loss", "prediction", "--exact", "--threads", "2", "--quiet", "--json",
                    folder / "profile.json", "--out", folder / "run.hifi"], check=True)
    explained = time.perf_counter() - begin
    text = subprocess.run([HIFI, "indices", folder / "run.hifi", "--index", "SII", "--order", "2", "--json", "-"],
                          check=True, capture_output=True).stdout
    seconds = time.perf_counter() - begin
    (folder / "run.hifi").unlink()
    return {tuple(int(p[1:]) for p in v["players"]): v["value"] for v in json.loads(text)["indices"][0]["values"]}, \
        explained, seconds


def theirs(booster, x, z):
    begin = time.perf_counter()
    game = shapiq.MarginalImputer(booster.inplace_predict, z, x=x, sample_size=len(z), random_state=1)
    game.verbose = False
    values = shapiq.ExactComputer(game, n_players=N)("SII", order=2)
    return {k: v for k, v in values.interactions.items() if k}, time.perf_counter() - begin


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    rng = np.random.default_rng(12)
    x = rng.normal(size=(4000, N)).astype(np.float32)
    y = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + 0.5 * x @ rng.normal(size=N) + np.abs(x[:, 3]) * x[:, 4]
    y += 0.3 * rng.normal(size=len(y))
    booster = xgb.train({"max_depth": 6, "eta": 0.1, "nthread": 2}, xgb.DMatrix(x, y), 500)
    booster.save_model(folder / "model.json")
    write(folder / "x.csv", x[:1])
    write(folder / "z.csv", x[1000:1100])
    mine, other = [], []
    for turn in range(3):
        found, explained, seconds = ours(folder)
        judge, taken = theirs(booster, x[:1], x[1000:1100])
        assert set(found) == set(judge)
        worst = max(abs(found[k] - judge[k]) for k in judge)
        assert worst < 1e-4 * max(abs(v) for v in judge.values()), worst
        mine.append((seconds, explained))
        other.append(taken)
    print(f"hifi explain {min(e for _, e in mine):.3f} s, with indices {min(mine)[0]:.3f} s; "
          f"shapiq {version('shapiq')} ExactComputer {min(other):.2f} s: {min(other) / min(mine)[0]:.1f} times (goal 10)")
