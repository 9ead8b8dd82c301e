"""The small network of experiment E2: 84 x 84 grey pixels in 0..1 in, two logits (nodule; cavity and streaks) out."""
import torch
from torch import nn


def block(inputs, outputs, kernel, stride):
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False),
                         nn.BatchNorm2d(outputs), nn.ReLU())


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(block(1, 12, 5, 2), block(12, 24, 3, 2), nn.MaxPool2d(2), block(24, 32, 3, 1),
                                      block(32, 48, 3, 1))
        self.head = nn.Sequential(nn.Linear(96, 48), nn.ReLU(), nn.Linear(48, 2))

    def forward(self, pixels):
        maps = self.features((pixels - 0.35) / 0.18)
        # The mean knows how much there is of a finding, the maximum that there is one.
        return self.head(torch.cat([maps.mean((2, 3)), maps.amax((2, 3))], 1))
