"""What people correct in what the program found in a photo: a list of changes, applied in order.

In a file (JSON or TOML), or as objects of JSON from a page, each entry says what to `do` and to which piece:

    {"schema": "overruler/fix/1", "fix": [{"do": "move", "id": "p03", "xy_px": [812.5, 604]}]}
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from overruler.bases import Base
from overruler.errors import BadInput
from overruler.geometry.shapes import Point
from overruler.pieces import KINDS, read_coordinate, read_length, read_point
from overruler.reading import Node, read_text

SCHEMA = "overruler/fix/1"
CLICK_SIGMA_PX = 2.0
"""1 σ of either coordinate of a place that a person points at in a photo."""
HEIGHT_SIGMA_MM = 1.0
"""1 σ of a height that was told without its doubt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """One correction; what it does not speak of is None."""

    do: str
    """One of `KEYS_BY_ACTION`."""
    id: str | None
    """The piece's; None for one that is added and takes the next free one."""
    xy_mm: Point | None = None
    xy_px: Point | None = None
    """Where the middle of the base's underside lies on the board, or is seen in the photo."""
    sigma_px: float = CLICK_SIGMA_PX
    """1 σ of either, in the photo."""
    base: Base | None = None
    heading_deg: float | None = None
    z_mm: float | None = None
    sigma_mm: float = HEIGHT_SIGMA_MM
    """1 σ of the height."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    """What a scene says of a piece beside where it stands: `new_id`, `unit`, `player`, `leader`, `kind`, `stats`."""
    location: str = "fix"
    """The file and the entry, for complaints."""

    def fail(self, problem: str) -> NoReturn:
        """Complain about this entry."""
        raise BadInput(f"{self.location}: {problem}")

    @classmethod
    def from_node(cls, node: Node) -> "Fix":
        """One entry; `BadInput` names the path of what is wrong in it."""
        do = node["do"].choice(tuple(KEYS_BY_ACTION))
        needs, may = KEYS_BY_ACTION[do]
        for key in node.keys():  # noqa: SIM118 - a Node is no dict
            if key not in ("do", *needs, *may):
                node[key].fail(f"does not go with {do}; known: {', '.join(sorted((*needs, *may)))}")
        _check_place(node, do)
        known = {
            key: READER_BY_KEY[key](node[key])
            for key in (*needs, *may)
            if key in needs - PLACE_KEYS or node.has(key)
        }
        labels = {key: known.pop(key) for key in LABEL_KEYS if key in known}
        if do == "name" and not labels:
            node.fail(f"says nothing new: give one of {', '.join(LABEL_KEYS)}")
        return cls(
            do=do, id=known.pop("id", None), labels=labels, location=_location_of(node), **known
        )


def _location_of(node: Node) -> str:
    return ": ".join(part for part in (node.name, node.path) if part)


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
LABEL_KEYS = ("new_id", "unit", "player", "leader", "kind", "stats")
"""What a name is given, beside its own: a piece's own keys in a scene."""
KEYS_BY_ACTION: Mapping[str, tuple[set[str], set[str]]] = {
    "move": ({"id"} | PLACE_KEYS, {"sigma_px", "heading_deg"}),
    "add": (
        {"base"} | PLACE_KEYS,
        {"id", "sigma_px", "heading_deg", "z_mm", "sigma_mm", *LABEL_KEYS[1:]},
    ),
    "remove": ({"id"}, set()),
    "resize": ({"id", "base"}, {"sigma_px", "heading_deg"}),
    "turn": ({"id", "heading_deg"}, set()),
    "stand": ({"id", "z_mm"}, {"sigma_mm"}),
    "name": ({"id"}, set(LABEL_KEYS)),
}
"""What can be done, with the keys that it needs (of places one) and those that it may have."""
READER_BY_KEY: Mapping[str, Any] = {
    "id": _read_name,
    "xy_mm": read_point,
    "xy_px": lambda node: node.vector(2),
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
"""How each key is read."""


def read_fixes(node: Node) -> tuple[Fix, ...]:
    """The corrections of a parsed document, in order; `BadInput` names the path of what is wrong."""
    node["schema"].choice((SCHEMA,))
    for key in node.keys():  # noqa: SIM118
        if key not in ("schema", "fix"):
            node[key].fail("unknown key; known: fix, schema")
    return tuple(Fix.from_node(item) for item in node["fix"].items())


def load_fixes(path: Path) -> tuple[Fix, ...]:
    """The corrections in a file: JSON where its name ends in .json, else TOML."""
    if path.suffix.lower() == ".json":
        return read_fixes(Node.of_json(read_text(path), str(path)))
    return read_fixes(Node.of_toml(path))


def next_piece_id(taken: Collection[str]) -> str:
    """The id after the last of those that count pieces: p13 after p12, whatever is missing before."""
    numbers = [
        name[1:] for name in taken if name[0] == "p" and name[1:].isdecimal() and name.isascii()
    ]
    digits = max((len(number) for number in numbers), default=2)
    return f"p{max(map(int, numbers), default=0) + 1:0{digits}}"
