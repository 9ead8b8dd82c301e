"""LightGBM models: predictions to the bit against their owner, whole lattices, files that are refused."""

import itertools
import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

lgb = pytest.importorskip("lightgbm")
BUILD = Path(__file__).parent.parent / "build" / "release"
TOOL = os.environ.get("PREDICT_MODEL", str(BUILD / "predict_model"))
QUIET = {"verbose": -1, "num_threads": 1, "deterministic": True, "min_data_in_leaf": 5}


def make_data(rows=600, seed=1):
    """Numbers, one with many exact zeros, category codes, some values missing."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 6))
    x[:, 2] *= rng.random(rows) < 0.6
    x[:, 3] = rng.integers(0, 4, rows)
    x[:, 5] = rng.integers(0, 70, rows)
    signal = 2 * x[:, 0] + x[:, 1] ** 2 + x[:, 5] % 3 + (x[:, 3] > 1) + 2 * (x[:, 2] == 0)
    x[rng.random(x.shape) < 0.08] = np.nan
    return x, signal + rng.normal(size=rows) * 0.2


def extreme_rows(x, booster):
    """Ordinary rows, thresholds and their neighbours, and values that no training saw."""
    rng = np.random.default_rng(7)
    strange = [0, -0.0, 1e-36, -1e-36, 1e-35, 2e-35, 1e300, -1e300, np.inf, -np.inf, np.nan, -1, -0.5, 69.999, 70, 96, 2**31, 1e10]
    nodes = booster.trees_to_dataframe()
    cuts = [float(t) for t in nodes["threshold"].dropna() if "||" not in str(t) and str(t) not in ("nan", "None")]
    near = [v for t in cuts[:300] for v in (t, np.nextafter(t, 9e99), np.nextafter(t, -9e99))]
    pool = np.array(strange + near)
    return np.concatenate([x, rng.choice(strange, (300, x.shape[1])), rng.choice(pool, (300, x.shape[1]))])


def ours(folder, model, x):
    rows = folder / "rows.csv"
    np.savetxt(rows, x, fmt="%.17g", delimiter=",")
    result = subprocess.run([TOOL, str(model), str(rows)], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    return np.array([[float(cell) for cell in line.split(",")] for line in result.stdout.splitlines()])


def compare(folder, booster, x, rows=None):
    path = folder / "model.txt"
    booster.save_model(path)
    owner = lgb.Booster(model_file=path)
    rows = extreme_rows(x, booster) if rows is None else rows
    expected = owner.predict(rows, num_threads=1).reshape(len(rows), -1)
    np.testing.assert_array_equal(ours(folder, path, rows), expected)


def target(objective, signal):
    if objective in ("poisson", "gamma", "tweedie"):
        return np.floor(np.exp(signal / 4)) + 1
    if objective in ("multiclass", "multiclassova"):
        return np.digitize(signal, [0.5, 2, 3.5])
    if objective in ("binary", "lambdarank", "rank_xendcg"):
        return (signal > 2).astype(int)
    if objective.startswith("cross_entropy"):
        return 1 / (1 + np.exp(-signal))
    return signal


def train(objective, parameters=None, rounds=12, data=None, categorical="auto"):
    x, signal = make_data() if data is None else data
    settings = {**QUIET, "objective": objective, "num_leaves": 15}
    if objective.startswith("multiclass"):
        settings["num_class"] = 4
    settings.update(parameters or {})
    group = [100] * 6 if objective in ("lambdarank", "rank_xendcg") else None
    return lgb.train(settings, lgb.Dataset(x, target(objective, signal), group=group, categorical_feature=categorical), rounds)


OBJECTIVES = ["regression", "regression_l1", "huber", "fair", "poisson", "quantile", "mape", "gamma", "tweedie", "binary",
              "multiclass", "multiclassova", "cross_entropy", "cross_entropy_lambda", "lambdarank", "rank_xendcg"]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_objectives(tmp_path, objective):
    compare(tmp_path, train(objective), make_data(seed=2)[0])


@pytest.mark.parametrize("parameters", [
    {"zero_as_missing": True},
    {"use_missing": False},
    {"boosting": "dart", "drop_rate": 0.5},
    {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5},
    {"reg_sqrt": True},
    {"num_leaves": 200, "min_data_in_leaf": 1, "max_bin": 1000},
    {"max_depth": 1},
    {"min_data_in_leaf": 10000},
    {"extra_trees": True, "path_smooth": 2},
])
def test_shapes_of_trees(tmp_path, parameters):
    compare(tmp_path, train("regression", parameters), make_data(seed=2)[0])


@pytest.mark.parametrize("parameters", [{}, {"zero_as_missing": True}, {"use_missing": False}, {"max_cat_to_onehot": 100}])
@pytest.mark.parametrize("objective", ["regression", "binary", "multiclass"])
def test_categories(tmp_path, objective, parameters):
    settings = {"min_data_per_group": 1, "cat_smooth": 1, "cat_l2": 1, **parameters}
    booster = train(objective, settings, categorical=[3, 5])
    assert "cat_threshold=" in booster.model_to_string()
    compare(tmp_path, booster, make_data(seed=2)[0])


def test_sigmoid_and_rf_of_classes(tmp_path):
    x, _ = make_data(seed=2)
    compare(tmp_path, train("binary", {"sigmoid": 0.3, "is_unbalance": True}), x)
    compare(tmp_path, train("multiclassova", {"sigmoid": 2.5}), x)
    compare(tmp_path, train("multiclass", {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}), x)


def test_custom_objective_is_raw(tmp_path):
    x, signal = make_data()
    loss = lambda scores, data: (scores - data.get_label(), np.ones(len(scores)))  # noqa: E731
    compare(tmp_path, lgb.train({**QUIET, "objective": loss}, lgb.Dataset(x, signal), 5), x)


def test_extreme_leaves(tmp_path):
    """Leaves set by hand to where exp overflows or underflows."""
    x, _ = make_data(seed=2)
    for objective in ("binary", "poisson", "multiclass", "cross_entropy_lambda"):
        booster = train(objective, {"num_leaves": 6}, 3)
        for tree in range(booster.num_trees()):
            for leaf, value in enumerate([-800, -40, -1e-300, 1e-17, 36.7, 709]):
                try:
                    booster.set_leaf_output(tree, leaf, value)
                except lgb.basic.LightGBMError:
                    break
        compare(tmp_path, booster, x)


def test_continued_training_and_early_stopping(tmp_path):
    x, signal = make_data()
    first = train("regression", {"use_missing": False}, 4)
    more = lgb.train({**QUIET, "objective": "regression", "zero_as_missing": True}, lgb.Dataset(x, signal), 4, init_model=first)
    compare(tmp_path, more, x)


# ---- the command line


def hifi(*arguments):
    return subprocess.run([str(BUILD / "hifi"), *map(str, arguments)], capture_output=True, text=True, timeout=120)


def pandas_case(folder):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    rows = 400
    frame = pd.DataFrame({
        "size": rng.normal(size=rows),
        "town": pd.Categorical(rng.choice(["Rome", "Ulm", "Ypern"], rows)),
        "zone": pd.Categorical(rng.choice([10, 20, 70], rows)),
        "age": np.where(rng.random(rows) < 0.2, np.nan, rng.normal(size=rows)),
    })
    y = frame["size"] + 2 * (frame["town"] == "Ulm") * (frame["zone"] == 20) + frame["age"].fillna(1)
    settings = {**QUIET, "objective": "regression", "min_data_per_group": 1, "cat_smooth": 1, "num_leaves": 12}
    booster = lgb.train(settings, lgb.Dataset(frame, y), 20)
    booster.save_model(folder / "model.txt")
    table = frame.head(12).assign(y=y.head(12))
    table.to_csv(folder / "data.csv", index=False)
    return lgb.Booster(model_file=folder / "model.txt"), table


def losses_of(folder, *flags):
    out = folder / "run.hifi"
    result = hifi("explain", "--model", folder / "model.txt", "--data", folder / "data.csv", "--target", "y", "--exact",
                  "--out", out, "--json", "-", *flags)
    assert result.returncode == 0, result.stderr
    out.unlink()
    return json.loads(result.stdout)


def test_lattice_of_a_model_with_categories(tmp_path):
    """Names, texts and integers as categories; fast lattice = row engine = brute force through the owner."""
    owner, table = pandas_case(tmp_path)
    names = ["size", "town", "zone", "age"]
    x = table[names]
    lattice = {}
    for coalition in itertools.product([0, 1], repeat=4):
        total = 0.0
        for row in range(len(x)):
            hybrid = x.copy()
            for name, inside in zip(names, coalition):
                if inside:
                    hybrid[name] = x[name].iloc[[row] * len(x)].array
            total += np.sum((owner.predict(hybrid) - table["y"].iloc[row]) ** 2)
        lattice[coalition] = total / len(x) ** 2
    full, empty = lattice[1, 1, 1, 1], lattice[0, 0, 0, 0]
    scale = max(lattice.values())
    for flags in ([], ["--no-fast-lattice"]):
        profile = losses_of(tmp_path, *flags)
        assert profile["provenance"]["model"]["format"] == "lightgbm"
        assert profile["provenance"]["engine"] == ("rows" if flags else "trees")
        assert profile["players"] == names
        for i, feature in enumerate(profile["features"]):
            gains = [lattice[c] - lattice[tuple(1 if k == i else v for k, v in enumerate(c))]
                     for c in lattice if c[i] == 0]
            only = tuple(1 if k == i else 0 for k in range(4))
            rest = tuple(0 if k == i else 1 for k in range(4))
            expected = {"U": min(gains), "Lmax": max(gains), "pi": empty - lattice[only], "last": lattice[rest] - full}
            for name, value in expected.items():
                assert feature[name]["value"] == pytest.approx(value, abs=(1e-9 if flags else 2e-5) * scale)


def test_check_predictions(tmp_path):
    owner, table = pandas_case(tmp_path)
    predictions = owner.predict(table.drop(columns="y"))
    np.savetxt(tmp_path / "right.csv", predictions, header="p", comments="", fmt="%.17g")
    np.savetxt(tmp_path / "wrong.csv", predictions + 0.01, header="p", comments="", fmt="%.17g")
    losses_of(tmp_path, "--check-predictions", tmp_path / "right.csv")
    result = hifi("explain", "--model", tmp_path / "model.txt", "--data", tmp_path / "data.csv", "--target", "y",
                  "--check-predictions", tmp_path / "wrong.csv")
    assert result.returncode == 4 and result.stdout == ""


# ---- what is refused


def refused(folder, text, *words):
    path = folder / "bad.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    (folder / "rows.csv").write_text("0,0,0,0,0,0\n")
    result = subprocess.run([TOOL, str(path), str(folder / "rows.csv")], capture_output=True, text=True, timeout=60)
    assert result.returncode == 3 and result.stdout == "", (result.returncode, result.stderr)
    assert result.stderr.startswith(str(path))
    for word in words:
        assert word in result.stderr, result.stderr


@pytest.fixture(scope="module")
def model_text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "m.txt"
    train("regression", {"min_data_per_group": 1, "cat_smooth": 1}, 3, categorical=[3, 5]).save_model(path)
    return path.read_text()


def test_refused_by_name(tmp_path):
    x, signal = make_data()
    x = np.nan_to_num(x)
    linear = lgb.train({**QUIET, "objective": "regression", "linear_tree": True}, lgb.Dataset(x, signal), 2)
    linear.save_model(tmp_path / "linear.txt")
    refused(tmp_path, (tmp_path / "linear.txt").read_text(), "tree 0", "linear trees")


def test_refused_texts(tmp_path, model_text):
    changes = [
        ("objective=regression", "objective=magic", ["unknown objective", "magic"]),
        ("objective=regression", "objective=multiclass num_class:4", ["multiclass with 1 outputs"]),
        ("version=v4", "version=v9", ["v9"]),
        ("max_feature_idx=5", "max_feature_idx=2", ["feature names"]),
        ("max_feature_idx=5", "max_feature_idx=-1", ["max_feature_idx"]),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=2", ["3 trees for 2 outputs"]),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=0", ["outputs"]),
        ("num_leaves=", "num_leaves=9", ["tree 0"]),
        ("num_leaves=", "num_leaves=99999999999999999999", ["tree 0", "num_leaves"]),
        ("left_child=@ ", "left_child=0 ", ["tree 0", "two parents"]),
        ("left_child=@ ", "left_child=999 ", ["tree 0", "does not exist"]),
        ("left_child=@ ", "left_child=-999 ", ["tree 0", "does not exist"]),
        ("left_child=@ ", "left_child=x ", ["tree 0", "left_child"]),
        ("left_child=@ ", "left_child=", ["tree 0", "left_child"]),
        ("split_feature=", "split_feature=7 ", ["tree 0"]),
        ("leaf_value=", "leaf_value=nan ", ["tree 0"]),
        ("end of trees", "", ["cut short"]),
        ("pandas_categorical:null", "pandas_categorical:[[\"a\"]]", ["pandas_categorical"]),
        ("pandas_categorical:null", "pandas_categorical:{", ["pandas_categorical"]),
    ]
    for old, new, words in changes:
        pattern = re.escape(old).replace("@", "[-0-9]+")
        broken, count = re.subn(pattern, new, model_text, count=1)
        assert count == 1, old
        refused(tmp_path, broken, *words)


def test_category_sets_that_lie(tmp_path, model_text):
    head, line = model_text.split("cat_boundaries=", 1)
    for bad in ("cat_boundaries=0 9999", "cat_boundaries=5 1", "cat_boundaries=-3 1", "cat_boundaries=0"):
        refused(tmp_path, head + bad + "\n" + line.split("\n", 1)[1], "cat")


def test_cut_files(tmp_path, model_text):
    end = model_text.index("end of trees")
    for length in sorted({6, 20, 100, 300, *range(400, end, max(1, end // 12))}):
        refused(tmp_path, model_text[:length])
    refused(tmp_path, b"tree\nversion=v4\n\x00\xff\xfe=\n")
