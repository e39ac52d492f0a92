"""The network: small steps from 2 to 8 mm a pixel, then wider and wider looks around each place."""

import torch
from torch import Tensor, nn

from overruler.vision.learned.shape_net import OUTPUT_CHANNELS
from training.lessons.rims.network import seen

INPUTS = 5


class Wide(nn.Module):  # type: ignore[misc]
    """Two convolutions beside a shortcut, their taps `apart` cells apart."""

    def __init__(self, width: int, apart: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, width, 3, 1, apart, apart, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, 1, apart, apart, bias=False),
            nn.BatchNorm2d(width),
        )

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = torch.relu(self.body(x) + x)
        return out


class OverviewNet(nn.Module):  # type: ignore[misc]
    """(N, 5, H, W) to (N, 13, H / 4, W / 4)."""

    def __init__(self, w: int = 48, channels: int = OUTPUT_CHANNELS) -> None:
        super().__init__()
        self.net = nn.Sequential(
            seen(INPUTS, w // 2, 5, 2),
            seen(w // 2, w // 2, 3),
            seen(w // 2, w, 3, 2),
            *(Wide(w, apart) for apart in (1, 2, 4, 2, 1)),
            seen(w, w, 3),
            nn.Conv2d(w, channels, 1),
        )
        nn.init.constant_(self.net[-1].bias[:3], -4.0)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.net(x)
        return out
