"""--expected prediction: the loss of the mean prediction over the background, against a brute force."""

import itertools
import math

import numpy as np
import pytest

from conftest import coalitions, write_csv

MODEL = "process:awk -F, 'NR > 1 { printf \"%.17g\\n\", $1 + $2 * $3 }'"


def f(x):
    return x[..., 0] + x[..., 1] * x[..., 2]


@pytest.fixture
def case(tmp_path):
    rng = np.random.default_rng(6)
    x, z = rng.normal(size=(25, 3)), rng.normal(size=(40, 3))
    y = f(x) + rng.normal(size=25)
    write_csv(tmp_path / "d.csv", {**dict(zip("abc", x.T)), "y": y})
    write_csv(tmp_path / "z.csv", dict(zip("abc", z.T)))
    return x, y, z, ["explain", "--model", MODEL, "--data", "d.csv", "--target", "y", "--background", "z.csv",
                     "--expected", "prediction", "--quiet"]


def losses_of(x, y, z, loss):
    losses = {}
    for bits in coalitions(3):
        keep = np.array([bit == "1" for bit in bits])
        mean = f(np.where(keep, x[:, None, :], z[None, :, :])).mean(axis=1)
        losses[bits] = np.mean(loss(mean, y))
    return losses


@pytest.mark.parametrize("name, loss", [("squared", lambda p, y: (p - y) ** 2), ("absolute", lambda p, y: abs(p - y))])
def test_profile(case, profile, name, loss):
    x, y, z, flags = case
    found = profile(*flags, "--exact", "--loss", name)
    losses = losses_of(x, y, z, loss)
    assert found["expected"] == "prediction" and found["coverage"]["draws"] == 25 and found["coverage"]["exact"]
    for i, feature in enumerate(found["features"]):
        gains = [losses[c] - losses[c[:i] + "1" + c[i + 1:]] for c in coalitions(3) if c[i] == "0"]
        assert feature["U"]["value"] == pytest.approx(min(gains), abs=1e-9)
        assert feature["Lmax"]["value"] == pytest.approx(max(gains), abs=1e-9)
        assert feature["pi"]["value"] == pytest.approx(gains[0], abs=1e-9)
    assert profile(*flags[:-3], "--quiet", "--exact", "--loss", name)["features"][1]["pi"]["value"] != pytest.approx(
        found["features"][1]["pi"]["value"], abs=1e-3), "the mean of the losses is another game"


def test_sage_values_are_the_shapley_values_of_this_game(case, hifi, tmp_path):
    import json
    x, y, z, flags = case
    hifi(*flags, "--exact", "--out", "run.hifi")
    found = json.loads(hifi("indices", "run.hifi", "--index", "SV", "--json", "-").stdout)
    losses = losses_of(x, y, z, lambda p, y: (p - y) ** 2)
    for i, value in enumerate(found["indices"][0]["values"]):
        gains = []
        for order in itertools.permutations(range(3)):
            before = {j for j in order[:order.index(i)]}
            bits = lambda s: "".join("1" if j in s else "0" for j in range(3))
            gains.append(losses[bits(before)] - losses[bits(before | {i})])
        assert value["value"] == pytest.approx(np.mean(gains), abs=1e-9)


def test_a_sample_of_a_large_background_is_corrected(hifi, profile, tmp_path):
    """600 background rows, 512 of them averaged over: squared loss without the inflation by the variance of the mean."""
    rng = np.random.default_rng(7)
    x, z = rng.normal(size=(60, 2)), 3 * rng.normal(size=(600, 2))
    write_csv(tmp_path / "d.csv", {"a": x[:, 0], "b": x[:, 1], "y": x[:, 0] + x[:, 1]})
    write_csv(tmp_path / "z.csv", {"a": z[:, 0], "b": z[:, 1]})
    flags = ["explain", "--model", "process:awk -F, 'NR > 1 { printf \"%.17g\\n\", $1 + $2 }'", "--data", "d.csv", "--target",
             "y", "--background", "z.csv", "--expected", "prediction", "--quiet", "--interval", "montecarlo"]
    exact = profile(*flags, "--exact")["features"][0]["pi"]["value"]
    sampled = [profile(*flags, "--budget", 4 * 60, "--seed", s) for s in range(6)]
    assert {s["coverage"]["draws"] for s in sampled} == {60}
    values = np.array([s["features"][0]["pi"]["value"] for s in sampled])
    assert len(set(values)) == 6, "the sample is the seed's"
    error = values.std(ddof=1) / math.sqrt(6)
    assert abs(values.mean() - exact) < 4 * error + 1e-3
    warned = profile(*flags, "--budget", 4 * 60, "--loss", "absolute")["warnings"]
    assert "background_subset" in [w["code"] for w in warned]
    assert sampled[0]["provenance"]["background"]["averaged"] == 512
    assert "background_subset" not in [w["code"] for w in sampled[0]["warnings"]]


def test_unknown(case, hifi):
    assert "--expected" in hifi(*case[3][:-3], "--expected", "median", code=2).stderr


@pytest.mark.parametrize("objective, loss", [("reg:squarederror", "squared"), ("reg:squarederror", "absolute"),
                                             ("reg:squarederror", "prediction"), ("binary:logistic", "log"),
                                             ("multi:softprob", "log"), ("multi:softprob", "brier")])
def test_trees_against_the_row_engine_and_the_owner(profile, tmp_path, objective, loss):
    import xgboost as xgb
    rng = np.random.default_rng(11)
    x = rng.normal(size=(300, 5)).astype(np.float32)
    x[rng.random(x.shape) < 0.1] = np.nan
    score = np.nan_to_num(x[:, 0] * x[:, 1] + x[:, 2])
    y = score if "reg" in objective else np.digitize(score, [0] if "binary" in objective else [-1, 1])
    booster = xgb.train({"objective": objective, "max_depth": 5, **({"num_class": 3} if "multi" in objective else {})},
                        xgb.DMatrix(x, y), 30)
    booster.save_model(tmp_path / "m.json")
    write_csv(tmp_path / "d.csv", {**{f"f{i}": x[:20, i] for i in range(5)}, "y": y[:20]})
    write_csv(tmp_path / "z.csv", {f"f{i}": x[100:190, i] for i in range(5)})
    flags = ["explain", "--model", "m.json", "--data", "d.csv", "--target", "y", "--background", "z.csv", "--loss", loss,
             "--expected", "prediction", "--exact", "--quiet"]
    fast, rows = profile(*flags), profile(*flags, "--no-fast-lattice")
    assert (fast["provenance"]["engine"], rows["provenance"]["engine"]) == ("trees", "rows")

    def mean_loss(keep):
        hybrids = np.where(keep, x[:20, None], x[None, 100:190]).reshape(-1, 5)
        p = booster.predict(xgb.DMatrix(hybrids)).astype(float).reshape(20, 90, -1).mean(axis=1)
        if loss == "prediction":
            return -p.mean()
        if p.shape[1] == 1:
            error = p[:, 0] - y[:20]
            return np.mean(error ** 2 if loss == "squared" else abs(error)) if loss != "log" else -np.mean(
                np.log(np.where(y[:20] == 1, p[:, 0], 1 - p[:, 0])))
        if loss == "log":
            return -np.mean(np.log(p[np.arange(20), y[:20]]))
        return np.mean(np.sum((p - np.eye(3)[y[:20]]) ** 2, axis=1))

    empty = mean_loss(np.zeros(5, bool))
    for i in range(5):
        pi = empty - mean_loss(np.arange(5) == i)
        for found in (fast, rows):
            assert found["features"][i]["pi"]["value"] == pytest.approx(pi, abs=2e-5 * abs(empty) + 1e-6)
        for key in ("U", "Lmax", "last"):
            assert fast["features"][i][key]["value"] == pytest.approx(rows["features"][i][key]["value"], abs=2e-5 * abs(empty) + 1e-6)


def test_a_linear_mean_takes_the_whole_background_under_a_budget(profile, tmp_path):
    import xgboost as xgb
    rng = np.random.default_rng(12)
    x = rng.normal(size=(700, 3)).astype(np.float32)
    y = x[:, 0] + x[:, 1] * x[:, 2]
    xgb.train({"max_depth": 4}, xgb.DMatrix(x, y), 20).save_model(tmp_path / "m.json")
    write_csv(tmp_path / "d.csv", {**{f"f{i}": x[:, i] for i in range(3)}, "y": y})
    flags = ["explain", "--model", "m.json", "--data", "d.csv", "--target", "y", "--expected", "prediction", "--quiet"]
    assert profile(*flags, "--budget", 8 * 200)["provenance"]["background"]["averaged"] == 700
    assert profile(*flags, "--budget", 8 * 200, "--no-fast-lattice")["provenance"]["background"]["averaged"] == 512
