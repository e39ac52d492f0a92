"""The card that a marker is printed on, and what a print of cards measures."""

import json
import math
from dataclasses import dataclass, fields

import numpy as np

from overruler.geometry.pose import Array
from overruler.reading import Node, read_length

MARKER_CARD_SHARE = 1.47
"""Side of a marker's card over that of its square: 88 over 60 mm as printed, the strip for words included."""
MAX_RAISED_MM = 50.0
"""Farthest that markers lie over or below the mat, in mm: on blocks of wood, say. More is in another unit."""
MAX_PRINT_SCALE_ERROR = 0.1
"""Largest scale error of a print, as a share. A page fitted to another paper size is 6 % too small."""


def card_about(square: Array) -> Array:
    """Return the corners (4, 2) of a marker's card by those of its black square, in the same unit."""
    return np.asarray(square.mean(0) + MARKER_CARD_SHARE * (square - square.mean(0)))


@dataclass(frozen=True, slots=True)
class PrintMeasurement:
    """A steel-rule measurement of a printed sheet of markers."""

    printed_mm: float
    """Nominal length of what was measured."""
    across_mm: float
    """Its measured length across the page."""
    along_mm: float
    """Its measured length along the page."""
    doubt_mm: float
    """1 σ of either measured length."""
    flush: bool = False
    """Whether the cards lie with their edges flush with the board's, mid-edge ones half way along."""

    @property
    def scale_factors(self) -> tuple[float, float]:
        """Printed size over nominal size, across and along the page."""
        return self.across_mm / self.printed_mm, self.along_mm / self.printed_mm

    @property
    def scale_share(self) -> float:
        """1 σ of the mean of the two scale factors."""
        return self.doubt_mm / self.printed_mm / math.sqrt(2)

    @classmethod
    def from_node(cls, node: Node) -> "PrintMeasurement":
        """Read the table `[markers.print]` of a board file."""
        keys = ("printed_mm", "across_mm", "along_mm", "doubt_mm")
        printed, across, along, doubt = (read_length(node[key]) for key in keys)
        for key, length in (("across_mm", across), ("along_mm", along)):
            if abs(length / printed - 1) > MAX_PRINT_SCALE_ERROR:
                node[key].fail(f"{length:g} mm is not what {printed:g} mm can have been printed as")
        return cls(printed, across, along, doubt, node.get("flush", Node.boolean, False))

    def to_toml(self) -> str:
        about = "measured with a steel rule; the sizes above are those that were meant"
        values = [f"{key.name} = {json.dumps(getattr(self, key.name))}\n" for key in fields(self)]
        return f"[markers.print]  # {about}\n{''.join(values)}"


def read_raised(node: Node) -> float:
    """Read how far markers lie over the mat, in mm; below it where negative."""
    raised_mm = node.number()
    if abs(raised_mm) > MAX_RAISED_MM:
        node.fail(f"must be from -{MAX_RAISED_MM:g} to {MAX_RAISED_MM:g} mm, is {raised_mm:g}")
    return raised_mm
