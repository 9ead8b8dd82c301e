"""Images become a model's input exactly as in the libraries that models are trained with: PIL (torchvision's
Resize, CenterCrop, ToTensor, Normalize, written out here) and scikit-image (torchxrayvision's XRayResizer)."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

from conftest import HIFI

PIL = pytest.importorskip("PIL.Image")
transform = pytest.importorskip("skimage.transform")
FIT = str(pathlib.Path(HIFI).with_name("fit_image"))


def pixels(height, width, channels=1, bits=8, seed=0):
    rng = np.random.default_rng(seed)
    shape = (height, width) if channels == 1 else (height, width, channels)
    smooth = rng.integers(0, 2**bits, shape)
    smooth[: height // 2] = smooth[: height // 2] // 3  # some structure
    return smooth.astype(np.uint8 if bits == 8 else np.uint16)


@pytest.fixture
def fit(tmp_path):
    """The fitted image in 0..1 and the model's input, for a recipe and an array (or a file)."""

    def run(recipe, array, suffix=".png", code=0):
        path = tmp_path / ("image" + suffix)
        if isinstance(array, np.ndarray):
            PIL.fromarray(array).save(path)
        else:
            path.write_bytes(array)
        if isinstance(recipe, dict):
            (tmp_path / "recipe.json").write_text(json.dumps(recipe))
            recipe = "recipe.json"
        result = subprocess.run([FIT, recipe, path.name, "out"], cwd=tmp_path, capture_output=True, text=True)
        assert result.returncode == code, result.stderr
        if code:
            return result.stderr
        assert result.stderr == ""
        return np.load(tmp_path / "out.fitted.npy"), np.load(tmp_path / "out.input.npy")

    return run


def torchvision_imagenet(image):
    """Resize(256), CenterCrop(224), ToTensor, Normalize of torchvision, on a PIL image."""
    width, height = image.size
    short = min(width, height)
    size = (256 * width // short, 256 * height // short)
    image = image.resize(size, PIL.BILINEAR)
    left, top = round((size[0] - 224) / 2), round((size[1] - 224) / 2)
    image = image.crop((left, top, left + 224, top + 224))
    tensor = np.asarray(image, np.uint8).transpose(2, 0, 1).astype(np.float32) / np.float32(255)
    mean, std = (np.array(v, np.float32)[:, None, None] for v in ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))
    return tensor, (tensor - mean) / std


@pytest.mark.parametrize("size", [(300, 401), (512, 260), (100, 83), (256, 256), (224, 299)])
def test_imagenet_is_torchvision_to_the_bit(fit, size):
    array = pixels(*size, channels=3)
    fitted, tensor = fit("imagenet", array)
    expected = torchvision_imagenet(PIL.fromarray(array))
    np.testing.assert_array_equal(fitted, expected[0])
    np.testing.assert_array_equal(tensor, expected[1])


def torchxrayvision(array, top):
    """normalize(image, max), XRayCenterCrop, XRayResizer(224) with its default engine."""
    image = ((2 * (array.astype(np.float32) / np.float32(top)) - 1.0) * 1024)[None]
    _, y, x = image.shape
    side = min(y, x)
    image = image[:, y // 2 - side // 2:, x // 2 - side // 2:][:, :side, :side]
    return transform.resize(image, (1, 224, 224), mode="constant", preserve_range=True).astype(np.float32)


@pytest.mark.parametrize("size,bits", [((512, 512), 8), ((300, 401), 8), ((451, 330), 16), ((100, 90), 8), ((224, 230), 16)])
def test_xrv_is_torchxrayvision(fit, size, bits):
    array = pixels(*size, bits=bits)
    _, tensor = fit("xrv", array)
    np.testing.assert_allclose(tensor, torchxrayvision(array, 2**bits - 1), rtol=0, atol=1e-3)  # of 2048


def test_xrv_of_the_right_size_is_exact(fit):
    array = pixels(224, 224)
    _, tensor = fit("xrv", array)
    np.testing.assert_array_equal(tensor[0], (2 * (array.astype(np.float32) / np.float32(255)) - 1) * 1024)


@pytest.mark.parametrize("size", [(16, 12), (9, 31), (40, 7), (24, 24)])
@pytest.mark.parametrize("channels", [1, 3])
def test_resize_is_pil_to_the_bit(fit, size, channels):
    array = pixels(24, 24, channels)
    fitted, _ = fit({"size": size, "channels": "grey" if channels == 1 else "rgb"}, array)
    # One direction at a time: which one PIL takes first depends on its version.
    image = PIL.fromarray(array).resize((size[1], 24), PIL.BILINEAR).resize(size[::-1], PIL.BILINEAR)
    expected = np.asarray(image).reshape(*size, channels)
    np.testing.assert_array_equal(fitted, (expected.astype(np.float32) / np.float32(255)).transpose(2, 0, 1))


def test_16_bits_keep_their_levels(fit):
    array = pixels(10, 10, bits=16)
    fitted, _ = fit({"size": [10, 10], "channels": "grey"}, array)
    np.testing.assert_array_equal(fitted[0], array.astype(np.float32) / np.float32(65535))
    fitted, _ = fit({"size": [5, 5], "channels": "grey"}, array)
    expected = np.asarray(PIL.fromarray(array.astype(np.float32)).resize((5, 5), PIL.BILINEAR)) / 65535
    np.testing.assert_allclose(fitted[0], expected, atol=1e-6)


def test_channels_layout_and_range(fit):
    array = pixels(6, 6, 3)
    recipe = {"size": [6, 6], "channels": "rgb", "range": [-1, 1], "mean": [0.1, 0.2, 0.3], "std": [1, 2, 4],
              "layout": "NHWC"}
    fitted, tensor = fit(recipe, array)
    assert tensor.shape == (6, 6, 3)
    expected = (array / 255 * 2 - 1 - [0.1, 0.2, 0.3]) / [1, 2, 4]
    np.testing.assert_allclose(tensor, expected, atol=1e-6)
    # Grey by PIL's luma, and grey files as three equal channels.
    fitted, _ = fit({"size": [6, 6], "channels": "grey"}, array)
    np.testing.assert_array_equal(fitted[0] * 255, np.asarray(PIL.fromarray(array).convert("L"), np.float32))
    fitted, _ = fit({"size": [6, 6], "channels": "rgb"}, pixels(6, 6))
    assert (fitted == fitted[0]).all() and fitted.shape == (3, 6, 6)


def test_jpeg_palette_and_opaque_alpha(fit, tmp_path):
    array = np.full((8, 8, 3), (200, 40, 90), np.uint8)
    fitted, _ = fit({"size": [8, 8]}, array, ".jpg")
    assert np.abs(fitted * 255 - array.transpose(2, 0, 1)).max() <= 3
    with_alpha = np.dstack([array, np.full((8, 8), 255, np.uint8)])
    fitted, _ = fit({"size": [8, 8]}, with_alpha)
    np.testing.assert_array_equal(np.round(fitted * 255), array.transpose(2, 0, 1))
    with_alpha[3, 3, 3] = 7
    assert "transparent" in fit({"size": [8, 8]}, with_alpha, code=3)


def damaged_files():
    import io
    array = pixels(40, 40)
    png, jpeg = io.BytesIO(), io.BytesIO()
    PIL.fromarray(array).save(png, "PNG")
    PIL.fromarray(array).save(jpeg, "JPEG")
    png, jpeg = png.getvalue(), jpeg.getvalue()
    flipped = bytearray(png)
    flipped[len(png) // 2] ^= 0xFF
    empty = bytearray(png)
    empty[16:20] = bytes(4)
    return {"cut.png": (png[: len(png) // 2], "cut short"), "cut.jpg": (jpeg[: len(jpeg) // 2], "cut short"),
            "flipped.png": (bytes(flipped), "damaged"), "empty.png": (bytes(empty), "no pixels"),
            "text.png": (b"not an image", "neither PNG nor JPEG")}


@pytest.mark.parametrize("name", ["cut.png", "cut.jpg", "flipped.png", "empty.png", "text.png"])
def test_damaged_files(fit, name):
    content, word = damaged_files()[name]
    message = fit("xrv", content, pathlib.Path(name).suffix, code=3)
    assert word in message and message.count("\n") == 1, message


@pytest.mark.parametrize("recipe,word", [
    ({}, "size"), ({"size": [0, 4]}, "size"), ({"size": [4.5, 4]}, "whole"), ({"size": 4}, "size"),
    ({"size": [4, 4], "fit": "stretch"}, "fit"), ({"size": [4, 4], "channels": "cmyk"}, "channels"),
    ({"size": [4, 4], "mean": [0.5]}, "mean"), ({"size": [4, 4], "std": [0, 1, 1]}, "std"),
    ({"size": [4, 4], "range": [1, 1]}, "range"), ({"size": [4, 4], "colour": 1}, "colour"),
    ({"size": [4, 4], "short_side": 3, "fit": "center-crop"}, "short_side"), ("missing.json", "missing.json")])
def test_bad_recipes(fit, recipe, word):
    message = fit(recipe, pixels(4, 4), code=3)
    assert word in message and message.count("\n") == 1
