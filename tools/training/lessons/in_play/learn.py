"""The lesson of the network that tells bases from lookalikes on tables in play.

It takes three steps, each with the network before to correct candidates (`--before`): first EfficientNet-Lite0 from its
weights of photographs (`in_play_first`, without a network before), then EfficientNet-Lite2 from its own, then that one
further at half the rate. On one H100 with fifteen cores they took 8, 8.2 and 7.3 minutes. `docs/rims.md` has the
commands.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from overruler.geometry.camera import Camera
from overruler.vision.learned.in_play_net import (
    COLUMNS,
    LOG_SIGMA_PLACE,
    LOG_SIGMA_SIZE,
    LOG_SIGMA_STRETCH,
    LOGIT,
    RECTANGLE_LOGIT,
    SIZE,
    STRETCH,
    VISIBLE_LOGIT,
    WIDE_PATCH,
)
from overruler.vision.learned.patch_net import run_patch_network
from overruler.vision.learned.patches import patch_input
from synthetic.arrays import Array, Floats, Ints, Picture, Rng
from synthetic.painted.wardrobe import Wardrobe
from training.blocks import Arrays
from training.lesson import Drawn, Feed, FromTables, Lesson
from training.lessons.in_play.looks import Before, looks
from training.lessons.in_play.network import InPlayNet
from training.lessons.in_play.photographed import photographed
from training.lite import LITE0
from training.loop import Interface

TABLES = 50
"""Tables that one process keeps at a time."""
RENEWED = 1
"""One in so many batches comes with a new table."""
TRUNK_RATE = 0.6
"""How fast the weights of photographs learn, as a share of the others: they forget photographs later."""
PLACE = [1, 2]
"""Columns of the answers: where the base lies."""
IS_ROUND, TRUE_PLACE, TRUE_SIZE, TRUE_VISIBLE, IS_RECTANGLE, TRUE_STRETCH, TOLD = (
    0, [1, 2], 3, 4, 5, [6, 7], 8,
)  # fmt: skip
"""Columns of the truth, as `looks.label` has them; the last says whether there is a base to tell of."""
MIRRORED = [1, 7]
"""Columns of the truth that change their sign in a mirror: to the right, and the stretch between right and up."""
LEAST_LOG_SIGMA, MOST_LOG_SIGMA = -5.5, 1.0
"""Bounds of a log σ."""
MOST_UNLIKELY = 50.0
"""What a single candidate adds to the likelihood's loss at most."""
RECTANGLES = 0.5
"""Weight of whether it is a rectangle; whether it is round or an oval weighs 1."""
LIKELIHOOD, SHOWN, STEADY = 0.1, 0.2, 1.5
"""Weights of the likelihood of a base's shape, of its visible share, and of the plain error of its shape."""
STEADY_FROM = 0.05
"""Errors of a shape beyond this count in proportion, smaller ones by their square."""


# --- what is right ---


def loss(answer: Tensor, truth: Tensor) -> Tensor:
    """Cross entropy of what a candidate is, and how far off the shape is that is said of the base near it.

    Wrong candidates near a base count too in the second: so the network can correct them.
    """
    judged = _judged(answer[:, LOGIT], truth[:, IS_ROUND])
    judged = judged + RECTANGLES * _judged(answer[:, RECTANGLE_LOGIT], truth[:, IS_RECTANGLE])
    told = truth[:, TOLD] > 0
    return judged + _described(answer[told], truth[told]) if told.any() else judged


def _judged(logit: Tensor, true: Tensor) -> Tensor:
    """Cross entropy where it is decided."""
    sure = true >= 0
    return nn.functional.binary_cross_entropy_with_logits(logit[sure], true[sure])


def _described(said: Tensor, true: Tensor) -> Tensor:
    """How far off the shape is that is said of bases, the doubt in it, and how much of them is seen."""
    place = said[:, PLACE] - true[:, TRUE_PLACE]
    size = said[:, [SIZE]] - true[:, [TRUE_SIZE]]
    stretch = said[:, STRETCH] - true[:, TRUE_STRETCH]
    unlikely = (
        _unlikely(place, said[:, LOG_SIGMA_PLACE])
        + _unlikely(size, said[:, LOG_SIGMA_SIZE])
        + _unlikely(stretch, said[:, LOG_SIGMA_STRETCH])
    )
    error = torch.cat([place, size, stretch], 1)
    steady = nn.functional.smooth_l1_loss(error, torch.zeros_like(error), beta=STEADY_FROM)
    shown = nn.functional.binary_cross_entropy_with_logits(
        said[:, VISIBLE_LOGIT], true[:, TRUE_VISIBLE]
    )
    likelihood = unlikely.clamp(max=MOST_UNLIKELY).mean()
    return LIKELIHOOD * likelihood + SHOWN * shown + STEADY * steady


def _unlikely(error: Tensor, log_sigma: Tensor) -> Tensor:
    """The Gaussian's negative log likelihood (N,) of errors (N, k) with one σ for all k."""
    bounded = log_sigma.clamp(LEAST_LOG_SIGMA, MOST_LOG_SIGMA)
    return (error**2).sum(1) * torch.exp(-2 * bounded) / 2 + error.shape[1] * bounded


# --- what is shown ---


def batch(rng: Rng, tables: Sequence[Arrays], count: int) -> tuple[Floats, Floats]:
    """So many looks of any tables, as other cameras take them, half of them mirrored."""
    patches, side, truth = _some(rng, tables, count)
    seen = patch_input(photographed(rng, patches), side, WIDE_PATCH)
    return mirror(seen, truth, np.flatnonzero(rng.random(count) < 0.5))


def plain(rng: Rng, tables: Sequence[Arrays], count: int) -> tuple[Floats, Floats]:
    """So many looks of any tables as they are."""
    patches, side, truth = _some(rng, tables, count)
    return patch_input(patches, side, WIDE_PATCH), truth


def _some(rng: Rng, tables: Sequence[Arrays], count: int) -> tuple[Picture, Floats, Floats]:
    which = rng.integers(0, len(tables), count)
    rows = [(tables[k], int(rng.integers(len(tables[k]["truth"])))) for k in which]
    patches, side, truth = (
        np.stack([table[name][row] for table, row in rows]) for name in ("patches", "side", "truth")
    )
    return patches, side, truth


def mirror(seen: Floats, truth: Floats, some: Ints) -> tuple[Floats, Floats]:
    """Looks with their truth, some of them as in a mirror."""
    seen, truth = seen.copy(), truth.copy()
    seen[some] = seen[some][..., ::-1]
    truth[some[:, None], MIRRORED] *= -1
    return seen, truth


def _feed(options: argparse.Namespace) -> Feed:
    """Tables with candidates as the network `options.before` corrects them, where there is one."""
    table = partial(_table, before=_correcting(options.before) if options.before else None)
    return FromTables(batch, loss, (Drawn(table, TABLES, 1.0, RENEWED),), plain=plain)(options)


def _correcting(model: Path) -> Before:
    """What a network says of shapes in a photo."""

    def look(levels: list[Picture], camera: Camera, shapes: Array) -> Array:
        return run_patch_network(levels, camera, shapes, None, model, WIDE_PATCH, COLUMNS)

    return look


def _table(
    seed: Sequence[int],
    tiles: Sequence[Picture],
    wardrobe: Wardrobe | None = None,
    before: Before | None = None,
) -> Arrays:
    """A table that shows something."""
    for again in range(100):
        found = looks([*seed, again], tiles, wardrobe, before)
        if len(found["truth"]):
            return found
    raise ValueError("no table shows anything")


LESSON = Lesson(
    InPlayNet,
    loss,
    _feed,
    Interface((1, *InPlayNet.shape), ("cutouts", "answers"), {0: "n"}),
    batch=256,
    rate=1.5e-3,
    trunk_rate=TRUNK_RATE,
    say_every=200,
    needed=(),
)
LESSONS = {
    "in_play": LESSON,
    "in_play_first": replace(LESSON, network=partial(InPlayNet, LITE0)),
}
