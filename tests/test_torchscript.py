"""TorchScript through libtorch. The files and the owner's answers are fixtures; make.py beside them made both."""

import json
import pathlib

import numpy as np
import pytest

from conftest import coalitions, reference, same_profile, write_csv
from neural import ours, same, write_table

FIXTURES = pathlib.Path(__file__).resolve().parent / "fixtures" / "torchscript"
EXPECTED = json.loads((FIXTURES / "expected.json").read_text())
ROWS = np.array(EXPECTED["rows"])


@pytest.mark.parametrize("name, output, tolerance", [
    ("regressor", "", 1e-5), ("regressor64", "", 1e-12), ("logits", "", 1e-5), ("sigmoid", "", 1e-5),
    ("tuple.0", "0", 1e-5), ("tuple.1", "1", 1e-5), ("named.logits", "logits", 1e-5)])
def test_predictions(tmp_path, name, output, tolerance):
    """Dropout is off, whatever mode the file was saved in; float64 stays float64."""
    file = FIXTURES / f"{name.split('.')[0]}.pt"
    same(ours(tmp_path, file, ROWS, output), EXPECTED[name], tolerance)


def flags(name, *words):
    return ["explain", "--model", FIXTURES / f"{name}.pt", "--data", "d.csv", "--target", "y", *words]


def test_explain_against_brute_force(tmp_path, profile):
    """Every coalition through our own single rows, which test_predictions compares with the owner's."""
    x = write_table(tmp_path, rows=20)
    y = np.random.default_rng(0).normal(size=20)
    write_csv(tmp_path / "d.csv", {**{f"c{i}": x[:, i].astype(float) for i in range(4)}, "y": y})
    pairs = {bits: np.where([b == "1" for b in bits], x[:, None], x[None]).reshape(-1, 4) for bits in coalitions(4)}
    answers = ours(tmp_path, FIXTURES / "regressor64.pt", np.concatenate(list(pairs.values()))).reshape(16, 20, 20)
    losses = {bits: float(((answers[k] - y[:, None]) ** 2).mean()) for k, bits in enumerate(pairs)}
    found = profile(*flags("regressor64", "--exact", "--quiet"))
    same_profile(found, reference(losses, [f"c{i}" for i in range(4)], tie=5e-5), 1e-9)
    model = found["provenance"]["model"]
    assert model["format"] == "torchscript" and model["library"].startswith("libtorch 1.13")
    assert model["precision"] == "f64" and model["batch_rows"] > 0


def test_same_bytes(tmp_path, hifi):
    write_table(tmp_path, rows=60)
    words = flags("regressor", "--exact", "--quiet", "--json", "-")
    whole = hifi(*words, "--threads", 1).stdout
    assert {hifi(*words, "--threads", t).stdout for t in (2, 3)} == {whole}
    assert hifi(*words, "--out", "run.hifi").stdout == whole
    assert hifi("resume", "run.hifi", "--quiet", "--json", "-").stdout == whole


def test_links_and_checks(tmp_path, hifi, profile):
    write_table(tmp_path, target=lambda x: (x[:, 0] > 0).astype(int))
    assert "--link sigmoid or softmax" in hifi(*flags("logits"), code=3).stderr
    assert profile(*flags("logits", "--link", "softmax", "--quiet"))["loss"] == "log"
    assert "OpenBLAS" not in hifi(*flags("logits", "--link", "softmax")).stderr
    names = {f"c{i}": ROWS[:, i] for i in range(4)}
    write_csv(tmp_path / "d.csv", {**names, "y": np.zeros(len(ROWS))})
    answers = np.array(EXPECTED["regressor64"])[:, 0]
    write_csv(tmp_path / "p.csv", {"p": answers})
    hifi(*flags("regressor64", "--check-predictions", "p.csv", "--background", "mean", "--quiet"))
    write_csv(tmp_path / "p.csv", {"p": answers + 0.1})
    assert "we predict" in hifi(*flags("regressor64", "--check-predictions", "p.csv"), code=4).stderr


def refused(hifi, path, code, *words):
    result = hifi("explain", "--model", path, "--data", "d.csv", "--target", "y", "--quiet", *words, code=code)
    assert result.stdout == "" and result.stderr.count("\n") == 1
    return result.stderr


def test_models_that_do_not_fit(tmp_path, hifi):
    write_table(tmp_path)
    assert "has 2 outputs" in refused(hifi, FIXTURES / "tuple.pt", 3)
    assert "has no output 2" in refused(hifi, FIXTURES / "tuple.pt", 3, "--output", "2")
    assert "logits, total" in refused(hifi, FIXTURES / "named.pt", 3)
    assert "takes 2 arguments" in refused(hifi, FIXTURES / "two.pt", 3)
    assert "one row per row" in refused(hifi, FIXTURES / "whole.pt", 3)
    assert "is not deterministic" in refused(hifi, FIXTURES / "noise.pt", 4)
    assert "weights without the code" in refused(hifi, FIXTURES / "weights.pt", 3)
    assert "nan for data row" in refused(hifi, FIXTURES / "root.pt", 4)
    write_table(tmp_path, 5)
    message = refused(hifi, FIXTURES / "regressor.pt", 3)
    assert "does not take rows of 5 columns" in message and "--features" in message
    hifi(*flags("regressor", "--features", "c4,c2,c1,c0", "--quiet"))


def test_broken_files(tmp_path, hifi):
    write_table(tmp_path)
    whole = (FIXTURES / "regressor.pt").read_bytes()
    for size in (3, 4, 30, len(whole) // 2, len(whole) - 30, len(whole) - 1):
        (tmp_path / "cut.pt").write_bytes(whole[:size])
        assert "cut.pt" in refused(hifi, "cut.pt", 3)
    for at in range(40, len(whole), len(whole) // 12):
        (tmp_path / "bad.pt").write_bytes(whole[:at] + b"\xff" * 8 + whole[at + 8:])
        code = hifi_code(hifi, "bad.pt")
        assert code in (0, 3, 4), code  # weights may change without notice


def hifi_code(hifi, path):
    for code in (0, 3, 4):
        try:
            hifi("explain", "--model", path, "--data", "d.csv", "--target", "y", "--quiet", code=code)
            return code
        except AssertionError:
            continue
    return None
