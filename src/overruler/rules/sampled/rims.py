"""The points of bases' rims that may cross a line, and how far they are from several bodies.

Alphabet: m parts of the first side, k points of a rim, s stretches of p points. Lengths are in mm.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.farthest_of_union import RimCells, rim_farthest_from_all
from overruler.geometry.batched.point_distances import distance_matrix
from overruler.geometry.batched.vectors import vector_lengths
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Shape
from overruler.rules.bodies import Body
from overruler.rules.measure import Measure, farthest_distance_mm

RIM_POINTS = 48
"""The least number of points of a rim."""
MAX_PARTS = 16
"""Most parts into which the way from one point to the next is divided."""
GRADIENT_STEP_MM = 1e-4
"""Width of a difference quotient, in mm."""
MAX_HOLE_MM = 1e-6
"""A point inside a base that is this much farther than its rim is in a hole."""

Part = tuple[Body, Shape]


@dataclass(frozen=True, slots=True, eq=False)
class NearRim:
    """Points of a base's rim that may lie past a line."""

    body: Body
    rim: RimCells
    froms: tuple[Part, ...]
    """The m parts that may be near enough to them."""
    t: Array
    """(k,) or (s, p) where on the rim the points lie."""
    step: float
    """From each point of the rim to the next."""

    def measure(self) -> tuple[Array, Array]:
        """The distances (m, ...) of the points and the directions (m, ..., 2) in which they grow."""
        points = (self.rim.rim_offset(self.t) + self.rim.shape.center).reshape(-1, 2)
        step = GRADIENT_STEP_MM
        offsets = np.array([[(0.0, 0.0)], [(step, 0.0)], [(0.0, step)]])
        moved = (points + offsets).reshape(-1, 2)
        distances = distance_matrix([shape for _, shape in self.froms], moved)
        here, right, up = np.split(distances, 3, 1)
        directions = np.stack([right - here, up - here], -1) / step
        shape = (len(self.froms), *self.t.shape)
        return here.reshape(shape), directions.reshape(*shape, 2)

    @property
    def is_followed(self) -> NDArray[np.bool_]:
        """Whether (k,) the next point is the next one of the rim."""
        ahead = np.roll(self.t, -1) - self.t
        return np.isclose(np.where(ahead < 0, ahead + self.rim.pieces, ahead), self.step)

    @property
    def spacing_mm(self) -> float:
        """The longest way from a point to the next."""
        ways = self.rim.rim_offset(self.t + self.step) - self.rim.rim_offset(self.t)
        return float(vector_lengths(ways).max())

    def divide(
        self, stretches: NDArray[np.bool_], kept: NDArray[np.bool_], bend_mm: float
    ) -> "NearRim":
        """Points (s, p) along some stretches between points, between which no distance bends more.

        Only those of the parts that are kept can matter.
        """
        froms = tuple(self.froms[number] for number in np.flatnonzero(kept).tolist())
        first = self.t[stretches]
        ends = self.rim.rim_offset(first), self.rim.rim_offset(first + self.step)
        sags = self.rim.rim_offset(first + self.step / 2) - (ends[0] + ends[1]) / 2
        near_mm = max(float(self.measure()[0].min()), self.spacing_mm)
        largest_mm = float(vector_lengths(sags).max()) + self.spacing_mm**2 / (8 * near_mm)
        parts = min(math.ceil(math.sqrt(largest_mm / bend_mm)), MAX_PARTS)
        t = first[:, None] + np.linspace(0, self.step, parts + 1)
        return replace(self, froms=froms, t=t, step=self.step / parts)


def near_rims(measure: Measure, line_mm: float, reach_mm: float) -> list[NearRim] | None:
    """The rims of the second side that may cross a line; None where one has a hole.

    No point farther than `reach_mm` from the line crosses it.
    """
    froms = [(body, part) for body in measure.from_bodies for part in body.parts]
    rims = []
    for to in ((body, part) for body in measure.to_bodies for part in body.parts):
        near = _parts_in_play(froms, to[1], line_mm, reach_mm)
        rim = None if near is None else _near_rim(near, to, line_mm, reach_mm)
        if rim:
            rims.append(rim)
            if _has_hole([shape for _, shape in rim.froms], to[1]):
                return None
    return rims


def _parts_in_play(
    froms: Sequence[Part], b: Shape, line_mm: float, reach_mm: float
) -> list[Part] | None:
    """The parts that may be near enough to `b`; None where it surely lies within."""
    near = []
    for one in froms:
        between = math.dist(one[1].center, b.center)
        if between + b.bounding_radius_mm <= line_mm - reach_mm:
            return None
        least_mm = between - b.bounding_radius_mm - one[1].bounding_radius_mm
        if least_mm <= line_mm + reach_mm:
            near.append(one)
    return near


def _near_rim(froms: Sequence[Part], to: Part, line_mm: float, reach_mm: float) -> NearRim | None:
    """The points of a rim that may cross a line; None where none does."""
    rim = RimCells(to[1])
    steps = math.ceil(RIM_POINTS / rim.pieces)
    t = np.arange(rim.pieces * steps) / steps
    every = NearRim(to[0], rim, tuple(froms), t, 1 / steps)
    points = rim.rim_offset(t) + to[1].center
    distances = distance_matrix([shape for _, shape in froms], points).reshape(-1, len(t))
    limit_mm = line_mm - reach_mm - every.spacing_mm / 2
    is_live = distances.min(0, initial=math.inf) > limit_mm
    live = is_live | np.roll(is_live, 1) | np.roll(is_live, -1)
    if not live.any():
        return None
    near = np.flatnonzero((distances[:, live] <= line_mm + reach_mm).any(1)).tolist()
    froms = [froms[number] for number in near]
    return replace(every, froms=tuple(froms), t=t[live])


def _has_hole(shapes: Sequence[Shape], b: Shape) -> bool:
    """Whether a point inside `b` is farther from the nearest of some shapes than all of its rim.

    None is where one direction leads away from all shapes at once, since it leads to the rim.
    """
    if _lie_on_one_side(shapes, b):
        return False
    rim_mm = rim_farthest_from_all(shapes, b, np.zeros((len(shapes), 1, 2)))[0]
    return farthest_distance_mm(shapes, b) > float(rim_mm) + MAX_HOLE_MM


def _lie_on_one_side(shapes: Sequence[Shape], b: Shape) -> bool:
    """Whether one direction leads away from every point of all shapes, at every point of `b`."""
    away = [(b.center[0] - one.center[0], b.center[1] - one.center[1]) for one in shapes]
    middle = math.atan2(math.fsum(y for _, y in away), math.fsum(x for x, _ in away))
    for shape, (x, y) in zip(shapes, away, strict=True):
        radius_mm = shape.bounding_radius_mm + b.bounding_radius_mm
        if radius_mm >= math.hypot(x, y):
            return False
        turn = abs(math.remainder(math.atan2(y, x) - middle, math.tau))
        if turn + math.asin(radius_mm / math.hypot(x, y)) >= math.pi / 2:
            return False
    return True


def least_radius_mm(shape: Shape) -> float:
    """The least radius of curvature of an outline; 0 where it may have corners."""
    return shape.radius_mm if isinstance(shape, Disc) else 0.0
