"""True lines: sight from eye to eye, over and under what stands between.

The lines between two bases run in one plane. It passes through both pieces' eyes and is level across.
An obstacle hides by the part of its outline where the plane runs between its underside and its top.
`rules.sightlines` then looks along the lines in that plane as on a flat table.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from overruler.geometry.shapes import Point, Polygon, Shape
from overruler.rules.game import Setting
from overruler.scene import Piece, Scene
from overruler.units import CONTACT_TOLERANCE_MM

EYE_SHARE = 0.9
"""Height of a piece's eyes as a share of its height. (Decided here.)

People's eyes are at 0.93 of their height; a piece's base and helmet add to the rest."""
OUTLINE_POINTS = 128
"""Points of a round base's outline where the plane cuts it; on a 60 mm base they are 0.01 mm inside."""
TRUE_LINE = "true_line"
"""Sight runs from eye to eye."""
BASES = "bases"
"""Sight runs from base to base on the level of the table."""
SIGHT = Setting(
    "sight",
    BASES,
    "Sight runs from base to base; with true_line from eye to eye, over what stands lower.",
    (BASES, TRUE_LINE),
)
HeightErrors = Mapping[str, float]
"""By how many mm pieces, and tops of terrain, stand higher than the scene says; by id."""


@dataclass(frozen=True, slots=True)
class EyePlane:
    """The plane of the lines between two pieces."""

    eye: Point
    """Where the one piece's eyes are."""
    eye_z_mm: float
    slope: Point
    """By how much it rises for each mm along x and y."""

    def height_mm(self, point: Point) -> float:
        """Its height above the board."""
        x, y = point[0] - self.eye[0], point[1] - self.eye[1]
        return self.eye_z_mm + x * self.slope[0] + y * self.slope[1]

    def part_between(self, shape: Shape, base_z_mm: float, top_z_mm: float) -> Shape | None:
        """The part of an outline over which it runs between two heights; None where it does not."""
        lowest_mm, highest_mm = self._heights_over(shape)
        if lowest_mm >= top_z_mm - CONTACT_TOLERANCE_MM:
            return None
        if highest_mm <= base_z_mm + CONTACT_TOLERANCE_MM:
            return None
        if base_z_mm <= lowest_mm and highest_mm <= top_z_mm:
            return shape
        corners = outline_points(shape)
        corners = _keep_below(corners, lambda point: self.height_mm(point) - top_z_mm)
        corners = _keep_below(corners, lambda point: base_z_mm - self.height_mm(point))
        return Polygon(corners) if len(corners) >= 3 else None

    def _heights_over(self, shape: Shape) -> tuple[float, float]:
        """Its least and largest height over an outline."""
        steepness = math.hypot(*self.slope)
        if not steepness:
            return self.eye_z_mm, self.eye_z_mm
        ux, uy = self.slope[0] / steepness, self.slope[1] / steepness
        ends = shape.support_point(-ux, -uy), shape.support_point(ux, uy)
        return self.height_mm(ends[0]), self.height_mm(ends[1])


@dataclass(frozen=True)
class EyeHeights:
    """The heights of a scene's eyes, undersides and tops."""

    scene: Scene
    errors: HeightErrors = field(default_factory=dict)

    def plane(self, i: int, j: int) -> EyePlane:
        """The plane of the lines between two pieces whose centres differ."""
        first, second = self.scene.pieces[i], self.scene.pieces[j]
        x, y = second.x_mm - first.x_mm, second.y_mm - first.y_mm
        eye_z_mm = self._eye_z_mm(first)
        rise = (self._eye_z_mm(second) - eye_z_mm) / ((x * x + y * y) or 1.0)
        return EyePlane((first.x_mm, first.y_mm), eye_z_mm, (rise * x, rise * y))

    def _eye_z_mm(self, piece: Piece) -> float:
        height_mm = piece.top_z_mm - piece.z_mm
        return piece.z_mm + EYE_SHARE * height_mm + self.errors.get(piece.id, 0.0)

    def span_mm(self, name: str) -> tuple[float, float]:
        """The heights that a piece or terrain stands from and to."""
        error_mm = self.errors.get(name, 0.0)
        for piece in (one for one in self.scene.pieces if one.id == name):
            return piece.z_mm + error_mm, piece.top_z_mm + error_mm
        terrain = next(one for one in self.scene.terrain if one.id == name)
        return terrain.base_z_mm, terrain.top_z_mm + error_mm


def outline_points(shape: Shape) -> tuple[Point, ...]:
    """Points of an outline, counter-clockwise; a polygon's corners."""
    if isinstance(shape, Polygon):
        return shape.corners
    turns = (2 * math.pi * k / OUTLINE_POINTS for k in range(OUTLINE_POINTS))
    points = [shape.support_point(math.cos(turn), math.sin(turn)) for turn in turns]
    return tuple(dict.fromkeys(points))


def _keep_below(corners: tuple[Point, ...], above: Callable[[Point], float]) -> tuple[Point, ...]:
    """The part of a convex polygon where a linear function is not above 0."""
    kept: list[Point] = []
    for start, end in pairwise((*corners, *corners[:1])):
        a, b = above(start), above(end)
        if a <= 0:
            kept.append(start)
        if (a < 0 < b) or (b < 0 < a):
            share = a / (a - b)
            kept.append(
                (start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1]))
            )
    return tuple(dict.fromkeys(kept))
