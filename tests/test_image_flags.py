"""hifi image: the flags that it shares with explain (how much to evaluate, which part, what it would cost)."""

import json
import math
import shutil
import sqlite3
import subprocess
import time

import numpy as np
import pytest

from conftest import HIFI
from test_image import COMMON, HARD, by_player, helper, patch, save_image, save_model, world  # noqa: F401

# A bounded loss: the others have open intervals where a context shows no variance at all, as in an additive model.
SAMPLE = ("image", "--model", "probability.onnx", "--loss", "prediction", "--class", "1", "--fill", "constant:0.5", "--feather", "0",
          "--recipe", "plain.json", "--quiet", "--offsets", "1", "--budget", "300")
LOGIT = ("image", "--model", "logit.onnx", "--loss", "logit", "--class", "1", *HARD, "--quiet")


def make_folder(world, name, count, seed=5):
    folder = world / name
    folder.mkdir()
    rng = np.random.default_rng(seed)
    for k in range(count):
        save_image(folder / f"{k:03}.png", rng.random((28, 28)))
    return folder


def lose_images(path, first_lost, images, grids):
    """The run file as a kill would leave it."""
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM texts WHERE key = 'position'")
        for lost in range(first_lost, images):
            db.execute("DELETE FROM texts WHERE key = ?", (f"image/{lost}",))
        db.execute("DELETE FROM cells WHERE phase >= ?", (16 + grids * first_lost,))
    db.close()


def test_time_becomes_calls_per_image(world, hifi):
    result = hifi(*COMMON[:-1], "--time", "1s", "--out", "run.hifi", "--json", "p.json")
    note = [line for line in result.stderr.splitlines() if "--time 1s" in line][0]
    allowed = int(note.split("--time 1s: ")[1].split()[0])
    p = json.loads((world / "p.json").read_text())
    assert 132 <= min(i["calls"] for i in p["instances"]) and max(i["calls"] for i in p["instances"]) <= allowed
    # What the machine could do then is in the file: a resumed run has the same coalitions.
    whole = hifi("decompose", "run.hifi", "--json", "-").stdout
    assert json.loads(whole) == p
    lose_images(world / "run.hifi", 1, 3, 2)
    assert hifi("resume", "run.hifi", "--json", "-", "--quiet").stdout == whole
    message = hifi(*COMMON, "--time", "0.00001s", code=3).stderr
    assert "--time 0.00001s" in message and "the smallest is" in message
    capped = json.loads(hifi(*COMMON, "--time", "5s", "--budget", "300", "--json", "-").stdout)
    assert all(i["calls"] <= 300 for i in capped["instances"])


def test_precision_stops_after_enough_images(world, hifi, profile):
    make_folder(world, "many", 80)
    words = (*SAMPLE, "--images", "many")
    p = profile(*words, "--precision", "0.5", "--out", "run.hifi")
    assert (p["images"]["images"], p["images"]["of"], p["coverage"]["draws"]) == (32, 80, 32)
    assert len(p["instances"]) == 32 and not p["coverage"]["exact"]
    assert json.loads(hifi("decompose", "run.hifi", "--json", "-").stdout) == p
    # The same images alone, at the level of the first look: the same numbers.
    (world / "chosen").mkdir()
    for image in p["instances"]:
        shutil.copy(world / "many" / image["image"], world / "chosen")
    alone = profile(*SAMPLE, "--images", "chosen", "--confidence", 1 - .05 * 6 / math.pi**2)
    for a, b in zip(p["features"], alone["features"]):
        assert a["U"]["plugin"] == pytest.approx(b["U"]["plugin"], abs=1e-12)
        for end in ("low", "high"):
            assert a["pi"][end] == pytest.approx(b["pi"][end], abs=1e-6)
    names = [i["image"] for i in p["instances"]]
    assert names == sorted(names) and names != sorted(f"{k:03}.png" for k in range(32))  # a sample, not the first ones


def test_precision_that_needs_more_images_than_there_are(world, hifi):
    make_folder(world, "many", 40)
    words = (*SAMPLE, "--images", "many", "--precision", "0.1%")
    result = hifi(*words, "--out", "run.hifi", "--json", "p.json", code=6)
    assert "all 40 images" in result.stderr and result.stderr.count("\n") == 1
    whole = (world / "p.json").read_text()
    assert json.loads(whole)["images"]["images"] == 40
    assert hifi("decompose", "run.hifi", "--json", "-").stdout == whole
    for threads in ("1", "3"):
        hifi(*words, "--threads", threads, "--json", "q.json", code=6)
        assert (world / "q.json").read_text() == whole
    lose_images(world / "run.hifi", 7, 40, 1)
    assert hifi("resume", "run.hifi", "--json", "-", "--quiet", code=6).stdout == whole
    assert "searched" in hifi(*LOGIT, "--images", "many", "--grid", "14x14", "--budget", "300", "--offsets", "1", "--precision", "1", code=3).stderr
    hifi(*words[:-1], "soon", code=2)


def test_shards_add_up(world, hifi):
    whole = hifi(*COMMON, "--out", "whole.hifi", "--json", "-").stdout
    for shard in (1, 2):
        result = hifi(*COMMON[:-1], "--shard", f"{shard}/2", "--out", f"part{shard}.hifi")
        assert f"shard {shard}/2 is done" in result.stderr and result.stdout == ""
    hifi("merge", "-o", "all.hifi", "part2.hifi", "part1.hifi")
    assert hifi("decompose", "all.hifi", "--json", "-").stdout == whole
    assert hifi("resume", "all.hifi", "--json", "-", "--quiet").stdout == whole
    assert "shard 1/2" in hifi("decompose", "part1.hifi", code=3).stderr
    assert "shard 2/2 is missing" in hifi("merge", "-o", "x.hifi", "part1.hifi", code=3).stderr
    # A shard that was killed goes on.
    lose_images(world / "part2.hifi", 2, 3, 2)
    assert "not finished" in hifi("merge", "-o", "x.hifi", "part1.hifi", "part2.hifi", code=3).stderr
    hifi("resume", "part2.hifi", "--quiet")
    hifi("merge", "-o", "again.hifi", "part1.hifi", "part2.hifi")
    assert hifi("decompose", "again.hifi", "--json", "-").stdout == whole
    # A damaged part is not merged in.
    with sqlite3.connect(world / "part1.hifi") as db:
        db.execute("UPDATE cells SET data = zeroblob(length(data)) WHERE position = 5")
    db.close()
    assert "not what was written" in hifi("merge", "-o", "x.hifi", "part1.hifi", "part2.hifi", code=3).stderr
    assert not (world / "x.hifi").exists()
    assert "at most as many shards" in hifi(*COMMON, "--shard", "1/4", "--out", "x.hifi", code=3).stderr
    for flags in (("--shard", "1/2"), ("--shard", "1/2", "--out", "x.hifi", "--json", "-"), ("--shard", "3/2", "--out", "x.hifi"),
                  ("--shard", "1/2", "--out", "x.hifi", "--time", "1s"), ("--shard", "1/2", "--out", "x.hifi", "--precision", "1")):
        assert hifi(*COMMON, *flags, code=2).stderr.count("\n") == 1


def test_policy_exhaustive_is_all_or_nothing(world, hifi, profile):
    small = (*COMMON, "--images", "images/c.png", "--grid", "3x2")
    small = tuple(w for k, w in enumerate(small) if k not in (3, 4))  # another --images
    exact = profile(*small, "--exact")
    found = profile(*small, "--policy", "exhaustive")
    assert found["features"] == exact["features"] and found["coverage"]["exhaustive"]
    message = hifi(*COMMON, "--policy", "exhaustive", code=3).stderr
    assert "49 patches" in message and "2^49" in message and "GB" in message
    assert "65536" in hifi(*COMMON, "--policy", "exhaustive", "--grid", "4x4", code=3).stderr


def test_policy_paper_is_diamonds(world, hifi, profile):
    """14 x 14 and 1,000 calls, as in the paper: both ends of 196 patches, then diamonds, the same for every image."""
    words = (*LOGIT, "--images", "images/a.png", "--grid", "14x14", "--policy", "paper", "--pairs", "none")
    p = profile(*words, "--out", "run.hifi")
    image = p["instances"][0]
    assert 900 < image["calls"] <= 1000 and p["provenance"]["patches"]["offsets"] == 1
    f = by_player(image["features"])
    for name in ("r0c0", "r0c1", "r1c0", "r1c1"):
        assert f[name]["pi"]["value"] == pytest.approx(0.75, abs=1e-3) and f[name]["last"]["value"] == pytest.approx(0.75, abs=1e-3)
    with sqlite3.connect(world / "run.hifi") as db:
        seen = {row[0] for row in db.execute("SELECT coalition FROM cells WHERE phase = 16")}
    db.close()
    n = 196
    for i in range(n):
        alone = "0" * i + "1" + "0" * (n - 1 - i)
        assert alone in seen and alone.translate({48: 49, 49: 48}) in seen
    # Diamonds: most of the others have a corner that differs in one patch.
    others = [c for c in seen if 1 < c.count("1") < n - 1]
    flip = lambda c, i: c[:i] + ("0" if c[i] == "1" else "1") + c[i + 1:]
    assert np.mean([any(flip(c, i) in seen for i in range(n)) for c in others]) > 0.8
    assert hifi("decompose", "run.hifi", "--pairs", "none", "--json", "-").stdout == hifi(*words, "--threads", "1", "--json", "-").stdout
    assert "394" in hifi(*words, "--budget", "300", code=3).stderr
    hifi(*words, "--shard", "1/1", "--exact", code=2)


def test_per_instance_changes_nothing(world, hifi):
    plain = hifi(*COMMON, "--json", "-").stdout
    assert hifi(*COMMON, "--per-instance", "--json", "-").stdout == plain
    assert hifi(*COMMON, "--per-instance", "--amortise", "--json", "-").stdout == plain
    hifi(*COMMON, "--amortise", code=2)
    hifi(*COMMON, "--interval", "hoeffding", code=2)


def test_plan_of_images(world, hifi):
    words = [w for w in COMMON if w != "--quiet"]
    text = hifi("plan", *words).stdout
    for word in ("model", "outputs", "images", "fill", "players", "work", "memory", "time"):
        assert any(line.startswith(word + " ") for line in text.splitlines()), text
    plan = json.loads(hifi("plan", *words, "--json", "-").stdout)
    assert plan["schema"] == "hifi.plan/1" and plan["evaluations"] == 3 * plan["calls_per_image"] and plan["calls_per_image"] <= 1000
    result = json.loads(hifi(*COMMON, "--json", "-").stdout)
    assert max(i["calls"] for i in result["instances"]) <= plan["calls_per_image"]
    half = json.loads(hifi("plan", *words, "--shard", "1/3", "--json", "-").stdout)
    assert half["evaluations"] == plan["calls_per_image"]
    assert "--model is required" in hifi("plan", "--data", "x.csv", code=2).stderr
    hifi("plan", "image", "--images", "images", code=2)
    assert "nowhere" in hifi("plan", *words[:3], "--images", "nowhere", code=3).stderr


def test_exact_is_limited_as_in_explain(world, hifi):
    message = hifi(*COMMON, "--exact", "--grid", "5x5", code=3).stderr
    assert "25 patches" in message and "2^25" in message and "3.36e+07" in message and "24 players" in message
    message = hifi(*COMMON, "--exact", "--grid", "4x6", code=3).stderr  # 2^24: by memory
    assert "GB of memory, more than --max-memory" in message and message.count("\n") == 1


def probe_model(path, last):
    """The mean of all pixels, which lies in 0..1, through one more operator."""
    nodes = [helper.make_node("GlobalAveragePool", ["x"], ["m"]), helper.make_node("Flatten", ["m"], ["f"])]
    constants = {"w": np.array([[1.0]])}
    if last == "MatMul":
        nodes.append(helper.make_node("MatMul", ["f", "w"], ["y"]))
    elif last == "Clip":
        nodes.append(helper.make_node("Clip", ["f"], ["y"]))
    else:
        nodes.append(helper.make_node(last, ["f"], ["z"]))
        nodes.append(helper.make_node("Identity", ["z"], ["y"]))
    return save_model(path, nodes, constants if last == "MatMul" else {})


@pytest.mark.parametrize("last,flags,word", [
    ("Sigmoid", (), "made by Sigmoid"), ("Clip", (), "taken as probabilities"), ("MatMul", ("--link", "sigmoid"), "sigmoid"),
    ("MatMul", ("--loss", "logit"), "linear"), ("Clip", ("--link", "sigmoid"), "sigmoid")])
def test_how_outputs_are_read_is_said(world, profile, last, flags, word):
    probe_model(world / "m.onnx", last)
    p = profile("image", "--model", "m.onnx", "--images", "images/c.png", "--class", "1", "--recipe", "plain.json", "--budget", "300", *flags)
    assert word in p["provenance"]["model"]["outputs"]
    assert ("outputs_assumed" in [w["code"] for w in p["warnings"]]) == ("taken" in word)
    mean = p["instances"][0]["answer"]["image"]
    pixels = 0.5
    expected = {"Sigmoid": pixels, "Clip": None, "MatMul": pixels}[last]
    if flags and last == "MatMul":
        assert mean["logit"] == pytest.approx(expected, abs=0.05)  # not the log-odds of 0.5, which is 0


def test_a_linear_layer_gives_no_probabilities(world, hifi):
    probe_model(world / "m.onnx", "MatMul")
    result = hifi("image", "--model", "m.onnx", "--images", "images/c.png", "--class", "1", "--recipe", "plain.json", code=3)
    assert "MatMul" in result.stderr and "--link" in result.stderr and result.stderr.count("\n") == 1


def test_labels_may_have_other_columns_and_several_boxes(world, hifi):
    (world / "maps").mkdir()
    (world / "labels.csv").write_text("patient,image,label,x,y,w,h,remark\n7,a.png,1,0,0,4,4,left\n7,a.png,1,20,20,8,8,right\n8,b.png,0,,,,,\n")
    words = ("image", "--model", "probability.onnx", "--images", "images", "--labels", "labels.csv", "--recipe", "plain.json", "--quiet")
    p = json.loads(hifi(*words, "--maps", "maps", "--json", "-").stdout)
    assert [i["image"] for i in p["instances"]] == ["a.png", "b.png"]
    (world / "labels.csv").write_text("image,label,x,y,w,h\na.png,1,0,0,4,4\na.png,1,22,20,8,4\n")
    message = hifi(*words, code=3).stderr
    assert "data row 2" in message and "22,20,8,4" in message and "28 x 28" in message


def test_a_damaged_image_in_the_middle_of_a_long_run(world, hifi):
    """It vanishes after the first look at it: what is finished is kept, and goes on when it is back."""
    whole = hifi(*COMMON, "--out", "whole.hifi", "--json", "-").stdout
    shutil.copy(world / "whole.hifi", world / "run.hifi")
    lose_images(world / "run.hifi", 1, 3, 2)
    good = (world / "images" / "b.png").read_bytes()
    (world / "images" / "b.png").write_bytes(good[:40])
    message = hifi("resume", "run.hifi", code=3).stderr
    assert "images/b.png" in message and message.count("\n") == 1
    (world / "images" / "b.png").unlink()
    hifi("resume", "run.hifi", code=3)
    (world / "images" / "b.png").write_bytes(good)
    assert hifi("resume", "run.hifi", "--json", "-", "--quiet").stdout == whole


def test_one_grid_where_two_are_too_dear(world, hifi, profile):
    """Unless offsets are asked for, chains on one grid go before searches on two; 784 patches have no room for a shifted grid."""
    words = (*LOGIT, "--images", "images/a.png", "--budget", "300")
    p = profile(*words)
    assert p["provenance"]["patches"]["offsets"] == 1
    assert all(f["pi"]["value"] is not None and f["last"]["value"] is not None for f in p["features"])
    loud = [w for w in words if w != "--quiet"]
    assert "too few for 2 grids" in hifi(*loud).stderr
    assert profile(*words, "--offsets", "2")["provenance"]["patches"]["offsets"] == 2
    p = profile(*LOGIT, "--images", "images/a.png", "--grid", "28x28", "--pairs", "none")
    assert len(p["players"]) == 784 and p["instances"][0]["calls"] <= 1000


def test_an_image_that_changes_under_the_run(world, hifi):
    """The network is slow enough that the last image can be replaced while the first is in work."""
    make_folder(world, "many", 20)
    words = (*COMMON[:3], "--images", "many", *COMMON[5:], "--grid", "14x14", "--budget", "3000", "--out", "run.hifi", "--pairs", "none")
    run = subprocess.Popen([HIFI, *words], cwd=world, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    last = world / "many" / "019.png"
    good = last.read_bytes()
    while run.poll() is None and not (world / "run.hifi").exists():
        time.sleep(0.01)
    save_image(last, np.zeros((28, 28)))
    _, message = run.communicate(timeout=100)
    assert run.returncode == 3 and "many/019.png" in message and "hifi resume run.hifi" in message and message.count("\n") == 1, message
    last.write_bytes(good)
    resumed = hifi("resume", "run.hifi", "--json", "-", "--quiet", "--pairs", "none").stdout
    assert resumed == hifi(*words[:-4], "--pairs", "none", "--json", "-").stdout
