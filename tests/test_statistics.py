"""The tests and correlations of src/stats, judged by scipy and by enumeration."""

import itertools
import json
import pathlib
import subprocess

import numpy as np
import pytest

from conftest import HIFI

stats = pytest.importorskip("scipy.stats")
DRIVER = pathlib.Path(HIFI).parent / "run_statistics"


def ask(*requests):
    text = "".join(json.dumps(r) + "\n" for r in requests)
    done = subprocess.run([DRIVER], input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def samples(kind, count=12):
    rng = np.random.default_rng(len(kind))
    for _ in range(count):
        n = int(rng.integers(5, 14))
        x = rng.normal(0.3, 1, size=n)
        if kind == "ties":
            x = np.round(x) + 0.25
        if kind == "zeros":
            x[rng.integers(0, n, size=2)] = 0
        if kind == "ties and zeros":
            x = np.round(x)
            x[0] = 1
        yield x


def by_enumeration(x, zeros, alternative):
    """Every sign pattern of the ranks as they are."""
    kept = x if zeros == "pratt" else x[x != 0]
    ranks = stats.rankdata(np.abs(kept))
    signs, ranks = np.sign(kept)[kept != 0], ranks[kept != 0]
    sums = np.array([sum(r for r, s in zip(ranks, pattern) if s) for pattern in
                     itertools.product([0, 1], repeat=len(ranks))])
    seen = ranks[signs > 0].sum()
    more, less = np.mean(sums >= seen - 1e-9), np.mean(sums <= seen + 1e-9)
    return {"greater": more, "less": less, "two-sided": min(1, 2 * min(more, less))}[alternative]


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("zeros", ["drop", "pratt"])
@pytest.mark.parametrize("kind", ["plain", "ties", "zeros", "ties and zeros"])
def test_wilcoxon(kind, zeros, alternative):
    for x in samples(kind):
        base = {"call": "wilcoxon", "x": x.tolist(), "alternative": alternative, "zeros": zeros}
        exact, normal = ask({**base, "method": "exact"}, {**base, "method": "asymptotic"})
        assert exact["p"] == pytest.approx(by_enumeration(x, zeros, alternative), abs=1e-12)
        judged = stats.wilcoxon(x, zero_method={"drop": "wilcox", "pratt": "pratt"}[zeros], alternative=alternative,
                                method="asymptotic")
        assert normal["p"] == pytest.approx(judged.pvalue, rel=1e-9)
        if kind == "plain":
            judged = stats.wilcoxon(x, alternative=alternative, method="exact")
            assert exact["p"] == pytest.approx(judged.pvalue, rel=1e-9)
            statistic = min(exact["plus"], exact["minus"]) if alternative == "two-sided" else exact["plus"]
            assert statistic == judged.statistic
        assert exact["used"] == np.count_nonzero(x)


def test_wilcoxon_by_default_is_exact_up_to_fifty():
    rng = np.random.default_rng(1)
    for n, method in ((50, "exact"), (51, "approx")):
        x = rng.normal(0.2, 1, size=n)
        assert ask({"call": "wilcoxon", "x": x.tolist()})[0]["p"] == pytest.approx(
            stats.wilcoxon(x, method=method).pvalue, rel=1e-9)
    assert ask({"call": "wilcoxon", "x": [0, 0]}, {"call": "wilcoxon", "x": []}) == [None, None]
    assert ask({"call": "wilcoxon", "x": [1.0] * 30, "alternative": "greater"})[0]["p"] == 2.0**-30


@pytest.mark.parametrize("n", [6, 9, 20, 50, 80])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_shift(n, confidence):
    rng = np.random.default_rng(n)
    x = rng.normal(1, 2, size=n)
    estimate, low, high = ask({"call": "hodges_lehmann", "x": x.tolist(), "confidence": confidence})[0]
    walsh = [(a + b) / 2 for k, a in enumerate(x) for b in x[k:]]
    assert estimate == pytest.approx(np.median(walsh))

    def p(shift):
        return stats.wilcoxon(x - shift, method="exact" if n <= 50 else "approx").pvalue

    # what the test does not reject, from just inside to just outside
    assert p(low + 1e-9) > 1 - confidence and p(high - 1e-9) > 1 - confidence
    assert p(low - 1e-9) <= 1 - confidence and p(high + 1e-9) <= 1 - confidence


def test_shift_of_too_few():
    assert ask({"call": "hodges_lehmann", "x": [1.0, 2.0, 4.0], "confidence": 0.95},
               {"call": "hodges_lehmann", "x": [], "confidence": 0.95}) == [[2.25, None, None], None]
    # five differences: the smallest two-sided p is 1/16
    assert ask({"call": "hodges_lehmann", "x": [1, 2, 3, 4, 5], "confidence": 0.9375})[0] == [3, 1, 5]
    assert ask({"call": "hodges_lehmann", "x": [1, 2, 3, 4, 5], "confidence": 0.95})[0] == [3, None, None]


@pytest.mark.parametrize("levels", [None, 3])
def test_correlations(levels):
    rng = np.random.default_rng(5)
    for n in (3, 7, 30):
        x = rng.normal(size=n)
        y = x + rng.normal(size=n)
        if levels:
            x, y = np.round(x), np.digitize(y, [-0.5, 0.5]).astype(float)
            x[:2], y[:2] = [0, 1], [0, 1]
        pair = {"x": x.tolist(), "y": y.tolist()}
        pearson, spearman = ask({"call": "pearson", **pair}, {"call": "spearman", **pair})
        for found, judged in ((pearson, stats.pearsonr(x, y)), (spearman, stats.spearmanr(x, y))):
            assert found[0] == pytest.approx(judged.statistic, abs=1e-12)
            assert found[1] == pytest.approx(judged.pvalue, abs=1e-9)
    assert ask({"call": "pearson", "x": [1, 1, 1], "y": [1, 2, 3]}, {"call": "spearman", "x": [1], "y": [2]}) == [None] * 2


def test_ceiling_is_the_best_of_all_rankings():
    rng = np.random.default_rng(6)
    for truth in ([0, 0, 0, 1], [1, 0, 1, 0, 1], [2, 2, 1, 1, 0, 0], list(rng.integers(0, 3, 6))):
        truth = [float(t) for t in truth]
        best = max(stats.spearmanr(order, truth).statistic for order in itertools.permutations(range(len(truth))))
        assert ask({"call": "spearman_ceiling", "x": truth})[0] == pytest.approx(best, abs=1e-12)
    # the eight-feature set: one unique, two redundant, five synergistic players
    for ones, ceiling in ((1, 0.577), (2, 0.756), (5, 0.845)):
        assert ask({"call": "spearman_ceiling", "x": [1.0] * ones + [0.0] * (8 - ones)})[0] == pytest.approx(
            ceiling, abs=5e-4)
    assert ask({"call": "spearman_ceiling", "x": [1, 1, 1]}) == [None]


def test_adjusted_p_values():
    p = [0.01, 0.04, 0.03, 0.005, 0.6]
    bonferroni, holm = ask({"call": "bonferroni", "x": p}, {"call": "holm", "x": p})
    assert bonferroni == pytest.approx([0.05, 0.2, 0.15, 0.025, 1])
    assert holm == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.6])
    assert ask({"call": "holm", "x": []}, {"call": "holm", "x": [0.9, 0.8]}) == [[], [1, 1]]


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_power_of_a_paired_test(alternative):
    for effect, n, alpha in ((0.5, 20, 0.05), (0.2, 100, 0.01), (-0.4, 12, 0.05), (0, 9, 0.1)):
        tail = alpha / 2 if alternative == "two-sided" else alpha
        critical, shift = stats.t.isf(tail, n - 1), effect * np.sqrt(n)
        up, down = stats.nct.sf(critical, n - 1, shift), stats.nct.cdf(-critical, n - 1, shift)
        expected = {"greater": up, "less": down, "two-sided": up + down}[alternative]
        found = ask({"call": "power", "effect": effect, "pairs": n, "alpha": alpha, "alternative": alternative})[0]
        assert found == pytest.approx(expected, abs=1e-9)
    if alternative == "two-sided":
        assert ask({"call": "pairs", "effect": 0.5, "power": 0.8, "alpha": 0.05}) == [34]  # the textbook's
        assert ask({"call": "pairs", "effect": 0, "power": 0.8, "alpha": 0.05}) == [None]
