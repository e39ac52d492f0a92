"""Terrain as a scene file has it, and the reading of its outline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import dist, isclose
from typing import Any

from overruler.geometry.outlines import convex_parts, first_self_intersection, signed_area_mm2
from overruler.geometry.shapes import Point, Polygon
from overruler.pieces import read_point
from overruler.reading import MIN_LENGTH_MM, Node, merge_keys, read_coordinate, unknown_keys
from overruler.reading.fields import check_fields

MIN_AREA_MM2 = 1e-6
"""Smallest area of a footprint."""
AREA_TOLERANCE = 1e-9
"""Largest relative difference between two ways to compute the area of the same outline."""
MAX_SIZE = 1000
"""The largest size that a game may give."""


@dataclass(frozen=True, slots=True)
class Terrain:
    """Something on the table that is not a piece: an outline between two heights."""

    id: str
    footprint_mm: tuple[Point, ...]
    """The outline, which need not be convex."""
    top_z_mm: float
    """Height of its top above the board."""
    base_z_mm: float = 0.0
    """Height of its underside above the board."""
    rough: bool = False
    """Whether the game's rules for rough ground hold on it."""
    size: float = 1
    """Size class in the game's rules."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Other keys: those of a `records.TerrainRecord`, and unknown ones."""

    def __post_init__(self) -> None:
        what = f"Terrain {Node(self.id, 'Terrain', 'id').text()!r}"
        readers = {"top_z_mm": read_coordinate, **TERRAIN_READERS, "footprint_mm": _read_corners}
        check_fields(self, what, readers)

    @property
    def parts(self) -> tuple[Polygon, ...]:
        """Convex polygons whose union is the footprint.

        They do not depend on the first corner of the footprint, nor on its direction.
        """
        return convex_parts(self.outline_mm)

    @property
    def outline_mm(self) -> tuple[Point, ...]:
        """The footprint counter-clockwise, from the same corner whatever its first one is."""
        return tuple(_canonical_ring(self.footprint_mm))

    @classmethod
    def from_node(cls, node: Node) -> "Terrain":
        values = {key: read(node[key]) for key, read in TERRAIN_READERS.items() if node.has(key)}
        values |= {
            "id": node["id"].identifier(),
            "footprint_mm": read_footprint(node["footprint_mm"]),
        }
        top = read_coordinate(node["top_z_mm"])
        terrain = cls(top_z_mm=top, **values, extra=unknown_keys(node, (*values, "top_z_mm")))
        if top < terrain.base_z_mm:
            node["top_z_mm"].fail(f"{top:g} lies below base_z_mm, {terrain.base_z_mm:g}")
        return terrain

    def to_json(self) -> dict[str, Any]:
        known = {"id": self.id, "footprint_mm": [list(point) for point in self.footprint_mm]}
        for key in ("top_z_mm", *TERRAIN_READERS):
            known[key] = getattr(self, key)
        return merge_keys(known, self.extra)


def read_half(node: Node) -> float:
    """Read a size: a multiple of 0.5."""
    value = node.number()
    if abs(value) > MAX_SIZE:
        node.fail(f"must be {MAX_SIZE} at most, is {value:g}")
    if value % 0.5:
        node.fail(f"must be a multiple of 0.5, is {value:g}")
    return int(value) if value == int(value) else value


TERRAIN_READERS: Mapping[str, Any] = {
    "base_z_mm": read_coordinate,
    "rough": Node.boolean,
    "size": read_half,
}
"""The reader of each optional key of a terrain."""


# --- outlines ---


def read_footprint(node: Node) -> tuple[Point, ...]:
    """Read an outline of at least 3 points that encloses an area.

    Repeated points and spikes without a width are removed: they do not change the area. An outline
    that crosses itself is an error. One whose sides only touch is not.
    """
    points = [read_point(item) for item in node.items()]
    if len(set(points)) < 3:
        node.fail(f"a footprint needs 3 different points or more, found {len(set(points))}")
    indices = _remove_spikes(points)
    ring = [points[index] for index in indices]
    if len(ring) < 3:
        node.fail("its points lie on one line: a footprint holds an area")
    if sides := first_self_intersection(ring):
        first, second = (indices[side] for side in sides)
        node.fail(f"crosses itself: the side from point {first} and the side from point {second}")
    if abs(signed_area_mm2(ring)) < MIN_AREA_MM2:
        node.fail("its points lie on one line: a footprint holds an area")
    if _touches_itself(ring):
        _check_area(node, ring)
    return tuple(ring)


def _read_corners(node: Node) -> tuple[Point, ...]:
    """Read the corners of an outline, 3 or more."""
    points = tuple(read_point(item) for item in node.items())
    return points if len(points) >= 3 else node.fail("a footprint needs 3 points or more")


def _remove_spikes(points: Sequence[Point]) -> list[int]:
    """Indices of the points of a ring without repeated points and without spikes.

    A spike is a corner where the ring turns back on itself along one line.
    """
    indices = list(range(len(points)))
    count = len(points) + 1
    while 3 <= len(indices) < count:  # a removal gives other corners new neighbours
        count = len(indices)
        position = 0
        while position < len(indices) >= 3:
            before = points[indices[position - 1]]
            corner = points[indices[position]]
            after = points[indices[(position + 1) % len(indices)]]
            if corner == before or _is_spike(before, corner, after):
                del indices[position]
                position = max(position - 1, 0)
            else:
                position += 1
    return indices


def _is_spike(before: Point, corner: Point, after: Point) -> bool:
    in_x, in_y = corner[0] - before[0], corner[1] - before[1]
    out_x, out_y = after[0] - corner[0], after[1] - corner[1]
    if in_x * out_x + in_y * out_y >= 0:
        return False
    doubled_area = abs(in_x * out_y - in_y * out_x)
    longest = max(dist(before, corner), dist(corner, after))
    return doubled_area <= MIN_LENGTH_MM * longest


def _check_area(node: Node, ring: Sequence[Point]) -> None:
    """Fail where the sides of a ring do not cross, but touch such that they enclose no definite area.

    The sides of a ring round a hole touch and still enclose one.
    """
    import shapely  # few outlines touch themselves, and it takes long to load

    polygon = shapely.Polygon(ring)
    area = abs(signed_area_mm2(ring))
    parts = convex_parts(_canonical_ring(ring))
    other_areas = (
        sum(abs(signed_area_mm2(part.corners)) for part in parts),
        shapely.make_valid(polygon).area,
    )
    if not all(isclose(area, other, rel_tol=AREA_TOLERANCE) for other in other_areas):
        where = shapely.is_valid_reason(polygon).partition("[")[2].rstrip("]").replace(" ", ", ")
        node.fail(f"crosses itself at ({where}): give the corners once round the area")


def _touches_itself(ring: Sequence[Point]) -> bool:
    """Whether a corner of a ring lies on a side that does not begin or end there."""
    for index, corner in enumerate(ring):
        for side in range(index + 1, index + len(ring) - 1):
            if _lies_on_side(corner, ring[side % len(ring)], ring[(side + 1) % len(ring)]):
                return True
    return False


def _lies_on_side(point: Point, start: Point, end: Point) -> bool:
    (x, y), (x0, y0), (x1, y1) = point, start, end
    if not (min(x0, x1) <= x <= max(x0, x1) and min(y0, y1) <= y <= max(y0, y1)):
        return False
    return (x1 - x0) * (y - y0) == (y1 - y0) * (x - x0)


def _canonical_ring(points: Sequence[Point]) -> list[Point]:
    """The ring counter-clockwise from its least point: the same for each start and direction."""
    ring = list(points)
    if signed_area_mm2(ring) < 0:
        ring.reverse()
    least = min(ring)
    starts = [index for index, point in enumerate(ring) if point == least]
    return min(ring[start:] + ring[:start] for start in starts)
