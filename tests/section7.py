"""The statistics of a complete run, written down as plainly as possible: the judge of src/stats and src/decomposition.

Reads the block sums of a run file and gives for every number its value, interval and population estimate. Nothing here is fast.
"""

import json
import sqlite3

import numpy as np
from scipy.stats import t as student


class Run:
    """The plan and the sums of a run file: arrays of 2^n doubles by partition and block."""

    def __init__(self, path):
        with sqlite3.connect(path) as database:
            self.plan = json.loads(database.execute("SELECT value FROM texts WHERE key = 'plan'").fetchone()[0])
            chunks = database.execute("SELECT partition, block, data FROM arrays ORDER BY partition, block, chunk").fetchall()
        arrays = {}
        for partition, block, data in chunks:
            arrays.setdefault((partition, block), []).append(np.frombuffer(data, "<f8"))
        arrays = {key: np.concatenate(parts) for key, parts in arrays.items()}
        instance, background, rounds = self.plan["blocks"]
        self.instance = np.array([arrays["instance", b] for b in range(instance)])
        self.background = np.array([arrays["sums", b] for b in range(background)])
        self.round = np.array([arrays["sums", background + b] for b in range(rounds)])
        self.n = len(self.plan["players"])
        self.draws = self.plan["draws"]
        self.means = self.instance.sum(axis=0) / self.draws

    def moved(self, blocks, weights):
        """What each block moves the mean by."""
        return (blocks - np.array(weights)[:, None] * self.means) / self.draws

    def population(self):
        """Influences in independent parts; the squares of all of them add up to the squared standard error."""
        weights, kind = self.plan["weights"], self.plan["population"]
        instance = self.moved(self.instance, weights[0])
        background = self.moved(self.background, weights[1])
        parts = {"rows": lambda: [instance + background], "both": lambda: [instance, background],
                 "instances": lambda: [instance], "draws": lambda: [self.moved(self.round, weights[2])]}[kind]()
        return [p * np.sqrt(len(p) / (len(p) - 1)) for p in parts]

    def montecarlo(self):
        if self.plan["exact"] or self.draws < 64:
            return []
        part = self.moved(self.round, self.plan["weights"][2])
        unused = 1 - self.draws / self.plan["pairs"] if self.plan["pairs"] else 1  # drawn without replacement
        return [part * np.sqrt(unused * len(part) / (len(part) - 1))]


class Routine:
    """max over contexts of numbers that are known with noise (DESIGN section 7)."""

    def __init__(self, parts, alpha, floor=0.0, draws=1000, seed=0, student_process=False):
        self.blocks = [len(p) for p in parts]
        self.df = min(self.blocks) - 1
        self.alpha, self.floor = alpha, floor
        random = np.random.default_rng(seed)
        self.multipliers = random.normal(size=(draws, sum(self.blocks)))
        self.scale = np.sqrt(random.chisquare(self.df, draws) / self.df) if student_process else np.ones(draws)
        self.t = student.ppf(1 - alpha / 2, self.df)

    def errors(self, influence, noise):
        s = np.sqrt((influence ** 2).sum(axis=0))
        s[s < 1e-6 * noise] = 0  # rounding
        return np.where(s == 0, self.floor, s)

    def single(self, value, influence, noise):
        s = self.errors(influence[:, None], noise)[0]
        return (value, value - self.t * s, value + self.t * s) if s > 0 else (value, None, None)

    def largest(self, h, influence, noise, constant=None):
        """Estimate, low, high of max(h, constant)."""
        s = self.errors(influence, noise)
        known = s > 0
        k0 = student.ppf(1 - 0.1 / (np.log(8 * (self.df + 1)) * len(h)), self.df)
        bar = max([constant if constant is not None else -np.inf, *(h - k0 * s)[known]])
        keep = h >= bar - 2 * k0 * s
        unknown = (keep & ~known).any()
        keep &= known
        plugin = max(h.max(), constant if constant is not None else -np.inf)
        low = high = -np.inf if constant is None else constant
        estimate = plugin
        h, s, influence = h[keep], s[keep], influence[:, keep]
        if len(h):
            high = max(high, (h + self.t * s).max())
            if len(h) > 1000:
                held_out, bound = self.split(h, influence)
                estimate, low = min(plugin, held_out), max(low, bound)
            else:
                low = max(low, (h - self.quantile(influence, s) * s).max())
                if h.max() == plugin:
                    estimate = plugin - self.bias(h, influence)
        if constant is not None:
            estimate = max(estimate, constant)
        return estimate, low if low > -np.inf else None, high if not unknown and high > -np.inf else None

    def quantile(self, influence, s):
        if len(s) == 1:
            return self.t
        largest = (self.multipliers @ (influence / s)).max(axis=1)
        normal, scaled = (np.quantile(x, 1 - self.alpha / 2, method="inverted_cdf") for x in (largest, largest / self.scale))
        return max(self.t, min(scaled, 1.25 * normal))

    def bias(self, h, influence):
        top = h.argmax()
        difference = np.sqrt(((influence - influence[:, [top]]) ** 2).sum(axis=0))
        near = h[top] - h <= 2 * difference
        return (self.multipliers @ influence[:, near]).max(axis=1).mean() if near.sum() > 1 else 0.0

    def split(self, h, influence):
        """Choose on the even blocks, bound on the odd ones, and the reverse."""
        halves = []
        for parity in (0, 1):
            mean, variance, first = h.copy(), np.zeros(len(h)), 0
            for blocks in self.blocks:
                part = influence[first + parity:first + blocks:2] * blocks * np.sqrt((blocks - 1) / blocks)
                mean += part.mean(axis=0)
                variance += part.var(axis=0, ddof=1) / len(part)
                first += blocks
            halves.append((mean, variance))
        quantile = student.ppf(1 - self.alpha / 4, max(1, (self.df + 1) // 2 - 1))
        values, bounds = [], []
        for chosen, held in (halves, halves[::-1]):
            c = chosen[0].argmax()
            values.append(held[0][c])
            bounds.append(held[0][c] - quantile * np.sqrt(held[1][c]))
        return np.mean(values), max(bounds)


def analyse(run, parts, routine, pairs=True):
    """Bounds of all players and pairs under one kind of noise: {player or pair: {channel: (estimate, low, high)}}."""
    n, L = run.n, run.means
    x = np.concatenate(parts)
    noise = np.sqrt((x ** 2).sum(axis=0)).max()
    masks = np.arange(1 << n)
    idle = [i for i in range(n) if all((a[masks] == a[masks | 1 << i]).all() for a in (L, *x))]
    lively = masks[[not any(m >> i & 1 for i in idle) for m in masks]]

    def negated(bounds):
        value, low, high = bounds
        return -value, None if high is None else -high, None if low is None else -low

    result = {}
    for i in range(n):
        if i in idle:
            result[i] = {key: (0.0, 0.0, 0.0) for key in ("U", "R", "S", "pi", "Lmax", "last")}
            continue
        c = np.array([m for m in lively if not m >> i & 1])
        gain, dx = L[c] - L[c | 1 << i], x[:, c] - x[:, c | 1 << i]
        last = (1 << n) - 1 - (1 << i)
        pi, rest, dr = gain[0], gain[1:] - gain[0], dx[:, 1:] - dx[:, :1]
        none = (0.0, 0.0, 0.0)
        result[i] = {
            "pi": routine.single(pi, dx[:, 0], noise),
            "last": routine.single(L[last] - L[last | 1 << i], x[:, last] - x[:, last | 1 << i], noise),
            "Lmax": routine.largest(gain, dx, noise), "U": negated(routine.largest(-gain, -dx, noise)),
            "S": routine.largest(rest, dr, noise, 0.0) if len(rest) else none,
            "R": routine.largest(-rest, -dr, noise, 0.0) if len(rest) else none}
        for j in range(i + 1, n):
            if j in idle or not pairs:
                continue
            d = np.array([m for m in lively if not m >> i & 1 and not m >> j & 1])
            a, b = 1 << i, 1 << j

            def mixed(v):
                return v[..., d | a] + v[..., d | b] - v[..., d | a | b] - v[..., d]

            result[i, j] = {"S": routine.largest(mixed(L), mixed(x), noise, 0.0),
                            "R": routine.largest(-mixed(L), -mixed(x), noise, 0.0)}
    for i in idle:
        for j in range(n):
            if i != j:
                result[min(i, j), max(i, j)] = {"S": (0.0, 0.0, 0.0), "R": (0.0, 0.0, 0.0)}
    return result


def add_up(bounds):
    """Estimates with U <= pi <= Lmax, and R and S by the identity."""
    pi = bounds["pi"][0]
    U, Lmax = min(bounds["U"][0], pi), max(bounds["Lmax"][0], pi)
    return {"U": U, "Lmax": Lmax, "R": pi - U, "S": Lmax - pi, "pi": pi, "last": bounds["last"][0]}


def floor_of(run, alpha, units, df):
    """What could hide behind no observed change: the rule of three for 0/1 losses, else the empirical-Bernstein term."""
    if run.plan["loss_range"] is None:
        return 0.0
    reach = (-np.log(alpha) / units if run.plan["loss"] == "zero-one"
             else 7 * np.log(2 / alpha) / (3 * max(1, units - 1)))
    return run.plan["loss_range"] * reach / student.ppf(1 - alpha / 2, df)


def intervals(run, **options):
    """The bounds that the interval of the run is about."""
    alpha = 1 - run.plan["confidence"]
    population = run.plan["interval"] == "population"
    parts = run.population() if population else run.montecarlo()
    units = min(run.plan["instances"], run.draws) if population else run.draws
    floor = floor_of(run, alpha, units, min(map(len, parts)) - 1)
    return analyse(run, parts, Routine(parts, alpha, floor, **options))
