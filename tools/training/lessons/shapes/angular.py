"""The lesson of the finder of plates, ovals and rectangles."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from torch import Tensor, nn

from overruler.geometry.camera import Camera
from overruler.vision.learned.shape_net import KINDS, REFERENCE_SIZE_MM
from synthetic.arrays import Floats, Picture
from synthetic.from_above.fleet import fleet_sheet
from synthetic.from_above.quick_tables import drawn_sheet
from synthetic.from_above.sheet import Sheet, Truth, lengthwise, on_board, read_sheet
from synthetic.painted.wardrobe import Wardrobe
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
from training.lessons.shapes.network import OverviewNet, focal_loss
from training.loop import Interface

LARGEST_MM = 100.0
"""What is enlarged and then looks larger is neither a base nor none."""
TRUTHS = 18
"""Per cell: how likely each kind (3), whether heat counts, whether a base's middle lies within, dx and dy, log length
and width, cos and sin of once, twice and four times the heading, and whether each of the three is known."""
PLACE, SIZE, TURN = 1.0, 3.0, 0.7
"""How much each kind of mistake weighs beside taking a base for none."""


def read_angular(path: Path) -> Sheet:
    """A traced table with its plates, rectangles and ovals."""
    return read_sheet(path, sheet_row)


def sheet_row(camera: Camera, piece: Truth) -> list[float] | None:
    """The row of a sheet for a plate, a rectangle or an oval; None for a round base."""
    if piece["shape"]["type"] == "circle":
        return None
    kind = 2 if piece["shape"]["type"] == "oval" else 0 if piece["base_style"] == "xw" else 1
    seen = piece["visible_rim"] if piece["in_frame"] > 0.5 else 0
    return [*lengthwise(on_board(camera, piece)), kind, seen]


def label(sheet: Sheet, frame: Frame, magnified: float = 1.0) -> Floats:
    """The truth (18, 32, 32) of each cell; all is seen so much larger than usual."""
    truth = np.zeros((TRUTHS, CELLS, CELLS), np.float32)
    truth[3] = 1
    nearest = np.full((CELLS, CELLS), np.inf)
    for base in placed(sheet, frame):
        _, _, length, width, heading, kind, shown = base.row
        wide = base.size_mm[1] / CELL_MM
        largest_mm = magnified * max(LARGEST_MM, 1.16 * max(length, width))
        too_large = base.size_mm.max() > largest_mm
        if shown < HALF_SEEN or too_large:
            truth[3][base.away < max(2.5, 0.3 * wide)] = 0
            continue
        heat_up(truth[int(kind)], base, float(np.clip(0.18 * wide, 0.6, 1.2)))
        near, angle = claim(nearest, base), frame.direction(heading)
        square, oval = abs(length - width) < 1, KINDS[int(kind)] == "oval"
        values = [1, 0, 0, *np.log(base.size_mm / REFERENCE_SIZE_MM)]
        values += [f(k * angle) for k in (1, 2, 4) for f in (np.cos, np.sin)]
        values += [kind == 0, kind == 0 or not square, not oval]
        truth[4:18, near] = np.array(values, np.float32)[:, None]
        truth[5:7, near] = offsets(base, near)
    return truth


def loss(answer: Tensor, truth: Tensor) -> Tensor:
    """How far the heat is off, and in it the place, the size and the heading."""
    total, on = focal_loss(answer[:, :3], truth[:, :3], truth[:, 3:4]), truth[:, 4] > 0
    if not on.any():
        return total
    said, true = answer.permute(0, 2, 3, 1)[on], truth.permute(0, 2, 3, 1)[on]
    place = nn.functional.smooth_l1_loss(said[:, 3:5], true[:, 5:7], beta=0.1)
    size = nn.functional.smooth_l1_loss(said[:, 5:7], true[:, 7:9], beta=0.03)
    total = total + PLACE * place + SIZE * size
    for k in range(3):
        known, here = true[:, 15 + k], slice(7 + 2 * k, 9 + 2 * k)
        off = (said[:, here] - true[:, 9 + 2 * k : 11 + 2 * k]) ** 2
        total = total + TURN * (off.sum(1) * known).sum() / known.sum().clamp(min=1)
    return total


CROPPING = Cropping(scales=0.15, near=0.75, label=label, enlarged=0.35)


def _fleet(seed: Sequence[int], tiles: Sequence[Picture], _: Wardrobe | None) -> Sheet:
    """Ships and their plates: no figure stands among them."""
    return fleet_sheet(seed, tiles)


DRAWN = (Drawn(_fleet, 60, 0.4), Drawn(drawn_sheet, 20, 0.1))
FEED = FromTables(CROPPING.batch, loss, DRAWN, read_angular)
LESSONS = {"overview": Lesson(OverviewNet, loss, FEED, Interface(), batch=16, rate=3e-3)}
