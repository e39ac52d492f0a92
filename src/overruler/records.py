"""What a scene measured in a photo records beside the scene itself.

A scene file keeps these keys in `extra`, together with keys that the program does not know.
`from_json` reads a record from there and `to_json` writes it; keys without a value are left out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from overruler.bases import Base, read_base
from overruler.geometry.arcs import FULL_TURN_DEG
from overruler.reading import Node

T = TypeVar("T")
PLACING_CORRECTIONS = frozenset(("add", "move"))
"""The corrections by which a person says where a piece stands."""


@dataclass(frozen=True, slots=True)
class ImageRecord:
    """Where the photo shows a piece, in the photo's pixels."""

    center_px: tuple[float, float]
    """Centre of the underside."""
    outline_px: tuple[tuple[float, float], ...]
    """Edge of the underside."""

    @classmethod
    def from_node(cls, node: Node) -> "ImageRecord":
        u, v = node["center_px"].vector(2)
        return cls((u, v), _read_outline(node["outline_px"]))

    def to_json(self) -> dict[str, Any]:
        outline = [list(point) for point in self.outline_px]
        return {"center_px": list(self.center_px), "outline_px": outline}


@dataclass(frozen=True, slots=True)
class PhotoImageRecord:
    """Where one of several photos shows a piece, or would show it."""

    photo: int
    """Index of the photo."""
    image: ImageRecord
    seen: bool
    """Whether this photo was measured; False where something hides the piece."""

    @classmethod
    def from_node(cls, node: Node) -> "PhotoImageRecord":
        photo, seen = node["photo"].integer(), node["seen"].boolean()
        return cls(photo, ImageRecord.from_node(node), seen)

    def to_json(self) -> dict[str, Any]:
        return {"photo": self.photo, **self.image.to_json(), "seen": self.seen}


@dataclass(frozen=True, slots=True)
class HeadingAlternative:
    """A heading that a piece may have instead of the stated one."""

    heading_deg: float
    probability: float

    @classmethod
    def from_node(cls, node: Node) -> "HeadingAlternative":
        return cls(node["heading_deg"].number(), node["probability"].number())

    def to_json(self) -> dict[str, Any]:
        return {"heading_deg": self.heading_deg, "probability": self.probability}


@dataclass(frozen=True, slots=True)
class PieceRecord:
    """How a piece was measured."""

    image: ImageRecord | None = None
    images: tuple[PhotoImageRecord, ...] = ()
    """Where several photos show it."""
    score: float | None = None
    """How much it looks like a base, 0 to 1."""
    visible: float | None = None
    """Visible share of the rim, 0 to 1."""
    also: tuple[Base, ...] = ()
    """Other bases that fit nearly as well."""
    heading_modulo_deg: float = FULL_TURN_DEG
    """Period of the heading's ambiguity; 360 for none."""
    other_headings: tuple[HeadingAlternative, ...] = ()
    on: str | None = None
    """Id of the raised area that it stands on; None for the board."""
    sigma_z_mm: float = 0.0
    """1 σ of its height, in excess of that of any base on the board."""
    z_sigma_mm: float | None = None
    """1 σ of its height as several photos measured it."""
    probability: float | None = None
    """How likely it is a piece at all; None where nothing was said, which means 1."""
    by_hand: bool = False
    """Whether its place is where a person put it."""
    corrections: tuple[str, ...] = ()
    """What people corrected about it, in order: the `do` of each correction."""
    fitted: bool | None = None
    """Whether the photo shows it where a correction says; None where nobody corrected it."""
    player_unsure: tuple[str, ...] = ()
    """The players who may own it, where its owner is not certain."""

    @classmethod
    def from_json(cls, extra: Mapping[str, Any], path: str = "") -> "PieceRecord":
        """Read the record of the piece at `path`; raise `BadInput` for a value of the wrong type."""
        values = _read_values(extra, path, PIECE_RECORD_READERS)
        if isinstance(listed := values.get("by_hand"), tuple):  # as earlier versions wrote it
            values |= {"by_hand": not PLACING_CORRECTIONS.isdisjoint(listed), "corrections": listed}
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        values = {key: getattr(self, key) for key in PIECE_RECORD_READERS}
        if self.heading_modulo_deg >= FULL_TURN_DEG:
            del values["heading_modulo_deg"]
        if not self.sigma_z_mm:
            del values["sigma_z_mm"]
        if not self.by_hand:
            del values["by_hand"]
        return _values_json(values)


@dataclass(frozen=True, slots=True)
class TerrainRecord:
    """How sure a piece of terrain is."""

    sigma_mm: float | None = None
    """1 σ of the height of its top; None where nobody said."""
    probability: float = 1.0
    """Probability that it is raised."""

    @classmethod
    def from_json(cls, extra: Mapping[str, Any], path: str = "") -> "TerrainRecord":
        """Read the record of the terrain at `path`; raise `BadInput` for a value of the wrong type."""
        return cls(**_read_values(extra, path, TERRAIN_RECORD_READERS))

    def to_json(self) -> dict[str, Any]:
        return _values_json({"sigma_mm": self.sigma_mm, "probability": self.probability})


@dataclass(frozen=True, slots=True)
class CorrectionRecord:
    """A correction that was applied to a scene."""

    do: str
    """One of `fixes.KEYS_BY_ACTION`."""
    id: str
    """Id of the piece at that time."""
    new_id: str | None = None
    """The id that the correction gave it."""
    fitted: bool | None = None
    """Whether the photo shows the piece there; None where the correction moved nothing."""

    @classmethod
    def from_node(cls, node: Node) -> "CorrectionRecord":
        new_id = node.get("new_id", Node.text, None)
        fitted = node.get("fitted", Node.boolean, None)
        return cls(node["do"].text(), node["id"].text(), new_id, fitted)

    def to_json(self) -> dict[str, Any]:
        values = {"do": self.do, "id": self.id, "new_id": self.new_id, "fitted": self.fitted}
        return _values_json(values)


@dataclass(frozen=True, slots=True)
class MovedRecord:
    """Where one of several photos shows a piece that stands elsewhere in the others."""

    id: str
    photo: int
    """Index of that photo."""
    x_mm: float
    y_mm: float

    @classmethod
    def from_node(cls, node: Node) -> "MovedRecord":
        place_mm = node["x_mm"].number(), node["y_mm"].number()
        return cls(node["id"].text(), node["photo"].integer(), *place_mm)

    @classmethod
    def all_in(cls, extra: Mapping[str, Any]) -> "tuple[MovedRecord, ...]":
        """What moved in a scene, by its extra keys; raise `BadInput` for a value of the wrong type."""
        node = Node(extra, "scene")
        return _read_list(node["moved"], cls.from_node) if node.has("moved") else ()

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id, "photo": self.photo, "x_mm": self.x_mm, "y_mm": self.y_mm}


# --- reading and writing ---


def _read_list(node: Node, read: Callable[[Node], T]) -> tuple[T, ...]:
    return tuple(read(item) for item in node.items())


def _read_outline(node: Node) -> tuple[tuple[float, float], ...]:
    try:
        return tuple((float(u), float(v)) for u, v in node.value)  # a node a point takes too long
    except (TypeError, ValueError):
        node.fail("expected points in pixels")


def _read_values(extra: Mapping[str, Any], path: str, readers: Mapping[str, Any]) -> dict[str, Any]:
    node = Node(extra, "scene", path)
    return {key: read(node[key]) for key, read in readers.items() if node.has(key)}


def _read_by_hand(node: Node) -> bool | tuple[str, ...]:
    """A flag; in files of earlier versions the corrections of the piece."""
    return _read_texts(node) if isinstance(node.value, list) else node.boolean()


def _read_texts(node: Node) -> tuple[str, ...]:
    return _read_list(node, Node.text)


def _values_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values as JSON, without those that are None or empty."""
    return {key: _json(value) for key, value in values.items() if value is not None and value != ()}


def _json(value: Any) -> Any:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_json(item) for item in value]
    return value.to_json() if hasattr(value, "to_json") else value


PIECE_RECORD_READERS: Mapping[str, Any] = {
    "image": ImageRecord.from_node,
    "images": lambda node: _read_list(node, PhotoImageRecord.from_node),
    "score": Node.number,
    "visible": Node.number,
    "also": lambda node: _read_list(node, read_base),
    "heading_modulo_deg": Node.number,
    "other_headings": lambda node: _read_list(node, HeadingAlternative.from_node),
    "on": Node.text,
    "sigma_z_mm": Node.number,
    "z_sigma_mm": Node.number,
    "probability": Node.number,
    "by_hand": _read_by_hand,
    "corrections": _read_texts,
    "fitted": Node.boolean,
    "player_unsure": _read_texts,
}
"""The reader of each key of a piece's record."""
TOLD_KEYS = frozenset(("by_hand", "corrections", "fitted", "player_unsure"))
"""The keys that people's words set."""
MEASURED_KEYS = frozenset(PIECE_RECORD_READERS) - TOLD_KEYS
"""The keys that a measurement sets: a new measurement replaces them all."""
TERRAIN_RECORD_READERS: Mapping[str, Any] = {"sigma_mm": Node.number, "probability": Node.number}
"""The reader of each key of a terrain's record."""
