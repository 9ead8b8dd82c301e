"""The dense lattice scan beside the same scan in vectorised numpy, on the same table.

    python benchmarks/scan_numpy.py BUILD_FOLDER [PLAYERS]

All numbers and contexts are compared for equality first; then both are timed, in turns.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

TIE_TOLERANCE = 1e-9


def spread(numbers, players):
    """Inserts a 0 bit for each of the players (ascending) into context numbers."""
    for player in players:
        low = (1 << player) - 1
        numbers = (numbers & ~low) << 1 | (numbers & low)
    return numbers


def smallest(numbers, players, n):
    """The smallest context: fewest players, then lexicographic by position."""
    masks = spread(numbers.astype(np.int64), players)
    bits = masks[:, None] >> np.arange(n) & 1
    sizes = bits.sum(axis=1)
    bits = bits[sizes == sizes.min()]
    masks = masks[sizes == sizes.min()]
    weights = 1 << np.arange(n - 1, -1, -1)  # an early player counts most
    return int(masks[np.argmax(bits @ weights)])


def first_tie(values, extremum, tolerance, sign, players, n, positive=False):
    if sign > 0:
        threshold = extremum - tolerance
        if positive:
            threshold = max(threshold, np.nextafter(0, 1))
        ties = np.flatnonzero(values >= threshold)
    else:
        threshold = extremum + tolerance
        if positive:
            threshold = min(threshold, -np.nextafter(0, 1))
        ties = np.flatnonzero(values <= threshold)
    return smallest(ties, players, n)


def scan(losses, n):
    tolerance = TIE_TOLERANCE * max(losses.max(), -losses.min())
    full = (1 << n) - 1
    features, pairs = [], []
    gains = np.empty(1 << (n - 1))
    mixed = np.empty(1 << max(n - 2, 0))
    for i in range(n):
        table = losses.reshape(-1, 2, 1 << i)
        np.subtract(table[:, 0], table[:, 1], out=gains.reshape(-1, 1 << i))
        low, high, alone, last = gains.min(), gains.max(), gains[0], gains[-1]
        low_context = first_tie(gains, low, tolerance, -1, [i], n)
        high_context = first_tie(gains, high, tolerance, 1, [i], n)
        for j in range(i + 1, n):
            # Without bit i, player j is bit j - 1 of a context's number.
            sides = gains.reshape(-1, 2, 1 << (j - 1))
            np.subtract(sides[:, 1], sides[:, 0], out=mixed.reshape(-1, 1 << (j - 1)))
            most, least = mixed.max(), mixed.min()
            pair = [0.0, -1, 0.0, -1]
            if most > 0:
                pair[:2] = most, first_tie(mixed, most, tolerance, 1, [i, j], n, positive=True)
            if least < 0:
                pair[2:] = -least, first_tie(mixed, least, tolerance, -1, [i, j], n, positive=True)
            pairs.append(pair)
        q05, q50, q95 = np.quantile(gains, [0.05, 0.5, 0.95])
        features.append(
            [q05, q50, q95, low, low_context, alone - low, low_context, high - alone, high_context]
            + [alone, 0, high, high_context, last, full & ~(1 << i)]
        )
    return features, pairs


def ours(binary, path, threads, repeats):
    run = subprocess.run([binary, path, str(threads), str(repeats)], capture_output=True, text=True, check=True)
    lines = run.stdout.splitlines()
    rows = [line.split() for line in lines[1:]]
    features = [[float(x) for x in row[1:]] for row in rows if row[0] == "player"]
    pairs = [[float(x) for x in row[1:]] for row in rows if row[0] == "pair"]
    return tuple(float(x) for x in lines[0].split()), features, pairs


def same(a, b):
    return np.array_equal(np.array(a, dtype=float), np.array(b, dtype=float))


def main():
    binary = Path(sys.argv[1]) / "scan"
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    rng = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.bin"
        for kind in ("random", "coarse"):  # coarse: 1,024 levels, so that contexts tie
            losses = rng.random(1 << n)
            if kind == "coarse":
                losses = np.floor(losses * 1024) / 1024
            losses.tofile(path)
            best = {who: (np.inf, np.inf) for who in ("numpy", 1, 2)}  # clock, processor
            for _ in range(3):
                start = time.perf_counter(), time.process_time()
                features, pairs = scan(losses, n)
                taken = time.perf_counter() - start[0], time.process_time() - start[1]
                best["numpy"] = tuple(map(min, best["numpy"], taken))
                for threads in (1, 2):
                    taken, our_features, our_pairs = ours(binary, path, threads, 7)
                    best[threads] = tuple(map(min, best[threads], taken))
                    if not (same(features, our_features) and same(pairs, our_pairs)):
                        sys.exit(f"{kind}: the two scans differ")
            print(f"n={n}, {kind} losses, all numbers and contexts equal; ms on the clock, of the processor")
            for who, (clock, processor) in best.items():
                name = who if who == "numpy" else f"hifi, {who} thread(s)"
                print(f"  {name:18}{clock * 1e3:8.1f} {processor * 1e3:8.1f}", end="")
                ratios = best["numpy"][0] / clock, best["numpy"][1] / processor
                print("" if who == "numpy" else "   %.1f and %.1f times faster" % ratios)


if __name__ == "__main__":
    main()
