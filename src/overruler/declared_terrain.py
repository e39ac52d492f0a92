"""Declared terrain: raised ground whose outline and height a person states in a terrain file (TOML).

The height of a hill is stated, or measured by markers that lie on it. Its outline is given on the
board or in the frame of the first of its markers; in the second case the hill may stand anywhere.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overruler.geometry.shapes import Point
from overruler.pieces import read_coordinate, read_length, read_point
from overruler.reading import Node
from overruler.terrain import read_footprint

SCHEMA = "overruler/terrain/1"
HEIGHT_SIGMA_MM = 1.0
"""1 σ of a height stated without its uncertainty: a rule held against the side of a hill."""
OUTLINE_SIGMA_MM = 2.0
"""1 σ of the position of an outline stated without its uncertainty."""


@dataclass(frozen=True, slots=True)
class DeclaredTerrain:
    """A raised area with a flat top, as a terrain file declares it."""

    id: str
    outline_mm: tuple[Point, ...]
    """Outline of the top, in the frame that `about_marker` names."""
    about_marker: bool
    """Whether the outline is relative to the centre of the first marker, x along its upper edge.

    Otherwise it is in the board frame."""
    top_z_mm: float | None
    """Height of the top; None where the markers on it measure it."""
    sigma_mm: float
    """1 σ of the stated height."""
    edge_mm: float = OUTLINE_SIGMA_MM
    """1 σ of the position of the outline."""
    markers: tuple[int, ...] = ()
    """Ids of the markers that lie flat on the top; none of them belongs to the board."""
    markers_at_mm: tuple[Point, ...] = ()
    """Centre of each marker in the board frame, as accurate as the outline; empty where not measured."""
    marker_mm: float | None = None
    """Side of the markers' black squares; None where it is that of the board's markers."""
    base_z_mm: float = 0.0
    """Height of the ground that the area stands on."""
    rough: bool = False
    """Whether the game's rules for rough ground hold on it."""
    size: int = 1
    """Size class in the game's rules."""
    location: str = ""
    """The file and the entry, for error messages."""

    @classmethod
    def from_node(cls, node: Node) -> "DeclaredTerrain":
        """Read an entry of a terrain file; `BadInput` names the path of what is wrong."""
        values = {key: read(node[key]) for key, read in READER_BY_KEY.items() if node.has(key)}
        node.reject_unknown_keys(sorted((*READER_BY_KEY, *OUTLINE_KEYS)))
        outline = _read_outline(node)
        _check_keys(node, values)
        values = {"top_z_mm": None, "sigma_mm": HEIGHT_SIGMA_MM} | values
        return cls(
            id=values.pop("id"),
            outline_mm=outline,
            about_marker=node.has("around_mm"),
            location=f"{node.name}: {node.path}",
            **values,
        )


def load_terrain(path: Path) -> tuple[DeclaredTerrain, ...]:
    """Read the raised areas of a terrain file; `BadInput` says in one line what is wrong."""
    node = Node.of_toml(path)
    node["schema"].choice((SCHEMA,))
    node.reject_unknown_keys(("schema", "terrain"))
    entries = node["terrain"].items()
    terrain = tuple(DeclaredTerrain.from_node(entry) for entry in entries)
    pairs = list(zip(entries, terrain, strict=True))
    _check_unique((entry["id"], area.id) for entry, area in pairs)
    _check_unique(
        (entry["markers"], str(marker)) for entry, area in pairs for marker in area.markers
    )
    return terrain


def _check_unique(names: Iterable[tuple[Node, str]]) -> None:
    path_by_name: dict[str, str] = {}
    for node, name in names:
        if name in path_by_name:
            node.fail(f"repeats {name}, as {path_by_name[name]}")
        path_by_name[name] = node.path


def _read_outline(node: Node) -> tuple[Point, ...]:
    given = [key for key in OUTLINE_KEYS if node.has(key)]
    if len(given) != 1:
        node.fail(
            "give footprint_mm (its outline on the board) "
            "or around_mm (about the middle of its first marker)"
        )
    if given == ["around_mm"] and not node.has("markers"):
        node["around_mm"].fail("needs markers: it is about the middle of the first of them")
    return read_footprint(node[given[0]])


def _check_keys(node: Node, values: Mapping[str, Any]) -> None:
    """Check which keys of an entry go together; `values` are those that were read."""
    node.require("id")
    if "markers" not in values:
        node.require("top_z_mm")
        for key in ("marker_mm", "markers_at_mm"):
            if key in values:
                node[key].fail("goes with markers")
    if "markers_at_mm" in values:
        expected, found = len(values["markers"]), len(values["markers_at_mm"])
        if found != expected:
            node["markers_at_mm"].fail(f"expected {expected} places, found {found}")
    base = values.get("base_z_mm", 0.0)
    if "top_z_mm" in values and values["top_z_mm"] <= base:
        node["top_z_mm"].fail(f"{values['top_z_mm']:g} mm does not lie above {base:g} mm")


def _read_name(node: Node) -> str:
    name = node.text()
    if not name.strip() or (name[0] == "p" and name[1:].isdecimal()):
        node.fail(f"{name!r} is no name for a hill: pieces are called p01, p02 and so on")
    return name


def _read_marker_ids(node: Node) -> tuple[int, ...]:
    ids = tuple(item.integer() for item in node.items())
    if not ids or min(ids) < 0 or len(set(ids)) < len(ids):
        node.fail("expected the ids of one marker or more, each once")
    return ids


OUTLINE_KEYS = ("footprint_mm", "around_mm")
"""The keys of an outline, of which an entry has exactly one."""
READER_BY_KEY: Mapping[str, Any] = {
    "id": _read_name,
    "top_z_mm": read_coordinate,
    "sigma_mm": read_length,
    "edge_mm": read_length,
    "markers": _read_marker_ids,
    "markers_at_mm": lambda node: tuple(read_point(item) for item in node.items()),
    "marker_mm": read_length,
    "base_z_mm": read_coordinate,
    "rough": Node.boolean,
    "size": Node.integer,
}
"""The reader of each other key of an entry."""
