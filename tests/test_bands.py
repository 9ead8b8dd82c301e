"""Conservative bands by name, and what a precision would take."""

import json
import math

import numpy as np
import pytest

from conftest import write_csv

FLAGS = ["--model", "process:awk -F, 'NR > 1 { print ($1 + $2 * $3 > 0) ? 1 : 0 }'", "--data", "d.csv", "--target", "y"]


@pytest.fixture
def bits(tmp_path):
    random = np.random.default_rng(3)
    x = random.choice([-1, 1], (40, 3))
    y = ((x[:, 0] + x[:, 1] * x[:, 2] > 0) ^ (random.random(40) < 0.1)).astype(int)
    write_csv(tmp_path / "d.csv", {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y})
    return FLAGS


def test_hoeffding_is_two_and_four_radii_around_the_plug_in(bits, profile):
    found = profile("explain", *bits, "--loss", "zero-one", "--interval", "hoeffding", "--budget", 8 * 400)
    assert found["coverage"]["interval"] == "hoeffding"
    assert "independence_assumed" in [w["code"] for w in found["warnings"]]
    radius = math.sqrt(math.log(2 * 8 / 0.05) / (2 * found["coverage"]["draws"]))
    for f in found["features"]:
        for key, times in (("U", 2), ("Lmax", 2), ("pi", 2), ("last", 2), ("R", 4), ("S", 4)):
            q = f[key]
            floor = 0 if times == 4 else -math.inf
            assert q["low"] == pytest.approx(max(floor, q["plugin"] - times * radius))
            if q["plugin"] > 0 or times == 2:
                assert q["high"] == pytest.approx(q["plugin"] + times * radius)
            assert q["population"] is None


def test_bernstein_and_paper(bits, profile):
    width = {}
    for name in ("bernstein", "hoeffding", "paper"):
        found = profile("explain", *bits, "--loss", "brier", "--interval", name, "--exact")
        width[name] = found["features"][0]["Lmax"]["high"] - found["features"][0]["Lmax"]["low"]
        assert found["features"][0]["Lmax"]["value"] == found["features"][0]["Lmax"]["plugin"]
    assert width["paper"] < min(width["hoeffding"], width["bernstein"])  # no union bound, no worst case


def test_an_unbounded_loss_has_no_such_band(bits, hifi):
    for name in ("hoeffding", "bernstein"):
        error = hifi("explain", *bits, "--loss", "squared", "--interval", name, code=3).stderr
        assert f"--interval {name}" in error and "squared loss has no bound" in error
    hifi("explain", *bits, "--loss", "squared", "--interval", "paper", "--quiet")
    assert "chebyshev" in hifi("explain", *bits, "--interval", "chebyshev", code=2).stderr


def test_a_band_is_kept_in_the_run_file(bits, hifi, profile):
    found = profile("explain", *bits, "--loss", "brier", "--interval", "bernstein", "--out", "run.hifi")
    assert profile("decompose", "run.hifi") == found


def test_plan_says_what_a_precision_takes(bits, hifi, tmp_path):
    flags = [*bits, "--loss", "brier", "--precision", "0.1"]
    plan = json.loads(hifi("plan", *flags, "--json", "-").stdout)
    asked = plan["precision"]
    assert plan["schema"] == "hifi.plan/1"
    assert asked["hoeffding_draws"] == math.ceil(math.log(2 * 8 / 0.05) / (2 * (0.1 / 8) ** 2))
    expected = asked["pilot_draws"] * (asked["pilot_width"] / 0.1) ** 2
    assert asked["expected_draws"] == math.ceil(expected) < asked["hoeffding_draws"] / 4
    text = hifi("plan", *flags, "--json", "plan.json").stdout
    assert "theorem 4" in text and "we expect about" in text
    assert json.loads((tmp_path / "plan.json").read_text())["precision"] == asked
    assert "precision" not in json.loads(hifi("plan", *bits, "--json", "-").stdout)


def test_plan_for_an_unbounded_loss_or_a_share(bits, hifi):
    asked = json.loads(hifi("plan", *bits, "--loss", "squared", "--precision", "0.1", "--json", "-").stdout)["precision"]
    assert asked["hoeffding_draws"] is None and asked["loss_range"] is None
    assert "squared loss has no bound" in hifi("plan", *bits, "--loss", "squared", "--precision", "0.1").stdout
    share = json.loads(hifi("plan", *bits, "--loss", "brier", "--precision", "50%", "--json", "-").stdout)["precision"]
    assert 0.05 < share["width"] < 0.5  # half of L({}) - L(all), as the pilot saw it


def test_the_size_of_single_losses_is_stated(tmp_path, profile):
    random = np.random.default_rng(5)
    x = random.normal(size=120)
    y = x.copy()
    y[7] += 100  # one row with a loss of 10,000
    write_csv(tmp_path / "d.csv", {"a": x, "y": y})
    found = profile("explain", "--model", "process:awk 'NR > 1'", "--data", "d.csv", "--target", "y", "--background", "mean", "--exact")
    stated = found["provenance"]["loss_range"]
    assert stated["bound"] is None and stated["clipped"] is False and stated["empty"] is None
    assert stated["intact"]["max"] == pytest.approx(10000) and stated["intact"]["q95"] == 0 and stated["intact"]["losses"] == 120
    warning = [w["message"] for w in found["warnings"] if w["code"] == "unbounded_loss"]
    assert len(warning) == 1 and "squared loss has no bound" in warning[0] and "100 % of their sum" in warning[0]
