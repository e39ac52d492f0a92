"""The first part of EfficientNet looks at a candidate, and one layer at the whole behind it."""

import torch
from torch import Tensor, nn

from overruler.vision.learned.in_play_net import COLUMNS
from training.lite import LITE2, Lite, Stages

ASIDE = 4
"""Channels beside the colours: view angle, radius, resolution, and the distance from the rim."""


class InPlayNet(nn.Module):  # type: ignore[misc]
    """(N, 7, 96, 96) to (N, 11).

    Those are the log odds of a round base or oval; dx, dy and log of the size's ratio; log σ of place and of size;
    log odds of the visible share; the log of the stretch along and across the view, that of the stretch between,
    and the log of their σ; and the log odds of a rectangle.
    """

    shape = (7, 96, 96)

    def __init__(self, stages: Stages = LITE2) -> None:
        super().__init__()
        self.trunk = Lite(stages, ASIDE)
        width = self.trunk.widths[-1]
        cells = self.shape[1] // 16 * (self.shape[2] // 16)
        self.squeeze = nn.Sequential(nn.Conv2d(width, 32, 1), nn.ReLU())
        self.drop = nn.Dropout(0.2)
        wide = 32 * cells + width
        self.head = nn.Sequential(nn.Linear(wide, 128), nn.ReLU(), nn.Linear(128, COLUMNS))

    def forward(self, x: Tensor) -> Tensor:
        _, _, x = self.trunk(x)
        whole = torch.cat([self.squeeze(x).flatten(1), x.mean((2, 3))], 1)
        out: Tensor = self.head(self.drop(whole))
        return out
