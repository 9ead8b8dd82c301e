"""The row engine on networks against OpenVINO and libtorch called directly on batches of the same shape.

    python benchmarks/networks.py build/bench

Two multi-layer perceptrons of 12 columns as ONNX, and the same shapes as TorchScript where the system's Python has torch
(Debian: python3-torch). `networks` compares the losses with the library's own answers before it takes a time; both are
timed in turns on 2 threads, best of seven.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BUILD = Path(sys.argv[1] if len(sys.argv) > 1 else "build/bench")
COLUMNS = 12
HIDDEN = (64, 256)

TORCH = """
import sys, torch
from torch import nn
torch.manual_seed(0)
h = int(sys.argv[2])
m = nn.Sequential(nn.Linear(12, h), nn.Tanh(), nn.Linear(h, h), nn.Tanh(), nn.Linear(h, 1))
torch.jit.script(m).save(sys.argv[1])
"""


def write_onnx(path, hidden):
    rng = np.random.default_rng(0)
    sizes = [COLUMNS, hidden, hidden, 1]
    nodes, weights, value = [], [], "x"
    for k, (a, b) in enumerate(zip(sizes, sizes[1:])):
        weights += [numpy_helper.from_array((rng.normal(size=(a, b)) / np.sqrt(a)).astype(np.float32), f"w{k}"),
                    numpy_helper.from_array(rng.normal(size=b).astype(np.float32), f"b{k}")]
        nodes.append(helper.make_node("Gemm", [value, f"w{k}", f"b{k}"], [f"s{k}" if b > 1 else "y"]))
        if b > 1:
            nodes.append(helper.make_node("Tanh", [f"s{k}"], [f"h{k}"]))
        value = f"h{k}"
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", COLUMNS])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 1])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    onnx.save(model, path)


with tempfile.TemporaryDirectory() as name:
    for hidden in HIDDEN:
        path = Path(name) / f"mlp{hidden}.onnx"
        write_onnx(path, hidden)
        subprocess.run([BUILD / "networks", path, str(COLUMNS)], check=True)
    for hidden in HIDDEN:
        path = Path(name) / f"mlp{hidden}.pt"
        made = subprocess.run(["/usr/bin/python3", "-c", TORCH, path, str(hidden)], capture_output=True)
        if made.returncode != 0:
            print("TorchScript: no torch in the system's Python, left out")
            break
        subprocess.run([BUILD / "networks", path, str(COLUMNS)], check=True)
