"""Heavy judges of E2: the paper's protocol end to end on real radiographs with a random DenseNet121."""

import csv
import subprocess

import pytest

from conftest import ROOT

pytestmark = pytest.mark.full


def test_nih_protocol_with_a_random_densenet121(hifi, shared, tmp_path):
    subprocess.run(["/usr/bin/python3", str(ROOT / "tests" / "random_densenet121.py"), str(tmp_path)], check=True)
    # The list as it is has no box for the shared images: a row of the same form is added for one of them.
    data, nih = shared / "data" / "nih", tmp_path / "nih"
    nih.mkdir()
    images = sorted(path.name for path in data.glob("*.png"))[:1]
    for name in images:
        (nih / name).symlink_to(data / name)
    text = (data / "BBox_List_2017.csv").read_text()
    for name in images:
        text += f"{name},Cardiomegaly,100.5,300.25,400.5,250\n"
    (nih / "BBox_List_2017.csv").write_text(text)
    result = hifi("reproduce", "e2", "--nih", "nih", "--model", "densenet121.onnx", "--quick", "--out", "out",
                  timeout=3000)
    assert "features.norm5" in result.stdout
    with open(tmp_path / "out" / "e2_images.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["image"] for row in rows} == set(images)
    assert {row["map"] for row in rows} >= {"Hi-Fi 14x14, 1 grid", "GradCAM", "RISE", "integrated gradients"}
    assert all(0 <= float(row["del"]) <= 1 for row in rows)
    with open(tmp_path / "out" / "e2_missing.csv", newline="") as file:
        assert len(list(csv.reader(file))) == 1 + 880
