"""Lines of sight between two convex shapes past others, exact: no circle is ever a polygon.

All lines from a shape A to a shape B fill the convex hull of the two, so an obstacle crosses one of them where it
reaches into that hull.

Whether one line passes between all obstacles is seen direction by direction. With n a unit normal, the lines
{x : x · n = c} that meet a convex shape are those with c from least to most over the shape, so for one n there is an
interval of c in which a line meets both A and B, and one for each obstacle between them. A line is free where its c is
in the first and inside none of the others. The order in which all these intervals begin and end changes only at common
tangents of two of the shapes. Between two such normals next to each other nothing changes: it is enough to look at
every common tangent and once between each two. (Pocchiola and Vegter, The visibility complex, 1996.)

Lengths are millimetres in the board frame, angles radians. Pure Python; `geometry.many_sights` has the same for many
displacements at once.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import NamedTuple, Protocol

from overruler.geometry.chords import blocked_intervals
from overruler.geometry.shapes import Disc, Point, Shape, gap
from overruler.units import CONTACT_TOLERANCE_MM

QUARTER_TURN = math.pi / 2
COARSE_DIRECTIONS = 48
"""Directions looked at before the peaks between them are made exact."""


class ConvexShape(Protocol):
    """What is known by its support points: see `geometry.shapes`."""

    @property
    def center(self) -> Point: ...
    @property
    def edge_normal_angles(self) -> tuple[float, ...]: ...
    def support_point(self, ux: float, uy: float) -> Point: ...


class Separation(NamedTuple):
    """How two shapes stand apart."""

    signed_gap_mm: float
    """The gap between them; where they overlap, less than 0: the shortest way apart."""
    angle: float
    """The direction from the first to the second in which that is so."""


# --- two shapes ---


def _support_offset(
    a: ConvexShape, b: ConvexShape, angle: float, sign: float
) -> tuple[float, float]:
    """How far b's support point in a direction (`sign` 1), or in the opposite one (-1), lies past a's; the slope."""
    ux, uy = math.cos(angle), math.sin(angle)
    ax, ay = a.support_point(ux, uy)
    bx, by = b.support_point(sign * ux, sign * uy)
    x, y = bx - ax, by - ay
    return x * ux + y * uy, y * ux - x * uy


def widest_separation(a: ConvexShape, b: ConvexShape) -> Separation:
    """How far two shapes stand apart, or how deep in each other, to 1e-9 mm; the most that any direction parts them."""
    if isinstance(a, Disc) and isinstance(b, Disc):
        x, y = b.center[0] - a.center[0], b.center[1] - a.center[1]
        return Separation(math.hypot(x, y) - a.radius_mm - b.radius_mm, math.atan2(y, x))
    found = gap(a, b)  # type: ignore[arg-type]  # it asks no more of a shape than its support points
    if found.distance_mm > CONTACT_TOLERANCE_MM:
        (ax, ay), (bx, by) = found.from_point, found.to_point
        return Separation(found.distance_mm, math.atan2(by - ay, bx - ax))
    return max(_separation_maxima(a, b))


def _separation_maxima(a: ConvexShape, b: ConvexShape) -> Iterator[Separation]:
    """How far every direction of a coarse round parts two shapes, and every peak between two of them."""
    turns = {math.tau * k / COARSE_DIRECTIONS for k in range(COARSE_DIRECTIONS)}
    angles = sorted(
        turns
        | {
            kink % math.tau
            for kink in (*a.edge_normal_angles, *(kink + math.pi for kink in b.edge_normal_angles))
        }
    )
    for low, high in pairwise([*angles, angles[0] + math.tau]):
        yield Separation(_support_offset(a, b, low, -1)[0], low)
        inside = 1e-9 * (high - low)  # to one side of a jump
        if (
            _support_offset(a, b, low + inside, -1)[1]
            > 0
            > _support_offset(a, b, high - inside, -1)[1]
        ):
            yield _refine_maximum(a, b, low, high)


def _refine_maximum(a: ConvexShape, b: ConvexShape, low: float, high: float) -> Separation:
    for _ in range(44):
        middle = (low + high) / 2
        low, high = (middle, high) if _support_offset(a, b, middle, -1)[1] > 0 else (low, middle)
    return Separation(_support_offset(a, b, low, -1)[0], low)


def outer_tangents(a: ConvexShape, b: ConvexShape, towards: float) -> tuple[float, float]:
    """The normals of the two common tangents with both shapes on one side; `towards` is a direction that parts them."""
    return tuple(
        _find_tangent_angle(a, b, 1, towards + side * math.pi, towards) for side in (-1, 1)
    )  # type: ignore[return-value]


def inner_tangents(a: ConvexShape, b: ConvexShape, towards: float) -> tuple[float, float]:
    """The normals of the two common tangents between the shapes, to the right and to the left of `towards`."""
    return tuple(
        _find_tangent_angle(a, b, -1, towards + side * QUARTER_TURN, towards) for side in (-1, 1)
    )  # type: ignore[return-value]


def _find_tangent_angle(
    a: ConvexShape, b: ConvexShape, sign: float, below: float, above: float
) -> float:
    """The angle between `below`, where `_support_offset` is at most 0, and `above`, where it is more, at which it is 0.

    Newton's iteration, held in a bracket that closes.
    """
    angle = (below + above) / 2
    last = math.inf
    for _ in range(100):
        value, slope = _support_offset(a, b, angle, sign)
        if abs(value) < 1e-12 or abs(above - below) < 1e-15:
            break
        below, above = (below, angle) if value > 0 else (angle, above)
        step = angle - value / slope if slope else math.nan
        fast = min(below, above) < step < max(below, above) and abs(value) < last / 2
        angle = step if fast else (below + above) / 2
        last = abs(value)
    return angle


@dataclass(frozen=True)
class Hull:
    """The convex hull of two shapes that do not touch: all lines from the one to the other."""

    a: Shape
    b: Shape

    @property
    def center(self) -> Point:
        return (self.a.center[0] + self.b.center[0]) / 2, (self.a.center[1] + self.b.center[1]) / 2

    @cached_property
    def edge_normal_angles(self) -> tuple[float, ...]:
        towards = widest_separation(self.a, self.b).angle
        return (
            *self.a.edge_normal_angles,
            *self.b.edge_normal_angles,
            *outer_tangents(self.a, self.b, towards),
        )

    def support_point(self, ux: float, uy: float) -> Point:
        p, q = self.a.support_point(ux, uy), self.b.support_point(ux, uy)
        return p if (p[0] - q[0]) * ux + (p[1] - q[1]) * uy > 0 else q


# --- two shapes and what is between them ---


class CommonTangent(NamedTuple):
    """A common tangent of two of a view's shapes."""

    first: int
    second: int
    """Their places among the view's `shapes`."""
    sign: int
    """1 where it has both on one side, -1 where it passes between them."""
    angle: float
    """Of its normal."""


class Opening(NamedTuple):
    """The widest way between obstacles in one direction."""

    width_mm: float
    """Less than 0 where there is none: by how much what shuts it overlaps."""
    angle: float
    """Of the lines' normal."""


@dataclass(frozen=True)
class ObstructedView:
    """Two convex shapes that stand apart, and convex obstacles.

    An obstacle may reach into an end: a line then starts, or ends, past what of the obstacle is in there. Which lines
    such a one shuts is found among many, so that a way narrower than a few hundredths of the ends may be overlooked.
    """

    a: Shape
    b: Shape
    obstacles: tuple[Shape, ...]

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        return (self.a, self.b, *self.obstacles)

    @cached_property
    def separating_angle(self) -> float:
        """A direction that parts the two ends."""
        return widest_separation(self.a, self.b).angle

    @cached_property
    def obstacle_separating_angles(self) -> tuple[tuple[float, float], ...]:
        """For each obstacle the directions that part it from either end: a line that meets it runs in both."""
        return tuple(
            (widest_separation(self.a, shape).angle, widest_separation(shape, self.b).angle)
            for shape in self.obstacles
        )

    @cached_property
    def obstacles_overlapping_ends(self) -> frozenset[int]:
        """The places of the obstacles that overlap an end."""
        return frozenset(
            place
            for place, shape in enumerate(self.obstacles)
            if min(widest_separation(end, shape).signed_gap_mm for end in (self.a, self.b))
            < -CONTACT_TOLERANCE_MM
        )

    @cached_property
    def normal_window(self) -> tuple[float, float]:
        """The normals of the lines that meet both ends, from the first to the last; less than half a turn."""
        right, left = inner_tangents(self.a, self.b, self.separating_angle)
        return left, right + math.pi

    @property
    def is_clear(self) -> bool:
        """Whether one line passes: through a slot wider than `CONTACT_TOLERANCE_MM`, or along a single edge."""
        return any(self.is_free(angle) for angle in self.candidate_normals())

    def candidate_normals(self) -> Iterator[float]:
        """Normals of which one has a free line, if any has; the likeliest first."""
        first, last = self.normal_window
        yield (first + last) / 2
        yield from self._normals_in_window(outer_tangents(self.a, self.b, self.separating_angle))
        more = (
            [first + (last - first) * k / COARSE_DIRECTIONS for k in range(COARSE_DIRECTIONS)]
            if self.obstacles_overlapping_ends
            else []
        )
        angles = sorted(
            {
                first,
                last,
                *more,
                *self._normals_in_window(common.angle for common in self.common_tangents),
            }
        )
        yield from angles
        yield from ((low + high) / 2 for low, high in pairwise(angles))

    @cached_property
    def common_tangents(self) -> tuple[CommonTangent, ...]:
        """All common tangents at which a way may open or shut."""
        found = [*self._end_tangents(0, 1, self.separating_angle)]
        for place, (from_a, to_b) in enumerate(self.obstacle_separating_angles, 2):
            found += [*self._end_tangents(0, place, from_a), *self._end_tangents(place, 1, to_b)]
        for (i, p), (j, q) in combinations(enumerate(self.obstacles, 2), 2):
            parted = widest_separation(p, q)
            if parted.signed_gap_mm > CONTACT_TOLERANCE_MM:  # else no line passes between the two
                found += [
                    CommonTangent(i, j, -1, angle) for angle in inner_tangents(p, q, parted.angle)
                ]
        return tuple(found)

    def _end_tangents(self, i: int, j: int, towards: float) -> Iterator[CommonTangent]:
        p, q = self.shapes[i], self.shapes[j]
        yield from (CommonTangent(i, j, 1, angle) for angle in outer_tangents(p, q, towards))
        yield from (CommonTangent(i, j, -1, angle) for angle in inner_tangents(p, q, towards))

    def _normals_in_window(self, angles: Iterable[float]) -> list[float]:
        """Of some normals, turned about where need be, those in the window."""
        first, last = self.normal_window
        turned = (first + (angle - first) % math.pi for angle in angles)
        return [angle for angle in turned if angle <= last]

    def line_intervals(self, angle: float) -> tuple[float, float, list[tuple[float, float]]]:
        """For lines of one normal: the least and most c that meets both ends, and those of each obstacle between."""
        ux, uy = math.cos(angle), math.sin(angle)
        (a0, a1), (b0, b1) = (
            _projection_interval(self.a, ux, uy),
            _projection_interval(self.b, ux, uy),
        )
        low, high = max(a0, b0), min(a1, b1)
        between = [
            shut
            for place in range(len(self.obstacles))
            for shut in self._blocked_intervals(place, angle, low, high)
        ]
        return low, high, sorted(between)

    def _blocked_intervals(
        self, place: int, angle: float, low: float, high: float
    ) -> Iterator[tuple[float, float]]:
        """The intervals of c in which an obstacle stands in the way; of one that reaches into an end, up to the ends
        of the lines that meet both."""
        least, most = _projection_interval(self.obstacles[place], math.cos(angle), math.sin(angle))
        if place not in self.obstacles_overlapping_ends:
            if all(
                math.cos(angle - QUARTER_TURN - towards) > 0
                for towards in self.obstacle_separating_angles[place]
            ):
                yield least, most
        elif least < high and most > low:
            first, last = max(least, low), min(most, high)
            for start, end in blocked_intervals(
                self.a, self.b, self.obstacles[place], angle, first, last
            ):
                yield least if start == first else start, most if end == last else end

    def is_free(self, angle: float) -> bool:
        """Whether a line of this normal is free."""
        low, high, between = self.line_intervals(angle)
        shut = -math.inf
        for least, most in [*between, (math.inf, math.inf)]:
            if (
                least - shut > CONTACT_TOLERANCE_MM
                and shut <= high + CONTACT_TOLERANCE_MM
                and least >= low - CONTACT_TOLERANCE_MM
            ):
                return True
            shut = max(shut, most)
        return False

    def opening_at(self, angle: float) -> Opening:
        """The widest way that lines of this normal have."""
        low, high, between = self.line_intervals(angle)
        shut, widest = low, -math.inf
        for least, most in [*between, (math.inf, math.inf)]:
            widest = max(widest, min(least, high) - shut)
            shut = max(shut, most)
        return Opening(widest, angle)

    @cached_property
    def widest_opening(self) -> Opening:
        """The widest way of any direction looked at: where there is none, that is the widest of all."""
        kinks = self._normals_in_window(
            kink for shape in self.shapes for kink in shape.edge_normal_angles
        )
        return max(map(self.opening_at, (*self.candidate_normals(), *kinks)))


def _projection_interval(shape: ConvexShape, ux: float, uy: float) -> tuple[float, float]:
    (px, py), (qx, qy) = shape.support_point(-ux, -uy), shape.support_point(ux, uy)
    return px * ux + py * uy, qx * ux + qy * uy
