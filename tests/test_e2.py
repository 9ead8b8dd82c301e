"""`hifi reproduce e2`: shipped networks, tables against their own raw numbers, same bytes, bad input."""

import csv
import json
import os
import subprocess

import numpy as np
import pytest

from conftest import HIFI, ROOT

ort = pytest.importorskip("onnxruntime")


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """One quick run with one thread, kept for all tests of this file."""
    folder = tmp_path_factory.mktemp("e2")
    result = subprocess.run([HIFI, "reproduce", "e2", "--quick", "--threads", "1", "--out", str(folder)],
                            capture_output=True, text=True, timeout=300, env=os.environ)
    assert result.returncode == 0, result.stderr
    return folder, result.stdout


def test_titles_say_what_is_synthetic(quick):
    folder, text = quick
    document = json.loads((folder / "e2.json").read_text())
    for table in document["tables"]:
        assert "SYNTHETIC images, SYNTHETIC model" in table["title"]
    assert "QUICK" in text and "paper PG" in text


def test_tables_are_means_of_the_raw_numbers(quick):
    folder, _ = quick
    raw = rows(folder / "e2_images.csv")
    table = {row["map"]: row for row in rows(folder / "e2_maps.csv")}
    assert set(table) - {"best attainable"} == {row["map"] for row in raw}
    for name in ("Hi-Fi 7x7, 2 grids", "GradCAM", "gradient", "gradient, smoothed", "integrated gradients",
                 "integrated gradients, smoothed", "RISE", "random"):
        own = [row for row in raw if row["map"] == name]
        assert len(own) == 6
        for metric in ("PG", "IoU@15", "del", "ins other"):
            values = [float(row[metric]) for row in own]
            assert float(table[name][metric]) == pytest.approx(np.mean(values), abs=1e-12)
            assert 0 <= min(values) and max(values) <= 1
    assert float(table["Hi-Fi 7x7, 2 grids"]["paper del"]) == 0.269
    ours = [float(row["del"]) for row in raw if row["map"].startswith("Hi-Fi")]
    random = [float(row["del"]) for row in raw if row["map"] == "random"]
    assert np.mean(ours) < np.mean(random)


def test_same_bytes_on_any_number_of_threads(quick, hifi, tmp_path):
    folder, _ = quick
    hifi("reproduce", "e2", "--quick", "--threads", "2", "--out", "again", timeout=300)
    for path in folder.iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes(), path.name


def test_written_images_are_those_that_are_explained(hifi, tmp_path):
    hifi("reproduce", "e2", "--quick", "--write-images", "images")
    labels = rows(tmp_path / "images" / "labels.csv")
    assert {row["image"] for row in labels} == {f"{kind}_{k:03d}.png" for kind in ("single", "redundant", "combination")
                                                 for k in range(2)}
    assert all(0 <= int(row["x"]) and int(row["x"]) + int(row["w"]) <= 84 for row in labels)


def test_shipped_networks_agree_in_both_formats_and_know_their_classes():
    """ONNX by onnxruntime against logits of TorchScript that the training script's network gave (stored)."""
    folder = ROOT / "models" / "e2"
    stored = np.load(folder / "check.npz")
    for name in ("plain", "filled"):
        session = ort.InferenceSession(str(folder / f"{name}.onnx"))
        logits = session.run(None, {"pixels": stored["pixels"].astype(np.float32)[:, None] / 255})[0]
        np.testing.assert_allclose(logits, stored[name], atol=2e-4)
        assert ((logits > 0) == (stored["classes"] > 0)).mean() > 0.9
    assert sum(path.stat().st_size for path in folder.iterdir()) < 4e6


@pytest.mark.parametrize("words, message", [
    (("--nih", "nowhere", "--model", "x.onnx"), "nowhere"),
    (("--nih", "nih"), "needs --model"),
])
def test_bad_input(hifi, tmp_path, words, message):
    (tmp_path / "nih").mkdir()
    result = hifi("reproduce", "e2", *words, code=2 if "needs" in message else 3)
    assert message in result.stderr and len(result.stderr.strip().splitlines()) <= 2


def block_means(path, outputs=18):
    """A network of the right shape in a few numbers: 14 x 14 block means of the image, one linear layer, sigmoids."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    weights = np.random.default_rng(0).normal(size=(196, outputs)).astype(np.float32) / 2000
    nodes = [helper.make_node("AveragePool", ["image"], ["blocks"], kernel_shape=[16, 16], strides=[16, 16]),
             helper.make_node("Flatten", ["blocks"], ["flat"]),
             helper.make_node("MatMul", ["flat", "weights"], ["logits"]),
             helper.make_node("Sigmoid", ["logits"], ["probabilities"])]
    graph = helper.make_graph(
        nodes, "block_means", [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 224, 224])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["batch", outputs])],
        [numpy_helper.from_array(weights, "weights")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))


@pytest.fixture
def nih(shared, tmp_path):
    """Two shared images; the list as it is has no box for them, so rows of the same form are added."""
    data, folder = shared / "data" / "nih", tmp_path / "nih"
    folder.mkdir()
    names = ["00000001_000.png", "00000003_000.png"]
    for name in names:
        (folder / name).symlink_to(data / name)
    text = (data / "BBox_List_2017.csv").read_text()
    rows_added = [f"{names[0]},Cardiomegaly,300.5,400.25,400,300.5", f"{names[1]},Infiltrate,100,200,250.5,300",
                  f"{names[1]},Mass,10,10,50,50"]
    (folder / "BBox_List_2017.csv").write_text(text.rstrip("\n") + "\n" + "\n".join(rows_added) + "\n")
    block_means(tmp_path / "net.onnx")
    return folder


def test_nih_protocol(nih, hifi, tmp_path):
    result = hifi("reproduce", "e2", "--nih", "nih", "--model", "net.onnx", "--quick", "--out", "out", timeout=300)
    assert "2 of 882 with boxes" in " ".join(result.stdout.split()) and "no gradient maps" in result.stdout
    images = rows(tmp_path / "out" / "e2_images.csv")
    assert {(row["image"], row["group"]) for row in images} == {("00000001_000.png", "Cardiomegaly"),
                                                                ("00000003_000.png", "Infiltrate")}
    assert {row["map"] for row in images} == {"Hi-Fi 14x14, 1 grid", "RISE", "random"}
    assert len(rows(tmp_path / "out" / "e2_missing.csv")) == 880
    # Every block has its own weight in the logit, so a map that knows them deletes faster than a random one.
    mean = {name: np.mean([float(row["del"]) for row in images if row["map"] == name]) for name in ("RISE", "random")}
    ours = np.mean([float(row["del"]) for row in images if row["map"].startswith("Hi-Fi")])
    assert ours < mean["random"] and ours < mean["RISE"]


@pytest.mark.parametrize("row, message", [
    ("00000001_000.png,Cardiomegaly,900,10,400,20", "does not lie within 00000001_000.png"),
    ("00000001_000.png,Cardiomegaly,900,10,x,20", "line 2"),
    ("00000001_000.png,Broken Heart,9,10,20,20", "no class Broken Heart"),
    ("nowhere.png,Mass,9,10,20,20", "none of the 1 images"),
])
def test_nih_bad_rows(nih, hifi, row, message):
    (nih / "BBox_List_2017.csv").write_text("Image Index,Finding Label,Bbox [x,y,w,h],,,\n" + row + "\n")
    error = hifi("reproduce", "e2", "--nih", "nih", "--model", "net.onnx", "--quiet", code=3).stderr
    assert message in error and len(error.strip().splitlines()) == 1


def test_nih_model_of_another_shape(nih, hifi, tmp_path):
    block_means(tmp_path / "two.onnx", outputs=2)
    error = hifi("reproduce", "e2", "--nih", "nih", "--model", "two.onnx", "--quiet", code=3).stderr
    assert "has 2 outputs, torchxrayvision's networks have 18" in error
