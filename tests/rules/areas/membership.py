"""What distances say of points: whether each lies in an area. Written without the program's own areas."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.distances import gaps_at_shifts
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Shape, translate_shape
from overruler.scene import Scene

LINE_MM = 0.05
"""Nearer to a line than an outline has to be, a point says nothing."""
RIM_POINTS = 360
"""Corners that stand for the rim of a base."""
RIM_STEP_MM = 0.1
"""From one point tried on it to the next. A corner of the ground that points inwards slips between them
by less than `LINE_MM`."""

BoolArray = NDArray[np.bool_]


class Told(NamedTuple):
    """Of points (n, 2)."""

    inside: BoolArray
    sure: BoolArray
    """Whether a point is far enough from every line."""

    def both(self, other: "Told") -> "Told":
        """In both. A point that is surely outside one is surely outside both."""
        out = (self.sure & ~self.inside) | (other.sure & ~other.inside)
        return Told(self.inside & other.inside, out | (self.sure & other.sure))

    @property
    def outside(self) -> "Told":
        return Told(~self.inside, self.sure)


def told(scene: Scene, area: dict[str, Any], points: Array, base: Shape | None = None) -> Told:
    """Whether points lie in an area, or a base about the origin that is put there."""
    if "for" in area:
        piece = scene.pieces[scene.piece_indices[area["for"]][0]]
        base = translate_shape(piece.shape, -piece.x_mm, -piece.y_mm)
        inner = {key: value for key, value in area.items() if key not in ("for", "whole")}
        found = whole_base(scene, inner, points, base) if area.get("whole") else None
        found = found or told(scene, inner, points, base)
        for index, other in enumerate(scene.pieces):
            if other.id != piece.id:
                found = found.both(compared(gaps_at_shifts(scene.shapes[index], base, points), 0))
        return found
    if "not" in area:
        return told(scene, area["not"], points, base).outside
    if "all" in area:
        parts = [told(scene, part, points, base) for part in area["all"]]
    elif "any" in area:
        parts = [told(scene, part, points, base).outside for part in area["any"]]
    else:
        return near(scene, area, points, base)
    found = parts[0]
    for part in parts[1:]:
        found = found.both(part)
    return found if "all" in area else found.outside


def near(scene: Scene, area: dict[str, Any], points: Array, base: Shape | None) -> Told:
    distances = closest(scene, area["of"], base or Disc((0, 0), 0), points)
    low, high = lines_mm(scene, area)
    found = compared(distances, high).outside
    return found.both(compared(distances, low)) if low else found


def compared(distances: Array, line_mm: float) -> Told:
    """Which distances are past a line."""
    return Told(distances > line_mm, np.abs(distances - line_mm) > LINE_MM)


def closest(scene: Scene, name: str, base: Shape, points: Array) -> Array:
    """The distance (n,) of a base at points from what a name stands for."""
    shapes = scene.terrain_parts.get(name) or [
        scene.shapes[index] for index in scene.piece_indices[name]
    ]
    return np.asarray(np.min([gaps_at_shifts(shape, base, points) for shape in shapes], 0))


def whole_base(scene: Scene, area: dict[str, Any], points: Array, base: Shape) -> Told:
    """Whether all of a base lies in an area: its rim does, and its middle."""
    turn = np.linspace(0, 2 * np.pi, RIM_POINTS, endpoint=False)
    rim = base.support_points(np.stack([np.cos(turn), np.sin(turn)], -1))
    found = told(scene, area, points)
    for start, end in zip(rim, np.roll(rim, -1, 0), strict=True):
        steps = max(int(np.hypot(*(end - start)) / RIM_STEP_MM), 1)
        for share in np.arange(steps) / steps:
            found = found.both(told(scene, area, points + start + share * (end - start)))
    return found


def lines_mm(scene: Scene, area: dict[str, Any]) -> tuple[float, float]:
    if "range" in area:
        asked = area["range"] if isinstance(area["range"], list) else [area["range"]]
        assert scene.range_ruler is not None
        ends = (0.0, *scene.range_ruler.lines_mm)
        return ends[max(asked[0] - 1, 0)], ends[asked[-1]]
    unit = 1.0 if "within_mm" in area else 25.4
    value = area["within_mm" if "within_mm" in area else "within_in"]
    low, high = value if isinstance(value, list) else (0, value)
    return low * unit, high * unit
