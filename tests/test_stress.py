"""`hifi explain --stress-background`: the same audit under other backgrounds."""

import json

import numpy as np
import pytest

from conftest import write_csv


@pytest.fixture
def files(tmp_path):
    """Two columns that always agree, and one alone; the model takes the first two's mean where they agree only."""
    rng = np.random.default_rng(1)
    a, c = rng.normal(size=(2, 80))
    data = write_csv(tmp_path / "d.csv", {"a": a, "b": a + 0.01 * rng.normal(size=80), "c": c, "y": a + c})
    model = "process:awk -F, 'NR>1{printf \"%.12g\\n\", ($1+$2)/2+$3}'"
    return ["explain", "--model", model, "--data", data, "--target", "y", "--exact"]


def test_backgrounds_and_conclusions(hifi, files):
    found = json.loads(hifi(*files, "--stress-background", "data,marginals,mean", "--json", "-").stdout)
    plain = json.loads(hifi(*files, "--json", "-").stdout)
    stress = found.pop("stress")
    assert found == plain, "the profile itself does not change"
    assert [b["background"] for b in stress["backgrounds"]] == ["data", "marginals", "mean"]
    mean = json.loads(hifi(*files, "--background", "mean", "--json", "-").stdout)
    for ours, alone in zip(stress["backgrounds"][2]["features"], mean["features"]):
        assert ours["verdict"] == alone["verdict"]
        assert ours["U"] == {key: alone["U"][key] for key in ("value", "low", "high")}
    conclusions = {tuple(c["players"]): c for c in stress["conclusions"]}
    assert set(conclusions) == {("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c")}
    for c in conclusions.values():
        decided = {word for word in c["says"] if word != "unresolved"}
        expected = "flips" if len(decided) > 1 else "undecided" if "unresolved" in c["says"] else "survives"
        assert c["outcome"] == expected and len(c["says"]) == 3
    scores = [b["off_distribution"] for b in stress["backgrounds"]]
    assert min(scores[:2]) > 1.5, "masking tears the twins apart"
    assert scores[2] > 0


def test_text_and_what_is_refused(hifi, files, tmp_path):
    text = hifi(*files, "--stress-background", "mean").stdout
    assert "under other backgrounds" in text and "masked rows: distance to the data" in text
    assert "nowhere.csv" in hifi(*files, "--stress-background", "mean,nowhere.csv", code=3).stderr
    assert "row:99" in hifi(*files, "--stress-background", "row:99", code=3).stderr
    assert "--stress-background" in hifi(*files, "--stress-background", "mean,", code=2).stderr
    hifi(*files, "--stress-background", "mean", "--shard", "1/2", "--out", "x.hifi", code=2)


def test_what_is_sampled_is_said(hifi, files):
    run = hifi(*files, "--stress-background", "marginals,mean")
    assert "marginals is sampled" in run.stdout and "mean is sampled" not in run.stdout
    assert "--exact does not hold for the background marginals" in run.stderr
    found = json.loads(hifi(*files, "--stress-background", "marginals,mean", "--json", "-").stdout)["stress"]
    assert [b["exact"] for b in found["backgrounds"]] == [True, False, True]
    assert found["backgrounds"][1]["draws"] > 100


def test_a_resumed_run_repeats_it(hifi, files, tmp_path):
    """A model that fails at its 15th call until a file says go on."""
    model = ("process:echo >> calls; if [ $(wc -l < calls) -gt 14 ] && [ ! -e go ]; then exit 1; fi; "
             + files[2].removeprefix("process:"))
    words = [*files[:2], model, *files[3:], "--batch", "4000", "--threads", "1", "--stress-background", "mean"]
    hifi(*words, "--out", "run.hifi", "--json", "x.json", code=4)
    assert not (tmp_path / "x.json").exists()
    (tmp_path / "go").write_text("")
    expected = hifi(*words, "--json", "-").stdout
    assert "stress" in json.loads(expected)
    assert hifi("resume", "run.hifi", "--json", "-").stdout == expected
    again = hifi("resume", "run.hifi", "--json", "-")  # finished now
    assert again.stdout == expected and "finished already" in again.stderr
    (tmp_path / "d.csv").unlink()
    gone = hifi("resume", "run.hifi", "--json", "-")
    assert "stress" not in json.loads(gone.stdout) and "left out" in gone.stderr
