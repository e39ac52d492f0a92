"""Printed markers on cards."""

from dataclasses import dataclass

import numpy as np

from synthetic.arrays import Array, Picture
from synthetic.flat_table import marker_cells, square_mm
from synthetic.things.materials import Part, plain, printed
from synthetic.things.mesh import box, sheet

CARD_MM = 0.2
"""Height of the printed side over the board."""
PAPER, INK = (242, 242, 238), (26, 26, 28)
MODULES = {"4": 6, "5": 7, "6": 8}
"""Cells along a marker's side, by the figure in its dictionary's name."""


@dataclass(frozen=True, slots=True, eq=False)
class Marker:
    """A printed marker on a card."""

    id: int
    size_mm: float
    quiet_mm: float
    """Width of the white around it."""
    x_mm: float
    y_mm: float
    turn_deg: float

    @property
    def corners_mm(self) -> Array:
        """(4, 3), the printed top left first, clockwise."""
        return self._square(self.size_mm)

    @property
    def card_mm(self) -> Array:
        """The card's corners (4, 3), in the same order."""
        return self._square(self.size_mm + 2 * self.quiet_mm)

    def _square(self, side: float) -> Array:
        return square_mm(self.x_mm, self.y_mm, side, self.turn_deg, CARD_MM)

    def parts(self, dictionary: str, white: str, gloss: float) -> list[Part]:
        """The card, and on it (a thousandth of a millimetre up) the print."""
        side = self.size_mm + 2 * self.quiet_mm
        card = box(side, side, CARD_MM - 0.001).moved(self.x_mm, self.y_mm, 0, self.turn_deg)
        print_ = sheet(self.corners_mm[[3, 2, 1, 0]])
        return [
            Part(card, plain(white, gloss=gloss)),
            Part(print_, printed(marker_print(dictionary, self.id), sharp=True, gloss=gloss)),
        ]


def marker_print(dictionary: str, marker: int) -> Picture:
    """A marker's cells (N, N, 3), its black border with them."""
    cells = marker_cells(marker, dictionary)
    return np.asarray(np.where(cells[..., None], np.array(PAPER), np.array(INK)), np.uint8)
