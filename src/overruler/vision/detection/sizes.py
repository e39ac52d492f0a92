"""The bases to search for in a photo, by shape."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from overruler.bases import PLATE_SIDES_MM, Base
from overruler.geometry.pose import Array


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """The bases to search for, by shape."""

    radii_mm: Array
    """(C,): radii of the round ones and of those that stand for hexagons, ascending."""
    plate_sides_mm: list[float]
    """Sides of the squares that the catalogue has as plates, ascending."""
    rectangles: list[Base]
    """All rectangles, plates included."""
    ovals: list[Base]
    """All ovals."""
    stadiums: list[Base]
    """All bases with round ends."""
    hexagons: list[Base]
    """All hexagons. They are searched for as round ones."""
    only_plates: bool
    """Whether all rectangles are plates of the catalogue."""

    @classmethod
    def of(cls, bases: Sequence[Base]) -> "Sizes":
        """Sort bases by shape."""
        rectangles = [base for base in bases if base.shape == "rectangle"]
        plates = [base for base in rectangles if is_plate(base)]
        hexagons = [base for base in bases if base.shape == "hexagon"]
        return cls(
            radii_mm=round_radii_mm([*bases, *(base.as_round for base in hexagons)]),
            plate_sides_mm=sorted({base.width_mm for base in plates}),
            rectangles=rectangles,
            ovals=[base for base in bases if base.shape == "oval"],
            stadiums=[base for base in bases if base.shape == "stadium"],
            hexagons=hexagons,
            only_plates=len(plates) == len(rectangles),
        )


def round_radii_mm(bases: Sequence[Base]) -> Array:
    """Return the radii (C,) of the round bases, ascending."""
    return np.array(sorted({base.width_mm / 2 for base in bases if base.shape == "circle"}))


def is_plate(base: Base) -> bool:
    """Tell whether a base is as large as a ship's plate of the catalogue."""
    return base.is_square and base.width_mm in PLATE_SIDES_MM
