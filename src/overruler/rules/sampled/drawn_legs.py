"""Legs of a route in n draws of all places at once: whom each may meet, lead through or end on."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.geometry import sweep
from overruler.geometry.batched.sweeps import entry_distances, overlap_mask, signed_separations
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Shape
from overruler.rules.bodies import Body
from overruler.rules.routes import Leg
from overruler.rules.sampling import DRAW_COUNT, draw_displacements, max_relative_shift_mm
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

BoolArray = NDArray[np.bool_]


class Draws:
    """Displacements of the pieces that may matter."""

    __slots__ = ("indices", "places")

    def __init__(self, scene: Scene, indices: Iterable[int | None]) -> None:
        self.indices = sorted({index for index in indices if index is not None})
        """The indices of the pieces in the scene."""
        count = None if len(self.indices) <= 2 else DRAW_COUNT
        self.places = draw_displacements(scene, self.indices, count)
        """(n, pieces, 2) their displacements in mm."""

    def __len__(self) -> int:
        return len(self.places)

    def for_piece(self, index: int | None) -> Array:
        """The displacements (n, 2) of a piece; 0 for terrain and for pieces that do not matter."""
        if index not in self.indices:
            return np.zeros((len(self), 2))
        return np.asarray(self.places[:, self.indices.index(index)])


class DrawnLegs(NamedTuple):
    """One leg of a route in every draw."""

    base: Shape
    """The mover at its start, as measured."""
    shift: Array
    """(n, 2) the displacement of its start."""
    u: Array
    """(n, 2) its directions."""
    length_mm: Array
    """(n,)"""


def bodies_in_reach(base: Shape, others: Iterable[Body], leg: Leg, slack_mm: float) -> list[Body]:
    """The bodies that a base on a leg can meet, each displaced by up to `slack_mm`."""
    return [
        body for body in others if any(_can_meet(base, part, leg, slack_mm) for part in body.parts)
    ]


def _can_meet(base: Shape, part: Shape, leg: Leg, slack_mm: float) -> bool:
    x, y = part.center[0] - base.center[0], part.center[1] - base.center[1]
    along = x * leg.ux + y * leg.uy
    radii_mm = base.bounding_radius_mm + part.bounding_radius_mm
    reach = radii_mm + slack_mm + CONTACT_TOLERANCE_MM
    if not -reach <= along <= leg.length_mm + reach:
        return False
    overlap = sweep.lateral_overlap_mm(base, part, leg.ux, leg.uy)
    return overlap >= -slack_mm - CONTACT_TOLERANCE_MM


def max_shift_mm(scene: Scene, index: int | None, bodies: Sequence[Body]) -> float:
    """The largest displacement of any of some bodies against a piece, or against the board."""
    shifts = [
        max_relative_shift_mm(scene, index, body.index) for body in bodies if body.index != index
    ]
    return max(shifts, default=0.0)


def leads_through(legs: DrawnLegs, bodies: Iterable[Body], draws: Draws) -> BoolArray:
    """Whether (n,) a leg leads through a body."""
    through = np.zeros(len(draws), bool)
    for body in bodies:
        shift = draws.for_piece(body.index) - legs.shift
        for part in body.parts:
            entry = entry_distances(legs.base, part, shift, legs.u, legs.length_mm)
            through |= np.isfinite(entry)
    return through


def ends_on_body(
    legs: DrawnLegs, bodies: Iterable[Body], draws: Draws, leaving: bool = False
) -> BoolArray:
    """Whether (n,) a leg ends on a body; `leaving`: but for one that it touches at first."""
    ends_on = np.zeros(len(draws), bool)
    moved = legs.u * np.asarray(legs.length_mm)[..., None]
    for body in bodies:
        shift = draws.for_piece(body.index) - legs.shift
        for part in body.parts:
            under = overlap_mask(legs.base, part, shift - moved)
            if leaving and under.any():
                separation = signed_separations(legs.base, part, shift[under])[0]
                under[under] = separation > CONTACT_TOLERANCE_MM
            ends_on |= under
    return ends_on
