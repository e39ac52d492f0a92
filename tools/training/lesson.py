"""What a network is taught: a record that `train.py` reads, and the two ways in which samples come."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Generic, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from synthetic.arrays import Floats, Picture, Rng
from synthetic.from_above.sheet import traced_tables
from synthetic.painted.wardrobe import Wardrobe, wardrobe_of
from synthetic.tiles import library
from training.blocks import Arrays, Drawing, read_blocks
from training.feeding import Draw, Fresh, held_out, mixed, read_all
from training.loop import Check, Interface, Loss, check_of

TILES = 60
"""Mats that drawn tables lie on."""
CHECKS, CHECK_BATCH = 12, 16
"""Batches that nothing is learnt from, and the samples in each."""
KEPT = 60
"""Drawn tables that are kept for the check where none is traced."""
Thing = TypeVar("Thing")
Pair = tuple[Floats, Floats]
"""What the network takes of some samples, and what is true of them."""


@dataclass(frozen=True, slots=True)
class Feed:
    """What one run learns from."""

    draws: Callable[[int], Draw]
    """Makes what gives a batch a call, for the process of a number."""
    check: Check
    pictures: Tensor
    """Some samples as the network takes them, for a start from an ONNX file."""
    told: str
    """How much there is to learn from."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """How one network is taught."""

    network: Callable[[], nn.Module]
    loss: Loss
    """Of the network's answers and the truth."""
    feed: Callable[[argparse.Namespace], Feed]
    interface: Interface
    batch: int
    rate: float
    say_every: int = 1000
    """Steps between two lines of the log."""
    needed: tuple[str, ...] = ("tables",)
    """Options without which nothing can be learnt."""
    drawing: Drawing | None = None
    """How samples are drawn that it learns from, where they are drawn before."""
    revived: Callable[[nn.Module], None] = lambda net: None
    """What is done to a network that comes from an ONNX file, before it learns."""
    finished: Callable[[nn.Module], nn.Module] = lambda net: net
    """The network to export."""
    trunk_rate: float = 1.0
    """Of weights that know photographs, as a share of `rate`."""

    def needs(self, draw: bool) -> tuple[str, ...]:
        return ("samples",) if draw else self.needed


# --- tables, drawn as it learns ---


@dataclass(frozen=True, slots=True)
class Drawn(Generic[Thing]):
    """One kind of drawn tables."""

    draw: Callable[[Sequence[int], Sequence[Picture], Wardrobe | None], Thing]
    """A table out of a seed, mats, and the bodies that stand on bases where there are such."""
    count: int
    """Tables that are learnt from at a time."""
    share: float
    """Of all samples."""
    every: int = 1
    """One in so many batches comes with a new table."""


@dataclass(frozen=True, slots=True)
class FromTables(Generic[Thing]):
    """Feeds pieces of traced tables, and of others that are drawn meanwhile."""

    batch: Callable[[Rng, Sequence[Thing], int], Pair]
    """So many samples of any of some tables."""
    loss: Loss
    drawn: Sequence[Drawn[Thing]]
    read: Callable[[Path], Thing] | None = None
    """A traced table out of the file of its truth."""
    plain: Callable[[Rng, Sequence[Thing], int], Pair] | None = None
    """What `batch` is for the check, where that is not to show samples otherwise than they are."""

    def __call__(self, options: argparse.Namespace) -> Feed:
        wardrobe = wardrobe_of(options.sprites)
        kept, traced = self._tables(options, wardrobe)
        rng = np.random.default_rng(77)
        show = self.plain or self.batch
        pairs = [show(rng, kept, CHECK_BATCH) for _ in range(CHECKS)]
        checks = [(torch.from_numpy(a), torch.from_numpy(b)) for a, b in pairs]
        draws, check = partial(self._draw, options, traced, wardrobe), check_of(checks, self.loss)
        return Feed(draws, check, checks[0][0], f"traced {len(traced)}")

    def _tables(
        self, options: argparse.Namespace, wardrobe: Wardrobe | None
    ) -> tuple[list[Thing], list[Thing]]:
        """Those kept for the check, and the traced ones to learn from."""
        if self.read is None:
            tiles, first = library(99, TILES), self.drawn[0]
            seeds = [[options.seed, 10**6, k] for k in range(KEPT)]
            return [first.draw(seed, tiles, wardrobe) for seed in seeds], []
        paths = traced_tables(options.tables)
        return held_out(read_all(self.read, paths, options.workers))

    def _draw(
        self,
        options: argparse.Namespace,
        traced: Sequence[Thing],
        wardrobe: Wardrobe | None,
        which: int,
    ) -> Draw:
        rng, tiles = (
            np.random.default_rng([options.seed, 5, which]),
            library(1000 * options.seed + which, TILES),
        )

        def fresh(kind: Drawn[Thing]) -> Callable[[], Sequence[Thing]]:
            return Fresh(
                lambda k: kind.draw([options.seed, which, k], tiles, wardrobe),
                kind.count,
                kind.every,
            ).look

        looks = [lambda: traced, *map(fresh, self.drawn)]
        shares = [kind.share for kind in self.drawn]
        kinds = [lambda n, look=look: self.batch(rng, look(), n) for look in looks]
        return lambda: mixed(rng, options.batch, [1 - sum(shares), *shares], kinds)


# --- samples, drawn before ---


@dataclass(frozen=True, slots=True)
class FromBlocks:
    """Feeds samples that were drawn before, and some of traced tables where there are such."""

    batch: Callable[[Arrays, Rng, int], Pair]
    figures: Callable[[nn.Module, Arrays], str]
    """How good a network is on samples."""
    pictures: Callable[[Arrays], Floats]
    """Some of the samples as the network takes them."""
    traced: float
    """The share of samples that are of traced tables."""
    fields: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """The names of the arrays to read, and what they are called here; all, where none is named."""

    def __call__(self, options: argparse.Namespace) -> Feed:
        read = partial(read_blocks, options.samples, fields=self.fields)
        some = [read("drawn"), read("traced")]
        checks = {kind: one for kind in ("check", "traced-check") if (one := read(kind))}
        shares = np.array([1 - self.traced, self.traced]) * [len(one) > 0 for one in some]

        def draws(which: int) -> Draw:
            rng = np.random.default_rng([options.seed, 5, which])
            kinds = [partial(self.batch, one, rng) for one in some]
            return lambda: mixed(rng, options.batch, shares / shares.sum(), kinds)

        def check(net: nn.Module) -> str:
            return "  ".join(f"{kind}: {self.figures(net, one)}" for kind, one in checks.items())

        told = " + ".join(str(len(next(iter(one.values()), ()))) for one in some)
        pictures = torch.from_numpy(self.pictures(checks["check"]))
        return Feed(draws, check, pictures, f"samples {told}")
