"""Runs that stop at a precision or after a time, and profiles of single rows."""

import json
import math
import time

import numpy as np
import pytest

from conftest import coalitions, write_csv

AWK = "process:awk -F, 'NR > 1 { printf \"%.17g\\n\", $1 + $2 * $3 }'"


@pytest.fixture
def case(tmp_path):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 3))
    write_csv(tmp_path / "d.csv", {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": x[:, 0] + x[:, 1] * x[:, 2]})
    return ["explain", "--model", AWK, "--data", "d.csv", "--target", "y", "--quiet"]


def widest(found):
    return max(f[q]["high"] - f[q]["low"] for f in found["features"] for q in ("U", "R", "S", "Lmax"))


def test_precision_stops_at_the_first_look_that_is_narrow_enough(case, hifi, profile):
    flags = [*case, "--interval", "montecarlo"]
    wide = profile(*flags, "--precision", 3)
    narrow = profile(*flags, "--precision", 1.6)
    assert widest(wide) < 3 and widest(narrow) < 1.6
    assert 64 <= wide["coverage"]["draws"] < narrow["coverage"]["draws"] < 3600
    for found in (wide, narrow):
        assert math.log2(found["coverage"]["draws"] / 32).is_integer(), "looks are at 32, 64, .."
    # The looks before were not narrow enough. They had less confidence to spend, so intervals at the full level
    # may be narrower than those of the look, not wider.
    draws = narrow["coverage"]["draws"]
    assert widest(profile(*flags, "--budget", 8 * draws)) < widest(narrow)


def test_precision_of_all_pairs_is_exact(case, profile):
    found = profile(*case, "--interval", "montecarlo", "--precision", 1e-12)
    assert found["coverage"]["exact"] and found["coverage"]["draws"] == 3600
    exact = profile(*case, "--interval", "montecarlo", "--exact")
    for f, g in zip(found["features"], exact["features"]):
        assert f["U"]["value"] == pytest.approx(g["U"]["value"], rel=1e-12)
        assert f["U"]["low"] == f["U"]["high"] == f["U"]["value"]


def test_precision_not_reached_is_exit_6_with_all_outputs(case, hifi, tmp_path):
    done = hifi(*case, "--precision", "0.1%", "--json", "p.json", "--out", "run.hifi", code=6)
    assert done.stderr.count("\n") == 1 and "--precision" in done.stderr
    found = json.loads((tmp_path / "p.json").read_text())
    assert found["features"][0]["U"]["low"] is not None
    assert hifi("decompose", "run.hifi", "--json", "-").stdout == (tmp_path / "p.json").read_text()


def test_precision_is_a_share_of_the_whole_gain(case, profile):
    found = profile(*case, "--interval", "montecarlo", "--precision", "40%")
    losses = {f["player"]: f for f in found["features"]}
    assert set(losses) == {"a", "b", "c"}
    # y is the model itself: L(all) = 0, and L({}) = mean of (x - z)^2 terms, about 4.
    assert widest(found) < .4 * 6


def test_a_resumed_precision_run_is_the_unbroken_one(hifi, tmp_path):
    """A model that fails at its n-th call, whatever n: the run goes on from its last state."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(40, 2))
    write_csv(tmp_path / "d.csv", {"a": x[:, 0], "b": x[:, 1], "y": x[:, 0] - x[:, 1]})
    (tmp_path / "m.sh").write_text(
        "n=$(cat count 2>/dev/null || echo 0); echo $((n + 1)) > count\n"
        "[ $n = \"$(cat fail 2>/dev/null)\" ] && exit 1\n"
        "awk -F, 'NR > 1 { print $1 * $2 + $1 }'\n")
    flags = ["explain", "--model", "process:sh m.sh", "--data", "d.csv", "--target", "y", "--interval", "montecarlo",
             "--precision", 1, "--batch", 256, "--threads", 1, "--quiet", "--json", "-"]
    whole = hifi(*flags).stdout
    calls = int((tmp_path / "count").read_text())
    assert calls > 10
    for fail in (calls // 2, calls - 2):
        (tmp_path / "count").write_text("0")
        (tmp_path / "fail").write_text(str(fail))
        hifi(*flags, "--out", "run.hifi", code=4)
        (tmp_path / "fail").unlink()
        assert hifi("resume", "run.hifi", "--json", "-", "--quiet", "--threads", 1).stdout == whole
        (tmp_path / "run.hifi").unlink()


@pytest.mark.parametrize("flags, word", [
    (["--precision", "0"], "--precision"), (["--precision", "-1"], "--precision"), (["--precision", "x%"], "--precision"),
    (["--precision", "nan"], "--precision"), (["--precision", "1", "--exact"], "--precision|--exact"),
    (["--precision", "1", "--shard", "1/2", "--out", "r"], "--shard"), (["--time", "5y"], "--time"),
    (["--time", "0"], "--time"), (["--time", "-5"], "--time"), (["--time", "1m", "--shard", "1/2", "--out", "r"], "--shard"),
    (["--amortise"], "--per-instance"), (["--per-instance", "--policy", "paper"], "--per-instance")])
def test_wrong_in_itself(case, hifi, tmp_path, flags, word):
    done = hifi(*case, *flags, code=2)
    assert any(w in done.stderr for w in word.split("|")) and done.stdout == "" and done.stderr.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["d.csv"]


def test_time_is_kept(case, hifi, profile):
    start = time.monotonic()
    found = profile(*case, "--time", "2s")
    assert time.monotonic() - start < 6
    assert 32 <= found["coverage"]["draws"] <= 3600


def test_time_and_budget_together_take_the_smaller(case, profile):
    assert profile(*case, "--time", "1h", "--budget", 8 * 100)["coverage"]["draws"] == 100


def brute(x, y, z):
    """L of one row against all background rows, by coalition."""
    losses = {}
    for bits in coalitions(3):
        keep = np.array([bit == "1" for bit in bits])
        hybrid = np.where(keep, x, z)
        losses[bits] = np.mean((hybrid[:, 0] + hybrid[:, 1] * hybrid[:, 2] - y) ** 2)
    return losses


def test_every_row_has_its_own_profile(case, profile, tmp_path):
    found = profile(*case, "--per-instance", "--exact")
    table = np.loadtxt(tmp_path / "d.csv", delimiter=",", skiprows=1)
    assert [i["row"] for i in found["instances"]] == list(range(60))
    for k in (0, 17, 59):
        losses = brute(table[k, :3], table[k, 3], table[:, :3])
        for i, f in enumerate(found["instances"][k]["features"]):
            gains = [losses[c] - losses[c[:i] + "1" + c[i + 1:]] for c in coalitions(3) if c[i] == "0"]
            assert f["U"]["value"] == pytest.approx(min(gains), abs=1e-9)
            assert f["Lmax"]["value"] == pytest.approx(max(gains), abs=1e-9)
            assert f["U"]["low"] <= f["U"]["population"] <= f["U"]["high"], "its background rows are a sample"
        d = [losses[c[:1] + "10"] + losses[c[:1] + "01"] - losses[c[:1] + "11"] - losses[c[:1] + "00"]
             for c in ("0", "1")]
        assert found["instances"][k]["pairs"][2]["S"]["value"] == pytest.approx(max(0, *d), abs=1e-9)
    # The mean of pi is pi of the mean; the mean of U is not U.
    mean = {q: np.mean([i["features"][1][q]["value"] for i in found["instances"]]) for q in ("pi", "U")}
    assert mean["pi"] == pytest.approx(found["features"][1]["pi"]["value"], abs=1e-9)
    assert mean["U"] < found["features"][1]["U"]["value"] - .01
    plain = profile(*case, "--exact")
    assert plain["features"][0]["U"]["value"] == pytest.approx(found["features"][0]["U"]["value"], rel=1e-9)
    assert "instances" not in plain


def test_rows_of_a_sampled_run_use_whole_rounds(case, hifi, profile):
    found = profile(*case, "--per-instance", "--budget", 8 * 60 * 40 + 100)
    assert found["coverage"]["draws"] == 60 * 40
    assert all(f["U"]["low"] is not None for i in found["instances"] for f in i["features"])
    error = hifi(*case, "--per-instance", "--budget", 8 * 60 * 32 - 1, code=3).stderr
    assert str(8 * 60 * 32) in error and "--budget" in error


def test_rows_survive_an_interruption(case, hifi, tmp_path):
    (tmp_path / "m.sh").write_text(
        "n=$(cat count 2>/dev/null || echo 0); echo $((n + 1)) > count\n"
        "[ $n = \"$(cat fail 2>/dev/null)\" ] && exit 1\n"
        "awk -F, 'NR > 1 { printf \"%.17g\\n\", $1 + $2 * $3 }'\n")
    flags = [*case, "--per-instance", "--exact", "--threads", 1, "--json", "-"]
    flags[flags.index(AWK)] = "process:sh m.sh"
    whole = hifi(*flags).stdout
    (tmp_path / "count").write_text("0")
    (tmp_path / "fail").write_text("30")
    hifi(*flags, "--out", "run.hifi", code=4)
    (tmp_path / "fail").unlink()
    (tmp_path / "count").write_text("0")
    assert hifi("resume", "run.hifi", "--json", "-", "--quiet").stdout == whole
    assert int((tmp_path / "count").read_text()) < 60, "what was computed is not computed again"
    assert hifi("decompose", "run.hifi", "--json", "-").stdout == whole


@pytest.fixture
def wide(tmp_path):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(30, 26))
    names = [f"c{i}" for i in range(26)]
    write_csv(tmp_path / "w.csv", {**dict(zip(names, x.T)), "y": x[:, 0] + x[:, 1] * x[:, 2]})
    return ["explain", "--model", AWK, "--data", "w.csv", "--target", "y", "--quiet", "--budget", 400_000]


def test_amortised_rows_share_the_contexts_of_the_mean(wide, hifi, profile, tmp_path):
    found = profile(*wide, "--per-instance", "--amortise")
    assert "amortised" in [w["code"] for w in found["warnings"]]
    assert len(found["instances"]) == 30 and not found["coverage"]["exhaustive"]
    table = np.loadtxt(tmp_path / "w.csv", delimiter=",", skiprows=1)
    for k in (0, 29):
        x, y, z = table[k, :3], table[k, -1], table[:, :3]
        alone = np.mean((z[:, 0] + z[:, 1] * z[:, 2] - y) ** 2) - np.mean((x[0] + z[:, 1] * z[:, 2] - y) ** 2)
        f = found["instances"][k]["features"][0]
        assert f["pi"]["value"] == pytest.approx(alone, abs=1e-9), "30 background rows: all of them"
        assert f["U"]["low"] is None and f["Lmax"]["high"] is None and f["basis"] == "searched"
        assert found["instances"][k]["features"][20]["pi"]["value"] in (0, None)
    same = hifi(*wide, "--per-instance", "--amortise", "--json", "-", "--threads", 1, "--out", "run.hifi").stdout
    assert json.loads(same) == found
    assert hifi("decompose", "run.hifi", "--json", "-").stdout == same


def test_too_many_players_for_every_row_names_the_way_out(wide, hifi):
    assert "--amortise" in hifi(*wide, "--per-instance", code=3).stderr


def test_few_clusters_are_warned_about(case, profile, tmp_path):
    table = (tmp_path / "d.csv").read_text().splitlines()
    for clusters, warned in ((5, True), (30, False)):
        rows = [f"{line},{k % clusters}" for k, line in enumerate(table[1:])]
        (tmp_path / "d.csv").write_text("\n".join([table[0] + ",who", *rows]) + "\n")
        codes = [w["code"] for w in profile(*case, "--cluster", "who", "--budget", 8 * 200)["warnings"]]
        assert ("few_clusters" in codes) == warned
