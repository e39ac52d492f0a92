"""Lines of sight between two convex shapes past others, exact: no circle is ever a polygon.

All lines from a shape A to a shape B fill the convex hull of the two. An obstacle therefore crosses
one of them if it reaches into that hull.

Whether a line passes between all obstacles is decided direction by direction. For a unit normal n,
the lines {x : x · n = c} that meet a convex shape form an interval of c. One interval holds the
lines that meet both A and B; each obstacle between them blocks another. A line is free if its c
lies in the first interval and inside none of the others. The order of the intervals' ends changes
only at common tangents of two shapes. It is enough to test every common tangent, and one normal
between each two. (Pocchiola and Vegter, The visibility complex, 1996.)

Lengths are millimetres in the board frame, angles radians. Pure Python; `geometry.batched.visibility`
does the same for many displacements at once.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import NamedTuple

from overruler.geometry.chords import blocked_intervals
from overruler.geometry.shapes import ConvexShape, Shape
from overruler.geometry.tangents import (
    QUARTER_TURN,
    inner_tangents,
    outer_tangents,
    signed_gap_mm,
    widest_separation,
)
from overruler.units import CONTACT_TOLERANCE_MM

NORMALS_IN_WINDOW = 48
"""Number of normals that are tried where an obstacle reaches into an end."""

Interval = tuple[float, float]
"""From the least to the largest c of the lines {x : x · n = c}, in mm."""


class CommonTangent(NamedTuple):
    """A common tangent of two of a view's shapes."""

    first: int
    second: int
    """Indices of the two shapes in the view's `shapes`."""
    sign: int
    """1 if both shapes lie on one side of it, -1 if it passes between them."""
    angle: float
    """The direction of its normal."""


class Opening(NamedTuple):
    """The widest opening between obstacles for one direction of lines."""

    width_mm: float
    """Its width; negative if it is blocked: minus the overlap of what blocks it."""
    angle: float
    """The direction of the lines' normal."""


@dataclass(frozen=True)
class ObstructedView:
    """Two convex shapes that stand apart, and convex obstacles.

    An obstacle may reach into an end; a line then starts, or ends, past the part inside. The lines
    that such an obstacle blocks are found by sampling, so an opening narrower than a few hundredths
    of the ends may be missed.
    """

    a: Shape
    b: Shape
    obstacles: tuple[Shape, ...]
    bodies: tuple[int, ...] = ()
    """The body that each obstacle is a part of; empty where each is a body of its own.

    Parts of one body do not move apart: where they touch, nothing opens between them."""

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """The two ends, then the obstacles."""
        return (self.a, self.b, *self.obstacles)

    @cached_property
    def separating_angle(self) -> float:
        """A direction that separates the two ends."""
        return widest_separation(self.a, self.b).angle

    @cached_property
    def obstacle_separating_angles(self) -> tuple[tuple[float, float], ...]:
        """Directions that separate each obstacle from a and b; lines through it run along both."""
        return tuple(
            (widest_separation(self.a, shape).angle, widest_separation(shape, self.b).angle)
            for shape in self.obstacles
        )

    @cached_property
    def obstacles_overlapping_ends(self) -> frozenset[int]:
        """The indices of the obstacles that overlap an end."""
        overlapping = set[int]()
        for index, shape in enumerate(self.obstacles):
            gaps = [signed_gap_mm(end, shape) for end in (self.a, self.b)]
            if min(gaps) < -CONTACT_TOLERANCE_MM:
                overlapping.add(index)
        return frozenset(overlapping)

    @cached_property
    def normal_window(self) -> Interval:
        """The first and last normal of the lines that meet both ends, less than half a turn apart."""
        right, left = inner_tangents(self.a, self.b, self.separating_angle)
        return left, right + math.pi

    @property
    def is_clear(self) -> bool:
        """Whether a line passes: through a slot over `CONTACT_TOLERANCE_MM`, or along one edge."""
        return any(self.is_free(angle) for angle in self.candidate_normals())

    def candidate_normals(self) -> Iterator[float]:
        """Yield normals of which one has a free line if any has; the likeliest come first."""
        first, last = self.normal_window
        yield (first + last) / 2
        yield from self._normals_in_window(outer_tangents(self.a, self.b, self.separating_angle))
        angles = {first, last}
        if self.obstacles_overlapping_ends:
            width = last - first
            angles |= {first + width * k / NORMALS_IN_WINDOW for k in range(NORMALS_IN_WINDOW)}
        angles.update(self._normals_in_window(common.angle for common in self.common_tangents))
        ordered = sorted(angles)
        yield from ordered
        yield from ((low + high) / 2 for low, high in pairwise(ordered))

    @cached_property
    def common_tangents(self) -> tuple[CommonTangent, ...]:
        """All common tangents at which an opening may appear or vanish."""
        tangents = [*self._end_tangents(0, 1, self.separating_angle)]
        for index, (from_a, to_b) in enumerate(self.obstacle_separating_angles, 2):
            tangents += self._end_tangents(0, index, from_a)
            tangents += self._end_tangents(index, 1, to_b)
        for (i, p), (j, q) in combinations(enumerate(self.obstacles, 2), 2):
            separation = widest_separation(p, q)
            if separation.signed_gap_mm > CONTACT_TOLERANCE_MM:  # else no line passes between
                angles = inner_tangents(p, q, separation.angle)
                tangents += [CommonTangent(i, j, -1, angle) for angle in angles]
        return tuple(tangents)

    def _end_tangents(self, i: int, j: int, towards: float) -> Iterator[CommonTangent]:
        p = self.shapes[i]
        q = self.shapes[j]
        yield from (CommonTangent(i, j, 1, angle) for angle in outer_tangents(p, q, towards))
        yield from (CommonTangent(i, j, -1, angle) for angle in inner_tangents(p, q, towards))

    def _normals_in_window(self, angles: Iterable[float]) -> list[float]:
        """Return the normals in the window, each turned by half turns if need be."""
        first, last = self.normal_window
        turned = (first + (angle - first) % math.pi for angle in angles)
        return [angle for angle in turned if angle <= last]

    def line_intervals(self, angle: float) -> tuple[float, float, list[Interval]]:
        """Return the least and largest c of lines that meet both ends; blocked intervals."""
        ux, uy = math.cos(angle), math.sin(angle)
        a_low, a_high = _projection_interval(self.a, ux, uy)
        b_low, b_high = _projection_interval(self.b, ux, uy)
        low, high = max(a_low, b_low), min(a_high, b_high)
        blocked_by_body: dict[int, list[Interval]] = {}
        for index in range(len(self.obstacles)):
            body = self.bodies[index] if self.bodies else index
            blocked_by_body.setdefault(body, []).extend(
                self._blocked_intervals(index, angle, low, high)
            )
        blocked = (one for own in blocked_by_body.values() for one in _joined(own))
        return low, high, sorted(blocked)

    def _blocked_intervals(
        self, index: int, angle: float, low: float, high: float
    ) -> Iterator[Interval]:
        """Yield the intervals of c that an obstacle blocks.

        Those of an obstacle that reaches into an end are sampled between `low` and `high` only.
        """
        obstacle = self.obstacles[index]
        least, most = _projection_interval(obstacle, math.cos(angle), math.sin(angle))
        if index not in self.obstacles_overlapping_ends:
            directions = self.obstacle_separating_angles[index]
            if all(math.cos(angle - QUARTER_TURN - towards) > 0 for towards in directions):
                yield least, most
        elif least < high and most > low:
            first, last = max(least, low), min(most, high)
            for start, end in blocked_intervals(self.a, self.b, obstacle, angle, first, last):
                yield least if start == first else start, most if end == last else end

    def is_free(self, angle: float) -> bool:
        """Tell whether a line of this normal is free."""
        low, high, blocked = self.line_intervals(angle)
        lowest_end = low - CONTACT_TOLERANCE_MM
        highest_start = high + CONTACT_TOLERANCE_MM
        start = -math.inf
        for least, most in [*blocked, (math.inf, math.inf)]:
            is_open = least - start > CONTACT_TOLERANCE_MM
            if is_open and start <= highest_start and least >= lowest_end:
                return True
            start = max(start, most)
        return False

    def opening_at(self, angle: float) -> Opening:
        """Return the widest opening for the lines of this normal."""
        low, high, blocked = self.line_intervals(angle)
        start, widest = low, -math.inf
        for least, most in [*blocked, (math.inf, math.inf)]:
            widest = max(widest, min(least, high) - start)
            start = max(start, most)
        return Opening(widest, angle)

    @cached_property
    def widest_opening(self) -> Opening:
        """The widest opening of the directions tested; if no line is free, the widest of all."""
        kinks = (kink for shape in self.shapes for kink in shape.edge_normal_angles)
        normals = (*self.candidate_normals(), *self._normals_in_window(kinks))
        return max(map(self.opening_at, normals))


def _joined(intervals: Iterable[Interval]) -> list[Interval]:
    """Intervals of one body, those that touch made one."""
    joined: list[Interval] = []
    for least, most in sorted(intervals):
        if joined and least - joined[-1][1] <= CONTACT_TOLERANCE_MM:
            joined[-1] = joined[-1][0], max(joined[-1][1], most)
        else:
            joined.append((least, most))
    return joined


def _projection_interval(shape: ConvexShape, ux: float, uy: float) -> Interval:
    px, py = shape.support_point(-ux, -uy)
    qx, qy = shape.support_point(ux, uy)
    return px * ux + py * uy, qx * ux + qy * uy
