"""How the look at which way a ship faces is taught: plates under ships, any quarter turn of them, any light."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from overruler.vision.imaging.orthophoto import rectify_photo
from overruler.vision.plates.face_net import INPUT_CHANNELS, QUARTER_TURNS
from overruler.vision.plates.heading_net import PICTURE_SIDES, SIDE_PX
from overruler.vision.plates.more_views import picture_to_board
from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.from_above.fleet import fleet_sheet
from synthetic.from_above.sheet import Sheet, read_truth
from synthetic.painted.wardrobe import Wardrobe
from training.lesson import Drawn, FromTables, Lesson
from training.lessons.rims.network import seen
from training.lessons.shapes.angular import sheet_row
from training.lessons.shapes.faces import face_seen, layers_to_odds, plates_of
from training.loop import Interface

OFF, OFF_DEG, ZOOM = 0.03, 3.0, 0.12
"""1 σ of a plate's place, in sides, of its heading, and of the logarithm of how much larger it is shown."""
SEEN = 0.25
"""What shows less of its rim teaches nothing."""
PLATES = 12, 30
"""Plates on each table: what they have around them matters less than how many there are."""
PHOTOS_MM, FINE_MM = (0.3, 1.4), 0.7
"""What a pixel shows of the photos, and of the pictures from above."""
AROUND_SIDES = 1.6
"""How far from its middle a traced plate's surroundings are kept, in its sides."""

Ships = Sequence[tuple[Sheet, Array]]
"""One table: pictures from above, and the plates (N, 4) in each: x, y, side and heading."""


def _drawn(seed: Sequence[int], tiles: Sequence[Picture], _: Wardrobe | None) -> Ships:
    sheet = fleet_sheet(seed, tiles, PHOTOS_MM, FINE_MM, PLATES)
    return [(sheet, plates)] if len(plates := plates_of(sheet, SEEN)) else []


def _read(path: Path) -> Ships:
    """A traced table: a picture of each plate, for most of the table is empty."""
    truth, camera, photo = read_truth(path)
    rows = [row for one in truth["pieces"] if (row := sheet_row(camera, one)) and row[5] == 0]
    ships = []
    for x, y, side, _, heading, _, shown in rows:
        if shown < SEEN:
            continue
        reach = AROUND_SIDES * side
        flat = rectify_photo(photo, camera, (x - reach, y - reach, x + reach, y + reach), FINE_MM)
        sheet = Sheet(flat.pixels, flat.left_mm, flat.top_mm, camera, np.empty((0, 7)), FINE_MM)
        ships.append((sheet, np.array([[x, y, side, heading]])))
    return ships


def lesson(rng: Rng, tables: Sequence[Ships]) -> Floats:
    """A plate whose ship faces right (6, S, S)."""
    while True:
        table = tables[int(rng.integers(len(tables)))]
        if len(table):
            sheet, plates = table[int(rng.integers(len(table)))]
            x, y, side, heading = plates[rng.integers(len(plates))]
            xy = np.array([x, y]) + rng.normal(0, OFF * side, 2)
            return _seen(rng, sheet, xy, float(heading), float(side))


def _seen(rng: Rng, sheet: Sheet, xy_mm: Array, heading_rad: float, side_mm: float) -> Floats:
    """The plate about as it was laid, upside down or not."""
    wide, off = PICTURE_SIDES * np.exp(rng.normal(0, ZOOM)), np.radians(rng.normal(0, OFF_DEG))
    scale = side_mm * wide / SIDE_PX
    frame = picture_to_board(xy_mm, heading_rad + off, scale, SIDE_PX)
    if rng.random() < 0.5:
        frame = frame @ np.array([[1, 0, 0], [0, -1, SIDE_PX - 1], [0, 0, 1.0]])
    return face_seen(rng, sheet, frame, xy_mm, side_mm, SIDE_PX)


def batch(rng: Rng, tables: Sequence[Ships], count: int) -> tuple[Floats, Floats]:
    return np.stack([lesson(rng, tables) for _ in range(count)]), np.zeros(count, np.float32)


class HeadingNet(nn.Module):  # type: ignore[misc]
    """(N, 6, 128, 128) to (N, 1): the log odds that the ship faces right.

    Half of the layers see the picture in fewer pixels, as `FaceNet` does; the fine ones add to what those see.
    """

    def __init__(self, w: int = 32) -> None:
        super().__init__()
        self.coarse = seen(INPUT_CHANNELS, w // 2, 5, 2)
        self.fine = nn.Sequential(
            nn.PixelUnshuffle(2),
            seen(4 * INPUT_CHANNELS, w, 3, 2),
            nn.Conv2d(w, w // 2, 3, 1, 1, bias=False),
            nn.BatchNorm2d(w // 2),
        )
        self.net = nn.Sequential(*layers_to_odds(w, blocks=2))

    def forward(self, x: Tensor) -> Tensor:
        together = self.coarse(nn.functional.avg_pool2d(x, 2)) + self.fine(x)
        out: Tensor = self.net(together)[:, :, 0, 0]
        return out


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
    return Turned(HeadingNet())


def _within(net: nn.Module) -> nn.Module:
    return net.net


SQUARE = (QUARTER_TURNS, INPUT_CHANNELS, SIDE_PX, SIDE_PX)
INTERFACE = Interface(SQUARE, ("pictures", "odds"), {0: "pictures"})
FEED = FromTables(batch, loss, (Drawn(_drawn, 90, 0.4, every=4),), _read)
LESSONS = {
    "plate_heading": Lesson(
        _turned, loss, FEED, INTERFACE, batch=32, rate=2e-3, say_every=250, finished=_within
    )
}  # fmt: skip
"""How the look at a ship's heading is taught."""
