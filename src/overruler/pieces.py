"""What stands on a table, as a scene file has it: pieces, terrain, and the table's own ruler and grid.

Each noun reads itself from a parsed file (`of`: every complaint names the JSON path of what is wrong) and writes itself
back (`to_json`). Keys that the program does not know are kept in `extra`. Millimetres in the board frame, headings in
degrees counter-clockwise from +x.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import hypot
from typing import Any

from overruler.bases import Base
from overruler.geometry.covariance import Matrix2
from overruler.geometry.hex_grid import HexGrid
from overruler.geometry.outlines import convex_parts, first_self_intersection, signed_area_mm2
from overruler.geometry.shapes import Disc, Ellipse, Point, Polygon, Shape, rectangle
from overruler.reading import Node, merge_keys, unknown_keys

KINDS = ("character", "ship", "obstacle", "device")
ROUNDING_SHARE = 1e-6
"""A covariance written with few digits may be off symmetric and positive by this share of its largest value."""

MAX_LENGTH_MM = 1e7
"""Ten kilometres: beyond, a number no longer holds the millionths of a millimetre that touching goes by."""
MIN_LENGTH_MM = 1e-6
MAX_HEADING_DEG = 1e6
"""Beyond, what is left of a heading after whole turns is rounding."""
MAX_SEGMENTS = 100


def read_coordinate(node: Node) -> float:
    """A coordinate in mm."""
    value = node.number()
    return (
        value
        if abs(value) <= MAX_LENGTH_MM
        else node.fail(f"lies more than 10 km away, at {value:g} mm")
    )


def read_length(node: Node) -> float:
    """A length in mm of something that has one."""
    value = node.positive()
    fits = MIN_LENGTH_MM <= value <= MAX_LENGTH_MM
    return (
        value
        if fits
        else node.fail(f"must be from {MIN_LENGTH_MM:g} to {MAX_LENGTH_MM:g} mm, is {value:g}")
    )


def read_point(node: Node) -> Point:
    """A point (x, y) in mm."""
    node.vector(2)
    x, y = (read_coordinate(item) for item in node.items())
    return x, y


@dataclass(frozen=True, slots=True)
class Table:
    """The board as far as rulings need it: its size."""

    width_mm: float
    height_mm: float
    extra: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_node(cls, node: Node) -> "Table":
        return cls(
            read_length(node["width_mm"]),
            read_length(node["height_mm"]),
            unknown_keys(node, ("width_mm", "height_mm")),
        )

    def to_json(self) -> dict[str, Any]:
        return merge_keys({"width_mm": self.width_mm, "height_mm": self.height_mm}, self.extra)


@dataclass(frozen=True, slots=True)
class Ruler:
    """A range ruler: so many segments of one length."""

    segment_mm: float
    segments: int
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def lines_mm(self) -> tuple[float, ...]:
        """Where each segment ends, from the ruler's start."""
        return tuple(self.segment_mm * (k + 1) for k in range(self.segments))

    @classmethod
    def from_node(cls, node: Node) -> "Ruler":
        segments = node["segments"].integer()
        if not 1 <= segments <= MAX_SEGMENTS:
            node["segments"].fail(f"must be from 1 to {MAX_SEGMENTS}, is {segments}")
        return cls(
            read_length(node["segment_mm"]),
            segments,
            unknown_keys(node, ("segment_mm", "segments")),
        )

    def to_json(self) -> dict[str, Any]:
        return merge_keys({"segment_mm": self.segment_mm, "segments": self.segments}, self.extra)


@dataclass(frozen=True, slots=True)
class Grid:
    """A grid of hexes, addressed by axial (q, r)."""

    orientation: str
    """`pointy` or `flat`."""
    size_mm: float
    """Centre to corner."""
    origin_mm: Point
    """The centre of hex (0, 0)."""
    extra: Mapping[str, Any] = field(default_factory=dict)

    def hex_center(self, q: int, r: int) -> Point:
        """The centre of a hex on the board."""
        return self.hexes.center((q, r))

    @property
    def hexes(self) -> HexGrid:
        return HexGrid(self.orientation == "pointy", self.size_mm, self.origin_mm)

    @classmethod
    def from_node(cls, node: Node) -> "Grid":
        node["type"].choice(("hex",))
        orientation, origin = (
            node["orientation"].choice(("pointy", "flat")),
            read_point(node["origin_mm"]),
        )
        return cls(
            orientation,
            read_length(node["size_mm"]),
            origin,
            unknown_keys(node, ("type", "orientation", "size_mm", "origin_mm")),
        )

    def to_json(self) -> dict[str, Any]:
        known = {
            "orientation": self.orientation,
            "size_mm": self.size_mm,
            "origin_mm": list(self.origin_mm),
        }
        return merge_keys({"type": "hex", **known}, self.extra)


# --- pieces ---

SIZE_KEYS = {
    "circle": ("diameter_mm",),
    "rectangle": ("width_mm", "length_mm"),
    "oval": ("width_mm", "length_mm"),
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A base on the table, and whose it is."""

    id: str
    base: Base
    x_mm: float
    y_mm: float
    z_mm: float = 0.0
    """Height of the base's underside over the board."""
    heading_deg: float = 0.0
    covariance_mm2: Matrix2 | None = None
    """Of (x, y); None where exact, or where only the scene's joint one speaks of it."""
    player: str | None = None
    unit: str | None = None
    leader: bool = False
    kind: str | None = None
    """One of `KINDS`; None for the game's own default."""
    stats: Mapping[str, Any] = field(default_factory=dict)
    hex: tuple[int, int] | None = None
    """The hex whose centre it stands on, where it was placed by one."""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def shape(self) -> Shape:
        """Its exact outline on the board."""
        center = (self.x_mm, self.y_mm)
        if self.base.shape == "circle":
            return Disc(center, self.base.width_mm / 2)
        if self.base.shape == "oval":
            return Ellipse(center, self.base.length_mm, self.base.width_mm, self.heading_deg)
        sides = self.base.length_mm, self.base.width_mm
        return rectangle(center, *sides, self.heading_deg, self.base.corner_radius_mm)

    @classmethod
    def from_node(cls, node: Node, grid: Grid | None) -> "Piece":
        known = {
            key: node.get(key, read, None) for key, read in PIECE_READERS.items() if node.has(key)
        }
        known |= {"id": node["id"].text(), "base": _read_base(node["base"])}
        known["x_mm"], known["y_mm"] = _read_position(node, grid, known.get("hex"))
        base = known["base"].shape
        inner = {
            "base": (
                "shape",
                *SIZE_KEYS[base],
                *(("corner_radius_mm",) if base == "rectangle" else ()),
            )
        }
        return cls(
            **known, extra=unknown_keys(node, (*PIECE_READERS, "id", "base", "x_mm", "y_mm"), inner)
        )

    def to_json(self) -> dict[str, Any]:
        place = {"hex": list(self.hex)} if self.hex else {"x_mm": self.x_mm, "y_mm": self.y_mm}
        known = {"id": self.id, "base": self.base.to_json(), **place}
        known |= {"z_mm": self.z_mm, "heading_deg": self.heading_deg}
        if self.covariance_mm2 is not None:
            known["covariance_mm2"] = [list(row) for row in self.covariance_mm2]
        known |= {
            key: getattr(self, key)
            for key in ("player", "unit", "kind")
            if getattr(self, key) is not None
        }
        known |= {key: getattr(self, key) for key in ("leader", "stats") if getattr(self, key)}
        return merge_keys(known, self.extra)


def _read_base(node: Node) -> Base:
    shape = node["shape"].choice(tuple(SIZE_KEYS))
    sizes = {key: read_length(node[key]) for key in SIZE_KEYS[shape]}
    if shape == "rectangle" and node.has("corner_radius_mm"):
        return Base(
            shape,
            **sizes,
            corner_radius_mm=_read_corner_radius(node["corner_radius_mm"], min(sizes.values()) / 2),
        )
    return Base.circle(**sizes) if shape == "circle" else Base(shape, **sizes)


def _read_corner_radius(node: Node, most_mm: float) -> float:
    value = node.number()
    return (
        value
        if 0 <= value <= most_mm
        else node.fail(f"must be from 0 to half a side, {most_mm:g} mm, is {value:g}")
    )


def _read_hex(node: Node) -> tuple[int, int]:
    node.vector(2)
    q, r = (item.integer() for item in node.items())
    return q, r


def _read_position(node: Node, grid: Grid | None, hexagon: tuple[int, int] | None) -> Point:
    if hexagon is None:
        return read_coordinate(node["x_mm"]), read_coordinate(node["y_mm"])
    if node.has("x_mm") or node.has("y_mm"):
        node.fail("has both hex and x_mm, y_mm; give one of the two")
    if grid is None:
        node["hex"].fail("needs a grid, and the scene has none")
    x, y = grid.hex_center(*hexagon)
    return (
        (x, y)
        if max(abs(x), abs(y)) <= MAX_LENGTH_MM
        else node["hex"].fail("lies more than 10 km away")
    )


def _read_covariance(node: Node) -> Matrix2:
    (xx, xy), (yx, yy) = node.matrix(2, 2)
    largest = max(abs(xx), abs(yy), abs(xy), abs(yx))
    if largest > MAX_LENGTH_MM**2:
        node.fail(f"holds more than {MAX_LENGTH_MM**2:g} mm²")
    slack = ROUNDING_SHARE * largest
    if abs(xy - yx) > slack:
        node.fail("is not symmetric")
    if (xx + yy) / 2 - hypot((xx - yy) / 2, xy) < -slack:
        node.fail("is not positive semi-definite")
    return (xx, xy), (yx, yy)


def _read_heading(node: Node) -> float:
    degrees = node.number()
    return (
        degrees
        if abs(degrees) <= MAX_HEADING_DEG
        else node.fail(f"turns more than {MAX_HEADING_DEG:g} degrees, {degrees:g}")
    )


PIECE_READERS: Mapping[str, Any] = {
    "z_mm": read_coordinate,
    "heading_deg": _read_heading,
    "covariance_mm2": _read_covariance,
    "player": Node.text,
    "unit": Node.text,
    "leader": Node.boolean,
    "kind": lambda node: node.choice(KINDS),
    "stats": lambda node: node.object().value,
    "hex": _read_hex,
}
"""How each key that a piece may have is read."""


# --- terrain ---


@dataclass(frozen=True, slots=True)
class Terrain:
    """Something on the table that is no piece: an outline that need not be convex, between two heights."""

    id: str
    footprint_mm: tuple[Point, ...]
    top_z_mm: float
    base_z_mm: float = 0.0
    rough: bool = False
    size: int = 1
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[Polygon, ...]:
        """Convex polygons that together are the footprint."""
        return convex_parts(self.footprint_mm)

    @classmethod
    def from_node(cls, node: Node) -> "Terrain":
        known = {
            key: node.get(key, read, None) for key, read in TERRAIN_READERS.items() if node.has(key)
        }
        known |= {"id": node["id"].text(), "footprint_mm": read_footprint(node["footprint_mm"])}
        terrain = cls(
            top_z_mm=read_coordinate(node["top_z_mm"]),
            **known,
            extra=unknown_keys(node, (*known, "top_z_mm")),
        )
        if terrain.top_z_mm < terrain.base_z_mm:
            node["top_z_mm"].fail(
                f"{terrain.top_z_mm:g} lies below base_z_mm, {terrain.base_z_mm:g}"
            )
        return terrain

    def to_json(self) -> dict[str, Any]:
        known = {"id": self.id, "footprint_mm": [list(point) for point in self.footprint_mm]}
        return merge_keys(
            known | {key: getattr(self, key) for key in ("top_z_mm", *TERRAIN_READERS)}, self.extra
        )


TERRAIN_READERS: Mapping[str, Any] = {
    "base_z_mm": read_coordinate,
    "rough": Node.boolean,
    "size": Node.integer,
}
"""How each key that a terrain may have is read."""


def read_footprint(node: Node) -> tuple[Point, ...]:
    """The outline of something on the table: three points or more that hold an area."""
    points = [read_point(item) for item in node.items()]
    if len(set(points)) < 3:
        node.fail(f"a footprint needs 3 different points or more, found {len(set(points))}")
    if crossed := first_self_intersection(points):
        node.fail(
            "crosses itself: the side from point {} and the side from point {}".format(*crossed)
        )
    if abs(signed_area_mm2(points)) < 1e-6:
        node.fail("its points lie on one line: a footprint holds an area")
    return tuple(points)
