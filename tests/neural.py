"""What the tests of neural backends share: our predictions, and tables for explain."""

import os
import pathlib
import subprocess

import numpy as np

from conftest import write_csv

ROOT = pathlib.Path(__file__).resolve().parent
TOOL = os.environ.get("PREDICT_MODEL", str(ROOT.parent / "build" / "release" / "predict_model"))


def ours(folder, model, x, output=""):
    rows = folder / "rows.csv"
    np.savetxt(rows, x, fmt="%.17g", delimiter=",")
    result = subprocess.run([TOOL, str(model), str(rows), "0", output], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    return np.array([[float(cell) for cell in line.split(",")] for line in result.stdout.splitlines()])


def same(found, expected, relative=1e-4):
    """Relative to each number or to the largest of an ordinary row; NaN and infinity where they are expected."""
    expected = np.asarray(expected, float).reshape(len(found), -1)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_allclose(found, expected, rtol=relative, atol=relative * 1e-2, equal_nan=True)


def hard_rows(width, count=200, missing=False, seed=1):
    """Random rows, some of them with extreme values."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, width))
    x[0], x[1], x[2], x[3] = 1e6, -1e6, 1e-40, 0
    x[4, 0], x[5, -1] = 3e38, -3e38
    if missing:
        x[rng.random(x.shape) < 0.1] = np.nan
    return x.astype(np.float32)


def write_table(folder, width=4, rows=30, names=None, target=None, name="d.csv"):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(rows, width)).astype(np.float32)
    y = rng.normal(size=rows) if target is None else target(x)
    names = names or [f"c{i}" for i in range(width)]
    write_csv(folder / name, {**dict(zip(names, x.T.astype(float))), "y": y})
    return x
