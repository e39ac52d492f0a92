"""Who stands where: nothing overlaps, and some things touch."""

from collections.abc import Sequence

import numpy as np
from shapely.geometry import Point, Polygon, box

from synthetic.arrays import Array, Rng
from synthetic.things.mesh import about_z
from synthetic.things.pieces import Shape

Place = Sequence[float] | Array
TRIES = 400


class Ground:
    """A board's free places."""

    def __init__(self, width_mm: float, height_mm: float) -> None:
        self.size_mm = np.array([width_mm, height_mm])
        self._inside = box(0, 0, width_mm, height_mm)
        self._taken: list[Polygon] = []

    def take(self, outline: Polygon | Array) -> None:
        self._taken.append(outline if isinstance(outline, Polygon) else Polygon(outline))

    def free(self, outline: Polygon, gap_mm: float = 0) -> bool:
        """Whether it lies on the board, clear of all else by `gap_mm`."""
        if not self._inside.contains(outline):
            return False
        return all(
            outline.distance(other) > gap_mm - 1e-9 and not outline.intersects(other)
            for other in self._taken
        )

    def settle(
        self, outline: Array, rng: Rng, low: Place, high: Place, gap_mm: float = 4
    ) -> tuple[float, float, float] | None:
        """A free place (x, y, turn) for an outline (N, 2) about the origin; taken at once. None where none is found."""
        for _ in range(TRIES):
            x, y = rng.uniform(low, high)
            turn = float(rng.uniform(0, 360))
            place = Polygon(outline @ about_z(turn)[:2, :2].T + [x, y])
            if self.free(place, gap_mm):
                self.take(place)
                return float(x), float(y), turn
        return None


def footprint(shape: Shape, x_mm: float, y_mm: float, heading_deg: float) -> Polygon:
    """A base's outline; discs a hair small, so that discs that touch do not overlap."""
    if shape.type == "circle":
        return Point(x_mm, y_mm).buffer(shape.length_mm / 2 - 2e-3, quad_segs=32)
    ring = shape.outline() if shape.type == "rectangle" else shape.outline(points=90)
    return Polygon(ring @ about_z(heading_deg)[:2, :2].T + [x_mm, y_mm])
