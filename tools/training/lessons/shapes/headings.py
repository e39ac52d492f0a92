"""How the look at which way a ship faces is taught: plates under ships, any quarter turn of them, any light."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from overruler.vision.plates.face_net import QUARTER_TURNS, SIDE_PX
from overruler.vision.plates.heading_net import PICTURE_SIDES
from overruler.vision.plates.more_views import picture_to_board
from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.from_above.fleet import fleet_sheet
from synthetic.painted.wardrobe import Wardrobe
from training.lesson import Drawn, FromTables, Lesson
from training.lessons.shapes.faces import INTERFACE, FaceNet, Faces, face_seen, plates_of

OFF, OFF_DEG = 0.03, 3.0
"""1 σ of a plate's place, in sides, and of its heading."""
SEEN = 0.25
"""What shows less of its rim teaches nothing."""


PLATES = 12, 30
"""Plates on each table: what they have around them matters less than how many there are."""
PHOTOS_MM, FINE_MM = (0.45, 1.4), 1.0
"""What a pixel shows of the photos, and of the pictures from above."""


def _drawn(seed: Sequence[int], tiles: Sequence[Picture], _: Wardrobe | None) -> Faces:
    sheet = fleet_sheet(seed, tiles, PHOTOS_MM, FINE_MM, PLATES)
    return Faces(sheet, plates_of(sheet, SEEN), np.empty((0, 4)))


def lesson(rng: Rng, tables: Sequence[Faces]) -> Floats:
    """A plate whose ship faces right (6, S, S)."""
    while True:
        table = tables[int(rng.integers(len(tables)))]
        if len(table.plates):
            x, y, side, heading = table.plates[rng.integers(len(table.plates))]
            xy = np.array([x, y]) + rng.normal(0, OFF * side, 2)
            return _seen(rng, table, xy, float(heading), float(side))


def _seen(rng: Rng, table: Faces, xy_mm: Array, heading_rad: float, side_mm: float) -> Floats:
    """The plate about as it was laid, upside down or not."""
    scale, off = side_mm * PICTURE_SIDES / SIDE_PX, np.radians(rng.normal(0, OFF_DEG))
    frame = picture_to_board(xy_mm, heading_rad + off, scale, SIDE_PX)
    if rng.random() < 0.5:
        frame = frame @ np.array([[1, 0, 0], [0, -1, SIDE_PX - 1], [0, 0, 1.0]])
    return face_seen(rng, table.sheet, frame, xy_mm, side_mm)


def batch(rng: Rng, tables: Sequence[Faces], count: int) -> tuple[Floats, Floats]:
    return np.stack([lesson(rng, tables) for _ in range(count)]), np.zeros(count, np.float32)


class Turned(nn.Module):  # type: ignore[misc]
    """(N, 6, S, S) to (N, 4): one network's log odds that the ship faces right, in it as it is and quarter turned.

    What the four pictures have in common teaches nothing: only which of them it is.
    """

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: Tensor) -> Tensor:
        turned = [x]
        while len(turned) < QUARTER_TURNS:
            turned.append(quarter_turned(turned[-1]))
        said: Tensor = self.net(torch.cat(turned))
        return said.reshape(QUARTER_TURNS, -1).T


def quarter_turned(pictures: Tensor) -> Tensor:
    """Pictures (N, 6, S, S) a quarter of a turn on, and how things lean in them."""
    colours, right, down, size = torch.rot90(pictures, -1, (2, 3)).split([3, 1, 1, 1], 1)
    return torch.cat([colours, -down, right, size], 1)


def loss(answer: Tensor, truth: Tensor) -> Tensor:
    return nn.functional.cross_entropy(answer, truth.to(torch.long))


def _turned() -> nn.Module:
    return Turned(FaceNet())


def _within(net: nn.Module) -> nn.Module:
    return net.net


FEED = FromTables(batch, loss, (Drawn(_drawn, 90, 1.0),))
LESSONS = {
    "plate_heading": Lesson(
        _turned, loss, FEED, INTERFACE, batch=32, rate=2e-3, say_every=250, needed=(),
        finished=_within,
    )
}  # fmt: skip
