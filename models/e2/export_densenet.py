#!/usr/bin/env python3
"""Exports torchxrayvision's DenseNet121 for `hifi reproduce e2 --nih DIR --model OUT/densenet121.onnx`.

  pip install torchxrayvision onnx
  python models/e2/export_densenet.py OUT [WEIGHTS]       WEIGHTS: densenet121-res224-all (default), -nih, -chex, ..

Needs the published weights (torchxrayvision downloads them on first use). Writes OUT/densenet121.onnx (opset 13, for the
audit) and OUT/densenet121.pt (TorchScript, for gradients). Outputs are the sigmoids of the 18 classes: the library's
calibration by operating points is left out, because it is no part of the network and monotone in each class.
"""
import pathlib
import sys

import torch


def export(model, folder):
    """Both formats of a network that takes N x 1 x 224 x 224 numbers in -1024 .. 1024."""
    model.eval()
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    example = torch.zeros(2, 1, 224, 224)
    torch.jit.trace(model, example).save(str(folder / "densenet121.pt"))
    torch.onnx.export(model, example, str(folder / "densenet121.onnx"), opset_version=13, input_names=["image"],
                      output_names=["probabilities"], dynamic_axes={"image": {0: "batch"}, "probabilities": {0: "batch"}})


def main():
    import torchxrayvision

    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    model = torchxrayvision.models.DenseNet(weights=sys.argv[2] if len(sys.argv) > 2 else "densenet121-res224-all")
    model.op_threshs = None
    model.apply_sigmoid = True
    export(model, folder)


if __name__ == "__main__":
    main()
