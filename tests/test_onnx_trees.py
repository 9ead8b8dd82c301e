"""ONNX tree ensembles: predictions against onnxruntime, whole lattices, several inputs, files that are refused."""

import itertools
import json
import os
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

ort = pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

BUILD = Path(__file__).parent.parent / "build" / "release"
TOOL = os.environ.get("PREDICT_MODEL", str(BUILD / "predict_model"))
ort.set_default_logger_severity(4)
ML = "ai.onnx.ml"


def predict(folder, model, x, output=None, code=0):
    (folder / "model.onnx").write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
    np.savetxt(folder / "rows.csv", x, fmt="%.17g", delimiter=",")
    result = subprocess.run([TOOL, str(folder / "model.onnx"), str(folder / "rows.csv"), "0", output or ""],
                            capture_output=True, text=True, timeout=60)
    assert result.returncode == code, result.stderr
    if code:
        assert result.stdout == ""
        return result.stderr
    return np.array([[float(cell) for cell in line.split(",")] for line in result.stdout.splitlines()])


def judge(model, inputs, output=None):
    """What onnxruntime answers: the named output, or the one that we would choose."""
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    if not isinstance(inputs, dict):
        inputs = {session.get_inputs()[0].name: inputs}
    names = [o.name for o in session.get_outputs()]
    answers = dict(zip(names, session.run(None, inputs)))
    if output is None:
        maps = [name for name in names if isinstance(answers[name], list)]
        floats = [name for name in names if not isinstance(answers[name], list) and answers[name].dtype.kind == "f"]
        output = (maps + floats)[0]
    answer = answers[output]
    if isinstance(answer, list):
        answer = [list(row.values()) for row in answer]
    answer = np.asarray(answer, float)
    return answer.reshape(len(answer), -1)


def agree(found, expected, tolerance=1e-6):
    """1e-6, relative to the number or to the scale of the column: sums of floats depend on their order."""
    assert found.shape == expected.shape
    usual = np.abs(np.where(np.isfinite(expected), expected, 0)).mean(axis=0)
    with np.errstate(all="ignore"):
        same = (found == expected) | (np.isnan(found) & np.isnan(expected))
        close = np.abs(found - expected) <= tolerance * np.maximum(np.abs(expected), usual)
    assert np.all(same | close), np.argwhere(~(same | close))[:5]


def make_rows(rows=400, seed=1, width=4):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, width)).astype(np.float32)
    x[rng.random(x.shape) < 0.08] = np.nan
    strange = np.float32([0, -0.0, 1e30, -1e30, np.inf, -np.inf, np.nan, 1e-40])
    x[:rows // 10] = rng.choice(strange, (rows // 10, width))
    return x


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 4)).astype(np.float32)
    y = x[:, 0] + x[:, 1] ** 2 + x[:, 2] * x[:, 3]
    return x, y, (y > 1).astype(int), np.digitize(y, [0, 1, 2])


def convert(model, x, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        skl2onnx = pytest.importorskip("skl2onnx")
        register(skl2onnx)
        return skl2onnx.to_onnx(model, x[:1], target_opset={"": 18, ML: 3}, **options)


def register(skl2onnx):
    import lightgbm
    import xgboost
    from onnxmltools.convert.lightgbm.operator_converters.LightGbm import convert_lightgbm
    from onnxmltools.convert.xgboost.operator_converters.XGBoost import convert_xgboost
    from skl2onnx.common.shape_calculator import (calculate_linear_classifier_output_shapes,
                                                  calculate_linear_regressor_output_shapes)

    classifier = {"nocl": [True, False], "zipmap": [True, False, "columns"], "raw_scores": [True, False]}
    for owner, convert_one in ((xgboost.XGBClassifier, convert_xgboost), (lightgbm.LGBMClassifier, convert_lightgbm)):
        skl2onnx.update_registered_converter(owner, owner.__name__, calculate_linear_classifier_output_shapes,
                                             convert_one, options=classifier, overwrite=True)
    for owner, convert_one in ((xgboost.XGBRegressor, convert_xgboost), (lightgbm.LGBMRegressor, convert_lightgbm)):
        skl2onnx.update_registered_converter(owner, owner.__name__, calculate_linear_regressor_output_shapes,
                                             convert_one, options={"split": None}, overwrite=True)


def estimators():
    import lightgbm as lgb
    import sklearn.ensemble as e
    import sklearn.preprocessing as p
    import xgboost as xgb
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline as pipe
    from sklearn.tree import DecisionTreeClassifier

    small = {"n_estimators": 12, "max_depth": 4, "random_state": 0}
    quiet = {"verbose": -1, "num_threads": 1, **small}
    return {
        "forest": (e.RandomForestRegressor(**small), "y"),
        "forest of two classes": (e.RandomForestClassifier(**small), "c"),
        "forest of four classes": (e.ExtraTreesClassifier(**small), "m"),
        "forest of texts": (e.RandomForestClassifier(**small), "t"),
        "tree": (DecisionTreeClassifier(max_depth=5), "c"),
        "boosting": (e.GradientBoostingRegressor(**small), "y"),
        "boosting of two classes": (e.GradientBoostingClassifier(**small), "c"),
        "boosting of four classes": (e.GradientBoostingClassifier(**small), "m"),
        "histogram boosting": (e.HistGradientBoostingRegressor(max_iter=8), "y"),
        "histogram boosting of classes": (e.HistGradientBoostingClassifier(max_iter=8), "c"),
        "ada boost": (e.AdaBoostClassifier(n_estimators=5), "c"),
        "vote": (e.VotingRegressor([("a", e.RandomForestRegressor(**small)), ("b", e.GradientBoostingRegressor(**small))]), "y"),
        "xgboost": (xgb.XGBRegressor(n_jobs=1, **small), "y"),
        "xgboost of counts": (xgb.XGBRegressor(objective="count:poisson", n_jobs=1, **small), "n"),
        "xgboost of two classes": (xgb.XGBClassifier(n_jobs=1, **small), "c"),
        "xgboost of four classes": (xgb.XGBClassifier(n_jobs=1, **small), "m"),
        "lightgbm": (lgb.LGBMRegressor(**quiet), "y"),
        "lightgbm of counts": (lgb.LGBMRegressor(objective="poisson", **quiet), "n"),
        "lightgbm of two classes": (lgb.LGBMClassifier(**quiet), "c"),
        "lightgbm of four classes": (lgb.LGBMClassifier(**quiet), "m"),
        "lightgbm forest": (lgb.LGBMRegressor(boosting_type="rf", bagging_freq=1, bagging_fraction=0.5, **quiet), "y"),
        "imputer and scaler": (pipe(SimpleImputer(), p.StandardScaler(), e.RandomForestRegressor(**small)), "y"),
        "scalers": (pipe(p.MinMaxScaler(clip=True), p.MaxAbsScaler(), p.RobustScaler(), e.RandomForestRegressor(**small)), "y"),
        "L1": (pipe(p.Normalizer("l1"), e.RandomForestRegressor(**small)), "y"),
        "L2": (pipe(p.Normalizer("l2"), e.RandomForestRegressor(**small)), "y"),
        "MAX": (pipe(p.Normalizer("max"), e.RandomForestRegressor(**small)), "y"),
        "bins": (pipe(p.KBinsDiscretizer(4, encode="ordinal", quantile_method="averaged_inverted_cdf"), e.RandomForestRegressor(**small)), "y"),
        "products": (pipe(p.PolynomialFeatures(2), e.RandomForestRegressor(**small)), "y"),
        "signs": (pipe(p.Binarizer(threshold=0.3), e.RandomForestRegressor(**small)), "y"),
    }


# Names alone, so that collecting the tests imports no owner.
NAMES = ["forest", "forest of two classes", "forest of four classes", "forest of texts", "tree", "boosting",
         "boosting of two classes", "boosting of four classes", "histogram boosting", "histogram boosting of classes",
         "ada boost", "vote", "xgboost", "xgboost of counts", "xgboost of two classes", "xgboost of four classes", "lightgbm",
         "lightgbm of counts", "lightgbm of two classes", "lightgbm of four classes", "lightgbm forest", "imputer and scaler",
         "scalers", "L1", "L2", "MAX", "bins", "products", "signs"]
# No whole lattices: columns are mixed (bins: by a product with 0), or there are several ensembles.
ROWS = {"vote", "ada boost", "L1", "L2", "MAX", "products", "bins"}


def fitted(name, data):
    x, y, c, m = data
    model, kind = estimators()[name]
    target = {"y": y, "c": c, "m": m, "t": np.array(["no", "yes"])[c], "n": np.floor(y - y.min())}[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(x, target), kind


@pytest.mark.parametrize("name", NAMES)
def test_converted_models(tmp_path, data, name):
    model, kind = fitted(name, data)
    converted = convert(model, data[0])
    x = make_rows()
    if name == "signs":  # onnxruntime refuses missing values there
        x = np.nan_to_num(x, nan=0.25)
    agree(predict(tmp_path, converted, x), judge(converted, x))
    if kind in "cmt":  # the table of probabilities without a map around it
        plain = convert(model, data[0], options={"zipmap": False})
        agree(predict(tmp_path, plain, x), judge(plain, x))


def test_names_are_complete():
    assert NAMES == list(estimators())


@pytest.mark.parametrize("name", NAMES)
def test_lattices(tmp_path, data, name):
    """Fast lattice = row engine = brute force through onnxruntime, on the mean of a loss."""
    model, kind = fitted(name, data)
    converted = convert(model, data[0])
    (tmp_path / "model.onnx").write_bytes(converted.SerializeToString())
    x = np.nan_to_num(make_rows(9, seed=5), nan=0.25, posinf=2, neginf=-2)
    truth = {"y": data[1], "n": data[1], "c": data[2], "m": data[3], "t": np.array(["no", "yes"])[data[2]]}[kind][:len(x)]
    rows = [",".join(["a,b,c,d,truth"])] + [",".join(f"{float(v)!r}" for v in row) + f",{t}" for row, t in zip(x, truth)]
    (tmp_path / "data.csv").write_text("\n".join(rows) + "\n")
    index = {"y": None, "n": None, "c": truth, "m": truth, "t": (truth == "yes").astype(int)}[kind]

    def mean_loss(coalition):
        hybrids = np.repeat(x[None], len(x), axis=0)  # [instance, background row]
        for column, inside in enumerate(coalition):
            if inside:
                hybrids[:, :, column] = x[:, None, column]
        answers = judge(converted, hybrids.reshape(-1, 4)).reshape(len(x), len(x), -1)
        if index is None:
            return np.mean((answers[:, :, 0] - truth.astype(float)[:, None]) ** 2)
        if answers.shape[2] == 2:
            return np.mean((answers[:, :, 1] - index[:, None]) ** 2)
        return np.mean(np.sum((answers - np.eye(answers.shape[2])[index][:, None]) ** 2, axis=2))

    lattice = {c: mean_loss(c) for c in itertools.product([0, 1], repeat=4)}
    scale = max(lattice.values())
    for flags in ([], ["--no-fast-lattice"]):
        profile = explain(tmp_path, "truth", *(["--loss", "brier"] if index is not None else []), *flags)
        engine = "rows" if flags or name in ROWS else "trees"
        assert profile["provenance"]["engine"] == engine
        for i, feature in enumerate(profile["features"]):
            gains = [lattice[c] - lattice[c[:i] + (1,) + c[i + 1:]] for c in lattice if c[i] == 0]
            assert feature["U"]["value"] == pytest.approx(min(gains), abs=2e-5 * scale)
            assert feature["Lmax"]["value"] == pytest.approx(max(gains), abs=2e-5 * scale)


def explain(folder, target, *flags, code=0):
    command = [str(BUILD / "hifi"), "explain", "--model", "model.onnx", "--data", "data.csv", "--target", target, "--exact", "--json", "-"]
    result = subprocess.run([*command, *flags], cwd=folder, capture_output=True, text=True, timeout=120)
    assert result.returncode == code, result.stderr
    return json.loads(result.stdout) if code == 0 else result.stderr


# ---- ensembles made by hand


def one_node(op, attributes, width=4, outputs=1, opset=3, elements=TensorProto.FLOAT, results=None):
    names = ["L", "Y"] if op == "TreeEnsembleClassifier" else ["Y"]
    values = {"L": helper.make_tensor_value_info("L", TensorProto.INT64, [None]),
              "Y": helper.make_tensor_value_info("Y", results or elements, [None, outputs])}
    node = helper.make_node(op, ["X"], names, domain=ML, **attributes)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("X", elements, [None, width])],
                              [values[name] for name in names])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(ML, opset)], ir_version=9)


CUTS = [-0.7, 0.0, 0.5, 1e30, -1e30]
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE", "BRANCH_EQ", "BRANCH_NEQ"]


def random_trees(rng, prefix, targets, modes=MODES, trees=4, positive=False, missing=True):
    """Trees of depth 3 in the lists of operator sets 1 to 3; a leaf has weights for `targets(rng)`."""
    a = {k: [] for k in ("nodes_treeids nodes_nodeids nodes_featureids nodes_values nodes_modes nodes_truenodeids "
                         "nodes_falsenodeids nodes_missing_value_tracks_true").split()}
    a.update({f"{prefix}_{k}": [] for k in ("treeids", "nodeids", "ids", "weights")})
    for tree in range(trees):
        for node in range(15):
            leaf = node >= 7 or (node >= 3 and rng.random() < 0.3)
            a["nodes_treeids"].append(tree)
            a["nodes_nodeids"].append(node)
            a["nodes_featureids"].append(int(rng.integers(4)))
            a["nodes_values"].append(float(np.float32(rng.choice(CUTS))))
            a["nodes_modes"].append("LEAF" if leaf else str(rng.choice(modes)))
            a["nodes_truenodeids"].append(0 if leaf else 2 * node + 1)
            a["nodes_falsenodeids"].append(0 if leaf else 2 * node + 2)
            a["nodes_missing_value_tracks_true"].append(int(missing and rng.random() < 0.5))
            for target in targets(rng) if leaf else []:
                a[f"{prefix}_treeids"].append(tree)
                a[f"{prefix}_nodeids"].append(node)
                a[f"{prefix}_ids"].append(target)
                weight = np.float32(rng.normal())
                a[f"{prefix}_weights"].append(float(abs(weight) / 4 if positive else weight))
    # Children of leaves were numbered too: drop what the roots do not reach.
    keep = set()
    for i, (tree, node) in enumerate(zip(a["nodes_treeids"], a["nodes_nodeids"])):
        parent = (node - 1) // 2
        above = tree * 15 + parent
        if node == 0 or (above in keep and a["nodes_modes"][above] != "LEAF"):
            keep.add(i)
    index = sorted(keep)
    places = {(a["nodes_treeids"][i], a["nodes_nodeids"][i]) for i in index}
    weights = [w for w, place in enumerate(zip(a[f"{prefix}_treeids"], a[f"{prefix}_nodeids"])) if place in places]
    return {k: [v[i] for i in (index if k.startswith("nodes") else weights)] for k, v in a.items()}


def special_rows(seed):
    rng = np.random.default_rng(seed)
    values = np.float32(CUTS + [np.nan, np.inf, -np.inf, 0.1, -0.9, 3])
    near = np.float32([np.nextafter(np.float32(c), np.float32(s)) for c in CUTS for s in (-1e38, 1e38)])
    return rng.choice(np.concatenate([values, near]), (300, 4))


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"])
@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
def test_regressors(tmp_path, aggregate, transform):
    for seed, targets in enumerate((1, 3)):
        rng = np.random.default_rng(seed)
        a = random_trees(rng, "target", lambda _: range(targets), positive=transform == "PROBIT")
        base = [0.1, 0.02, 0.3][:targets] if seed else []
        a.update(n_targets=targets, aggregate_function=aggregate, post_transform=transform)
        if base:
            a["base_values"] = base
        model = one_node("TreeEnsembleRegressor", a, outputs=targets)
        x = special_rows(seed)
        # PROBIT is an approximation in floats that cancels: little is left of their digits near 1/2.
        agree(predict(tmp_path, model, x), judge(model, x), 1e-3 if transform == "PROBIT" else 1e-6)


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])
@pytest.mark.parametrize("base", [[], [0.3], [-0.5, 0.4]])
@pytest.mark.parametrize("scored", [(0,), (1,), (0, 1)])
def test_two_classes(tmp_path, scored, base, transform):
    for positive in (True, False):
        rng = np.random.default_rng(3)
        a = random_trees(rng, "class", lambda _: scored, positive=positive)
        a.update(classlabels_int64s=[0, 1], post_transform=transform)
        if base:
            a["base_values"] = base
        model = one_node("TreeEnsembleClassifier", a, outputs=2)
        x = special_rows(1)
        agree(predict(tmp_path, model, x), judge(model, x))


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])
@pytest.mark.parametrize("labels", [{"classlabels_int64s": [3, 5, 9]}, {"classlabels_strings": ["a", "b", "c"]}])
def test_three_classes(tmp_path, labels, transform):
    for base in ([], [0.5, -0.25, 0.125]):
        rng = np.random.default_rng(5)
        a = random_trees(rng, "class", lambda r: [int(r.integers(3))])
        a.update(labels, post_transform=transform)
        if base:
            a["base_values"] = base
        model = one_node("TreeEnsembleClassifier", a, outputs=3)
        x = special_rows(2)
        if "classlabels_strings" in labels:
            model.graph.output[0].type.tensor_type.elem_type = TensorProto.STRING
        agree(predict(tmp_path, model, x, output="Y"), judge(model, x, output="Y"))


def test_doubles(tmp_path):
    rng = np.random.default_rng(8)
    a = random_trees(rng, "target", lambda _: [0])
    values = np.array(a.pop("nodes_values")) + 1e-12
    weights = np.array(a.pop("target_weights")) * (1 + 1e-12)
    a["nodes_values_as_tensor"] = numpy_helper.from_array(values)
    a["target_weights_as_tensor"] = numpy_helper.from_array(weights)
    a["n_targets"] = 1
    model = one_node("TreeEnsembleRegressor", a, elements=TensorProto.DOUBLE, results=TensorProto.FLOAT)
    x = np.random.default_rng(1).choice(np.concatenate([values, np.nextafter(values, 9), [np.nan, 0]]), (300, 4))
    np.testing.assert_allclose(predict(tmp_path, model, x), judge(model, x), rtol=1e-7)


@pytest.mark.parametrize("elements", [np.float32, np.float64])
def test_tree_ensemble_of_operator_set_5(tmp_path, elements):
    """All modes, sets among them, leaves of several targets."""
    modes = [0, 1, 2, 3, 4, 5, 6, 0, 6]
    splits = np.array([0.5, -0.7, 0.0, 0.5, 1.0, 2.0, 0.0, 0.1, 0.0], elements)
    attributes = {
        "nodes_featureids": [0, 1, 2, 3, 0, 1, 2, 3, 0],
        "nodes_modes": numpy_helper.from_array(np.array(modes, np.uint8)),
        "nodes_splits": numpy_helper.from_array(splits),
        "nodes_truenodeids": [1, 3, 5, 0, 2, 4, 8, 6, 8],
        "nodes_trueleafs": [0, 0, 0, 1, 1, 1, 0, 1, 1],
        "nodes_falsenodeids": [2, 4, 6, 1, 3, 5, 7, 7, 0],
        "nodes_falseleafs": [0, 0, 0, 1, 1, 1, 0, 1, 1],
        "nodes_missing_value_tracks_true": [0, 1, 0, 1, 0, 1, 0, 1, 0],
        "tree_roots": [0],
        "membership_values": numpy_helper.from_array(np.array([1.2, 3.0, np.nan, 0.5, 2.0, 4.0, np.nan], elements)),
        "leaf_targetids": [0, 1, 0, 1, 0, 1, 0, 1, 0],
        "leaf_weights": numpy_helper.from_array(np.array([1.5, -2, 3, 4.25, 5, -6, 7, 8, 9.5], elements)),
        "n_targets": 2,
    }
    kind = TensorProto.FLOAT if elements == np.float32 else TensorProto.DOUBLE
    rng = np.random.default_rng(0)
    values = np.array([0.5, -0.7, 0, 1, 2, 3, 4, 1.2, 0.1, np.nan, np.inf, -5], elements)
    x = rng.choice(values, (500, 4))
    for aggregate in range(4):
        for transform in (0, 1, 2):
            model = one_node("TreeEnsemble", {**attributes, "aggregate_function": aggregate, "post_transform": transform},
                             outputs=2, opset=5, elements=kind)
            try:
                expected = judge(model, x)
            except Exception as error:  # noqa: BLE001
                pytest.skip(f"onnxruntime cannot run it: {error}")
            agree(predict(tmp_path, model, x), expected)


# ---- the command line


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A pipeline of numbers, texts and integer codes, each an input of its own."""
    import pandas as pd
    import skl2onnx
    from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

    rng = np.random.default_rng(2)
    n = 300
    frame = pd.DataFrame({"size": rng.normal(size=n), "age": rng.normal(size=n), "town": rng.choice(["Ulm", "Rome", "Nice"], n),
                          "zone": rng.integers(1, 4, n)})
    truth = np.where(frame["size"] + (frame["town"] == "Rome") * (frame["zone"] == 2) * 3 + frame["age"] ** 2 > 1, "yes", "no")
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    steps = ColumnTransformer([("n", numbers, ["size", "age"]), ("t", OneHotEncoder(), ["town"]), ("z", OrdinalEncoder(), ["zone"])])
    model = make_pipeline(steps, RandomForestClassifier(n_estimators=15, max_depth=5, random_state=0)).fit(frame, truth)
    types = [("size", FloatTensorType([None, 1])), ("age", FloatTensorType([None, 1])), ("town", StringTensorType([None, 1])),
             ("zone", Int64TensorType([None, 1]))]
    converted = skl2onnx.to_onnx(model, initial_types=types, target_opset={"": 18, ML: 3})
    folder = tmp_path_factory.mktemp("mixed")
    (folder / "model.onnx").write_bytes(converted.SerializeToString())
    table = frame.head(8).assign(truth=truth[:8])
    table.loc[2, "age"] = np.nan
    # Another order of columns, and one that the model does not know: they are bound by name.
    table.assign(other=1)[["truth", "zone", "town", "other", "age", "size"]].to_csv(folder / "data.csv", index=False)
    return folder, converted, table


def test_several_inputs(mixed):
    folder, converted, table = mixed
    names = ["size", "age", "town", "zone"]
    columns = {"size": np.float32, "age": np.float32, "town": object, "zone": np.int64}
    x = {name: table[name].to_numpy().astype(columns[name]) for name in names}
    yes = (table["truth"] == "yes").to_numpy()
    n = len(table)

    def mean_loss(coalition):
        inputs = {name: (np.repeat(x[name], n) if inside else np.tile(x[name], n)).reshape(-1, 1)
                  for name, inside in zip(names, coalition)}
        return np.mean((judge(converted, inputs)[:, 1] - np.repeat(yes, n)) ** 2)

    lattice = {c: mean_loss(c) for c in itertools.product([0, 1], repeat=4)}
    for flags in ([], ["--no-fast-lattice"]):
        profile = explain(folder, "truth", "--loss", "brier", *flags)
        assert profile["players"] == names
        assert profile["provenance"]["engine"] == ("rows" if flags else "trees")
        assert profile["provenance"]["model"]["format"] == "onnx-trees"
        for i, feature in enumerate(profile["features"]):
            gains = [lattice[c] - lattice[c[:i] + (1,) + c[i + 1:]] for c in lattice if c[i] == 0]
            assert feature["U"]["value"] == pytest.approx(min(gains), abs=2e-5 * max(lattice.values()))
            assert feature["Lmax"]["value"] == pytest.approx(max(gains), abs=2e-5 * max(lattice.values()))


def test_a_text_that_the_model_does_not_know(mixed, tmp_path):
    folder, _, _ = mixed
    (tmp_path / "model.onnx").write_bytes((folder / "model.onnx").read_bytes())
    (tmp_path / "data.csv").write_text((folder / "data.csv").read_text().replace("Rome", "Paris"))
    message = explain(tmp_path, "truth", code=3)
    assert "town" in message and "Paris" in message and "Rome" in message


def test_output_by_name_and_index(tmp_path, data):
    model = convert(fitted("boosting of four classes", data)[0], data[0], options={"zipmap": "columns"})
    x = make_rows(60)
    for output in ("i0", "i2"):
        agree(predict(tmp_path, model, x, output=output), judge(model, x, output=output))
    agree(predict(tmp_path, model, x, output="3"), judge(model, x, output="i2"))
    message = predict(tmp_path, model, x, output="i9", code=3)
    assert "--output i9" in message and "i0, i1, i2, i3" in message
    message = predict(tmp_path, model, x, output="output_label", code=3)
    assert "labels of classes, no numbers" in message


def test_width_of_the_table(tmp_path, data):
    (tmp_path / "model.onnx").write_bytes(convert(fitted("forest", data)[0], data[0]).SerializeToString())
    (tmp_path / "data.csv").write_text("a,b,c,y\n1,2,3,4\n2,3,4,5\n")
    message = explain(tmp_path, "y", code=3)
    assert "3 columns" in message and "expects 4" in message


# ---- what is refused


def broken(folder, attributes, *words, op="TreeEnsembleRegressor", **options):
    (folder / "rows.csv").write_text("")
    message = predict(folder, one_node(op, attributes, **options), np.zeros((1, 4)), code=3)
    assert message.startswith(str(folder / "model.onnx")) and message.count("\n") <= 2
    for word in words:
        assert word in message, message


def test_trees_that_lie(tmp_path):
    good = {**random_trees(np.random.default_rng(1), "target", lambda _: [0]), "n_targets": 1}

    def changed(**changes):
        result = {name: list(value) if isinstance(value, list) else value for name, value in good.items()}
        for name, value in changes.items():
            if callable(value):
                value(result[name])
            else:
                result[name] = value
        return result

    def put(place, value):
        return lambda items: items.__setitem__(place, value)

    broken(tmp_path, changed(nodes_truenodeids=put(0, 0)), "two parents")
    broken(tmp_path, changed(nodes_truenodeids=put(0, 99)), "node 99 does not exist")
    broken(tmp_path, changed(nodes_truenodeids=put(0, -1)), "does not exist")
    broken(tmp_path, changed(nodes_featureids=put(0, 4)), "column 4 of 4")
    broken(tmp_path, changed(nodes_featureids=put(0, -1)), "column -1")
    broken(tmp_path, changed(nodes_featureids=put(0, 2**40)), "column")
    broken(tmp_path, changed(nodes_values=lambda items: items.pop()), "differ in length")
    broken(tmp_path, changed(nodes_modes=put(0, "BRANCH_FOO")), "BRANCH_FOO")
    broken(tmp_path, changed(target_ids=put(0, 5)), "output 5 of 1")
    broken(tmp_path, changed(target_ids=lambda items: items.pop()), "differ in length")
    broken(tmp_path, changed(target_nodeids=put(0, 77)), "77")
    broken(tmp_path, changed(target_weights=put(0, float("nan"))), "finite")
    broken(tmp_path, changed(nodes_nodeids=put(1, 0)), "twice")
    broken(tmp_path, changed(n_targets=0), "n_targets")
    broken(tmp_path, changed(n_targets=2**40), "n_targets")
    broken(tmp_path, changed(base_values=[1.0, 2.0, 3.0]), "base values")
    broken(tmp_path, changed(aggregate_function="MEDIAN"), "MEDIAN")
    broken(tmp_path, changed(post_transform="CUBE"), "CUBE")
    broken(tmp_path, {"n_targets": 1}, "no trees")
    broken(tmp_path, changed(), "column", width=2)


def test_an_operator_is_named(tmp_path):
    a = {**random_trees(np.random.default_rng(1), "target", lambda _: [0]), "n_targets": 1}
    for before in (helper.make_node("Det", ["X"], ["Z"]), helper.make_node("SVMRegressor", ["X"], ["Z"], domain=ML),
                   helper.make_node("Magic", ["X"], ["Z"], domain="com.example")):
        model = one_node("TreeEnsembleRegressor", a)
        model.graph.node[0].input[0] = "Z"
        model.graph.node.insert(0, before)
        message = predict(tmp_path, model, np.zeros((1, 4)), code=3)
        assert before.op_type in message and "not supported" in message


def test_cut_files(tmp_path):
    a = {**random_trees(np.random.default_rng(1), "target", lambda _: [0]), "n_targets": 1}
    content = one_node("TreeEnsembleRegressor", a).SerializeToString()
    for length in range(3, len(content) - 40, len(content) // 25):
        message = predict(tmp_path, content[:length], np.zeros((1, 4)), code=3)
        assert "broken" in message or "no graph" in message
