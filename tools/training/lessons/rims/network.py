"""The networks for rims: a few residual blocks each, then one look at the whole; and blocks that others use too."""

import torch
from torch import Tensor, nn

from overruler.vision.learned.patches import RING_ROW_COUNT, WRAP_COLUMNS


def seen(
    inside: int, outside: int, kernel: int | tuple[int, int], stride: int | tuple[int, int] = 1
) -> nn.Sequential:
    """A convolution that keeps the size but for its stride, normalised, without its negative part."""
    pair = (kernel, kernel) if isinstance(kernel, int) else kernel
    padding = (pair[0] // 2, pair[1] // 2)
    return nn.Sequential(
        nn.Conv2d(inside, outside, pair, stride, padding, bias=False),
        nn.BatchNorm2d(outside),
        nn.ReLU(inplace=True),
    )


class Block(nn.Module):  # type: ignore[misc]
    """Two convolutions beside a shortcut; the first may halve the picture."""

    def __init__(self, inside: int, outside: int, stride: tuple[int, int] = (1, 1)) -> None:
        super().__init__()
        self.body = nn.Sequential(
            seen(inside, outside, 3, stride),
            nn.Conv2d(outside, outside, 3, 1, 1, bias=False),
            nn.BatchNorm2d(outside),
        )
        same = inside == outside and stride == (1, 1)
        self.short = (
            nn.Identity()
            if same
            else nn.Sequential(nn.AvgPool2d(stride), nn.Conv2d(inside, outside, 1))
        )

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = torch.relu(self.body(x) + self.short(x))
        return out


class Wide(nn.Module):  # type: ignore[misc]
    """A convolution, or two of them, beside a shortcut, their taps `apart` cells apart."""

    def __init__(self, width: int, apart: int, deep: bool = True) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for _ in range(1 + deep):
            layers += [nn.Conv2d(width, width, 3, 1, apart, apart, bias=False)]
            layers += [nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
        self.body = nn.Sequential(*(layers[:-1] if deep else layers))
        self.deep = deep

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.body(x) + x
        return torch.relu(out) if self.deep else out


class PatchNet(nn.Module):  # type: ignore[misc]
    """(N, 7, 64, 64) to (N, 7): logit, dx, dy, log of the radius' ratio, two log σ, logit of the visible share."""

    shape = (7, 64, 64)

    def __init__(self, w: int = 16) -> None:
        super().__init__()
        self.trunk = nn.Sequential(
            seen(7, w, 5, 2),
            Block(w, w),
            Block(w, 2 * w, (2, 2)),
            Block(2 * w, 2 * w),
            Block(2 * w, 2 * w, (2, 2)),
            seen(2 * w, w // 2, 1),
        )
        self.head = nn.Sequential(
            nn.Flatten(), nn.Linear(64 * (w // 2), 96), nn.ReLU(inplace=True), nn.Linear(96, 7)
        )

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.head(self.trunk(x))
        return out


class RingNet(nn.Module):  # type: ignore[misc]
    """(N, 8, 40, 64) to (N, 2, 1, 48): for each direction, how far out the rim is less 1, and the log of its σ."""

    shape = (8, RING_ROW_COUNT, 64)

    def __init__(self, w: int = 32) -> None:
        super().__init__()
        self.trunk = nn.Sequential(
            seen(8, w, 5, (2, 1)),
            Block(w, w),
            Block(w, w + 8, (2, 1)),
            nn.Conv2d(w + 8, 2 * w, (RING_ROW_COUNT // 4, 1), bias=False),
            nn.BatchNorm2d(2 * w),
            nn.ReLU(inplace=True),
        )
        self.whole = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(2 * w, 2 * w, 1))
        self.near = seen(
            2 * w, 2 * w, (1, 5)
        )  # in the order in which they are asked: `training.revived` reads so
        self.head = nn.Sequential(seen(2 * w, 2 * w, (1, 5)), nn.Conv2d(2 * w, 2, 1))

    def forward(self, x: Tensor) -> Tensor:
        x = self.trunk(x)
        # repeated by joining: OpenCV 5.0 refuses to stretch a sum's part, and 4.13 gets Tile and padded means wrong
        whole = torch.cat([self.whole(x)] * x.shape[-1], -1)
        x = x + self.near(x) + whole
        out: Tensor = self.head(x)[..., WRAP_COLUMNS:-WRAP_COLUMNS]
        return out
