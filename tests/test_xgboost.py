"""Our predictions against the owner's. Needs build/release/predict_model (or PREDICT_MODEL)."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

import xgboost_cases as cases

ROOT = pathlib.Path(__file__).resolve().parent
TOOL = os.environ.get("PREDICT_MODEL", str(ROOT.parent / "build" / "release" / "predict_model"))
FIXTURES = ROOT / "fixtures" / "xgboost"


def run(model, rows_file):
    return subprocess.run([TOOL, str(model), str(rows_file)], capture_output=True, text=True, timeout=60)


def ours(folder, model, x):
    rows = folder / "rows.csv"
    np.savetxt(rows, x, fmt="%.9g", delimiter=",")
    result = run(model, rows)
    assert result.returncode == 0, result.stderr
    lines = [[float(cell) for cell in line.split(",")] for line in result.stdout.splitlines()]
    return np.array(lines, np.float32)


def compare(xgb, folder, booster, x, types=None, suffixes=("json", "ubj")):
    for suffix in suffixes:
        path = folder / f"model.{suffix}"
        booster.save_model(path)
        owner = xgb.Booster({"nthread": 1}, model_file=path)
        data = xgb.DMatrix(x, feature_types=types, feature_names=owner.feature_names, enable_categorical=True)
        expected = owner.predict(data)
        found = ours(folder, path, x)
        np.testing.assert_array_equal(found, expected.reshape(len(x), -1))  # to the bit


@pytest.fixture
def xgb():
    return pytest.importorskip("xgboost")


OBJECTIVES = [
    "reg:squarederror",
    "reg:squaredlogerror",
    "reg:absoluteerror",
    "reg:pseudohubererror",
    "reg:logistic",
    "reg:gamma",
    "reg:tweedie",
    "count:poisson",
    "rank:pairwise",
    "rank:ndcg",
    "rank:map",
    "binary:logistic",
    "binary:logitraw",
    "binary:hinge",
    "multi:softprob",
]


@pytest.mark.parametrize("booster", ["gbtree", "dart"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_objectives(xgb, tmp_path, objective, booster):
    parameters = {"booster": booster, "max_depth": 5}
    if booster == "dart":
        parameters["rate_drop"] = 0.4
    x, _ = cases.make_data(seed=2)
    compare(xgb, tmp_path, cases.train(xgb, objective, parameters, rounds=60), x)


@pytest.mark.parametrize("objective", ["reg:squarederror", "binary:logistic", "multi:softprob", "count:poisson"])
@pytest.mark.parametrize("score", [0.3, 0.77])
def test_base_score(xgb, tmp_path, objective, score):
    x, _ = cases.make_data(seed=2)
    compare(xgb, tmp_path, cases.train(xgb, objective, {"base_score": score}), x)


def test_base_score_at_the_ends(xgb, tmp_path):
    x, _ = cases.make_data()
    for label in (0, 1):
        for objective in ("binary:logistic", "reg:logistic"):
            data = xgb.DMatrix(x, np.full(len(x), label))
            compare(xgb, tmp_path, xgb.train({"objective": objective}, data, 2), x)
    data = xgb.DMatrix(x, np.zeros(len(x)))
    compare(xgb, tmp_path, xgb.train({"objective": "count:poisson"}, data, 2), x)


def test_quantile(xgb, tmp_path):
    x, _ = cases.make_data(seed=2)
    compare(xgb, tmp_path, cases.train(xgb, "reg:quantileerror", {"quantile_alpha": 0.7}), x)


def test_softmax_gives_the_probabilities(xgb, tmp_path):
    x, _ = cases.make_data(seed=2)
    booster = cases.train(xgb, "multi:softmax")
    booster.save_model(tmp_path / "model.json")
    found = ours(tmp_path, tmp_path / "model.json", x)
    np.testing.assert_array_equal(found.argmax(axis=1), booster.predict(xgb.DMatrix(x, feature_types=cases.NUMBERS)))
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("onehot", [1, 100])
@pytest.mark.parametrize("objective", ["reg:squarederror", "binary:logistic", "multi:softprob"])
def test_categories(xgb, tmp_path, objective, onehot):
    x, _ = cases.make_data(seed=2)
    booster = cases.train(xgb, objective, {"max_cat_to_onehot": onehot, "max_depth": 5}, 30, cases.CATEGORIES)
    compare(xgb, tmp_path, booster, cases.edge_rows(x), cases.CATEGORIES)


@pytest.mark.parametrize("parameters", [
    {"num_parallel_tree": 4, "subsample": 0.6, "learning_rate": 1},
    {"max_depth": 0, "max_leaves": 60, "grow_policy": "lossguide", "min_child_weight": 0},
    {"max_depth": 30, "min_child_weight": 0},
    {"tree_method": "exact", "gamma": 3, "max_depth": 8},
    {"tree_method": "approx"},
    {"max_depth": 1},
    {"min_child_weight": 1e9},
])
def test_shapes_of_trees(xgb, tmp_path, parameters):
    x, _ = cases.make_data(seed=2)
    for objective in ("reg:squarederror", "multi:softprob"):
        compare(xgb, tmp_path, cases.train(xgb, objective, parameters, 12), x)


def test_numbers_of_rows(xgb, tmp_path):
    x, _ = cases.make_data(seed=2)
    compare(xgb, tmp_path, cases.train(xgb, "binary:logistic", rounds=40), np.nan_to_num(x))
    for count in (1, 7, 63, 64, 65, 129):
        compare(xgb, tmp_path, cases.train(xgb, "binary:logistic", rounds=3), x[:count])


def test_values_at_thresholds(xgb, tmp_path):
    booster = cases.train(xgb, "reg:squarederror", rounds=30)
    booster.save_model(tmp_path / "m.json")
    trees = json.loads((tmp_path / "m.json").read_text())["learner"]["gradient_booster"]["model"]["trees"]
    cuts = np.float32([c for t in trees for c, left in zip(t["split_conditions"], t["left_children"]) if left >= 0])
    values = np.concatenate([cuts, np.nextafter(cuts, np.float32(9)), np.nextafter(cuts, np.float32(-9))])
    compare(xgb, tmp_path, booster, np.random.default_rng(3).choice(values, (500, 6)).astype(np.float32))


@pytest.mark.parametrize("objective", ["binary:logistic", "count:poisson", "multi:softprob", "binary:hinge"])
def test_extreme_margins(xgb, tmp_path, objective):
    """Leaves set by hand to where exp overflows, underflows or is subnormal."""
    booster = cases.train(xgb, objective, {"max_depth": 6, "base_score": 0.5}, rounds=8)
    booster.save_model(tmp_path / "m.json")
    model = json.loads((tmp_path / "m.json").read_text())
    extremes = [0, 1e-30, 9, 17, 30, 60, 86, 87.3, 88, 88.7, 88.73, 89, 100, 103.9, 110, 1000, 3e38]
    rng = np.random.default_rng(5)
    for number, tree in enumerate(model["learner"]["gradient_booster"]["model"]["trees"]):
        for node, left in enumerate(tree["left_children"]):
            if left < 0:
                extreme = float(rng.choice(extremes) * rng.choice([-1, 1]))
                tree["split_conditions"][node] = extreme if number < 4 else 0.0
    (tmp_path / "m.json").write_text(json.dumps(model))
    x, _ = cases.make_data(rows=2000, seed=2)
    with np.errstate(all="ignore"):
        compare(xgb, tmp_path, xgb.Booster(model_file=tmp_path / "m.json"), x)


def test_early_stopping_does_not_change_predict(xgb, tmp_path):
    x, signal = cases.make_data()
    train, held = xgb.DMatrix(x[:60], signal[:60]), xgb.DMatrix(x[60:], signal[60:])
    booster = xgb.train({"eta": 0.9, "max_depth": 8}, train, 60, evals=[(held, "held")], early_stopping_rounds=8,
                        verbose_eval=False)
    assert booster.best_iteration + 1 < booster.num_boosted_rounds()
    compare(xgb, tmp_path, booster, x)


def test_slice_and_continued_training(xgb, tmp_path):
    x, signal = cases.make_data()
    booster = cases.train(xgb, "reg:squarederror", rounds=12)
    compare(xgb, tmp_path, booster[2:9], x)
    more = xgb.train({"max_depth": 2}, xgb.DMatrix(x, signal, feature_types=cases.NUMBERS), 3, xgb_model=booster)
    compare(xgb, tmp_path, more, x)


def refused(folder, booster, *words):
    for suffix in ("json", "ubj"):
        path = folder / f"model.{suffix}"
        booster.save_model(path)
        (folder / "rows.csv").write_text("0,0,0,0,0,0\n")
        result = run(path, folder / "rows.csv")
        assert result.returncode == 3 and result.stdout == ""
        for word in words:
            assert word in result.stderr
        assert result.stderr.startswith(str(path))


def test_refused_by_name(xgb, tmp_path):
    x, signal = cases.make_data()
    refused(tmp_path, cases.train(xgb, "binary:logistic", rounds=0), "no trees")
    two = np.stack([signal, -signal], axis=1)
    refused(tmp_path, xgb.train({"booster": "gblinear"}, xgb.DMatrix(np.nan_to_num(x), signal), 2), "gblinear")
    refused(tmp_path, xgb.train({}, xgb.DMatrix(x, two), 2), "2 targets")
    vector = {"multi_strategy": "multi_output_tree", "tree_method": "hist"}
    refused(tmp_path, xgb.train(vector, xgb.DMatrix(x, two), 2), "2 targets")
    quantiles = {"quantile_alpha": [0.1, 0.9]}
    refused(tmp_path, cases.train(xgb, "reg:quantileerror", quantiles), "2 targets")
    refused(tmp_path, xgb.train({"objective": "survival:cox"}, xgb.DMatrix(x, np.abs(signal) + 1), 2), "survival:cox")
    aft = xgb.DMatrix(x)
    aft.set_float_info("label_lower_bound", np.abs(signal) + 1)
    aft.set_float_info("label_upper_bound", np.abs(signal) + 2)
    refused(tmp_path, xgb.train({"objective": "survival:aft"}, aft, 2), "survival:aft")
    vector["num_class"] = 4
    try:
        classes = cases.train(xgb, "multi:softprob", vector)
    except xgb.core.XGBoostError:
        pytest.skip("this XGBoost has no vector leaves for classes")
    refused(tmp_path, classes, "tree 0", "vectors as leaves")


def test_dumps_are_refused(xgb, tmp_path):
    booster = cases.train(xgb, "reg:squarederror")
    (tmp_path / "rows.csv").write_text("0,0,0,0,0,0\n")
    for kind in ("text", "json"):
        booster.dump_model(tmp_path / "dump", dump_format=kind)
        result = run(tmp_path / "dump", tmp_path / "rows.csv")
        assert result.returncode == 3 and "dump" in result.stderr and "save_model" in result.stderr


def fixture_names():
    return sorted(str(p.relative_to(FIXTURES)) for p in FIXTURES.glob("*/*.predictions.csv"))


@pytest.mark.parametrize("name", fixture_names())
def test_files_of_older_versions(tmp_path, name):
    folder = (FIXTURES / name).parent
    stem = (FIXTURES / name).name.removesuffix(".predictions.csv")
    expected = np.loadtxt(FIXTURES / name, delimiter=",", ndmin=2).astype(np.float32)
    for suffix in ("json", "ubj"):
        model = folder / f"{stem}.{suffix}"
        result = run(model, FIXTURES / "rows.csv")
        assert result.returncode == 0, result.stderr
        found = np.array([line.split(",") for line in result.stdout.splitlines()], np.float32)
        np.testing.assert_array_equal(found, expected)


def test_fixtures_are_there():
    assert {name.split("/")[0] for name in fixture_names()} == {"1.7.6", "2.1.4", "3.0.5", "3.2.0"}
