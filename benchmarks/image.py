"""image.py BUILD: the whole path of `hifi image` against the bare model, for two networks with random weights: the
small one is the hard case, because masking is a larger share of its time. The answers to masked pictures are compared
with onnxruntime's first."""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import PIL.Image
from onnx import TensorProto, helper


def network(path, side, blocks):
    """Convolutions (channels, kernel, stride), then global mean and two outputs."""
    rng = np.random.default_rng(0)
    nodes, weights, name, channels = [], [], "x", 1
    for k, (width, kernel, stride) in enumerate(blocks):
        w = rng.normal(0, (2 / (channels * kernel * kernel)) ** 0.5, (width, channels, kernel, kernel)).astype(np.float32)
        weights.append(onnx.numpy_helper.from_array(w, f"w{k}"))
        nodes.append(helper.make_node("Conv", [name, f"w{k}"], [f"c{k}"], kernel_shape=[kernel, kernel],
                                      strides=[stride, stride], pads=[kernel // 2] * 4))
        nodes.append(helper.make_node("Relu", [f"c{k}"], [f"r{k}"]))
        name, channels = f"r{k}", width
    weights.append(onnx.numpy_helper.from_array(rng.normal(size=(channels, 2)).astype(np.float32), "head"))
    nodes += [helper.make_node("GlobalAveragePool", [name], ["mean"]), helper.make_node("Flatten", ["mean"], ["flat"]),
              helper.make_node("MatMul", ["flat", "head"], ["y"])]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 1, side, side])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 2])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def check(build, model, image, side):
    """Pictures: all patches is the image, no patch is not; answers: those of onnxruntime."""
    dump = pathlib.Path(model).with_name("check.bin")
    subprocess.run([pathlib.Path(build) / "image", model, image, "1000", dump], check=True)
    content, count = dump.read_bytes(), 12
    split = count * side * side * 4
    pictures = np.frombuffer(content[:split], np.float32).reshape(count, 1, side, side)
    answers = np.frombuffer(content[split:], np.float64).reshape(count, 2)
    pixels = np.asarray(PIL.Image.open(image)) / np.float32(255)
    assert np.abs(pictures[1, 0] - pixels).max() < 1e-6 and np.abs(pictures[0, 0] - pixels).max() > 0.05, "masks"
    judge = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"]).run(None, {"x": pictures})[0]
    error = np.abs(judge - answers).max() / np.abs(judge).max()
    assert error < 1e-4 and np.ptp(answers[:, 0]) > 0, f"answers differ by {error}"
    print(f"{count} masked pictures of {side} x {side}: answers as onnxruntime's within {error:.1g} of the largest")


def main(build):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        image = pathlib.Path(folder) / "image.png"
        for side, budget, blocks in ((84, 1000, [(16, 5, 2), (32, 3, 2), (48, 3, 1), (64, 3, 2)]),
                                     (224, 300, [(32, 7, 2), (64, 3, 2), (64, 3, 1), (128, 3, 2), (128, 3, 1), (256, 3, 2)])):
            network(path, side, blocks)
            PIL.Image.fromarray((np.random.default_rng(1).random((side, side)) * 255).astype(np.uint8)).save(image)
            check(build, path, image, side)
            subprocess.run([pathlib.Path(build) / "image", path, image, str(budget)], check=True)


if __name__ == "__main__":
    main(sys.argv[1])
