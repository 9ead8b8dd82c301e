"""`hifi explain --exact` on XGBoost models against brute force with XGBoost's own predict."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

from conftest import write_csv
from oracle import LOSSES, check

NAMES = ["a", "b", "c", "d"]


class Case:
    """A trained model, its file, a table of instances and the owner's predict."""

    def __init__(self, xgb, folder, objective, missing=0.0, rows=11, names=NAMES, suffix="json", seed=1):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(300, 4)).astype(np.float32)
        signal = x[:, 0] + x[:, 1] * x[:, 2] + 0.5 * (x[:, 3] > 0)
        x[:, 3] = np.round(x[:, 3])  # ties
        x[rng.random(x.shape) < missing] = np.nan
        truth = {"reg:squarederror": signal, "binary:logistic": signal > 0,
                 "multi:softprob": np.digitize(signal, [-0.5, 0.5])}[objective]
        settings = {"objective": objective, "max_depth": 3, "nthread": 1}
        if objective.startswith("multi"):
            settings["num_class"] = 3
        self.xgb, self.names = xgb, names
        self.booster = xgb.train(settings, xgb.DMatrix(x, truth, feature_names=names), 8)
        self.model = folder / f"model.{suffix}"
        self.booster.save_model(self.model)
        self.x, self.y = x[:rows].astype(float), truth[:rows].astype(float)
        self.other = x[20:27].astype(float)
        integers = not objective.startswith("reg")
        self.columns = {**dict(zip(NAMES, self.x.T)), "y": self.y.astype(int) if integers else self.y}
        self.data = write_csv(folder / "data.csv", self.columns)
        self.flags = ["--model", self.model, "--data", self.data, "--target", "y", "--exact"]

    def predict(self, rows):
        return self.booster.predict(self.xgb.DMatrix(rows, feature_names=self.names)).astype(float)


@pytest.fixture(params=["trees", "rows"])
def case(xgb, tmp_path, request):
    """Every test of it runs with whole lattices and with the row engine."""

    def make(objective="reg:squarederror", **options):
        made = Case(xgb, tmp_path, objective, **options)
        if request.param == "rows":
            made.flags.insert(0, "--no-fast-lattice")
        made.engine = request.param
        return made

    return make


@pytest.mark.parametrize("objective, loss", [
    ("reg:squarederror", "squared"), ("reg:squarederror", "absolute"), ("binary:logistic", "log"),
    ("binary:logistic", "brier"), ("binary:logistic", "zero-one"), ("binary:logistic", "squared"),
    ("multi:softprob", "log"), ("multi:softprob", "brier"), ("multi:softprob", "zero-one")])
@pytest.mark.parametrize("missing", [0, 0.3])
def test_losses(case, profile, objective, loss, missing):
    c = case(objective, missing=missing)
    found = profile("explain", *c.flags, "--loss", loss)
    check(found, c.predict, c.x, c.y, c.x, LOSSES[loss])
    assert found["loss"] == loss and found["measure"] == found["expected"] == "loss"
    assert found["coverage"] == {**found["coverage"], "coalitions": 16, "of": 16, "exhaustive": True, "draws": 121,
                                 "exact": True, "confidence": 0.95}


@pytest.mark.parametrize("objective, loss", [("reg:squarederror", "squared"), ("binary:logistic", "log"),
                                             ("multi:softprob", "log")])
def test_default_loss(case, profile, objective, loss):
    assert profile("explain", *case(objective).flags)["loss"] == loss


def test_ubj(case, hifi, tmp_path):
    results = []
    for suffix in ("json", "ubj"):
        c = case(suffix=suffix)
        found = json.loads(hifi("explain", *c.flags, "--json", "-").stdout)
        assert found["provenance"]["model"].pop("format") == f"xgboost-{suffix}"
        found["provenance"].pop("model")
        results.append(found)
    assert results[0] == results[1]


@pytest.mark.parametrize("objective, flags, sign, output", [
    ("reg:squarederror", [], -1, 0), ("binary:logistic", [], -1, 0), ("binary:logistic", ["--class", "1"], -1, 0),
    ("binary:logistic", ["--class", "0"], 1, 0), ("multi:softprob", ["--class", "2"], -1, 2)])
def test_prediction_game(case, profile, objective, flags, sign, output):
    c = case(objective)
    flags = [*c.flags, "--loss", "prediction", *flags]
    found = profile("explain", *flags)
    check(found, c.predict, c.x, c.y, c.x, lambda p, y: sign * p[:, output])
    assert found["loss"] == found["measure"] == "prediction"
    at = flags.index("--target")  # it needs no target; then y is no column of the model
    without = profile("explain", *flags[:at], *flags[at + 2:])
    assert without["features"] == found["features"]


def test_prediction_of_many_classes_needs_a_class(case, hifi):
    c = case("multi:softprob")
    assert "--class" in hifi("explain", *c.flags, "--loss", "prediction", code=3).stderr
    assert "0 to 2" in hifi("explain", *c.flags, "--loss", "prediction", "--class", "3", code=3).stderr


def test_features_the_rest_stays_as_in_the_instance(case, profile):
    c = case()
    found = profile("explain", *c.flags, "--features", "d,b")
    assert found["players"] == ["d", "b"] and found["coverage"]["of"] == 4
    check(found, c.predict, c.x, c.y, c.x, LOSSES["squared"], {"d": [3], "b": [1]})


def test_groups_move_together(case, profile, tmp_path):
    c = case()
    (tmp_path / "g.json").write_text('{"zz": ["c", "a"], "solo": ["b"]}')  # d is no player
    found = profile("explain", *c.flags, "--groups", "g.json")
    assert found["players"] == ["zz", "solo"]
    check(found, c.predict, c.x, c.y, c.x, LOSSES["squared"], {"zz": [2, 0], "solo": [1]})


def test_columns_are_matched_by_name(case, hifi, tmp_path):
    c = case()
    plain = hifi("explain", *c.flags, "--json", "-")
    assert "ignored" not in plain.stderr
    order = ["y", "d", "extra", "b", "a", "c", "words"]
    extra = {"extra": np.arange(11), "words": ["w"] * 11}
    write_csv(c.data, {name: {**c.columns, **extra}[name] for name in order})
    found = hifi("explain", *c.flags, "--json", "-")
    assert "extra, words" in found.stderr  # a note
    assert found.stdout == plain.stdout
    assert hifi("explain", *c.flags, "--json", "-", "--quiet").stderr == ""


def test_columns_are_matched_by_order(case, hifi, profile, tmp_path):
    c = case(names=None)
    found = profile("explain", *c.flags)
    check(found, c.predict, c.x, c.y, c.x, LOSSES["squared"])
    assert found["players"] == NAMES
    write_csv(c.data, {"extra": np.arange(11), **c.columns})
    assert "--features" in hifi("explain", *c.flags, code=3).stderr
    named = profile("explain", *c.flags, "--features", "a,b,c,d")
    assert named["features"] == found["features"]


def test_parquet_and_feather(case, hifi):
    c = case(missing=0.2)
    csv = json.loads(hifi("explain", *c.flags, "--json", "-").stdout)
    nulls = {name: [None if np.isnan(v) else v for v in values] for name, values in c.columns.items()}
    for suffix, write in (("parquet", pa.parquet.write_table), ("feather", pa.feather.write_feather)):
        path = c.data.with_suffix("." + suffix)
        write(pa.table(nulls), str(path))
        flags = [path if word == c.data else word for word in c.flags]
        found = json.loads(hifi("explain", *flags, "--json", "-").stdout)
        assert found["provenance"]["data"]["hash"] == csv["provenance"]["data"]["hash"]
        assert found["features"] == csv["features"] and found["pairs"] == csv["pairs"]


def test_text_columns_with_the_categories_of_the_model(xgb, profile, hifi, tmp_path):
    rng = np.random.default_rng(4)
    colours = ["red", "green", "blue", "dark red"]
    codes = rng.integers(0, 4, 200)
    size = rng.normal(size=200).astype(np.float32)
    truth = size + 2 * (codes == 1) - (codes == 2) * size

    def frame(size, codes):
        colour = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(colours))
        return pa.table({"size": pa.array(size, pa.float32()), "colour": colour})

    booster = xgb.train({"nthread": 1, "max_cat_to_onehot": 2},
                        xgb.DMatrix(frame(size, codes), truth, enable_categorical=True), 6)
    booster.save_model(tmp_path / "m.json")

    def predict(rows):
        table = frame(rows[:, 0].astype(np.float32), rows[:, 1].astype(int))
        return booster.predict(xgb.DMatrix(table, enable_categorical=True)).astype(float)

    x = np.stack([size[:9].astype(float), codes[:9]], axis=1)
    words = [colours[k] for k in codes[:9]]
    write_csv(tmp_path / "d.csv", {"colour": words, "size": x[:, 0], "y": truth[:9]})
    flags = ["--model", "m.json", "--data", "d.csv", "--target", "y", "--exact"]
    found = profile("explain", *flags)
    assert found["players"] == ["size", "colour"]
    check(found, predict, x, truth[:9], x, LOSSES["squared"])
    write_csv(tmp_path / "z.csv", {"size": x[:3, 0], "colour": ["blue", "blue", "red"]})
    z = np.stack([x[:3, 0], [2, 2, 0]], axis=1)
    check(profile("explain", *flags, "--background", "z.csv"), predict, x, truth[:9], z, LOSSES["squared"])
    write_csv(tmp_path / "d.csv", {"colour": ["mauve", *words[1:]], "size": x[:, 0], "y": truth[:9]})
    error = hifi("explain", *flags, code=3).stderr
    assert "mauve" in error and "dark red" in error and "data row 1 (line 2)" in error


def test_text_without_categories_is_refused(case, hifi):
    c = case()
    write_csv(c.data, {**c.columns, "b": ["x"] * 11})
    assert '"b"' in hifi("explain", *c.flags, code=3).stderr


def test_labels_of_the_truth(case, hifi, profile):
    c = case("binary:logistic")
    plain = profile("explain", *c.flags)
    words = ["no" if v == 0 else "yes" for v in c.y]
    write_csv(c.data, {**c.columns, "y": words})
    error = hifi("explain", *c.flags, code=3).stderr
    assert "no, yes" in error and "--classes no,yes" in error
    assert profile("explain", *c.flags, "--classes", "no,yes")["features"] == plain["features"]
    turned = profile("explain", *c.flags, "--classes", "yes,no")
    check(turned, c.predict, c.x, 1 - c.y, c.x, LOSSES["log"])
    assert "none of the classes" in hifi("explain", *c.flags, "--classes", "no,maybe", code=3).stderr
    assert "3 classes" in hifi("explain", *c.flags, "--classes", "a,b,c", code=3).stderr
    write_csv(c.data, {**c.columns, "y": ["true" if v else "false" for v in c.y]})
    assert profile("explain", *c.flags)["features"] == plain["features"]


def test_truth_that_does_not_fit(case, hifi):
    c = case("binary:logistic")
    for value, word in ((2, "2 is no class"), (-1, "-1 is no class"), (0.5, "0.5 is no class"), ("", "missing")):
        write_csv(c.data, {**c.columns, "y": [0, value, *c.y[2:].astype(int)]})
        error = hifi("explain", *c.flags, code=3).stderr
        assert word in error and '"y"' in error and "data row 2 (line 3)" in error
    c = case()
    write_csv(c.data, {**c.columns, "y": ["inf", *c.y[1:]]})
    assert "infinite" in hifi("explain", *c.flags, code=3).stderr
    at = c.flags.index("--target")
    assert "--target" in hifi("explain", *c.flags[:at], *c.flags[at + 2:], code=2).stderr


def test_loss_that_does_not_fit(case, hifi):
    for loss in ("log", "brier", "zero-one"):
        assert "reg:squarederror" in hifi("explain", *case().flags, "--loss", loss, code=3).stderr
    assert "3" in hifi("explain", *case("multi:softprob").flags, "--loss", "squared", code=3).stderr


def test_check_predictions(case, hifi, tmp_path):
    c = case()
    owner = [float(v) for v in c.predict(c.x)]
    flags = ["explain", *c.flags, "--check-predictions", "p.csv", "--quiet"]
    path = tmp_path / "p.csv"
    write_csv(path, {"prediction": owner})
    hifi(*flags)
    write_csv(path, {"0": owner})  # as pandas names it
    hifi(*flags)
    path.write_text("\n".join(f"{v:.7g}" for v in owner))  # bare numbers
    hifi(*flags)
    write_csv(path, {"prediction": [*owner[:4], owner[4] + 0.01, *owner[5:]]})
    error = hifi(*flags, code=4).stderr
    assert "p.csv" in error and "data row 5" in error
    write_csv(path, {"prediction": owner[1:]})
    error = hifi(*flags, code=3).stderr
    assert "10 rows" in error and "11" in error
    write_csv(path, {"prediction": ["x"] * 11})
    assert "p.csv" in hifi(*flags, code=3).stderr
    write_csv(path, {"p": owner, "q": owner})
    assert "2 columns" in hifi(*flags, code=3).stderr
    path.unlink()
    assert "p.csv" in hifi(*flags, code=3).stderr


def test_check_predictions_of_classes(case, hifi, tmp_path):
    c = case("multi:softprob")
    owner = c.predict(c.x)
    flags = ["explain", *c.flags, "--check-predictions", "p.csv", "--quiet"]
    write_csv(tmp_path / "p.csv", dict(zip("012", owner.T)))
    hifi(*flags)
    np.savetxt(tmp_path / "p.csv", owner, delimiter=",")
    hifi(*flags)
    write_csv(tmp_path / "p.csv", dict(zip("abc", owner.T[[1, 0, 2]])))
    hifi(*flags, code=4)


@pytest.mark.parametrize("budget, draws", [(32 * 16, 32), (40 * 16 + 15, 40), (120 * 16, 120), (121 * 16, 121),
                                           (10 ** 9, 121)])
def test_budget(case, profile, budget, draws):
    c = case()
    coverage = profile("explain", *c.flags[:-1], "--budget", budget)["coverage"]
    assert coverage["draws"] == draws and coverage["exact"] == (draws == 121) and coverage["exhaustive"]


def test_all_pairs_by_budget_are_the_exact_run(case, hifi):
    c = case()
    exact = json.loads(hifi("explain", *c.flags, "--json", "-").stdout)
    default = json.loads(hifi("explain", *c.flags[:-1], "--json", "-").stdout)
    assert default == exact


def test_budget_too_small(case, hifi):
    c = case()
    assert "512" in hifi("explain", *c.flags[:-1], "--budget", 511, code=3).stderr  # names the minimum


def test_seed_changes_a_sampled_run_only(case, profile):
    c = case(rows=40)
    values = [profile("explain", *c.flags[:-1], "--budget", 16 * 100, "--seed", s)["features"][0]["pi"]["value"]
              for s in (0, 1, 0)]
    assert values[0] == values[2] != values[1]
    exact = profile("explain", *c.flags)["features"][0]["pi"]["value"]
    assert values[0] == pytest.approx(exact, rel=0.8)
    assert exact == pytest.approx(profile("explain", *c.flags, "--seed", 5)["features"][0]["pi"]["value"], rel=1e-7)


def test_provenance(case, profile):
    c = case()
    p = profile("explain", *c.flags, "--seed", 3)["provenance"]
    assert p["seed"] == 3 and p["version"] and p["model"]["hash"] and p["data"]["hash"] and p["background"]["hash"]
    assert p["engine"] == c.engine
    assert p["data"]["rows"] == 11 and p["background"]["rows"] == 11 and p["model"]["objective"] == "reg:squarederror"


def test_plan_is_printed_before_the_run_unless_quiet(case, hifi):
    c = case()
    talk = hifi("explain", *c.flags)
    assert "16 coalitions x 121 draws" in talk.stderr and "evaluations" in talk.stderr and "hash" in talk.stderr
    assert "a" in talk.stdout and "\r" not in talk.stderr
    quiet = hifi("explain", *c.flags, "--quiet")
    assert quiet.stdout == quiet.stderr == ""
    planned = hifi("plan", *c.flags)
    assert "16 coalitions x 121 draws" in planned.stdout and planned.stderr == ""


def test_real_tables(shared, xgb, profile, tmp_path):
    """California housing, 8 columns, 30 instances."""
    table = pa.csv.read_csv(shared / "data" / "tabular" / "california_housing.csv")
    names = table.column_names[:-1]
    x = np.stack([table[name].to_numpy() for name in names], axis=1)
    y = table["MedHouseVal"].to_numpy()
    booster = xgb.train({"nthread": 1, "max_depth": 6}, xgb.DMatrix(x[::7], y[::7], feature_names=names), 30)
    booster.save_model(tmp_path / "m.ubj")
    x, y = x[3::700], y[3::700]
    write_csv(tmp_path / "d.csv", {**dict(zip(names, x.T)), "MedHouseVal": y})
    found = profile("explain", "--model", "m.ubj", "--data", "d.csv", "--target", "MedHouseVal", "--exact")
    check(found, lambda rows: booster.predict(xgb.DMatrix(rows, feature_names=names)).astype(float), x, y, x,
          LOSSES["squared"])


def test_plan_of_a_single_draw(hifi, tmp_path):
    data = write_csv(tmp_path / "one.csv", {"a": [1.0], "b": [2.0], "y": [3.0]})
    words = ["--model", "process:awk -F, 'NR>1{print $1+$2}'", "--data", data, "--target", "y", "--background", "mean"]
    assert "4 coalitions x 1 draw (" in hifi("plan", *words, "--exact").stdout
