"""image.py BUILD: the whole path of `hifi image` against the bare model, for two networks with random weights: the
small one is the hard case, because masking is a larger share of its time."""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
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


def main(build):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        for side, blocks in ((84, [(16, 5, 2), (32, 3, 2), (48, 3, 1), (64, 3, 2)]),
                             (224, [(32, 7, 2), (64, 3, 2), (64, 3, 1), (128, 3, 2), (128, 3, 1), (256, 3, 2)])):
            network(path, side, blocks)
            subprocess.run([pathlib.Path(build) / "image", path, str(side), "1"], check=True)


if __name__ == "__main__":
    main(sys.argv[1])
