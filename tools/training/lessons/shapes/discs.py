"""The lesson of the finder of round and oval bases."""

from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from overruler.geometry.camera import Camera
from overruler.vision.learned.disc_net import REFERENCE_SIZE_MM
from synthetic.arrays import Floats
from synthetic.from_above.crowds import crowd_sheet
from synthetic.from_above.quick_tables import ROUND, drawn_sheet
from synthetic.from_above.sheet import Sheet, Truth, on_board, read_sheet
from training.lesson import Drawn, FromTables, Lesson
from training.lessons.shapes.crops import (
    CELL_MM,
    CELLS,
    HALF_SEEN,
    Cropping,
    Frame,
    claim,
    heat_up,
    offsets,
    placed,
)
from training.lessons.shapes.network import OverviewNet, PhotographicNet, focal_loss
from training.loop import Interface

TRUTHS = 11
"""Per cell: how likely a round base's middle lies there and how likely an oval's, whether that counts, whether one is
near, where, whether it is an oval, its log half axes, and the cosine and sine of twice an oval's heading."""
CHANNELS, HEATS = 9, (0, 4)
"""Of the network's answer: all, and those that say how likely the middle of a round base or of an oval lies there."""


def read_discs(path: Path) -> Sheet:
    """A traced table with its round and oval bases."""
    return read_sheet(path, _base)


def _base(camera: Camera, piece: Truth) -> list[float] | None:
    if piece["shape"]["type"] == "rectangle":
        return None
    shown = piece["visible_rim_total"] if piece["in_frame"] > 0.5 else 0
    return [*on_board(camera, piece), 0, shown]


def label(sheet: Sheet, frame: Frame) -> Floats:
    """The truth (11, 32, 32) of each cell."""
    truth = np.zeros((TRUTHS, CELLS, CELLS), np.float32)
    truth[2] = 1
    nearest = np.full((CELLS, CELLS), np.inf)
    for base in placed(sheet, frame):
        half = base.size_mm / 2
        if base.row[6] < HALF_SEEN:
            truth[2][base.away < max(2.0, half[1] / CELL_MM)] = 0
            continue
        oval = int(base.row[2] - base.row[3] > 1)
        heat_up(truth[oval], base, float(np.clip(0.3 * half[1] / CELL_MM, 0.5, 1.2)))
        near, twice = claim(nearest, base), 2 * frame.direction(base.row[4])
        truth[3][near] = 1
        truth[4:6, near] = offsets(base, near)
        values = [oval, *np.log(half / REFERENCE_SIZE_MM), np.cos(twice), np.sin(twice)]
        truth[6:, near] = np.array(values)[:, None]
    return truth


def loss(answer: Tensor, truth: Tensor) -> Tensor:
    """How far the heat of either kind is off, and in it the place, the size and an oval's heading."""
    counts, on = truth[:, 2], truth[:, 3] > 0
    heats = (focal_loss(answer[:, a], truth[:, k], counts) for k, a in enumerate(HEATS))
    total = torch.as_tensor(sum(heats))
    if not on.any():
        return total
    said, true = answer.permute(0, 2, 3, 1)[on], truth.permute(0, 2, 3, 1)[on]
    oval, far = true[:, 6] > 0, nn.functional.smooth_l1_loss
    total = total + far(said[:, 1:3], true[:, 4:6], beta=0.1)
    if not oval.all():
        total = total + 3 * far(said[~oval, 3], true[~oval, 7], beta=0.05)
    if oval.any():
        total = total + 2 * far(said[oval, 5:7], true[oval, 7:9], beta=0.05)
        total = total + far(said[oval, 7:9], true[oval, 9:11], beta=0.2)
    return total


CROPPING = Cropping(scales=0.2, near=0.6, label=label, favour=0.5, messaged=True)
DRAWN = (
    Drawn(partial(drawn_sheet, shapes=ROUND), 60, 0.2, every=6),
    Drawn(crowd_sheet, 120, 0.5, every=4),
)
FEED = FromTables(CROPPING.batch, loss, DRAWN, read_discs)
NETWORK = partial(OverviewNet, channels=CHANNELS, heats=HEATS)
PLAYED = FromTables(
    CROPPING.batch,
    loss,
    (
        Drawn(crowd_sheet, 100, 0.75, every=2),
        Drawn(partial(drawn_sheet, shapes=ROUND), 40, 0.25, every=4),
    ),
)
"""On tables in play."""
PHOTOGRAPHIC = partial(PhotographicNet, channels=CHANNELS, heats=HEATS)
LESSONS = {
    "discs_in_play": Lesson(
        PHOTOGRAPHIC, loss, PLAYED, Interface(), batch=48, rate=2e-3, say_every=200, needed=()
    ),
    "discs": Lesson(NETWORK, loss, FEED, Interface(), batch=16, rate=3e-3),
}
