"""The network: small steps from 2 to 8 mm a pixel, then wider and wider looks around each place."""

import torch
from torch import Tensor, nn

from overruler.vision.learned.shape_net import OUTPUT_CHANNELS
from training.lessons.rims.network import Wide, seen

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


def focal_loss(logit: Tensor, heat: Tensor, counts: Tensor) -> Tensor:
    """How far the logits of middles are off, where that counts (Zhou et al., Objects as Points, 2019)."""
    p = torch.sigmoid(logit).clamp(1e-4, 1 - 1e-4)
    hit = heat > 0.999
    found = ((1 - p) ** 2 * nn.functional.logsigmoid(logit))[hit].sum()
    missed = ((1 - heat) ** 4 * p**2 * nn.functional.logsigmoid(-logit) * counts)[~hit].sum()
    return -(found + missed) / hit.sum().clamp(min=1)
