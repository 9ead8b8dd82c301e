#!/usr/bin/python3
"""Writes a randomly initialised DenseNet121 of torchxrayvision's exact shape (one channel, 18 sigmoid outputs, the same
names of layers) as ONNX and TorchScript; run by tests/test_e2_full.py with Debian's python3-torch.

  random_densenet121.py OUT
"""
import collections
import pathlib
import sys

import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "models" / "e2"))
from export_densenet import export  # noqa: E402


class DenseLayer(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.norm1, self.conv1 = nn.BatchNorm2d(inputs), nn.Conv2d(inputs, 128, 1, bias=False)
        self.norm2, self.conv2 = nn.BatchNorm2d(128), nn.Conv2d(128, 32, 3, padding=1, bias=False)

    def forward(self, x):
        new = self.conv2(F.relu(self.norm2(self.conv1(F.relu(self.norm1(x))))))
        return torch.cat([x, new], 1)


class DenseNet(nn.Module):
    def __init__(self):
        super().__init__()
        parts = collections.OrderedDict(conv0=nn.Conv2d(1, 64, 7, 2, 3, bias=False), norm0=nn.BatchNorm2d(64),
                                        relu0=nn.ReLU(), pool0=nn.MaxPool2d(3, 2, 1))
        width = 64
        for block, layers in enumerate((6, 12, 24, 16), 1):
            parts[f"denseblock{block}"] = nn.Sequential(collections.OrderedDict(
                (f"denselayer{k + 1}", DenseLayer(width + 32 * k)) for k in range(layers)))
            width += 32 * layers
            if block < 4:
                parts[f"transition{block}"] = nn.Sequential(collections.OrderedDict(
                    norm=nn.BatchNorm2d(width), relu=nn.ReLU(), conv=nn.Conv2d(width, width // 2, 1, bias=False),
                    pool=nn.AvgPool2d(2, 2)))
                width //= 2
        parts["norm5"] = nn.BatchNorm2d(width)
        self.features = nn.Sequential(parts)
        self.classifier = nn.Linear(width, 18)

    def forward(self, x):
        # Inputs are in -1024 .. 1024: scaled as trained weights of the first layer would do.
        maps = F.relu(self.features(x / 512))
        return torch.sigmoid(4 * self.classifier(F.adaptive_avg_pool2d(maps, (1, 1)).flatten(1)))


torch.set_num_threads(1)
torch.manual_seed(0)
network = DenseNet()
# That of torchvision's DenseNet121, less two channels of the first convolution and 982 classes.
assert sum(p.numel() for p in network.parameters()) == 6_966_034
export(network, pathlib.Path(sys.argv[1]))
