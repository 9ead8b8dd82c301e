"""Indices of one random table beside shapiq: equal numbers first, then times. Usage: indices_shapiq.py BUILD [N]"""

import pathlib
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version

import numpy as np
from shapiq.game_theory.exact import ExactComputer

LIMIT = 120  # seconds for an index: a child that takes longer is stopped
INDICES = ["Moebius", "SV", "SII", "BII", "k-SII", "STII", "FSII", "kADD-SHAP"]


def judge(n, index):
    """Runs in a process of its own, so that it can be stopped: prints its seconds, then values by set."""
    losses = np.random.default_rng(1).uniform(size=2**n)
    powers = 1 << np.arange(n)
    start = time.perf_counter()
    computer = ExactComputer(lambda rows: -losses[np.atleast_2d(rows) @ powers], n_players=n)
    found = computer(index, order=1 if index == "SV" else 2)
    print(time.perf_counter() - start)
    for players, place in found.interaction_lookup.items():
        if 1 <= len(players) <= 2:
            print(*players, ":", found.values[place])


def main(build, n):
    losses = np.random.default_rng(1).uniform(size=2**n)
    print(f"n={n}, order 2, shapiq {version('shapiq')}, numpy {version('numpy')}")
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "table"
        losses.tofile(table)
        for index in INDICES:
            ours = subprocess.run([pathlib.Path(build) / "indices", table, index, "2"], check=True, capture_output=True,
                                  text=True).stdout.split()
            line = f"{index:10} ours {float(ours[0]) * 1e3:9.2f} ms"
            try:
                theirs = subprocess.run([sys.executable, __file__, "--judge", str(n), index], check=True, timeout=LIMIT,
                                        capture_output=True, text=True).stdout.splitlines()
            except subprocess.TimeoutExpired:
                print(f"{line}, shapiq not done after {LIMIT} s")
                continue
            except subprocess.CalledProcessError as error:
                reason = "killed" if error.returncode < 0 else error.stderr.strip().splitlines()[-1]
                print(f"{line}, shapiq failed: {reason[:100]}")
                continue
            values = {}
            for row in theirs[1:]:
                players, value = row.split(":")
                values[tuple(map(int, players.split()))] = float(value)
            ordered = [values[s] for s in sorted(values, key=lambda s: (len(s), s))]
            worst = np.abs(np.array(ours[1:], float) - ordered).max()
            assert worst < 1e-6, (index, worst)
            print(f"{line}, shapiq {float(theirs[0]) * 1e3:9.0f} ms, largest difference {worst:.1e}")


if __name__ == "__main__":
    if sys.argv[1] == "--judge":
        judge(int(sys.argv[2]), sys.argv[3])
    else:
        main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 16)
