"""`hifi indices` judged by shapiq, by closed forms and by the profile of the same vocabulary."""

import csv
import itertools
import json
import math

import numpy as np
import pytest

from conftest import coalitions, write_csv, write_losses

ALL = ["Moebius", "SV", "SII", "BII", "k-SII", "STII", "FSII", "kADD-SHAP"]


@pytest.fixture
def indices(hifi, tmp_path):
    def run(losses, *flags):
        path = losses if not isinstance(losses, dict) else write_losses(tmp_path / "table.csv", losses)
        return json.loads(hifi("indices", path, *flags, "--json", "-").stdout)

    return run


def by_set(found, name):
    (index,) = [x for x in found["indices"] if x["index"] == name]
    place = {player: i for i, player in enumerate(found["players"])}
    return {tuple(place[p] for p in v["players"]): v["value"] for v in index["values"]}


def sets(n, order):
    return [s for k in range(1, order + 1) for s in itertools.combinations(range(n), k)]


def random_table(n, seed):
    rng = np.random.default_rng(seed)
    return {bits: float(rng.normal()) for bits in coalitions(n)}


@pytest.mark.parametrize("n", range(3, 9))
def test_agrees_with_shapiq(indices, n):
    exact = pytest.importorskip("shapiq.game_theory.exact")
    losses = random_table(n, n)

    def game(rows):
        return np.array([-losses["".join("1" if x else "0" for x in row)] for row in np.atleast_2d(rows)])

    judge = exact.ExactComputer(game, n_players=n)
    for order in range(1, n + 1):
        found = indices(losses, "--order", order)
        assert [x["index"] for x in found["indices"]] == ALL
        for name in ALL:
            own_order = 1 if name == "SV" else order
            judged = judge(name, order=own_order)
            ours = by_set(found, name)
            assert list(ours) == sets(n, own_order), "by size, then by position"
            theirs = {s: judged.values[k] for s, k in judged.interaction_lookup.items()}
            scale = max(1, np.abs(judged.values).max())  # its weight of 1e8 for the constraints costs it digits
            for s, value in ours.items():
                assert value == pytest.approx(theirs[s], abs=1e-7 * scale), (name, order, s)
    for s, value in by_set(found, "FSII").items():  # at full order the fit is the game
        assert value == pytest.approx(by_set(found, "Moebius")[s], abs=1e-11)


def test_a_loss_enters_as_minus_itself(indices):
    found = indices({"00": 1.0, "10": 0.7, "01": 0.9, "11": 0.1})
    moebius = by_set(found, "Moebius")
    assert moebius[(0,)] == pytest.approx(0.3) and moebius[(1,)] == pytest.approx(0.1)
    assert moebius[(0, 1)] == pytest.approx(0.7 + 0.9 - 0.1 - 1.0)  # D_12({})


def test_every_field(indices):
    found = indices({"00": 1.0, "10": 0.5, "01": 1.0, "11": 0.0}, "--index", "stii,SV", "--players", "a,b")

    def value(players, number):
        return {"players": players, "value": number, "low": None, "high": None}

    assert found == {"schema": "hifi.indices/1", "players": ["a", "b"],
                     "indices": [{"index": "STII", "order": 2,
                                  "values": [value(["a"], 0.5), value(["b"], 0), value(["a", "b"], 0.5)]},
                                 {"index": "SV", "order": 1, "values": [value(["a"], 0.75), value(["b"], 0.25)]}]}


def test_the_faithful_fit_of_parity(indices):
    """The +-1/4 and +-1/6 of the pairs of a three-player parity; they are gone at order 3 for the faithful ones."""
    n = 4

    def parity(bits):  # prediction of XOR at (1,1,1) against a uniform background; the fourth player does nothing
        return -1.0 if bits.startswith("111") else -0.5

    losses = {bits: parity(bits) for bits in coalitions(n)}
    expected = {2: {"Moebius": 0, "SII": 1 / 4, "BII": 1 / 4, "k-SII": 1 / 4, "STII": 1 / 6, "FSII": 1 / 4,
                    "kADD-SHAP": 1 / 4},
                3: {"Moebius": 0, "SII": 1 / 4, "BII": 1 / 4, "k-SII": 0, "STII": 0, "FSII": 0, "kADD-SHAP": 1 / 4}}
    for order, values in expected.items():
        found = indices(losses, "--order", order)
        for name, value in values.items():
            pairs = by_set(found, name)
            for pair in itertools.combinations(range(n), 2):
                assert pairs[pair] == pytest.approx(value if 3 not in pair else 0, abs=1e-12), (name, order, pair)


def test_partial_tables_name_a_missing_coalition(hifi, tmp_path):
    losses = random_table(4, 1)
    del losses["0110"], losses["1110"]
    result = hifi("indices", write_losses(tmp_path / "t.csv", losses), code=3)
    assert "t.csv" in result.stderr and "0110 ({x2, x3})" in result.stderr and result.stdout == ""
    del losses["0000"]
    assert "0000 ({})" in hifi("indices", write_losses(tmp_path / "t.csv", losses), code=3).stderr
    wide = {"0" * 70: 1.0, "1" * 70: 0.0}
    assert "({x1})" in hifi("indices", write_losses(tmp_path / "t.csv", wide), "--order", 35, code=3).stderr


@pytest.mark.parametrize("flags, code, words", [
    (["--index", "SHAP"], 2, "SHAP"), (["--order", "0"], 2, "order"), (["--order", "-1"], 2, "order"),
    (["--order", "1.5"], 2, "order"), (["--order", "3"], 3, "only 2 players"), (["--players", "a"], 3, "players"),
    (["--csv", "nowhere"], 3, "nowhere"), (["--json", "nowhere/x.json"], 3, "nowhere"), (["--what"], 2, "--what"),
    (["--index", "SII,"], 2, "--index"), (["--max-memory", "x"], 2, "--max-memory"),
    (["--max-memory", "100"], 3, "--order")])
def test_what_is_refused(hifi, tmp_path, flags, code, words):
    table = write_losses(tmp_path / "t.csv", {"00": 1.0, "10": 0.5, "01": 1.0, "11": 0.0})
    result = hifi("indices", table, *flags, code=code)
    assert words in result.stderr and result.stderr.count("\n") == 1 and result.stdout == ""


def test_csv_and_table_have_the_numbers_of_the_json(hifi, tmp_path):
    table = write_losses(tmp_path / "t.csv", random_table(5, 2))
    words = ["indices", table, "--index", "SII,FSII", "--order", 3, "--players", 'a,b b,"c,d,e'.replace('"', "'")]
    shown = hifi(*words, "--json", tmp_path / "x.json", "--csv", tmp_path).stdout
    found = json.loads((tmp_path / "x.json").read_text())
    rows = list(csv.DictReader((tmp_path / "indices.csv").open()))
    flat = [(x["index"], str(x["order"]), ";".join(v["players"]), v["value"])
            for x in found["indices"] for v in x["values"]]
    assert [(r["index"], r["order"], r["players"], float(r["value"])) for r in rows] == flat
    assert "a + b b + 'c" in shown and "FSII" in shown


def test_threads_do_not_change_a_byte(hifi, tmp_path):
    data = write_csv(tmp_path / "d.csv", {name: np.random.default_rng(k).normal(size=60)
                                          for k, name in enumerate(["a", "b", "c", "y"])})
    model = "process:awk -F, 'NR>1{print $1*$2+$3}'"
    hifi("explain", "--model", model, "--data", data, "--target", "y", "--out", "run.hifi", "--quiet")
    one, three = (hifi("indices", "run.hifi", "--json", "-", "--threads", t).stdout for t in (1, 3))
    assert one == three


@pytest.mark.parametrize("flags", [["--exact"], ["--budget", "4000"], ["--budget", "4000", "--interval", "montecarlo"],
                                   ["--exact", "--interval", "montecarlo"], ["--exact", "--background", "mean"]])
@pytest.mark.parametrize("loss", ["squared", "prediction"])
def test_intervals_are_those_of_the_profile(hifi, profile, indices, tmp_path, flags, loss):
    """Moebius of one player is pi, of two the mixed difference at {}: same value, same ends."""
    rng = np.random.default_rng(4)
    a, b, c = rng.normal(size=(3, 60))
    data = write_csv(tmp_path / "d.csv", {"a": a, "b": b, "c": c, "y": a * b + c})
    hifi("explain", "--model", "process:awk -F, 'NR>1{print $1*$2+$3}'", "--data", data, "--target", "y", "--loss", loss,
         "--features", "a,b,c", *flags, "--out", "run.hifi", "--quiet")
    found = indices("run.hifi", "--index", "Moebius,SV,SII", "--order", 3)
    expected = profile("decompose", "run.hifi")
    ends = 0
    for feature, value in zip(expected["features"], found["indices"][0]["values"]):
        for key in ("value", "low", "high"):
            assert value[key] == pytest.approx(feature["pi"][key], rel=1e-5, abs=1e-6), key
            ends += value[key] is not None
    assert ends == 9
    shapley = by_set(found, "SV")
    top = sum(shapley.values())
    if loss == "prediction":  # efficiency, on the scale of the output
        x = np.stack([a, b, c], 1)
        z = x.mean(0, keepdims=True) if "mean" in flags else x
        f = lambda r: r[:, 0] * r[:, 1] + r[:, 2]
        expected_top = f(x).mean() - f(z).mean()
        tolerance = 1e-5 if "--exact" in flags else 0.2  # awk prints six digits
        assert top == pytest.approx(expected_top, abs=tolerance)


def test_noise_of_a_table_with_counts_and_variances(indices, tmp_path):
    n, k = 3, 50
    rng = np.random.default_rng(3)
    rows = [(bits, float(rng.normal()), k, float(rng.uniform(0.5, 2))) for bits in coalitions(n)]
    path = tmp_path / "t.csv"
    path.write_text("coalition,loss,k,var\n" + "".join(f"{b},{x!r},{c},{v!r}\n" for b, x, c, v in rows))
    found = indices(path, "--index", "SV")
    t = pytest.importorskip("scipy.stats").t.ppf(0.975, k - 1)
    for i, value in enumerate(found["indices"][0]["values"]):
        variance = 0
        for bits, _, count, v in rows:
            size = bits.count("1") - (bits[i] == "1")
            weight = math.factorial(size) * math.factorial(n - size - 1) / math.factorial(n)
            variance += weight**2 * v / count
        assert value["high"] - value["value"] == pytest.approx(t * math.sqrt(variance), rel=1e-9)
        assert value["value"] - value["low"] == pytest.approx(t * math.sqrt(variance), rel=1e-9)


def test_a_player_that_does_nothing_has_an_index_of_zero_and_a_run_must_be_finished(hifi, indices, tmp_path):
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, 60))
    data = write_csv(tmp_path / "d.csv", {"a": a, "b": b, "y": a})
    words = ["explain", "--model", "process:awk -F, 'NR>1{print $1}'", "--data", data, "--target", "y"]
    hifi(*words, "--out", "run.hifi", "--quiet")
    for index in indices("run.hifi")["indices"]:
        for value in index["values"]:
            if "b" in value["players"]:
                assert (value["value"], value["low"], value["high"]) == (0, 0, 0), index["index"]
            else:
                assert value["low"] < value["value"] < value["high"]
    hifi(*words, "--shard", "1/2", "--out", "part.hifi", "--quiet")
    assert "shard 1/2" in hifi("indices", "part.hifi", code=3).stderr


def test_runs_without_all_coalitions(hifi, indices, tmp_path):
    rng = np.random.default_rng(4)
    columns = {name: rng.normal(size=40) for name in ["a", "b", "c", "y"]}
    words = ["explain", "--model", "process:awk -F, 'NR>1{print $1*$2+$3}'", "--data", write_csv(tmp_path / "d.csv", columns),
             "--target", "y", "--policy", "paper", "--quiet"]
    hifi(*words, "--budget", 8000, "--out", "all.hifi")  # visits all eight, each its own number of times
    (index,) = indices("all.hifi", "--index", "Moebius", "--order", 3)["indices"]
    assert len(index["values"]) == 7 and all(v["low"] is None for v in index["values"])
    wide = {f"x{i}": rng.normal(size=40) for i in range(24)}
    words[4] = write_csv(tmp_path / "wide.csv", {**wide, "y": rng.normal(size=40)})
    hifi(*words[:7], "--budget", 100000, "--quiet", "--out", "searched.hifi")
    error = hifi("indices", "searched.hifi", code=3).stderr
    assert "searched.hifi: coalition " in error and "is missing" in error


def test_an_index_named_twice_is_listed_once(indices, tmp_path):
    (tmp_path / "t.csv").write_text("coalition,loss\n00,1\n10,1\n01,1\n11,0\n")
    assert [i["index"] for i in indices("t.csv", "--index", "SII,stii,sii")["indices"]] == ["SII", "STII"]
