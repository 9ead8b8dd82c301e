"""Exact SAGE values of a tree model, and what the `sage` package reaches in the same time.

    python benchmarks/sage_values.py build/release

500 trees of depth 6, 8 columns, 500 instances, 512 background rows. The values of `hifi explain --expected prediction
--exact` and `hifi indices --index SV` are first compared with a brute force through the owner's predict on fewer rows.
Then both commands are timed together, start to finish, on 2 threads; beside it, the error of sage's permutation
estimator with the same background after as long a time and after 60 s.
"""

import itertools
import json
import math
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import xgboost as xgb

import sage

HIFI = Path(sys.argv[1] if len(sys.argv) > 1 else "build/release") / "hifi"
N = 8


def write(path, x, y):
    header = ",".join([*(f"f{i}" for i in range(N)), "y"])
    np.savetxt(path, np.column_stack([x, y]), "%.17g", ",", header=header, comments="")


def sage_values(folder, rows, background):
    write(folder / "data.csv", *rows)
    write(folder / "background.csv", *background)
    begin = time.perf_counter()
    subprocess.run([HIFI, "explain", "--model", folder / "model.json", "--data", folder / "data.csv", "--target", "y",
                    "--background", folder / "background.csv", "--expected", "prediction", "--exact", "--threads", "2",
                    "--quiet", "--out", folder / "run.hifi"], check=True, stdout=subprocess.DEVNULL)
    found = subprocess.run([HIFI, "indices", folder / "run.hifi", "--index", "SV", "--json", "-"], check=True,
                           capture_output=True).stdout
    seconds = time.perf_counter() - begin
    (folder / "run.hifi").unlink()
    return np.array([v["value"] for v in json.loads(found)["indices"][0]["values"]]), seconds


def brute_force(predict, x, y, z):
    losses = {}
    for inside in itertools.product([False, True], repeat=N):
        rows = np.where(np.array(inside), x[:, None], z[None]).reshape(-1, N)
        losses[inside] = np.mean((predict(rows).reshape(len(x), -1).astype(float).mean(axis=1) - y) ** 2)
    values = np.zeros(N)
    for inside, loss in losses.items():
        for i in range(N):
            if not inside[i]:
                size = sum(inside)
                weight = math.factorial(size) * math.factorial(N - size - 1) / math.factorial(N)
                values[i] += weight * (loss - losses[inside[:i] + (True,) + inside[i + 1:]])
    return values


def package(predict, x, y, z, seconds):
    """The values after about so many seconds, and how many permutations that were."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = sage.PermutationEstimator(sage.MarginalImputer(predict, z), "mse", random_state=1)

        def run(permutations):
            begin = time.perf_counter()
            found = estimator(x, y, batch_size=min(128, permutations), n_permutations=permutations,
                              detect_convergence=False, bar=False, verbose=False)
            return np.asarray(found.values), time.perf_counter() - begin

        _, pilot = run(16)
        permutations = max(1, int(16 * seconds / pilot))
        values, taken = run(permutations)
        return values, taken, permutations


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    rng = np.random.default_rng(8)
    x = rng.normal(size=(4000, N)).astype(np.float32)
    y = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + 0.5 * x @ rng.normal(size=N) + np.abs(x[:, 3]) * x[:, 4]
    y += 0.3 * rng.normal(size=len(y))
    booster = xgb.train({"max_depth": 6, "eta": 0.1, "nthread": 2}, xgb.DMatrix(x, y), 500)
    booster.save_model(folder / "model.json")
    predict = booster.inplace_predict

    few, _ = sage_values(folder, (x[:40], y[:40]), (x[1000:1064], y[1000:1064]))
    judge = brute_force(predict, x[:40], y[:40], x[1000:1064])
    assert np.max(np.abs(few - judge)) < 2e-5 * np.max(np.abs(judge)), (few, judge)

    exact, seconds = min((sage_values(folder, (x[:500], y[:500]), (x[1000:1512], y[1000:1512])) for _ in range(3)),
                         key=lambda result: result[1])
    print(f"hifi: exact values in {seconds:.2f} s (goal 2)", flush=True)
    for limit in (seconds, 60):
        values, taken, permutations = package(predict, x[:500], y[:500].astype(float), x[1000:1512], limit)
        error = np.abs(values - exact)
        print(f"sage {version('sage-importance')}: {permutations} permutations in {taken:.1f} s, error at most "
              f"{error.max():.3g}, mean {error.mean():.3g} (values up to {np.abs(exact).max():.3g})", flush=True)
