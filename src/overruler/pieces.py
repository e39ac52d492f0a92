"""Pieces, and the table's size, ruler and grid, as a scene file has them.

Lengths are in millimetres in the board frame, headings in degrees counter-clockwise from +x.
`from_node` reads a value from a parsed file; its errors name the JSON path of what is wrong.
`to_json` writes it back. `extra` keeps the keys that a class has no field for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from overruler.bases import SIZE_KEYS, Base, read_base
from overruler.geometry.covariance import Matrix2, read_own_covariance
from overruler.geometry.hex_grid import HexGrid
from overruler.geometry.shapes import Point, Shape, shape_of_kind
from overruler.reading import (
    MAX_LENGTH_MM,
    Node,
    merge_keys,
    read_coordinate,
    read_length,
    unknown_keys,
)
from overruler.reading.fields import check_fields, check_kind

KINDS = ("character", "ship", "obstacle", "device", "objective")
"""What a piece can be to the rules."""
MAX_HEADING_DEG = 1e6
"""A larger heading, reduced to one turn, is mostly rounding error."""


def read_point(node: Node) -> Point:
    """Read a point (x, y) in mm."""
    node.vector(2)
    x, y = (read_coordinate(item) for item in node.items())
    return x, y


# --- the table ---


@dataclass(frozen=True, slots=True)
class Table:
    """The size of the board in mm: its width along x, its height along y."""

    width_mm: float
    height_mm: float
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Unknown keys."""

    def __post_init__(self) -> None:
        check_fields(self, "Table", {"width_mm": read_length, "height_mm": read_length})

    @classmethod
    def from_node(cls, node: Node) -> "Table":
        width, height = read_length(node["width_mm"]), read_length(node["height_mm"])
        return cls(width, height, unknown_keys(node, ("width_mm", "height_mm")))

    def to_json(self) -> dict[str, Any]:
        return merge_keys({"width_mm": self.width_mm, "height_mm": self.height_mm}, self.extra)


@dataclass(frozen=True, slots=True)
class Grid:
    """A grid of hexes with axial coordinates (q, r)."""

    orientation: str
    """`pointy` or `flat`."""
    size_mm: float
    """Distance from the centre of a hex to its corners."""
    origin_mm: Point
    """Centre of hex (0, 0)."""
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Unknown keys."""

    def hex_center(self, q: int, r: int) -> Point:
        """The centre of a hex in the board frame."""
        return self.hexes.center((q, r))

    @property
    def hexes(self) -> HexGrid:
        """The geometry of the grid."""
        return HexGrid(self.orientation == "pointy", self.size_mm, self.origin_mm)

    @classmethod
    def from_node(cls, node: Node) -> "Grid":
        node["type"].choice(("hex",))
        orientation = node["orientation"].choice(("pointy", "flat"))
        origin = read_point(node["origin_mm"])
        extra = unknown_keys(node, ("type", "orientation", "size_mm", "origin_mm"))
        return cls(orientation, read_length(node["size_mm"]), origin, extra)

    def to_json(self) -> dict[str, Any]:
        known = {
            "type": "hex",
            "orientation": self.orientation,
            "size_mm": self.size_mm,
            "origin_mm": list(self.origin_mm),
        }
        return merge_keys(known, self.extra)


# --- pieces ---

DEFAULT_PIECE_HEIGHT_MM = 30.0
"""Height of a piece that tells none, from its base's underside to its top. (Decided here.)"""
SURE_PROBABILITY = 0.99
"""Least probability of a piece that counts as one where nobody asks about it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A base on the table, and who owns it.

    `x_mm` and `y_mm` are its centre in the board frame, `z_mm` the height of its underside over the board.
    `heading_deg` runs counter-clockwise from +x. `covariance_mm2` is (2, 2) of (x, y).
    `BadInput` where a value cannot be.
    """

    id: str
    base: Base
    x_mm: float
    y_mm: float
    z_mm: float = 0.0
    """Height of the base's underside above the board."""
    heading_deg: float = 0.0
    covariance_mm2: Matrix2 | None = field(default=None, repr=False)
    """(2, 2) of (x, y); None where exact, or where only the scene's joint covariance has it."""
    player: str | None = None
    """Name of its owner."""
    unit: str | None = None
    """Name of its unit."""
    leader: bool = False
    """Whether it leads its unit."""
    kind: str | None = None
    """One of `KINDS`; None for the game's default."""
    stats: Mapping[str, Any] = field(default_factory=dict)
    """Game-specific values."""
    hex: tuple[int, int] | None = None
    """The hex on whose centre it stands, where the file places it by hex."""
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Other keys: those of a `records.PieceRecord`, and unknown ones."""

    def __post_init__(self) -> None:
        what = f"Piece {Node(self.id, 'Piece', 'id').text()!r}"
        check_kind(self.base, Base, what, "base")
        check_fields(self, what, _PLACE_READERS)
        for key in _OPTIONAL_KEYS:
            if getattr(self, key) is not None:
                check_fields(self, what, {key: PIECE_READERS[key]})

    @property
    def shape(self) -> Shape:
        """The exact outline in the board frame."""
        base, center = self.base, (self.x_mm, self.y_mm)
        sizes = base.length_mm, base.width_mm, self.heading_deg, base.corner_radius_mm
        return shape_of_kind(base.shape, center, *sizes)

    @property
    def top_z_mm(self) -> float:
        """Height of its top above the board."""
        height_mm: float = self.extra.get("height_mm", DEFAULT_PIECE_HEIGHT_MM)
        return self.z_mm + height_mm

    @property
    def reason_for_doubt(self) -> Mapping[str, Any] | None:
        """Why it may be no piece: its probability, or a hand that no photo bears out; None if surely one."""
        probability = self.extra.get("probability", 1.0)
        if probability < SURE_PROBABILITY:
            return {"probability": probability}
        found_again = "image" in self.extra and self.extra.get("fitted") is not False
        return {"by_hand": True} if self.extra.get("by_hand") and not found_again else None

    @classmethod
    def from_node(cls, node: Node, grid: Grid | None) -> "Piece":
        for key, read in KEPT_KEY_READERS.items():
            node.get(key, read, None)
        values = {key: read(node[key]) for key, read in PIECE_READERS.items() if node.has(key)}
        values |= {"id": node["id"].identifier(), "base": read_base(node["base"])}
        values["x_mm"], values["y_mm"] = _read_position(node, grid, values.get("hex"))
        shape = node["base"]["shape"].value
        base_keys = ["shape", *SIZE_KEYS[shape]]
        if shape == "rectangle":
            base_keys.append("corner_radius_mm")
        known = (*PIECE_READERS, "id", "base", "x_mm", "y_mm")
        return cls(**values, extra=unknown_keys(node, known, {"base": base_keys}))

    def to_json(self) -> dict[str, Any]:
        known: dict[str, Any] = {"id": self.id, "base": self.base.to_json()}
        if self.hex:
            known["hex"] = list(self.hex)
        else:
            known |= {"x_mm": self.x_mm, "y_mm": self.y_mm}
        known |= {"z_mm": self.z_mm, "heading_deg": self.heading_deg}
        if self.covariance_mm2 is not None:
            known["covariance_mm2"] = [list(row) for row in self.covariance_mm2]
        for key in ("player", "unit", "kind"):
            if getattr(self, key) is not None:
                known[key] = getattr(self, key)
        for key in ("leader", "stats"):
            if getattr(self, key):
                known[key] = getattr(self, key)
        return merge_keys(known, self.extra)


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
    if max(abs(x), abs(y)) > MAX_LENGTH_MM:
        node["hex"].fail("lies more than 10 km away")
    return x, y


def _read_probability(node: Node) -> float:
    value = node.number()
    if not 0 <= value <= 1:
        node.fail(f"must lie between 0 and 1, is {value:g}")
    return value


def _read_by_hand(node: Node) -> None:
    """Check that a piece's `by_hand` is a flag, or the names of the corrections of it."""
    if not isinstance(node.value, list):
        node.boolean()
        return
    for item in node.items():
        item.text()


def read_heading(node: Node) -> float:
    """Read a heading in degrees."""
    degrees = node.number()
    if abs(degrees) > MAX_HEADING_DEG:
        node.fail(f"turns more than {MAX_HEADING_DEG:g} degrees, {degrees:g}")
    return degrees


PIECE_READERS: Mapping[str, Any] = {
    "z_mm": read_coordinate,
    "heading_deg": read_heading,
    "covariance_mm2": read_own_covariance,
    "player": Node.text,
    "unit": Node.text,
    "leader": Node.boolean,
    "kind": lambda node: node.choice(KINDS),
    "stats": lambda node: node.object().value,
    "hex": _read_hex,
}
"""The reader of each optional key of a piece."""
_PLACE_READERS = {"x_mm": read_coordinate, "y_mm": read_coordinate} | {
    key: PIECE_READERS[key] for key in ("z_mm", "heading_deg", "leader")
}
_OPTIONAL_KEYS = ("covariance_mm2", "player", "unit", "kind", "hex")
"""The keys of a piece that may be None."""
KEPT_KEY_READERS: Mapping[str, Any] = {
    "height_mm": read_length,
    "probability": _read_probability,
    "by_hand": _read_by_hand,
}
"""The check of each key of a piece that stays in `Piece.extra`."""
