"""ONNX through OpenVINO, with onnxruntime as the judge."""

import json

import numpy as np
import pytest

from conftest import coalitions, reference, same_profile, write_csv
from neural import hard_rows, ours, same, write_table

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402


def judge(path, inputs, output=None):
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run([output] if output else None, inputs)


def net(path, nodes, inputs, outputs, weights=None, domains=(), ml_version=3):
    """A model from nodes; inputs and outputs are (name, type, shape)."""
    def value(name, kind, shape):
        return helper.make_tensor_value_info(name, kind, shape)

    graph = helper.make_graph(nodes, "g", [value(*i) for i in inputs], [value(*o) for o in outputs],
                              [numpy_helper.from_array(w, n) for n, w in (weights or {}).items()])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", ml_version)]
    model = helper.make_model(graph, opset_imports=opsets + [helper.make_opsetid(d, 1) for d in domains])
    model.ir_version = 9
    path.write_bytes(model.SerializeToString())
    return path


def mlp(path, width=4, hidden=16, outputs=1, last=None, batch="N", kind=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    weights = {"a": rng.normal(size=(width, hidden)).astype(kind) / 2, "b": rng.normal(size=hidden).astype(kind),
               "c": rng.normal(size=(hidden, outputs)).astype(kind) / 2, "d": rng.normal(size=outputs).astype(kind)}
    nodes = [helper.make_node("Gemm", ["x", "a", "b"], ["h"]), helper.make_node("Tanh", ["h"], ["t"]),
             helper.make_node("Gemm", ["t", "c", "d"], ["s" if last else "out"])]
    if last:
        nodes.append(helper.make_node(last, ["s"], ["out"]))
    element = TensorProto.FLOAT if kind == np.float32 else TensorProto.DOUBLE
    return net(path, nodes, [("x", element, [batch, width])], [("out", element, [batch, outputs])], weights)


def score(path, x):
    return judge(path, {"x": x.astype(np.float32)})[0]


@pytest.mark.parametrize("outputs, last", [(1, None), (1, "Sigmoid"), (3, "Softmax")])
def test_networks(tmp_path, outputs, last):
    path = mlp(tmp_path / "m.onnx", outputs=outputs, last=last)
    x = hard_rows(4, 700, missing=True)
    same(ours(tmp_path, path, x), score(path, x))


def test_doubles_and_a_fixed_batch(tmp_path):
    x = hard_rows(4, 50)
    path = mlp(tmp_path / "double.onnx", kind=np.float64)
    same(ours(tmp_path, path, x), judge(path, {"x": x.astype(np.float64)})[0])
    path = mlp(tmp_path / "one.onnx", batch=1)
    same(ours(tmp_path, path, x), np.concatenate([score(path, row[None]) for row in x]))
    # A model that can only be run with its own batch: the shape is written into it.
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["r"]), helper.make_node("ReduceSum", ["r", "axis"], ["out"])]
    path = net(tmp_path / "three.onnx", nodes, [("x", TensorProto.FLOAT, [3, 4])], [("out", TensorProto.FLOAT, [3, 1])],
               {"shape": np.array([3, 4]), "axis": np.array([1])})
    same(ours(tmp_path, path, x), x.astype(float).sum(1), 1e-3)


def test_several_inputs_by_name_and_type(tmp_path, hifi, profile):
    nodes = [helper.make_node("Cast", ["many"], ["f"], to=TensorProto.FLOAT),
             helper.make_node("Cast", ["flag"], ["g"], to=TensorProto.FLOAT),
             helper.make_node("Cast", ["wide"], ["w"], to=TensorProto.FLOAT),
             helper.make_node("Concat", ["real", "f", "g", "w"], ["all"], axis=1),
             helper.make_node("MatMul", ["all", "k"], ["out"])]
    kinds = {"real": TensorProto.FLOAT, "many": TensorProto.INT64, "flag": TensorProto.BOOL, "wide": TensorProto.DOUBLE}
    path = net(tmp_path / "m.onnx", nodes, [(n, k, ["N", 1]) for n, k in kinds.items()],
               [("out", TensorProto.FLOAT, ["N", 1])], {"k": np.array([[1], [0.5], [4], [-2]], np.float32)})
    rng = np.random.default_rng(0)
    real, many, flag, wide = rng.normal(size=30), rng.integers(-9, 9, 30), rng.integers(0, 2, 30), rng.normal(size=30)
    y = real + many / 2 + 4 * flag - 2 * wide
    # Columns in another order, and one that the model does not know.
    write_csv(tmp_path / "d.csv", {"wide": wide, "id": np.arange(30), "flag": flag, "many": many, "real": real, "y": y})
    expected = judge(path, {"real": real[:, None].astype(np.float32), "many": many[:, None],
                            "flag": flag[:, None].astype(bool), "wide": wide[:, None]})[0]
    np.testing.assert_allclose(expected[:, 0], y, rtol=1e-5, atol=1e-5)
    write_csv(tmp_path / "p.csv", {"p": expected[:, 0].astype(float)})
    flags = ["explain", "--model", path, "--data", "d.csv", "--target", "y", "--exact"]
    found = profile(*flags, "--check-predictions", "p.csv", "--quiet")
    assert found["players"] == list(kinds)
    assert "ignored: id" in hifi(*flags).stderr
    write_csv(tmp_path / "p.csv", {"p": expected[:, 0].astype(float) + 0.01})
    assert "data row 1: we predict" in hifi(*flags, "--check-predictions", "p.csv", code=4).stderr
    write_csv(tmp_path / "d.csv", {"wide": wide, "flag": flag, "many": [None, *many[1:]], "real": real, "y": y})
    assert 'data row 1, column "many"' in hifi(*flags, code=3).stderr


def test_explain_against_brute_force(tmp_path, profile):
    """Every coalition through onnxruntime."""
    path = mlp(tmp_path / "m.onnx", last="Sigmoid")
    x = write_table(tmp_path, target=lambda x: (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(int))
    y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(int)
    losses = {}
    for bits in coalitions(4):
        keep = np.array([b == "1" for b in bits])
        rows = np.where(keep, x[:, None], x[None])  # instance, background
        p = score(path, rows.reshape(-1, 4)).reshape(30, 30)
        losses[bits] = -np.where(y[:, None] == 1, np.log(p), np.log(1 - p)).astype(float).mean()
    found = profile("explain", "--model", path, "--data", "d.csv", "--target", "y", "--loss", "log", "--exact", "--quiet")
    same_profile(found, reference(losses, [f"c{i}" for i in range(4)], tie=5e-5), 1e-5)
    model = found["provenance"]["model"]
    assert model["format"] == "onnx" and model["library"].startswith("OpenVINO 20")
    assert model["precision"] == "f32" and model["batch_rows"] >= 64


def test_same_bytes(tmp_path, hifi):
    path = mlp(tmp_path / "m.onnx", width=7, hidden=33)
    write_table(tmp_path, 7, 60)
    flags = ["explain", "--model", path, "--data", "d.csv", "--target", "y", "--budget", 128 * 900, "--quiet", "--json", "-"]
    whole = hifi(*flags, "--threads", 1).stdout
    assert {hifi(*flags, "--threads", t).stdout for t in (2, 3)} == {whole}
    assert hifi(*flags, "--out", "run.hifi").stdout == whole
    assert hifi("resume", "run.hifi", "--quiet", "--json", "-").stdout == whole
    # Another batch: the same to the rounding of float32.
    other = json.loads(hifi(*flags, "--batch", 100).stdout)
    assert other["provenance"]["model"]["batch_rows"] == 100
    for ours_, theirs in zip(other["features"], json.loads(whole)["features"]):
        for key in "URS":
            assert ours_[key]["value"] == pytest.approx(theirs[key]["value"], rel=1e-5, abs=1e-6)


def test_outputs(tmp_path, hifi):
    nodes = [helper.make_node("Identity", ["x"], ["first"]), helper.make_node("Exp", ["x"], ["second"])]
    outputs = [("first", TensorProto.FLOAT, ["N", 2]), ("second", TensorProto.FLOAT, ["N", 2])]
    path = net(tmp_path / "m.onnx", nodes, [("x", TensorProto.FLOAT, ["N", 2])], outputs)
    x = hard_rows(2, 20)[6:]
    for name, expected in (("first", x), ("1", np.exp(x)), ("second", np.exp(x))):
        same(ours(tmp_path, path, x, name), expected)
    write_table(tmp_path, 2, target=lambda x: (x[:, 0] > 0).astype(int))
    flags = ["explain", "--model", path, "--data", "d.csv", "--target", "y", "--quiet"]
    message = hifi(*flags, code=3).stderr
    assert "m.onnx: has 2 outputs" in message and "--output: first, second" in message
    assert "has no output third" in hifi(*flags, "--output", "third", code=3).stderr
    assert "no probability" in hifi(*flags, "--output", "first", code=3).stderr
    assert "no probability" not in hifi(*flags, "--output", "first", "--link", "softmax").stderr


# scikit-learn

def fit(model, classes=2, labels=None, missing=False, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(200, 4)).astype(np.float32)
    if missing:
        x[rng.random(x.shape) < 0.1] = np.nan
    y = np.digitize(np.nan_to_num(x[:, 0] + x[:, 1]), np.linspace(-0.5, 0.5, classes - 1)) if classes else x[:, 0] * 2
    return model.fit(x, y if labels is None else np.array(labels)[y]), x


def steps():
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Binarizer, MinMaxScaler, Normalizer, StandardScaler

    def network(kind):
        return kind(hidden_layer_sizes=(8,), max_iter=20, random_state=0)

    return {
        "logistic": (LogisticRegression(), 2, None),
        "logistic-3": (make_pipeline(StandardScaler(), LogisticRegression()), 3, None),
        "logistic-text": (make_pipeline(MinMaxScaler(), LogisticRegression()), 3, ["low", "mid", "high"]),
        "network": (make_pipeline(StandardScaler(), network(MLPClassifier)), 2, None),
        "network-text": (make_pipeline(StandardScaler(), network(MLPClassifier)), 3, ["a", "b", "c"]),
        "network-regressor": (make_pipeline(StandardScaler(), network(MLPRegressor)), 0, None),
        "linear": (make_pipeline(Normalizer("l2"), LinearRegression()), 0, None),
        "ridge": (make_pipeline(Normalizer("l1"), Binarizer(threshold=0.1), Ridge()), 0, None),
        "imputer": (make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()), 2, None),
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(steps()))
@pytest.mark.parametrize("zipmap", [True, False])
def test_scikit_learn(tmp_path, name, zipmap):
    from skl2onnx import to_onnx
    model, classes, labels = steps()[name]
    if classes == 0 and not zipmap:
        pytest.skip("only classifiers have maps")
    model, x = fit(model, classes, labels, missing=name == "imputer")
    last = model[-1] if hasattr(model, "steps") else model
    path = tmp_path / "m.onnx"
    options = {id(last): {"zipmap": zipmap}} if classes else None
    path.write_bytes(to_onnx(model, x[:1], options=options, target_opset={"": 17, "ai.onnx.ml": 3}).SerializeToString())
    rows = hard_rows(4, 60, missing=name == "imputer")
    if name in ("linear", "ridge"):
        rows = rows[6:]  # norms that overflow: every library has its own answer
    answers = judge(path, {"X": rows})
    expected = answers[-1]
    if classes and zipmap:
        expected = np.array([[row[label] for label in last.classes_] for row in expected])
    same(ours(tmp_path, path, rows), expected)


@pytest.mark.filterwarnings("ignore")
def test_labels_of_scikit_learn(tmp_path, profile, hifi):
    """The truth in the model's own words, for maps and for plain probabilities."""
    from skl2onnx import to_onnx
    for name in ("logistic-text", "network-text"):
        model, classes, labels = steps()[name]
        model, x = fit(model, classes, labels)
        words = model.predict(x[:40])
        write_csv(tmp_path / "d.csv", {**{f"c{i}": x[:40, i].astype(float) for i in range(4)}, "y": words})
        for zipmap in (True, False):
            path = tmp_path / "m.onnx"
            path.write_bytes(to_onnx(model, x[:1], options={id(model[-1]): {"zipmap": zipmap}},
                                     target_opset={"": 17, "ai.onnx.ml": 3}).SerializeToString())
            found = profile("explain", "--model", path, "--data", "d.csv", "--target", "y", "--quiet", "--pairs", "none")
            assert found["loss"] == "log"
        assert "holds no numbers" in hifi("explain", "--model", path, "--data", "d.csv", "--target", "y", "--output", 0,
                                          code=3).stderr


def ml(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, domain="ai.onnx.ml", **attributes)


OPERATORS = {
    "Scaler": ml("Scaler", ["x"], ["y"], offset=[1.0, 2.0, 3.0], scale=[2.0, 0.5, -1.0]),
    "Scaler-one": ml("Scaler", ["x"], ["y"], offset=[1.0], scale=[2.0]),
    "Normalizer-L1": ml("Normalizer", ["x"], ["y"], norm="L1"),
    "Normalizer-L2": ml("Normalizer", ["x"], ["y"], norm="L2"),
    "Normalizer-MAX": ml("Normalizer", ["x"], ["y"], norm="MAX"),
    "Imputer-nan": ml("Imputer", ["x"], ["y"], imputed_value_floats=[7.0, 8.0, 9.0], replaced_value_float=float("nan")),
    "Imputer-0": ml("Imputer", ["x"], ["y"], imputed_value_floats=[7.0], replaced_value_float=0.0),
    "LinearRegressor": ml("LinearRegressor", ["x"], ["y"], coefficients=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
                          intercepts=[0.5, -0.5], targets=2),
    "Binarizer": ml("Binarizer", ["x"], ["y"], threshold=0.5),
    "LabelEncoder": ml("LabelEncoder", ["x"], ["y"], keys_floats=[1.0, 2.0, float("nan")], values_floats=[10.0, 20.0, 30.0],
                       default_float=-3.0),
    "ArrayFeatureExtractor": ml("ArrayFeatureExtractor", ["x", "columns"], ["y"]),
    "FeatureVectorizer": ml("FeatureVectorizer", ["x", "x"], ["y"], inputdimensions=[3, 3]),
}


@pytest.mark.parametrize("name", list(OPERATORS))
def test_ml_operators(tmp_path, name):
    path = net(tmp_path / "m.onnx", [OPERATORS[name]], [("x", TensorProto.FLOAT, ["N", 3])],
               [("y", TensorProto.FLOAT, None)], {"columns": np.array([2, 0])} if name.startswith("Array") else None,
               ml_version=4 if name == "LabelEncoder" else 3)  # from 4 on NaN is a key
    x = np.concatenate([hard_rows(3, 30, missing="Imputer" in name), [[0, 1, 2], [2, 0, 1], [np.nan, 1, 2]]]).astype(np.float32)
    if name == "Binarizer":
        x = x[:-1]  # missing values fail in onnxruntime
    if "Normalizer" in name:
        x = x[6:-1]  # sums that overflow and missing values: every library has its own answer
    same(ours(tmp_path, path, x), judge(path, {"x": x})[0].astype(float))


@pytest.mark.parametrize("rows, transform", [(1, "NONE"), (1, "LOGISTIC"), (2, "LOGISTIC"), (3, "SOFTMAX"), (3, "NONE")])
def test_linear_classifiers(tmp_path, rows, transform):
    rng = np.random.default_rng(rows)
    node = ml("LinearClassifier", ["x"], ["label", "scores"], coefficients=rng.normal(size=3 * rows).tolist(),
              intercepts=rng.normal(size=rows).tolist(), classlabels_ints=list(range(max(2, rows))), post_transform=transform)
    path = net(tmp_path / "m.onnx", [node], [("x", TensorProto.FLOAT, ["N", 3])],
               [("label", TensorProto.INT64, ["N"]), ("scores", TensorProto.FLOAT, None)])
    x = hard_rows(3, 50)[6:]
    label, scores = judge(path, {"x": x})
    same(ours(tmp_path, path, x), scores)
    if rows > 1:
        same(ours(tmp_path, path, x, "label"), label)


def test_whole_number_operators(tmp_path):
    nodes = [ml("OneHotEncoder", ["x"], ["h"], cats_int64s=[1, 5, 7], zeros=1), helper.make_node("Flatten", ["h"], ["y"])]
    path = net(tmp_path / "m.onnx", nodes, [("x", TensorProto.INT64, ["N", 2])], [("y", TensorProto.FLOAT, None)])
    x = np.array([[1, 5], [7, 2], [5, 5]])
    same(ours(tmp_path, path, x), judge(path, {"x": x})[0])
    nodes = [ml("LabelEncoder", ["x"], ["e"], keys_int64s=[1, 5], values_int64s=[100, 500], default_int64=-9),
             helper.make_node("Cast", ["e"], ["y"], to=TensorProto.FLOAT)]
    path = net(tmp_path / "m.onnx", nodes, [("x", TensorProto.INT64, ["N", 2])], [("y", TensorProto.FLOAT, ["N", 2])])
    same(ours(tmp_path, path, x), judge(path, {"x": x})[0])


# Bad input

def refused(hifi, path, *words, code=3):
    result = hifi("explain", "--model", path, "--data", "d.csv", "--target", "y", "--quiet", *words, code=code)
    assert result.stdout == "" and result.stderr.count("\n") == 1
    assert path.name in result.stderr, result.stderr
    return result.stderr


def test_operators_that_cannot_run(tmp_path, hifi):
    write_table(tmp_path)
    x, y = [("x", TensorProto.FLOAT, ["N", 4])], [("y", TensorProto.FLOAT, ["N", 1])]
    svm = ml("SVMRegressor", ["x"], ["y"], coefficients=[1.0] * 4, rho=[0.0], kernel_type="LINEAR")
    assert "ai.onnx.ml.SVMRegressor" in refused(hifi, net(tmp_path / "svm.onnx", [svm], x, y))
    own = helper.make_node("Magic", ["x"], ["y"], domain="com.example")
    assert "com.example.Magic" in refused(hifi, net(tmp_path / "own.onnx", [own], x, y, domains=["com.example"]))
    probit = ml("LinearRegressor", ["x"], ["y"], coefficients=[1.0] * 4, intercepts=[0.0], post_transform="PROBIT")
    assert "post_transform PROBIT" in refused(hifi, net(tmp_path / "probit.onnx", [probit], x, y))


def test_widths_and_shapes(tmp_path, hifi):
    write_table(tmp_path, 5)
    message = refused(hifi, mlp(tmp_path / "four.onnx"))
    assert "expects 4" in message and "--features" in message
    hifi("explain", "--model", "four.onnx", "--data", "d.csv", "--target", "y", "--features", "c3,c2,c1,c0", "--quiet")
    weights = {"w": np.ones((4, 1), np.float32)}
    product = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    out = [("y", TensorProto.FLOAT, ["N", 1])]
    open_width = net(tmp_path / "open.onnx", product, [("x", TensorProto.FLOAT, ["N", "M"])], out, weights)
    refused(hifi, open_width)
    hifi("explain", "--model", "open.onnx", "--data", "d.csv", "--target", "y", "--features", "c3,c2,c1,c0", "--quiet")
    two = [("a", TensorProto.FLOAT, ["N", "M"]), ("b", TensorProto.FLOAT, ["N", "M"])]
    path = net(tmp_path / "two.onnx", [helper.make_node("Add", ["a", "b"], ["y"])], two, [("y", TensorProto.FLOAT, ["N", "M"])])
    assert 'input "a" has the shape [?,?]' in refused(hifi, path)
    path = net(tmp_path / "cube.onnx", [helper.make_node("Relu", ["x"], ["y"])],
               [("x", TensorProto.FLOAT, ["N", "A", "B"])], [("y", TensorProto.FLOAT, None)])
    assert "more than its batch is left open" in refused(hifi, path)
    path = net(tmp_path / "sum.onnx", [helper.make_node("ReduceSum", ["x"], ["y"])], [("x", TensorProto.FLOAT, ["N", 5])],
               [("y", TensorProto.FLOAT, None)])
    assert "its output has the shape" in refused(hifi, path)
    path = net(tmp_path / "text.onnx", [helper.make_node("Identity", ["x"], ["y"])], [("x", TensorProto.STRING, ["N", 5])],
               [("y", TensorProto.STRING, ["N", 5])])
    refused(hifi, path)


def test_memory_is_stated_first(tmp_path, hifi):
    write_table(tmp_path)
    message = refused(hifi, mlp(tmp_path / "m.onnx"), "--batch", 10_000_000, "--max-memory", "1G")
    assert "a batch of 10000000 rows needs" in message and "--batch" in message


def test_time_outside_the_model(tmp_path, hifi):
    """Measured on request only: other outputs are the same to the byte."""
    write_table(tmp_path)
    words = ["explain", "--model", mlp(tmp_path / "m.onnx"), "--data", "d.csv", "--target", "y", "--exact", "--json", "-"]
    plain = json.loads(hifi(*words).stdout)
    result = hifi(*words, "--verbose")
    told = json.loads(result.stdout)
    assert 0 < told["provenance"].pop("outside_model_ns") < 1e6
    assert "ns per evaluation spent outside the model" in result.stderr
    assert told == plain


def test_broken_files(tmp_path, hifi):
    write_table(tmp_path)
    whole = mlp(tmp_path / "m.onnx").read_bytes()
    for size in (0, 1, 2, 10, len(whole) // 3, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.onnx").write_bytes(whole[:size])
        refused(hifi, tmp_path / "cut.onnx")
    (tmp_path / "foreign.onnx").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    refused(hifi, tmp_path / "foreign.onnx")
    model = onnx.load(tmp_path / "m.onnx")
    onnx.save(model, tmp_path / "apart.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
    assert "is in another file" in refused(hifi, tmp_path / "apart.onnx")


def test_answers_that_are_no_numbers(tmp_path, hifi):
    path = net(tmp_path / "m.onnx", [helper.make_node("Sqrt", ["x"], ["r"]), helper.make_node("ReduceSum", ["r", "k"], ["y"])],
               [("x", TensorProto.FLOAT, ["N", 2])], [("y", TensorProto.FLOAT, None)], {"k": np.array([1])})
    write_csv(tmp_path / "d.csv", {"a": [1.0, 4, -1, 9], "b": [1.0, 1, 1, 1], "y": [1.0, 2, 3, 4]})
    message = refused(hifi, path, code=4)
    assert "nan for data row 3" in message
    write_csv(tmp_path / "d.csv", {"a": [1.0, 4, 1, 9], "b": [1.0, None, 1, 1], "y": [1.0, 2, 3, 4]})
    message = refused(hifi, path, code=4)
    assert "nan for data row 2" in message and "missing" in message
