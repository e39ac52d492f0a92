"""A scene: what stands where on the table, and how sure that is. A photo becomes one; a person can write one."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overruler.errors import UnknownName
from overruler.games import GAMES, facts_of
from overruler.geometry.covariance import Covariance, RareAlternative, is_positive_semidefinite
from overruler.geometry.shapes import Polygon, Shape
from overruler.pieces import MAX_LENGTH_MM, ROUNDING_SHARE, Grid, Piece, Ruler, Table, Terrain
from overruler.reading import Node, merge_keys, read_text, unknown_keys
from overruler.writing import write_atomically

if TYPE_CHECKING:
    from overruler.geometry.pose import Array

__all__ = [
    "SCHEMA",
    "Grid",
    "Piece",
    "Ruler",
    "Scene",
    "Table",
    "Terrain",
    "independent_covariance",
]

SCHEMA = "overruler/scene/1"


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything on the table at one moment."""

    game: str
    board: Table
    pieces: tuple[Piece, ...]
    terrain: tuple[Terrain, ...] = ()
    covariance: Covariance | None = None
    """Over (x, y) of the pieces in their order, joint; None where every place is exact. Where it is left out the
    pieces' own are put together, as if they had nothing in common."""
    ruler: Ruler | None = None
    """None for the game's own."""
    grid: Grid | None = None
    state: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.covariance is None:
            object.__setattr__(self, "covariance", independent_covariance(self.pieces))

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
        game = node["game"].choice(GAMES)
        grid = node.get("grid", Grid.from_node, None)
        pieces = tuple(Piece.from_node(item, grid) for item in node["pieces"].items())
        terrain = (
            tuple(Terrain.from_node(item) for item in node["terrain"].items())
            if node.has("terrain")
            else ()
        )
        _check_names(node, pieces, terrain)
        return cls(
            game=game,
            board=Table.from_node(node["board"]),
            pieces=pieces,
            terrain=terrain,
            covariance=node.get("covariance", lambda joint: _read_covariance(joint, pieces), None),
            ruler=node.get("ruler", Ruler.from_node, None),
            grid=grid,
            state=node["state"].object().value if node.has("state") else {},
            extra=unknown_keys(node, _SCENE_KEYS, {"covariance": ("order", "mm2", "otherwise")}),
        )

    def save(self, path: str | Path) -> None:
        """Write the scene file, whole or not at all."""
        write_atomically(path, json.dumps(self.to_json(), indent=1, allow_nan=False) + "\n")

    def to_json(self) -> dict[str, Any]:
        known: dict[str, Any] = {"schema": SCHEMA, "game": self.game, "board": self.board.to_json()}
        if self.ruler:
            known["ruler"] = self.ruler.to_json()
        known["pieces"] = [piece.to_json() for piece in self.pieces]
        if self.terrain:
            known["terrain"] = [terrain.to_json() for terrain in self.terrain]
        if self.grid:
            known["grid"] = self.grid.to_json()
        if self.covariance is not None and not self._covariance_is_block_diagonal():
            known["covariance"] = {
                "order": [piece.id for piece in self.pieces],
                **_covariance_json(self.covariance),
            }
        if self.state:
            known["state"] = self.state
        return merge_keys(known, self.extra)

    def _covariance_is_block_diagonal(self) -> bool:
        own = independent_covariance(self.pieces)
        if own is None or self.covariance is None:
            return False
        return self.covariance.rare_alternative is None and own.rows == self.covariance.rows

    @cached_property
    def alternative_scene(self) -> "tuple[float, Scene] | None":
        """How likely something is not as it was told, and the scene if so; None where nothing is said of that."""
        other = self.covariance.rare_alternative if self.covariance else None
        return (
            None
            if other is None
            else (other.probability, replace(self, covariance=other.covariance))
        )

    # --- names ---

    @cached_property
    def piece_indices(self) -> Mapping[str, tuple[int, ...]]:
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

    def distances(self) -> "Array":
        """The distance (N, N) of each piece from each, edge to edge; 0 in contact and of a piece from itself."""
        from overruler.geometry.batched.all_pairs import gap_matrix

        return gap_matrix(self.shapes)

    @cached_property
    def terrain_parts(self) -> Mapping[str, tuple[Polygon, ...]]:
        """Every terrain's convex parts, by its id."""
        return {terrain.id: terrain.parts for terrain in self.terrain}

    def check_name(self, name: str, what: str) -> None:
        """Raise `UnknownName` where a name is no piece's, unit's or terrain's; `what` is where it was asked for."""
        if name not in self.piece_indices and name not in self.terrain_parts:
            raise UnknownName(what, name, (*self.piece_indices, *self.terrain_parts))

    @cached_property
    def range_ruler(self) -> Ruler | None:
        """The scene's own ruler, else its game's; None without one."""
        size = facts_of(self.game).ruler
        return self.ruler or (Ruler(*size) if size else None)

    @property
    def segment_mm(self) -> float | None:
        """The length of the ruler's segments; None without a ruler."""
        ruler = self.range_ruler
        return ruler.segment_mm if ruler else None

    def kind_of(self, piece: Piece) -> str:
        """What a piece is: its own kind or the game's default."""
        return piece.kind or facts_of(self.game).default_kind


_SCENE_KEYS = (
    "schema",
    "game",
    "board",
    "ruler",
    "pieces",
    "terrain",
    "grid",
    "covariance",
    "state",
)


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
            Node(None, node.name, f"pieces[{index}].unit").fail(
                f"repeats {unit!r}, as {taken[unit]}"
            )


# --- covariance ---


def independent_covariance(pieces: Iterable[Piece]) -> Covariance | None:
    """The pieces' own covariances as a joint one, nothing in common; None where none has one."""
    blocks = [piece.covariance_mm2 for piece in pieces]
    return Covariance.of_blocks(blocks) if any(blocks) else None


def _covariance_json(covariance: Covariance) -> dict[str, Any]:
    """A joint covariance as files have it, but for the pieces' order."""
    rows, other = [list(row) for row in covariance.rows], covariance.rare_alternative
    if other is None:
        return {"mm2": rows}
    return {
        "mm2": rows,
        "otherwise": {"probability": other.probability, **_covariance_json(other.covariance)},
    }


def _read_covariance(node: Node, pieces: Sequence[Piece]) -> Covariance:
    """The covariance over all pieces: what the file has of it, and the pieces' own for those that it does not name."""
    order = _read_order(node["order"], [piece.id for piece in pieces])
    known = Covariance(_read_full_rows(node["mm2"], order, pieces))
    if not node.has("otherwise"):
        return known
    other = node["otherwise"]
    probability = other["probability"].number()
    if not 0 <= probability <= 1:
        other["probability"].fail(f"must lie between 0 and 1, is {probability:g}")
    return replace(
        known,
        rare_alternative=RareAlternative(
            probability, Covariance(_read_full_rows(other["mm2"], order, pieces))
        ),
    )


def _read_full_rows(node: Node, order: Sequence[int], pieces: Sequence[Piece]) -> list[list[float]]:
    """The rows over all pieces, of a matrix over some."""
    given = _read_matrix(node, 2 * len(order))
    rows = [
        list(row) for row in Covariance.of_blocks([piece.covariance_mm2 for piece in pieces]).rows
    ]
    places = [2 * index + axis for index in order for axis in (0, 1)]
    for place, values in zip(places, given, strict=True):
        rows[place] = [0.0] * len(
            rows
        )  # a piece it names has nothing in common with one that it does not
        for other, value in zip(places, values, strict=True):
            rows[place][other] = value
    return rows


def _read_order(node: Node, ids: list[str]) -> list[int]:
    order: list[int] = []
    for item in node.items():
        name = item.text()
        if name not in ids:
            raise UnknownName(f"{item.name}: {item.path}", name, ids)
        if ids.index(name) in order:
            item.fail(f"repeats {name!r}")
        order.append(ids.index(name))
    return order


def _read_matrix(node: Node, size: int) -> list[list[float]]:
    """A covariance (size, size)."""
    rows = [item.value for item in node.items()]
    plain = all(
        isinstance(row, list) and len(row) == size and {*map(type, row)} <= {int, float}
        for row in rows
    )
    if (
        not plain
        or len(rows) != size
        or not all(-inf < value < inf for row in rows for value in row)
    ):
        node.matrix(size, size)  # names what is wrong
    largest = max((abs(value) for row in rows for value in row), default=0)
    if largest > MAX_LENGTH_MM**2:
        node.fail(f"holds more than {MAX_LENGTH_MM**2:g} mm²")
    slack = ROUNDING_SHARE * largest
    if any(abs(rows[i][j] - rows[j][i]) > slack for i, j in combinations(range(size), 2)):
        node.fail("is not symmetric")
    if largest and not is_positive_semidefinite(rows, slack):
        node.fail("is not positive semi-definite")
    return rows
