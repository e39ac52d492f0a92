"""A scene: what stands where on the table, and how sure that is. A photo becomes one; a person can write one."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overruler.errors import UnknownName
from overruler.geometry.shapes import Polygon, Shape
from overruler.pieces import LARGEST_MM, ROUNDED, Grid, Piece, Ruler, Table, Terrain, merged, unknown
from overruler.reading import Node, read_text
from overruler.writing import write_whole

if TYPE_CHECKING:
    from overruler.geometry.pose import Array

__all__ = ["GAMES", "SCHEMA", "Grid", "Piece", "Ruler", "Scene", "Table", "Terrain", "covariance_of"]

SCHEMA = "overruler/scene/1"
GAMES: Mapping[str, str] = {
    "legion": "character",
    "xwing": "ship",
    "tide_of_iron": "character",
    "skirmish": "character",
    "positioning": "character",
}
"""Every game, and the kind of a piece that names none."""


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything on the table at one moment."""

    game: str
    board: Table
    pieces: tuple[Piece, ...]
    terrain: tuple[Terrain, ...] = ()
    covariance: "Array | None" = None
    """(2N, 2N) over (x, y) of the pieces in their order, joint; None where every place is exact. Where it is left out
    the pieces' own are put together, as if they had nothing in common."""
    ruler: Ruler | None = None
    """None for the game's own."""
    grid: Grid | None = None
    state: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.covariance is None:
            object.__setattr__(self, "covariance", covariance_of(self.pieces))

    # --- files ---

    @classmethod
    def load(cls, path: str | Path) -> "Scene":
        """Read a scene file; `BadInput` names the JSON path of what is wrong in it."""
        return cls.from_json(Node.of_json(read_text(Path(path)), str(path)))

    @classmethod
    def from_json(cls, value: Node | Mapping[str, Any]) -> "Scene":
        """The scene that parsed JSON stands for; `BadInput` names the path of what is wrong in it."""
        node = value if isinstance(value, Node) else Node(value, "scene")
        node["schema"].choice((SCHEMA,))
        game = node["game"].choice(tuple(GAMES))
        grid = node.get("grid", Grid.of, None)
        pieces = tuple(Piece.of(item, grid) for item in node["pieces"].items())
        terrain = tuple(Terrain.of(item) for item in node["terrain"].items()) if node.has("terrain") else ()
        _check_names(node, pieces, terrain)
        return cls(
            game=game,
            board=Table.of(node["board"]),
            pieces=pieces,
            terrain=terrain,
            covariance=_joint(node["covariance"], pieces) if node.has("covariance") else None,
            ruler=node.get("ruler", Ruler.of, None),
            grid=grid,
            state=node["state"].object().value if node.has("state") else {},
            extra=unknown(node, _KEYS, {"covariance": ("order", "mm2")}),
        )

    def save(self, path: str | Path) -> None:
        """Write the scene file, whole or not at all."""
        write_whole(path, json.dumps(self.to_json(), indent=1, allow_nan=False) + "\n")

    def to_json(self) -> dict[str, Any]:
        known: dict[str, Any] = {"schema": SCHEMA, "game": self.game, "board": self.board.to_json()}
        if self.ruler:
            known["ruler"] = self.ruler.to_json()
        known["pieces"] = [piece.to_json() for piece in self.pieces]
        if self.terrain:
            known["terrain"] = [terrain.to_json() for terrain in self.terrain]
        if self.grid:
            known["grid"] = self.grid.to_json()
        if self.covariance is not None and not self._covariance_is_the_pieces_own():
            known["covariance"] = {"order": [piece.id for piece in self.pieces], "mm2": self.covariance.tolist()}
        if self.state:
            known["state"] = self.state
        return merged(known, self.extra)

    def _covariance_is_the_pieces_own(self) -> bool:
        own = covariance_of(self.pieces)
        return own is not None and bool((own == self.covariance).all())

    # --- names ---

    @cached_property
    def members(self) -> Mapping[str, tuple[int, ...]]:
        """The pieces, by their places in `pieces`, that the name of a piece or a unit stands for."""
        found: dict[str, tuple[int, ...]] = {}
        for index, piece in enumerate(self.pieces):
            for name in {piece.id, piece.unit or piece.id}:
                found[name] = (*found.get(name, ()), index)
        return found

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """The pieces' outlines, in their order."""
        return tuple(piece.shape for piece in self.pieces)

    @cached_property
    def ground(self) -> Mapping[str, tuple[Polygon, ...]]:
        """Every terrain's convex parts, by its id."""
        return {terrain.id: terrain.parts for terrain in self.terrain}

    def check_name(self, name: str, what: str) -> None:
        """Raise `UnknownName` where a name is no piece's, unit's or terrain's; `what` is where it was asked for."""
        if name not in self.members and name not in self.ground:
            raise UnknownName(what, name, (*self.members, *self.ground))

    def kind(self, piece: Piece) -> str:
        """What a piece is: its own kind or the game's default."""
        return piece.kind or GAMES[self.game]


_KEYS = ("schema", "game", "board", "ruler", "pieces", "terrain", "grid", "covariance", "state")


def _check_names(node: Node, pieces: Sequence[Piece], terrain: Sequence[Terrain]) -> None:
    """Pieces, terrain and units share one name space; only a unit of one may go by its piece's name."""
    named = [(f"pieces[{index}].id", piece.id) for index, piece in enumerate(pieces)]
    named += [(f"terrain[{index}].id", thing.id) for index, thing in enumerate(terrain)]
    taken: dict[str, str] = {}
    for where, name in named:
        if name in taken:
            Node(None, node.name, where).fail(f"repeats {name!r}, as {taken[name]}")
        taken[name] = where
    units = [piece.unit for piece in pieces]
    for index, (piece, unit) in enumerate(zip(pieces, units, strict=True)):
        if unit in taken and (unit != piece.id or units.count(unit) > 1):
            Node(None, node.name, f"pieces[{index}].unit").fail(f"repeats {unit!r}, as {taken[unit]}")


# --- covariance ---


def covariance_of(pieces: Iterable[Piece]) -> "Array | None":
    """The pieces' own covariances as a joint one (2N, 2N), nothing in common; None where none has one."""
    blocks = [piece.covariance_mm2 for piece in pieces]
    if all(block is None for block in blocks):
        return None
    import numpy as np

    joint = np.zeros((2 * len(blocks), 2 * len(blocks)))
    for index, block in enumerate(blocks):
        if block is not None:
            joint[2 * index : 2 * index + 2, 2 * index : 2 * index + 2] = block
    return joint


def _joint(node: Node, pieces: Sequence[Piece]) -> "Array":
    """The covariance over all pieces: what the file has of it, and the pieces' own for those that it does not name."""
    import numpy as np

    order = _order(node["order"], [piece.id for piece in pieces])
    given = _matrix(node["mm2"], 2 * len(order))
    own = covariance_of(pieces)
    joint = np.zeros((2 * len(pieces), 2 * len(pieces))) if own is None else own
    rows = np.array([2 * index + axis for index in order for axis in (0, 1)], int)
    # A piece it names has nothing in common with one that it does not.
    joint[np.ix_(rows, rows)] = given
    return joint


def _order(node: Node, ids: list[str]) -> list[int]:
    order: list[int] = []
    for item in node.items():
        name = item.text()
        if name not in ids:
            raise UnknownName(f"{item.name}: {item.path}", name, ids)
        if ids.index(name) in order:
            item.fail(f"repeats {name!r}")
        order.append(ids.index(name))
    return order


def _matrix(node: Node, size: int) -> "Array":
    """A covariance (size, size)."""
    import numpy as np

    rows = [item.value for item in node.items()]
    plain = all(isinstance(row, list) and len(row) == size and {*map(type, row)} <= {int, float} for row in rows)
    if not plain or len(rows) != size:
        node.matrix(size, size)  # names what is wrong
    matrix = np.array(rows, float).reshape(size, size)
    if not np.isfinite(matrix).all():
        node.matrix(size, size)
    largest = np.abs(matrix).max(initial=0)
    if largest > LARGEST_MM**2:
        node.fail(f"holds more than {LARGEST_MM**2:g} mm²")
    slack = ROUNDED * largest
    if np.abs(matrix - matrix.T).max(initial=0) > slack:
        node.fail("is not symmetric")
    if np.linalg.eigvalsh(matrix).min(initial=0) < -slack:
        node.fail("is not positive semi-definite")
    return matrix
