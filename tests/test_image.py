"""hifi image: patches of pictures as players, on small networks whose answers are known in closed form."""

import json
import shutil
import sqlite3
import subprocess

import numpy as np
import pytest

from conftest import reference, same_profile

onnx = pytest.importorskip("onnx")
PIL = pytest.importorskip("PIL.Image")
helper = onnx.helper
FLOAT, INT = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64

PLAIN = {"size": [28, 28], "channels": "grey"}


def save_model(path, nodes, constants, outputs=1, shape=(1, 28, 28)):
    """A network from input "x" to output "y"."""
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", FLOAT, ["N", *shape])],
        [helper.make_tensor_value_info("y", FLOAT, ["N", outputs])],
        [helper.make_tensor(name, FLOAT if np.asarray(v).dtype.kind == "f" else INT, np.shape(v), np.ravel(v).tolist())
         for name, v in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return path


# Means of the 7 x 7 patches of 4 x 4 pixels: g. Answer: 3 g[0] + 2 max(g[10], g[12]) + 4 min(g[30], g[40]) - 2.
UNIQUE, TWINS, PARTNERS = 0, (10, 12), (30, 40)


def planted_model(path, sigmoid=False):
    pick = lambda name, k: helper.make_node("Gather", ["g", f"k{k}"], [name], axis=1)
    nodes = [helper.make_node("AveragePool", ["x"], ["p"], kernel_shape=[4, 4], strides=[4, 4]),
             helper.make_node("Reshape", ["p", "flat"], ["g"]),
             pick("a", 0), pick("b", 10), pick("c", 12), pick("d", 30), pick("e", 40),
             helper.make_node("Max", ["b", "c"], ["bc"]), helper.make_node("Min", ["d", "e"], ["de"]),
             helper.make_node("Mul", ["a", "w3"], ["a3"]), helper.make_node("Mul", ["bc", "w2"], ["bc2"]),
             helper.make_node("Mul", ["de", "w4"], ["de4"]), helper.make_node("Add", ["a3", "bc2"], ["s1"]),
             helper.make_node("Add", ["s1", "de4"], ["s2"]),
             helper.make_node("Add", ["s2", "bias"], ["z" if sigmoid else "y"])]
    if sigmoid:
        nodes.append(helper.make_node("Sigmoid", ["z"], ["y"]))
    constants = {"flat": np.array([-1, 49]), "w3": np.array([3.0]), "w2": np.array([2.0]), "w4": np.array([4.0]),
                 "bias": np.array([-2.0]), **{f"k{k}": np.array([k]) for k in (0, 10, 12, 30, 40)}}
    return save_model(path, nodes, constants)


def planted_logit(pixels):
    g = pixels.reshape(7, 4, 7, 4).mean((1, 3)).ravel()
    return 3 * g[0] + 2 * max(g[10], g[12]) + 4 * min(g[30], g[40]) - 2


def save_image(path, pixels):
    PIL.fromarray(np.round(np.asarray(pixels) * 255).astype(np.uint8)).save(path)


@pytest.fixture
def world(tmp_path):
    """A planted model, its recipe and three images: all white; white but for patch 40; noise."""
    planted_model(tmp_path / "logit.onnx")
    planted_model(tmp_path / "probability.onnx", sigmoid=True)
    (tmp_path / "plain.json").write_text(json.dumps(PLAIN))
    folder = tmp_path / "images"
    folder.mkdir()
    white = np.ones((28, 28))
    save_image(folder / "a.png", white)
    half = white.copy()
    half[20:24, 20:24] = 0  # patch 40: row 5, column 5
    save_image(folder / "b.png", half)
    save_image(folder / "c.png", np.random.default_rng(0).random((28, 28)))
    return tmp_path


HARD = ("--fill", "constant:0", "--feather", "0", "--recipe", "plain.json")


def patch(k):
    return f"r{k // 7}c{k % 7}"


def by_player(features):
    return {f["player"]: f for f in features}


def test_planted_truth(world, profile):
    p = profile("image", "--model", "logit.onnx", "--images", "images/a.png", "--loss", "logit", "--class", "1", *HARD,
                "--quiet")
    assert p["schema"] == "hifi.profile/1" and p["players"] == [patch(k) for k in range(49)]
    assert (p["loss"], p["measure"]) == ("logit", "prediction")
    image = p["instances"][0]
    assert image["image"] == "a.png" and "row" not in image
    f = by_player(image["features"])
    # U, R, S, pi, last of a unique patch, of one of two twins, of one of two partners, and of one that does nothing
    expected = {0: (3, 0, 0, 3, 3), 10: (0, 2, 0, 2, 0), 12: (0, 2, 0, 2, 0), 30: (0, 0, 4, 0, 4), 40: (0, 0, 4, 0, 4), 5: (0, 0, 0, 0, 0)}
    for k, values in expected.items():
        for key, value in zip(("U", "R", "S", "pi", "last"), values):
            assert f[patch(k)][key]["value"] == pytest.approx(value, abs=1e-4), (k, key)
    verdicts = {k: f[patch(k)]["verdict"] for k in expected}
    assert verdicts == {0: "unique", 10: "redundant", 12: "redundant", 30: "synergistic", 40: "synergistic", 5: "negligible"}
    # The map: mean of pi, last and mean gain (which antithetic chains find exactly here).
    values = image["map"]["values"]
    assert [values[k] for k in (0, 10, 12, 30, 40, 5)] == pytest.approx([3, 1, 1, 2, 2, 0], abs=1e-4)
    pairs = {tuple(q["players"]): q for q in image["pairs"]}
    assert pairs[patch(10), patch(12)]["R"]["value"] == pytest.approx(2, abs=1e-4)
    assert pairs[patch(30), patch(40)]["S"]["value"] == pytest.approx(4, abs=1e-4)
    assert pairs[patch(0), patch(10)]["S"]["value"] == pytest.approx(0, abs=1e-4)
    # Partial coverage is said: U is an upper bound, synergy a lower one.
    assert f[patch(0)]["U"]["low"] is None and f[patch(0)]["S"]["high"] is None and f[patch(0)]["basis"] == "searched"
    # What the model says to the image and to nothing but fill.
    assert image["answer"]["image"]["logit"] == pytest.approx(7) and image["answer"]["fill"]["logit"] == pytest.approx(-2)
    assert p["provenance"]["recipe"]["size"] == [28, 28] and p["provenance"]["background"]["kind"] == "constant:0"
    assert image["calls"] <= 1000


def test_regions_tell_redundant_from_joint(world, profile):
    """Regions around the strongest patches: 0 alone; 30, 40 share a region (row 4 and 5, columns 2 and 5 do not)."""
    p = profile("image", "--model", "logit.onnx", "--images", "images/a.png", "--loss", "logit", "--class", "1", *HARD, "--offsets", "1")
    image = p["instances"][0]
    seeds = [r["seed"] for r in image["regions"]]
    assert seeds == [patch(0), patch(30), patch(40)]
    assert set(image["regions"][0]["players"]) == {"r0c0", "r0c1", "r1c0", "r1c1"}
    found = {tuple(q["regions"]): q for q in image["region_pairs"]}
    assert found[1, 2]["S"] == pytest.approx(4, abs=1e-4) and found[1, 2]["R"] == pytest.approx(0, abs=1e-4)
    assert found[0, 1]["S"] == pytest.approx(0, abs=1e-4) and found[0, 1]["logit"]["R"] == pytest.approx(0, abs=1e-4)


def masked(pixels, fill, rows, columns, bits):
    out = np.full_like(pixels, fill)
    height, width = pixels.shape
    for k, bit in enumerate(bits):
        r, c = divmod(k, columns)
        ys = slice(r * height // rows, (r + 1) * height // rows)
        xs = slice(c * width // columns, (c + 1) * width // columns)
        if bit == "1":
            out[ys, xs] = pixels[ys, xs]
    return out


@pytest.mark.parametrize("loss", ["log", "brier", "prediction", "logit"])
def test_exact_grid_is_brute_force(world, profile, loss):
    """All 2^6 coalitions of a 3 x 2 grid whose boundaries do not divide the image."""
    pixels = np.asarray(PIL.open(world / "images" / "c.png")) / np.float32(255)
    losses = {}
    for mask in range(64):
        bits = f"{mask:06b}"
        z = planted_logit(masked(pixels, np.float32(0.25), 3, 2, bits))
        prob = 1 / (1 + np.exp(-z))
        losses[bits] = {"log": -np.log(prob), "brier": (1 - prob) ** 2, "prediction": -prob, "logit": -z}[loss]
    found = profile("image", "--model", "logit.onnx", "--link", "sigmoid", "--images", "images/c.png", "--class", "1", "--loss", loss,
                    "--grid", "3x2", "--exact", "--fill", "constant:0.25", "--feather", "0", "--recipe", "plain.json")
    names = [f"r{r}c{c}" for r in range(3) for c in range(2)]
    expected = reference(losses, names, tie=5e-5)
    assert found["coverage"]["exhaustive"] and found["coverage"]["exact"]
    for side in (found, expected):  # rounding of float32 has no context
        for pair in side["pairs"]:
            for key in ("S", "R"):
                pair[key]["context"] = pair[key]["context"] if pair[key]["value"] > 1e-5 else None
    same_profile({"features": found["features"], "pairs": found["pairs"]}, expected, 2e-5)
    assert [f["U"]["value"] for f in found["instances"][0]["features"]] == [f["U"]["value"] for f in found["features"]]


def test_mean_over_images(world, profile):
    """The profile of all is that of the mean loss; two images where patch 40 is there or not."""
    (world / "images" / "c.png").unlink()
    p = profile("image", "--model", "logit.onnx", "--images", "images", "--loss", "logit", "--class", "1", *HARD)
    top = by_player(p["features"])
    assert top[patch(40)]["last"]["value"] == pytest.approx(2, abs=1e-4)  # 4 in one of two
    assert p["coverage"]["draws"] == 2 and p["images"]["images"] == 2
    alone = [by_player(i["features"])[patch(40)]["last"]["value"] for i in p["instances"]]
    assert alone == pytest.approx([4, 0], abs=1e-4)
    assert p["images"]["answer"]["image"]["logit"] == pytest.approx((7 + 3) / 2)


def test_maps_and_overlays(world, hifi):
    (world / "maps").mkdir()
    hifi("image", "--model", "logit.onnx", "--images", "images/a.png", "--loss", "logit", "--class", "1", *HARD, "--offsets", "1",
         "--maps", "maps", "--json", "p.json", "--quiet")
    values = json.loads((world / "p.json").read_text())["instances"][0]["map"]["values"]
    maps = {name: np.load(world / "maps" / f"a.{name}.npy") for name in ("P", "pi", "last", "mean-gain", "Lmax", "U", "S", "R")}
    assert all(m.shape == (28, 28) and m.dtype == np.float32 for m in maps.values())
    # Bilinear between patch centres, as torch's interpolate(align_corners=False); here by hand.
    at = np.clip((np.arange(28) + 0.5) / 4 - 0.5, 0, 6)
    below = np.minimum(at.astype(int), 5)
    weights = np.zeros((28, 7))
    weights[np.arange(28), below] = 1 - (at - below)
    weights[np.arange(28), below + 1] = at - below
    np.testing.assert_allclose(maps["P"], weights @ np.reshape(values, (7, 7)) @ weights.T, atol=1e-5)
    assert np.unravel_index(maps["S"].argmax(), (28, 28))[0] // 4 in (4, 5)
    overlay = np.asarray(PIL.open(world / "maps" / "a.png")).astype(int)
    assert overlay.shape == (448, 448, 3)
    assert overlay[16, 16, 0] > overlay[16, 16, 2] + 50  # red where the image speaks for the class
    hifi("image", "--model", "logit.onnx", "--images", "images/a.png", "--loss", "logit", "--class", "1", *HARD, "--maps", "maps",
         "--map", "S", "--quiet")
    hifi("image", "--model", "logit.onnx", "--images", "images/a.png", "--map", "Z", code=2)
    hifi("image", "--model", "logit.onnx", "--images", "images/a.png", "--maps", "nowhere", code=3)


COMMON = ("image", "--model", "probability.onnx", "--images", "images", "--class", "1", "--recipe", "plain.json", "--quiet")


@pytest.mark.parametrize("fill", ["blur", "noise", "mean", "images:images"])
def test_same_bytes_for_any_threads(world, hifi, fill):
    words = (*COMMON, "--fill", fill, "--budget", "1200", "--json", "-")
    assert hifi(*words, "--threads", "1").stdout == hifi(*words, "--threads", "3").stdout


def test_interrupted_runs_go_on_image_by_image(world, hifi):
    whole = hifi(*COMMON, "--out", "run.hifi", "--json", "-").stdout
    assert hifi("decompose", "run.hifi", "--json", "-").stdout == whole
    assert "--players differs" in hifi("decompose", "run.hifi", "--players", "a,b", code=3).stderr
    for first_lost in (0, 1, 2):
        shutil.copy(world / "run.hifi", world / "cut.hifi")
        with sqlite3.connect(world / "cut.hifi") as db:
            db.execute("DELETE FROM texts WHERE key = 'position'")
            for lost in range(first_lost, 3):
                db.execute("DELETE FROM texts WHERE key = ?", (f"image/{lost}",))
            db.execute("DELETE FROM cells WHERE phase >= ?", (16 + 2 * first_lost,))
        db.close()
        message = hifi("decompose", "cut.hifi", code=3).stderr
        assert "resume" in message
        assert hifi("resume", "cut.hifi", "--json", "-", "--quiet").stdout == whole
        assert hifi("decompose", "cut.hifi", "--json", "-").stdout == whole
    assert "run of images" in hifi("indices", "run.hifi", "--index", "SV", code=3).stderr


def test_a_changed_image_is_not_mixed_in(world, hifi):
    hifi(*COMMON, "--out", "run.hifi")
    with sqlite3.connect(world / "run.hifi") as db:
        db.execute("DELETE FROM texts WHERE key IN ('position', 'image/2')")
        db.execute("DELETE FROM cells WHERE phase >= 20")
    db.close()
    save_image(world / "images" / "b.png", np.zeros((28, 28)))
    assert "planned otherwise" in hifi("resume", "run.hifi", code=3).stderr


def test_labels_missing_and_unlabelled(world, hifi, profile):
    (world / "labels.csv").write_text("image,label,x,y,w,h\na.png,1,0,0,4,4\ngone.png,1,,,,\nb.png,0,,,,\nalso_gone.png,0,,,,\n")
    words = ("image", "--model", "probability.onnx", "--images", "images", "--labels", "labels.csv", "--recipe", "plain.json")
    result = hifi(*words, "--json", "-")
    p = json.loads(result.stdout)
    assert [(i["image"], i["class"]) for i in p["instances"]] == [("a.png", "1"), ("b.png", "0")]
    warning = [w for w in p["warnings"] if w["code"] == "missing_images"][0]["message"]
    assert "2 images" in warning and "gone.png" in warning and "also_gone.png" in warning
    assert "1 image without a label is ignored" in result.stderr
    # Log loss of the label: class 0 of b is 1 - p.
    full = p["instances"][1]["answer"]["image"]
    assert full["probability"] == pytest.approx(1 - 1 / (1 + np.exp(-3)), rel=1e-5)
    (world / "labels.csv").write_text("image,label\ngone.png,1\n")
    assert "none of its images" in hifi(*words, code=3).stderr


def test_classes_by_name(world, profile, hifi):
    (world / "labels.csv").write_text("image,label\na.png,ill\nb.png,well\n")
    words = ("image", "--model", "probability.onnx", "--images", "images", "--labels", "labels.csv", "--recipe", "plain.json")
    p = profile(*words, "--classes", "well,ill")
    assert [i["class"] for i in p["instances"]] == ["ill", "well"]
    message = hifi(*words, "--classes", "well,sick", code=3).stderr
    assert "ill" in message and "labels.csv: data row 1" in message and "well, sick" in message
    assert "2 classes" in hifi(*words, "--classes", "a,b,c", code=3).stderr


def test_the_class_that_the_model_names(world, profile):
    p = profile("image", "--model", "probability.onnx", "--images", "images", "--recipe", "plain.json")
    assert [i["class"] for i in p["instances"]] == ["1", "1", "1"] and p["loss"] == "log"


def test_fills(world, profile):
    """The answer to pure fill is the model's answer to that picture."""
    pixels = np.asarray(PIL.open(world / "images" / "c.png")) / np.float32(255)
    words = ("image", "--model", "logit.onnx", "--images", "images/c.png", "--loss", "logit", "--class", "1", "--recipe", "plain.json")

    def fill(*flags):
        return profile(*words, *flags)["instances"][0]["answer"]["fill"]["logit"]

    assert fill("--fill", "mean") == pytest.approx(9 * pixels.mean() - 2, abs=1e-4)
    assert fill("--fill", "constant:0.5") == pytest.approx(9 * 0.5 - 2, abs=1e-4)
    ndimage = pytest.importorskip("scipy.ndimage")
    assert fill("--fill", "blur") == pytest.approx(planted_logit(ndimage.gaussian_filter(pixels, 3, mode="nearest")), abs=1e-4)
    assert fill() == fill("--fill", "blur")
    everyone = np.mean([np.asarray(PIL.open(world / "images" / f"{k}.png")) / 255 for k in "abc"])
    p = profile(*words[:4], "images", *words[5:], "--fill", "data-mean")
    assert p["instances"][0]["answer"]["fill"]["logit"] == pytest.approx(9 * everyone - 2, abs=1e-4)
    # Other images as a background: the mean over all three of them.
    answers = [planted_logit(np.asarray(PIL.open(world / "images" / f"{k}.png")) / 255) for k in "abc"]
    assert fill("--fill", "images:images") == pytest.approx(np.mean(answers), abs=1e-4)
    assert profile(*words, "--fill", "images:images")["coverage"]["exact"]
    assert not profile(*words, "--fill", "images:images", "--fill-draws", "2")["coverage"]["exact"]


def test_segments(world, profile, hifi):
    masks = world / "masks"
    masks.mkdir()
    labels = np.zeros((28, 28), np.uint8)
    labels[:4, :4] = 7                   # patch 0
    labels[4:8] = 9                      # patches 7 to 13: both twins
    labels[16:20, 8:12] = 2              # patch 30
    PIL.fromarray(labels).save(masks / "a.png")
    words = ("image", "--model", "logit.onnx", "--images", "images/a.png", "--loss", "logit", "--class", "1", *HARD, "--segments", "masks")
    p = profile(*words)
    assert p["players"] == ["s2", "s7", "s9"] and p["coverage"]["exhaustive"]
    f = by_player(p["features"])
    # Pixels of label 0 stay: patch 40 is always there, so s2 brings 4 in every context.
    assert [f[s]["U"]["value"] for s in ("s7", "s9", "s2")] == pytest.approx([3, 2, 4], abs=1e-4)
    hifi(*words, "--grid", "7x7", code=2)
    hifi(*words, "--offsets", "2", code=2)
    PIL.fromarray(labels[:20]).save(masks / "a.png")
    assert "28 x 28" in hifi(*words, code=3).stderr
    (masks / "a.png").unlink()
    assert "masks/a.png" in hifi(*words, code=3).stderr


@pytest.mark.parametrize("grid,offsets,budget", [("7x7", 2, 1000), ("7x7", 4, 2000), ("14x14", 1, 1000), ("14x14", 1, 300), ("3x3", 1, 600)])
def test_budget_is_kept(world, profile, grid, offsets, budget):
    p = profile(*COMMON, "--grid", grid, "--offsets", offsets, "--budget", budget)
    assert all(0 < i["calls"] <= budget for i in p["instances"])
    assert p["coverage"]["coalitions"] >= 2


def test_searched_where_ends_are_too_dear(world, profile):
    """14 x 14 with 300 calls: the ends alone would be 394. The unique patch is four patches now."""
    p = profile("image", "--model", "logit.onnx", "--images", "images/a.png", "--loss", "logit", "--class", "1", *HARD,
                "--grid", "14x14", "--offsets", "1", "--budget", "700")
    f = by_player(p["instances"][0]["features"])
    for name in ("r0c0", "r0c1", "r1c0", "r1c1"):
        assert f[name]["Lmax"]["value"] == pytest.approx(0.75, abs=1e-3)


BAD = {
    "corrupt image": (("--images", "bad/cut.png"), "cut short"),
    "no image": (("--images", "bad/text.png"), "neither PNG nor JPEG"),
    "empty folder": (("--images", "empty"), "no PNG or JPEG"),
    "missing folder": (("--images", "nowhere"), "no such file"),
    "corrupt image in a folder": (("--images", "bad"), "bad/"),
    "grid too large": (("--grid", "30x30"), "--grid 30x30"),
    "too many patches": (("--grid", "28x28", "--offsets", "1", "--recipe", "large.json"), "takes inputs"),
    "class number": (("--class", "5"), "no class \"5\""),
    "class name": (("--class", "cat"), "no class \"cat\""),
    "wrong channels": (("--recipe", "colour.json"), "takes inputs"),
    "unknown recipe": (("--recipe", "nowhere.json"), "nowhere.json"),
    "box outside": (("--images", "images", "--labels", "box.csv"), "data row 1"),
    "box without size": (("--images", "images", "--labels", "flat.csv"), "no size"),
    "no column": (("--images", "images", "--labels", "columns.csv"), "label"),
    "no probability": (("--model", "logit.onnx"), "--link"),
    "broken model": (("--model", "plain.json"), "plain.json"),
    "small budget": (("--budget", "50"), "smallest is"),
    "fill folder": (("--fill", "images:nowhere"), "nowhere"),
    "fill draws": (("--fill-draws", "3"), "--fill-draws"),
    "exact": (("--exact",), "2^49"),
    "memory": (("--max-memory", "1K"), "--max-memory"),
}


@pytest.mark.parametrize("name", list(BAD))
def test_bad_input(world, hifi, name):
    flags, word = BAD[name]
    bad = world / "bad"
    bad.mkdir()
    (world / "empty").mkdir()
    content = (world / "images" / "a.png").read_bytes()
    (bad / "cut.png").write_bytes(content[: len(content) // 2])
    (bad / "text.png").write_text("hello")
    (world / "colour.json").write_text(json.dumps({"size": [28, 28], "channels": "rgb"}))
    (world / "large.json").write_text(json.dumps({"size": [64, 64], "channels": "grey"}))
    (world / "box.csv").write_text("image,label,x,y,w,h\na.png,1,20,20,10,4\n")
    (world / "flat.csv").write_text("image,label,x,y,w,h\na.png,1,2,2,0,4\n")
    (world / "columns.csv").write_text("image,class\na.png,1\n")
    base = {"--model": "probability.onnx", "--images": "images/a.png", "--recipe": "plain.json"}
    words = ["image"]
    for flag, value in base.items():
        if flag not in flags:
            words += [flag, value]
    if "--labels" not in flags and "--class" not in flags:
        words += ["--class", "1"]
    result = hifi(*words, *flags, "--out", "run.hifi", "--json", "p.json", code=3)
    assert word in result.stderr and result.stderr.count("\n") == 1 and result.stdout == "", result.stderr
    assert not (world / "run.hifi").exists() and not (world / "p.json").exists()


@pytest.mark.parametrize("flags", [("--grid", "7"), ("--grid", "0x7"), ("--fill", "black"), ("--fill", "constant:2"), ("--offsets", "3"),
                                   ("--loss", "squared"), ("--exact", "--budget", "100"), ("--budget", "-1"), ("--feather", "-1"),
                                   ("--confidence", "2")])
def test_bad_command_lines(world, hifi, flags):
    message = hifi(*COMMON, *flags, code=2).stderr
    assert message.count("\n") == 1


def test_intervals_over_images(world, profile):
    """From 20 images on they are a sample: intervals of the mean, none of a single image."""
    folder = world / "many"
    folder.mkdir()
    rng = np.random.default_rng(5)
    for k in range(24):
        save_image(folder / f"{k:02}.png", rng.random((28, 28)))
    p = profile("image", "--model", "logit.onnx", "--images", "many", "--loss", "logit", "--class", "1", *HARD, "--offsets", "1", "--budget", "300")
    assert p["coverage"]["interval"] == "population" and p["coverage"]["draws"] == 24
    pi = by_player(p["features"])[patch(0)]["pi"]
    assert pi["low"] < 1.5 < pi["high"] and pi["high"] - pi["low"] < 0.5  # 3 x the mean of uniform numbers
    alone = by_player(p["instances"][0]["features"])[patch(0)]["pi"]
    assert alone["low"] == alone["high"] == alone["value"]


def test_torchscript(world, profile):
    """The same network through libtorch."""
    script = """
import torch
class Net(torch.nn.Module):
    def forward(self, x):
        g = torch.nn.functional.avg_pool2d(x, 4).flatten(1)
        z = 3 * g[:, 0] + 2 * torch.maximum(g[:, 10], g[:, 12]) + 4 * torch.minimum(g[:, 30], g[:, 40]) - 2
        return z.unsqueeze(1)
torch.jit.trace(Net(), torch.zeros(2, 1, 28, 28)).save("model.pt")
"""
    subprocess.run(["/usr/bin/python3", "-c", script], cwd=world, check=True)
    words = ("image", "--images", "images/c.png", "--loss", "logit", "--class", "1", *HARD)
    torch = profile(*words, "--model", "model.pt")
    other = profile(*words, "--model", "logit.onnx")
    assert torch["instances"][0]["map"]["values"] == pytest.approx(other["instances"][0]["map"]["values"], abs=1e-5)
