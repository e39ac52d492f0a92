"""The network: small steps from 2 to 8 mm a pixel, then wider and wider looks around each place."""

import torch
from torch import Tensor, nn

from overruler.vision.learned.shape_net import OUTPUT_CHANNELS
from training.lessons.rims.network import Wide, seen
from training.lite import LITE0, Lite

INPUTS = 5


class OverviewNet(nn.Module):  # type: ignore[misc]
    """(N, 5, H, W) to (N, 13, H / 4, W / 4)."""

    def __init__(
        self, w: int = 48, channels: int = OUTPUT_CHANNELS, heats: tuple[int, ...] = (0, 1, 2)
    ) -> None:
        super().__init__()
        self.net = nn.Sequential(
            seen(INPUTS, w // 2, 5, 2),
            seen(w // 2, w // 2, 3),
            seen(w // 2, w, 3, 2),
            *(Wide(w, apart) for apart in (1, 2, 4, 2, 1)),
            seen(w, w, 3),
            nn.Conv2d(w, channels, 1),
        )
        bias = self.net[-1].bias.data
        bias[list(heats)] = -4.0  # middles are rare

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.net(x)
        return out


class PhotographicNet(nn.Module):  # type: ignore[misc]
    """(N, 5, H, W) to (N, channels, H / 4, W / 4), with first weights that know photographs."""

    def __init__(self, channels: int, heats: tuple[int, ...], width: int = 64) -> None:
        super().__init__()
        self.trunk = Lite(LITE0, INPUTS - 3)
        widths = self.trunk.widths
        self.narrow = nn.ModuleList([nn.Conv2d(inside, width, 1) for inside in widths])
        self.smooth = nn.ModuleList([seen(width, width, 3) for _ in widths])
        self.head = nn.Conv2d(width, channels, 1)
        self.head.bias.data[list(heats)] = -4.0  # middles are rare

    def forward(self, x: Tensor) -> Tensor:
        features = [narrow(one) for narrow, one in zip(self.narrow, self.trunk(x), strict=True)]
        down = self.smooth[2](features[2])
        for level in (1, 0):
            up = nn.functional.interpolate(down, scale_factor=2.0, mode="nearest")
            down = self.smooth[level](features[level] + up)
        out: Tensor = self.head(down)
        return out


def focal_loss(logit: Tensor, heat: Tensor, counts: Tensor) -> Tensor:
    """How far the logits of middles are off, where that counts (Zhou et al., Objects as Points, 2019)."""
    p = torch.sigmoid(logit).clamp(1e-4, 1 - 1e-4)
    hit = heat > 0.999
    found = ((1 - p) ** 2 * nn.functional.logsigmoid(logit))[hit].sum()
    missed = ((1 - heat) ** 4 * p**2 * nn.functional.logsigmoid(-logit) * counts)[~hit].sum()
    return -(found + missed) / hit.sum().clamp(min=1)
