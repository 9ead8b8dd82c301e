"""The intervals and estimates of hifi against the plain implementation in section7.py, on the same block sums."""

import numpy as np
import pytest

from conftest import write_csv
from section7 import Run, add_up, analyse, intervals, Routine

@pytest.fixture
def world(tmp_path, xgb):
    """Five players that matter and one that the model does not read."""
    random = np.random.default_rng(4)

    def draw(rows):
        x = random.normal(size=(rows, 6))
        x[:, 1] = x[:, 0] + 0.1 * x[:, 1]
        return x, (x[:, 0] + x[:, 1]) / 2 + x[:, 2] * x[:, 3] + x[:, 4] + 0.3 * random.normal(size=rows)

    def make(classify=False, rows=60):
        names = [f"x{i + 1}" for i in range(6)]
        for file, size in (("train", 500), ("data", rows), ("other", 40)):
            x, y = draw(size)
            y = (y > 0).astype(int) if classify else y
            if file == "train":
                x[:, 5] = 0
                objective = "binary:logistic" if classify else "reg:squarederror"
                model = xgb.train({"objective": objective, "max_depth": 3, "nthread": 1},
                                  xgb.DMatrix(x, y, feature_names=names), num_boost_round=20)
                model.save_model(tmp_path / "model.json")
            else:
                write_csv(tmp_path / f"{file}.csv", {**dict(zip(names, x.T)), "y": y})
        return ["--model", "model.json", "--data", "data.csv", "--target", "y"]

    return make


def check(found, reference, low_tolerance=0.12):
    """Single statistics and pointwise ends agree to rounding; what is simulated agrees to its own noise."""
    estimate, low, high = reference
    assert (found["low"] is None) == (low is None) and (found["high"] is None) == (high is None)
    width = high - low if low is not None and high is not None else abs(estimate)
    if high is not None:
        assert found["high"] == pytest.approx(high, rel=1e-5, abs=low_tolerance * width)
    if low is not None:
        assert found["low"] == pytest.approx(low, rel=1e-5, abs=low_tolerance * width)
    return width


@pytest.mark.parametrize("flags", [
    ["--exact"], ["--budget", "32000"], ["--background", "other.csv", "--exact"], ["--background", "mean"],
    ["--interval", "montecarlo", "--budget", "32000"], ["--confidence", "0.8", "--exact"],
    ["--loss", "zero-one", "--exact"], ["--loss", "brier", "--budget", "32000"]], ids=" ".join)
def test_intervals_are_those_of_the_plain_routine(world, profile, tmp_path, flags):
    found = profile("explain", *world(classify="--loss" in flags), *flags, "--out", "run.hifi", "--quiet")
    run = Run(tmp_path / "run.hifi")
    reference = intervals(run, draws=5000, student_process=True)
    population = found["coverage"]["interval"] == "population"
    for i, f in enumerate(found["features"]):
        bounds = reference[i]
        for key in ("pi", "last"):
            check(f[key], bounds[key], 1e-5)
        upper = {"Lmax": "high", "S": "high", "R": "high", "U": "low"}  # the pointwise end
        for key, end in upper.items():
            check(f[key], bounds[key])
            expected = bounds[key][2 if end == "high" else 1]
            if expected is not None:
                assert f[key][end] == pytest.approx(expected, rel=1e-5, abs=1e-6), key
        if population:
            total = add_up(bounds)
            for key in ("U", "Lmax", "R", "S"):
                width = check(f[key], bounds[key])
                inside = min(max(total[key], f[key]["low"] if f[key]["low"] is not None else -np.inf),
                             f[key]["high"] if f[key]["high"] is not None else np.inf)
                assert f[key]["population"] == pytest.approx(inside, rel=1e-5, abs=0.06 * width + 1e-9), key
    for p in found["pairs"]:
        i, j = (found["players"].index(name) for name in p["players"])
        for key in ("S", "R"):
            check(p[key], reference[i, j][key])
            if reference[i, j][key][2] is not None:
                assert p[key]["high"] == pytest.approx(reference[i, j][key][2], rel=1e-5, abs=1e-6)


def test_values_of_a_sampled_run_are_corrected_for_monte_carlo_bias(world, profile, tmp_path):
    found = profile("explain", *world(), "--budget", "32000", "--out", "run.hifi", "--quiet")
    run = Run(tmp_path / "run.hifi")
    parts = run.montecarlo()
    reference = analyse(run, parts, Routine(parts, 0.05, draws=5000))
    moved = 0
    for i, f in enumerate(found["features"]):
        total = add_up(reference[i])
        for key in ("U", "Lmax", "R", "S", "pi", "last"):
            low, high = reference[i][key][1:]
            assert f[key]["value"] == pytest.approx(total[key], rel=1e-6, abs=0.04 * (high - low)), key
            moved += abs(total[key] - f[key]["plugin"]) > 0.05 * (high - low)
    assert moved > 5


def test_many_tied_contexts_are_split(profile, tmp_path, xgb):
    """Twelve players, a model of noise: the cross-split bounds have no simulation, so they agree to rounding."""
    random = np.random.default_rng(8)
    x, y = random.normal(size=(400, 12)), random.normal(size=400)
    names = [f"x{i + 1}" for i in range(12)]
    model = xgb.train({"max_depth": 6, "nthread": 1}, xgb.DMatrix(x, y, feature_names=names), num_boost_round=30)
    model.save_model(tmp_path / "model.json")
    write_csv(tmp_path / "data.csv", {**dict(zip(names, random.normal(size=(40, 12)).T)), "y": random.normal(size=40)})
    found = profile("explain", "--model", "model.json", "--data", "data.csv", "--target", "y", "--budget", 4096 * 40, "--policy", "exhaustive",
                    "--out", "run.hifi", "--quiet", "--pairs", "none")
    run = Run(tmp_path / "run.hifi")
    parts = run.population()
    routine = Routine(parts, 0.05, draws=500)
    splits = []
    routine.split = lambda *words: splits.append(1) or Routine.split(routine, *words)
    reference = analyse(run, parts, routine, pairs=False)
    assert len(splits) > 20
    for i, f in enumerate(found["features"]):
        for key in ("Lmax", "U", "R", "S"):
            for end, expected in zip(("low", "high"), reference[i][key][1:]):
                assert f[key][end] == pytest.approx(expected, rel=1e-4, abs=1e-5), (i, key, end)
