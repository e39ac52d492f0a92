"""Corrections by a person of what the program found in a photo: a list, applied in order.

In a file (JSON or TOML), or as JSON from the web page, each entry says what to `do` and to which piece:

    {"schema": "overruler/fix/1", "fix": [{"do": "move", "id": "p03", "xy_px": [812.5, 604]}]}
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from overruler.bases import Base
from overruler.declared_terrain import HEIGHT_SIGMA_MM
from overruler.errors import BadInput
from overruler.geometry.shapes import Point
from overruler.pieces import KINDS, read_point
from overruler.reading import Node, read_coordinate, read_length
from overruler.reading.fields import file_path

SCHEMA = "overruler/fix/1"
CLICK_SIGMA_PX = 2.0
"""1 σ of either coordinate of a click in a photo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A correction; what it leaves as it is, is None."""

    do: str
    """One of `KEYS_BY_ACTION`."""
    id: str | None
    """Id of the piece; None for a new piece that gets the next free id."""
    xy_mm: Point | None = None
    """Centre of the base's underside in the board frame."""
    xy_px: Point | None = None
    """The same point in the photo, instead of `xy_mm`."""
    photo: int | None = None
    """Index of the photo that it is measured in, and that `xy_px` is in, where there are several."""
    sigma_px: float = CLICK_SIGMA_PX
    """1 σ of either coordinate of `xy_px`."""
    base: Base | None = None
    heading_deg: float | None = None
    z_mm: float | None = None
    """Height of the base's underside above the board."""
    sigma_mm: float = HEIGHT_SIGMA_MM
    """1 σ of `z_mm`."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    """Values of `LABEL_KEYS`."""
    location: str = "fix"
    """The file and the entry, for error messages."""

    @property
    def photo_index(self) -> int:
        """Index of the photo that it is measured in; the first one where none is named."""
        return self.photo or 0

    def check_photo(self, count: int) -> None:
        """Raise `BadInput` where it names a photo beyond the `count` that are given."""
        if self.photo_index >= count:
            given = "only one is given" if count == 1 else f"only {count} are given"
            named = f"photo = {self.photo_index} is {_nth_photo(self.photo_index + 1)}"
            self.fail(f"{named} (0 is the first); {given}: name one of these")

    @property
    def other_labels(self) -> dict[str, Any]:
        """Its labels without the piece's new name."""
        return {key: value for key, value in self.labels.items() if key != "new_id"}

    def fail_unknown_piece(self, known: Iterable[str]) -> NoReturn:
        """Raise `BadInput`: none of the `known` pieces is the one that it names."""
        there_are = ", ".join(known) or "none"
        self.fail(f"there is no piece {self.id!r} to {self.do}; there are: {there_are}")

    def fail(self, problem: str) -> NoReturn:
        """Raise `BadInput` about this correction."""
        raise BadInput(f"{self.location}: {problem}")

    @classmethod
    def from_node(cls, node: Node) -> "Fix":
        """Read an entry; `BadInput` names the path of what is wrong."""
        do = node["do"].choice(tuple(KEYS_BY_ACTION))
        required, optional = KEYS_BY_ACTION[do]
        known = sorted(("do", *required, *optional))
        node.reject_unknown_keys(known, f"does not go with {do}")
        _check_place(node, do)
        values = {
            key: READER_BY_KEY[key](node[key])
            for key in (*required, *optional)
            if key in required - PLACE_KEYS or node.has(key)
        }
        labels = {key: values.pop(key) for key in LABEL_KEYS if key in values}
        if do == "name" and not labels:
            node.fail(f"says nothing new: give one of {', '.join(LABEL_KEYS)}")
        location = ": ".join(part for part in (node.name, node.path) if part)
        return cls(do=do, id=values.pop("id", None), labels=labels, location=location, **values)


def _nth_photo(number: int) -> str:
    names = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
    return f"the {names[number - 1]} photo" if number <= len(names) else f"photo number {number}"


def _read_photo(node: Node) -> int:
    index = node.integer()
    return index if index >= 0 else node.fail(f"is {index}: photos count from 0, the first one")


def _check_place(node: Node, do: str) -> None:
    if do in ("move", "add") and node.has("xy_mm") == node.has("xy_px"):
        node.fail(f"{do} needs one of xy_mm (on the board) and xy_px (in the photo)")


def _read_name(node: Node) -> str:
    name = node.text()
    return name if name.strip() else node.fail("is empty: give a name, or leave it out")


def _read_base(node: Node) -> Base:
    text = f"{node.number():g}" if type(node.value) in (int, float) else node.text()
    try:
        return Base.parse(text)
    except BadInput as error:
        node.fail(str(error))


PLACE_KEYS = {"xy_mm", "xy_px"}
"""The keys of a position, of which a correction has one at most."""
LABEL_KEYS = ("new_id", "unit", "player", "leader", "kind", "stats")
"""The keys of a piece's names and game values, which no measurement changes."""
KEYS_BY_ACTION: Mapping[str, tuple[set[str], set[str]]] = {
    "move": ({"id"} | PLACE_KEYS, {"sigma_px", "photo", "heading_deg"}),
    "add": (
        {"base"} | PLACE_KEYS,
        {"id", "sigma_px", "photo", "heading_deg", "z_mm", "sigma_mm", *LABEL_KEYS[1:]},
    ),
    "remove": ({"id"}, set()),
    "resize": ({"id", "base"}, {"sigma_px", "heading_deg"}),
    "turn": ({"id", "heading_deg"}, set()),
    "stand": ({"id", "z_mm"}, {"sigma_mm"}),
    "name": ({"id"}, set(LABEL_KEYS)),
    "confirm": ({"id"}, set()),
}
"""The required and the optional keys of each action; of `PLACE_KEYS` one is required."""
READER_BY_KEY: Mapping[str, Any] = {
    "id": _read_name,
    "xy_mm": read_point,
    "xy_px": lambda node: node.vector(2),
    "photo": _read_photo,
    "sigma_px": read_length,
    "base": _read_base,
    "heading_deg": Node.number,
    "z_mm": read_coordinate,
    "sigma_mm": read_length,
    "new_id": _read_name,
    "unit": _read_name,
    "player": _read_name,
    "leader": Node.boolean,
    "kind": lambda node: node.choice(KINDS),
    "stats": lambda node: node.object().value,
}
"""The reader of each key."""


def read_fixes(node: Node) -> tuple[Fix, ...]:
    """Read the corrections of a parsed document; `BadInput` names the path of what is wrong."""
    node["schema"].choice((SCHEMA,))
    node.reject_unknown_keys(("fix", "schema"))
    return tuple(Fix.from_node(item) for item in node["fix"].items())


def load_fixes(path: str | Path) -> tuple[Fix, ...]:
    """Read the corrections in a file: JSON where its name ends in .json, else TOML."""
    path = file_path(path, "load_fixes")
    if path.suffix.lower() == ".json":
        return read_fixes(Node.of_json_file(path))
    return read_fixes(Node.of_toml(path, or_json=True))


def next_piece_id(taken: Collection[str]) -> str:
    """The id after the highest numbered one: p13 after p12, whichever are free before it."""
    numbers = [
        name[1:] for name in taken if name[0] == "p" and name[1:].isdecimal() and name.isascii()
    ]
    digits = max((len(number) for number in numbers), default=2)
    highest = max((int(number) for number in numbers), default=0)
    return f"p{highest + 1:0{digits}}"
