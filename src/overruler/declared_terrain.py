"""Raised ground that people tell of: a hill's outline and height in a terrain file (TOML).

A hill's height is told, or measured by markers that lie on it; its outline is told on the board, or in the frame of the
first of its markers, and then the hill may stand anywhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overruler.geometry.shapes import Point
from overruler.pieces import read_coordinate, read_footprint, read_length, read_point
from overruler.reading import Node

SCHEMA = "overruler/terrain/1"
HEIGHT_SIGMA_MM = 1.0
"""1 σ of a height that was told without its doubt: a rule held against the side of a hill."""
OUTLINE_SIGMA_MM = 2.0
"""1 σ of where an outline runs that was told without its doubt."""


@dataclass(frozen=True, slots=True)
class DeclaredTerrain:
    """A raised area with a flat top, as somebody told it."""

    id: str
    outline_mm: tuple[Point, ...]
    """Of its top: on the board, or about the middle of its first marker, x along the marker's upper edge."""
    about_marker: bool
    """Which of the two."""
    top_z_mm: float | None
    """None where only its markers tell it."""
    sigma_mm: float
    """1 σ of the told height."""
    edge_mm: float = OUTLINE_SIGMA_MM
    """1 σ of where the outline runs."""
    markers: tuple[int, ...] = ()
    """The ids of the markers that lie flat on it; none of them is a marker of the board."""
    markers_at_mm: tuple[Point, ...] = ()
    """Where each one's middle lies on the board, as surely as the outline; empty where nobody measured it."""
    marker_mm: float | None = None
    """Side of their black squares; None where they are as large as the board's."""
    base_z_mm: float = 0.0
    rough: bool = False
    size: int = 1
    location: str = ""
    """The file and the entry, for complaints that come later."""

    @classmethod
    def from_node(cls, node: Node) -> "DeclaredTerrain":
        """One entry of a terrain file; `BadInput` names the path of what is wrong in it."""
        known = {key: read(node[key]) for key, read in READER_BY_KEY.items() if node.has(key)}
        for key in node.keys():  # noqa: SIM118 - a Node is no dict
            if key not in known and key not in OUTLINE_KEYS:
                node[key].fail(
                    f"unknown key; known: {', '.join(sorted((*READER_BY_KEY, *OUTLINE_KEYS)))}"
                )
        outline = _read_outline(node)
        _check_keys(node, known)
        known = {"top_z_mm": None, "sigma_mm": HEIGHT_SIGMA_MM} | known
        where = f"{node.name}: {node.path}"
        return cls(
            id=known.pop("id"),
            outline_mm=outline,
            about_marker=node.has("around_mm"),
            location=where,
            **known,
        )


def load_terrain(path: Path) -> tuple[DeclaredTerrain, ...]:
    """The raised areas of a terrain file; `BadInput` in one line where something is wrong in it."""
    node = Node.of_toml(path)
    node["schema"].choice((SCHEMA,))
    for key in node.keys():  # noqa: SIM118
        if key not in ("schema", "terrain"):
            node[key].fail("unknown key; known: schema, terrain")
    entries = node["terrain"].items()
    told = tuple(DeclaredTerrain.from_node(entry) for entry in entries)
    _check_unique([(entry["id"], one.id) for entry, one in zip(entries, told, strict=True)])
    _check_unique(
        [
            (entry["markers"], str(m))
            for entry, one in zip(entries, told, strict=True)
            for m in one.markers
        ]
    )
    return told


def _check_unique(named: list[tuple[Node, str]]) -> None:
    taken: dict[str, str] = {}
    for node, name in named:
        if name in taken:
            node.fail(f"repeats {name}, as {taken[name]}")
        taken[name] = node.path


def _read_outline(node: Node) -> tuple[Point, ...]:
    given = [key for key in OUTLINE_KEYS if node.has(key)]
    if len(given) != 1:
        node.fail(
            "give footprint_mm (its outline on the board) or around_mm (about the middle of its first marker)"
        )
    if given == ["around_mm"] and not node.has("markers"):
        node["around_mm"].fail("needs markers: it is about the middle of the first of them")
    return read_footprint(node[given[0]])


def _check_keys(node: Node, known: Mapping[str, Any]) -> None:
    for key in ("id", *(() if "markers" in known else ("top_z_mm",))):
        node[key]  # says that it is missing, where it is
    for key in ("marker_mm", "markers_at_mm"):
        if key in known and "markers" not in known:
            node[key].fail("goes with markers")
    if "markers_at_mm" in known and len(known["markers_at_mm"]) != len(known["markers"]):
        node["markers_at_mm"].fail(
            f"expected {len(known['markers'])} places, found {len(known['markers_at_mm'])}"
        )
    base = known.get("base_z_mm", 0.0)
    if "top_z_mm" in known and known["top_z_mm"] <= base:
        node["top_z_mm"].fail(f"{known['top_z_mm']:g} mm does not lie above {base:g} mm")


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
"""How each key that an entry may have is read."""
