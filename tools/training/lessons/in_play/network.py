"""EfficientNet-Lite0 looks at a candidate, and one layer at the whole behind it."""

import torch
from torch import Tensor, nn

from training.lite0 import Lite0

ASIDE = 4
"""Channels beside the colours: view angle, radius, resolution, and the distance from the rim."""


class InPlayNet(nn.Module):  # type: ignore[misc]
    """(N, 7, 96, 96) to (N, 7): logit, dx, dy, log of the size's ratio, two log σ, logit of the visible share."""

    shape = (7, 96, 96)

    def __init__(self) -> None:
        super().__init__()
        self.trunk = Lite0(ASIDE)
        width = Lite0.widths[-1]
        cells = self.shape[1] // 16 * (self.shape[2] // 16)
        self.squeeze = nn.Sequential(nn.Conv2d(width, 32, 1), nn.ReLU())
        self.drop = nn.Dropout(0.2)
        self.head = nn.Sequential(nn.Linear(32 * cells + width, 128), nn.ReLU(), nn.Linear(128, 7))

    def forward(self, x: Tensor) -> Tensor:
        _, _, x = self.trunk(x)
        whole = torch.cat([self.squeeze(x).flatten(1), x.mean((2, 3))], 1)
        out: Tensor = self.head(self.drop(whole))
        return out
