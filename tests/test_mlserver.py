"""Served models against a real mlserver: scikit-learn and XGBoost models, restarts in the middle of a run."""

import json
import os
import subprocess
import time

import numpy as np
import pytest

from conftest import HIFI, write_csv
from serving import Mlserver

pytest.importorskip("mlserver_sklearn")
NAMES = ["a", "b", "c", "d"]


def rows_and_truth():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(80, 4))
    return x, x[:, 0] + x[:, 1] * x[:, 2] + 0.1 * rng.normal(size=80)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    import pandas
    import xgboost
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeRegressor

    folder = tmp_path_factory.mktemp("mlserver")
    server = Mlserver(folder)
    x, y = rows_and_truth()
    rows = {"inputs": [{"name": "rows", "datatype": "FP64", "shape": [-1, 4]}]}
    boosted = xgboost.XGBRegressor(n_estimators=20, max_depth=3, n_jobs=1).fit(x, y)
    boosted.save_model(folder / "boosted.json")
    server.add("boosted", boosted, **rows)
    server.add("classes", LogisticRegression().fit(x, y > 0))  # declares nothing
    frame = pandas.DataFrame(x[:, ::-1], columns=NAMES[::-1])
    server.add("named", DecisionTreeRegressor(max_depth=5, random_state=0).fit(frame, y),
               inputs=[{"name": n, "datatype": "FP64", "shape": [-1, 1]} for n in NAMES[::-1]],
               parameters={"uri": "./model.joblib", "version": "v1", "content_type": "pd"})
    server.start()
    yield server
    server.kill()


@pytest.fixture
def data(tmp_path):
    x, y = rows_and_truth()
    write_csv(tmp_path / "d.csv", {**dict(zip(NAMES, x.T)), "y": y, "up": (y > 0).astype(int)})
    write_csv(tmp_path / "plain.csv", {**dict(zip(NAMES, x.T)), "y": y})
    write_csv(tmp_path / "classes.csv", {**dict(zip(NAMES, x.T)), "up": (y > 0).astype(int)})
    return x, y


def flags(model, data="plain.csv", target="y"):
    return ["explain", "--model", model, "--data", data, "--target", target]


def as_awk(model):
    """A logistic regression as a program."""
    terms = " + ".join([f"{v!r} * ${k + 1}" for k, v in enumerate(map(float, model.coef_[0]))])
    return ("process:awk -F, 'NR > 1 { p = 1 / (1 + exp(-(%r + %s))); printf \"%%.17g,%%.17g\\n\", 1 - p, p }'"
            % (float(model.intercept_[0]), terms))


def same_numbers(found, expected, tolerance):
    for f, e in zip(found["features"], expected["features"], strict=True):
        for key in ("U", "R", "S", "pi", "Lmax", "last"):
            assert f[key]["value"] == pytest.approx(e[key]["value"], abs=tolerance)


def test_xgboost(server, data, profile, tmp_path):
    x, _ = data
    import joblib

    write_csv(tmp_path / "p.csv", {"p": joblib.load(server.folder / "boosted" / "model.joblib").predict(x)})
    found = profile(*flags(server.url("boosted")), "--budget", 20_000, "--check-predictions", "p.csv")
    same_numbers(found, profile(*flags(server.folder / "boosted.json"), "--budget", 20_000, "--no-fast-lattice"), 1e-12)
    assert found["provenance"]["model"]["format"] == "served"
    assert found["provenance"]["model"]["objective"] == "predict FP32"


def test_probabilities(server, data, profile, hifi):
    run = flags(server.url("classes"), "classes.csv", "up")
    found = profile(*run, "--budget", 5_000, "--output", "predict_proba")
    assert found["loss"] == "log"
    import joblib

    program = as_awk(joblib.load(server.folder / "classes" / "model.joblib"))
    same_numbers(found, profile(*flags(program, "classes.csv", "up"), "--budget", 5_000), 1e-9)
    error = hifi(*run, "--output", "nonsense", code=3)
    assert "only supports 'predict'" in error.stderr and error.stderr.count("\n") == 1


def test_columns_by_name(server, data, profile):
    found = profile(*flags(server.url("named"), "d.csv"), "--budget", 5_000)  # "up" is ignored
    assert found["players"] == NAMES[::-1]
    verdicts = {f["player"]: f["pi"]["value"] for f in found["features"]}
    assert verdicts["a"] > 5 * abs(verdicts["d"])


def test_what_the_server_refuses(server, data, hifi, tmp_path):
    assert "404" in hifi(*flags(server.url("nobody")), code=3).stderr
    x, y = data
    holes = {**dict(zip(NAMES, x.T)), "y": y}
    holes["b"] = [None if i == 4 else v for i, v in enumerate(holes["b"])]
    write_csv(tmp_path / "holes.csv", holes)
    error = hifi(*flags(server.url("classes"), "holes.csv"), code=3).stderr  # scikit-learn takes no NaN here
    assert 'column "b" has in data row 5' in error and error.count("\n") == 1
    hifi(*flags(server.url("boosted"), "holes.csv"), "--budget", 2_000, "--quiet")  # XGBoost does


def start_run(server, tmp_path, name, **environment):
    words = [*flags(server.url("boosted")), "--budget", "600000", "--batch", "500", "--out", name, "--json",
             f"{name}.json", "--quiet"]
    return subprocess.Popen([HIFI, *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, **environment})


@pytest.fixture
def small(tmp_path_factory):
    """A server of its own, to be killed."""
    import xgboost

    x, y = rows_and_truth()
    server = Mlserver(tmp_path_factory.mktemp("small"))
    server.add("boosted", xgboost.XGBRegressor(n_estimators=5, max_depth=3, n_jobs=1).fit(x, y))
    server.start()
    yield server
    server.kill()


@pytest.mark.full
def test_a_restart_in_the_middle(small, data, tmp_path, hifi):
    assert start_run(small, tmp_path, "whole.hifi").wait(60) == 0
    whole = json.loads((tmp_path / "whole.hifi.json").read_text())

    bridged = start_run(small, tmp_path, "bridged.hifi")
    time.sleep(1)
    assert bridged.poll() is None
    small.kill()
    time.sleep(0.5)
    small.start(wait=False)
    assert bridged.wait(60) == 0, bridged.stderr.read()
    assert json.loads((tmp_path / "bridged.hifi.json").read_text()) == whole

    failed = start_run(small, tmp_path, "failed.hifi", HIFI_HTTP_RETRIES="1")
    time.sleep(1)
    assert failed.poll() is None
    small.kill()
    assert failed.wait(30) == 4
    error = failed.stderr.read()
    assert "cannot be reached" in error and "hifi resume failed.hifi" in error and error.count("\n") == 1
    assert hifi("resume", "failed.hifi", code=4).stderr.count("\n") == 1  # still down
    small.start()
    hifi("resume", "failed.hifi", "--json", "failed.hifi.json", "--quiet")
    assert (tmp_path / "failed.hifi.json").read_bytes() == (tmp_path / "whole.hifi.json").read_bytes()
