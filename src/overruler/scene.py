"""A scene: what stands where on the table, with its covariance. Measured in a photo, or written by a person."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import inf, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overruler.errors import UnknownName
from overruler.games import GAMES, Ruler, facts_of, read_ruler
from overruler.geometry.covariance import Covariance, RareAlternative, is_positive_semidefinite
from overruler.geometry.shapes import Polygon, Shape
from overruler.pieces import ROUNDING_SHARE, Grid, Piece, Table
from overruler.reading import MAX_LENGTH_MM, Node, merge_keys, unknown_keys
from overruler.terrain import Terrain
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
    """Everything on the table at one moment. N is the number of pieces."""

    game: str
    """One of `GAMES`."""
    board: Table
    pieces: tuple[Piece, ...] = field(repr=False)
    terrain: tuple[Terrain, ...] = field(default=(), repr=False)
    covariance: Covariance | None = field(default=None, repr=False)
    """(2 N, 2 N) of (x, y) of the pieces in their order; None where every position is exact.

    The default is block-diagonal, from the pieces' own covariances."""
    ruler: Ruler | None = None
    """None for the game's own."""
    grid: Grid | None = None
    state: Mapping[str, Any] = field(default_factory=dict)
    """Game-specific state, such as `settings`."""
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Other keys: those that `records` reads, and unknown ones."""

    def __post_init__(self) -> None:
        if self.covariance is None:
            object.__setattr__(self, "covariance", independent_covariance(self.pieces))

    # --- files ---

    @classmethod
    def load(cls, path: str | Path) -> "Scene":
        """Read a scene file; `BadInput` names the JSON path of what is wrong."""
        return cls.from_json(Node.of_json_file(Path(path)))

    @classmethod
    def from_json(cls, value: Node | Mapping[str, Any]) -> "Scene":
        """Read a scene from parsed JSON; `BadInput` names the path of what is wrong."""
        node = value if isinstance(value, Node) else Node(value, "scene")
        node["schema"].choice((SCHEMA,))
        game = node["game"].choice(GAMES)
        grid = node.get("grid", Grid.from_node, None)
        pieces = tuple(Piece.from_node(item, grid) for item in node["pieces"].items())
        terrain = _read_terrain(node["terrain"]) if node.has("terrain") else ()
        _check_names(node, pieces, terrain)
        return cls(
            game=game,
            board=Table.from_node(node["board"]),
            pieces=pieces,
            terrain=terrain,
            covariance=node.get("covariance", lambda joint: _read_covariance(joint, pieces), None),
            ruler=node.get("ruler", read_ruler, None),
            grid=grid,
            state=node.get("state", lambda state: state.object().value, {}),
            extra=unknown_keys(node, _SCENE_KEYS, {"covariance": _COVARIANCE_KEYS}),
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
            order = [piece.id for piece in self.pieces]
            known["covariance"] = {"order": order, **_covariance_json(self.covariance)}
        if self.state:
            known["state"] = self.state
        return merge_keys(known, self.extra)

    def _covariance_is_block_diagonal(self) -> bool:
        independent = independent_covariance(self.pieces)
        if independent is None or self.covariance is None:
            return False
        has_alternative = self.covariance.rare_alternative is not None
        return not has_alternative and independent.rows == self.covariance.rows

    @property
    def largest_sigma_mm(self) -> float:
        """The largest σ of a piece's x or y; 0 where every position is exact."""
        rows = self.covariance.rows if self.covariance else ()
        return sqrt(max((row[k] for k, row in enumerate(rows)), default=0.0))

    @cached_property
    def alternative_scene(self) -> "tuple[float, Scene] | None":
        """The rare alternative: its probability, and the scene with its covariance. None if there is none."""
        alternative = self.covariance.rare_alternative if self.covariance else None
        if alternative is None:
            return None
        return alternative.probability, replace(self, covariance=alternative.covariance)

    # --- names ---

    @cached_property
    def piece_indices(self) -> Mapping[str, tuple[int, ...]]:
        """Indices into `pieces` by name of a piece or a unit."""
        indices: dict[str, tuple[int, ...]] = {}
        for index, piece in enumerate(self.pieces):
            for name in {piece.id, piece.unit or piece.id}:
                indices[name] = (*indices.get(name, ()), index)
        return indices

    @cached_property
    def reasons_for_doubt(self) -> Mapping[str, Mapping[str, Any]]:
        """By id of each piece that may be none: why."""
        reasons = {piece.id: piece.reason_for_doubt for piece in self.pieces}
        return {name: reason for name, reason in reasons.items() if reason is not None}

    def sure_indices(self, name: str) -> tuple[int, ...]:
        """The pieces that a name stands for: of a unit those that surely are pieces, else all of it."""
        indices = self.piece_indices[name]
        sure = tuple(k for k in indices if self.pieces[k].id not in self.reasons_for_doubt)
        return sure or indices

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """Outlines of the pieces, in their order."""
        return tuple(piece.shape for piece in self.pieces)

    def distances(self) -> "Array":
        """Distances (N, N) between the pieces, edge to edge; 0 in contact and on the diagonal."""
        from overruler.geometry.batched.all_pairs import gap_matrix

        return gap_matrix(self.shapes)

    @cached_property
    def terrain_parts(self) -> Mapping[str, tuple[Polygon, ...]]:
        """Convex parts of each piece of terrain, by its id."""
        return {terrain.id: terrain.parts for terrain in self.terrain}

    def check_name(self, name: str, what: str) -> None:
        """Raise `UnknownName` for a name of no piece, unit or terrain; `what` is where it was given."""
        if name not in self.piece_indices and name not in self.terrain_parts:
            raise UnknownName(what, name, (*self.piece_indices, *self.terrain_parts))

    @cached_property
    def range_ruler(self) -> Ruler | None:
        """The scene's own ruler, else its game's; None without one."""
        return self.ruler or facts_of(self.game).ruler

    @property
    def unit(self) -> str:
        """The unit that people read its distances in: by `state.unit`, else by its game."""
        return facts_of(self.game).unit_told(self.state)

    def kind_of(self, piece: Piece) -> str:
        """The kind of a piece: its own or the game's default."""
        return piece.kind or facts_of(self.game).default_kind


_SCENE_KEYS = (
    *("schema", "game", "board", "ruler", "pieces"),
    *("terrain", "grid", "covariance", "state"),
)
_COVARIANCE_KEYS = ("order", "mm2", "otherwise")


def _read_terrain(node: Node) -> tuple[Terrain, ...]:
    return tuple(Terrain.from_node(item) for item in node.items())


def _check_names(node: Node, pieces: Sequence[Piece], terrain: Sequence[Terrain]) -> None:
    """Check that names of pieces, terrain and units are unique; a unit of one may be named as its piece."""
    names = [(f"pieces[{index}].id", piece.id) for index, piece in enumerate(pieces)]
    names += [(f"terrain[{index}].id", thing.id) for index, thing in enumerate(terrain)]
    path_by_name: dict[str, str] = {}
    for path, name in names:
        if name in path_by_name:
            Node(None, node.name, path).fail(f"repeats {name!r}, as {path_by_name[name]}")
        path_by_name[name] = path
    units = [piece.unit for piece in pieces]
    for index, (piece, unit) in enumerate(zip(pieces, units, strict=True)):
        if unit in path_by_name and (unit != piece.id or units.count(unit) > 1):
            unit_node = Node(None, node.name, f"pieces[{index}].unit")
            unit_node.fail(f"repeats {unit!r}, as {path_by_name[unit]}")


# --- covariance ---


def independent_covariance(pieces: Iterable[Piece]) -> Covariance | None:
    """The block-diagonal covariance of the pieces' own ones; None where no piece has one."""
    blocks = [piece.covariance_mm2 for piece in pieces]
    return Covariance.of_blocks(blocks) if any(blocks) else None


def _covariance_json(covariance: Covariance) -> dict[str, Any]:
    """A joint covariance as files have it, without the order of the pieces."""
    known: dict[str, Any] = {"mm2": [list(row) for row in covariance.rows]}
    alternative = covariance.rare_alternative
    if alternative is not None:
        inner = _covariance_json(alternative.covariance)
        known["otherwise"] = {"probability": alternative.probability, **inner}
    return known


def _read_covariance(node: Node, pieces: Sequence[Piece]) -> Covariance:
    """Read the joint covariance; pieces that the file does not name keep their own."""
    order = _read_order(node["order"], [piece.id for piece in pieces])
    usual = Covariance(_read_full_rows(node["mm2"], order, pieces))
    if not node.has("otherwise"):
        return usual
    inner = node["otherwise"]
    probability = inner["probability"].number()
    if not 0 <= probability <= 1:
        inner["probability"].fail(f"must lie between 0 and 1, is {probability:g}")
    rare = Covariance(_read_full_rows(inner["mm2"], order, pieces))
    return replace(usual, rare_alternative=RareAlternative(probability, rare))


def _read_full_rows(node: Node, order: Sequence[int], pieces: Sequence[Piece]) -> list[list[float]]:
    """Read a covariance of the pieces in `order`, and return the rows of all pieces.

    A piece that it names is not correlated with one that it does not.
    """
    given = _read_matrix(node, 2 * len(order))
    own = Covariance.of_blocks([piece.covariance_mm2 for piece in pieces])
    rows = [list(row) for row in own.rows]
    columns = [2 * index + axis for index in order for axis in (0, 1)]
    for row, values in zip(columns, given, strict=True):
        rows[row] = [0.0] * len(rows)
        for column, value in zip(columns, values, strict=True):
            rows[row][column] = value
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
    """Read a covariance (size, size)."""
    rows = [item.value for item in node.items()]
    if len(rows) != size or not all(_is_finite_row(row, size) for row in rows):
        node.matrix(size, size)  # names what is wrong
    largest = max((abs(value) for row in rows for value in row), default=0)
    if largest > MAX_LENGTH_MM**2:
        node.fail(f"holds more than {MAX_LENGTH_MM**2:g} mm²")
    tolerance = ROUNDING_SHARE * largest
    if any(abs(rows[i][j] - rows[j][i]) > tolerance for i, j in combinations(range(size), 2)):
        node.fail("is not symmetric")
    if largest and not is_positive_semidefinite(rows, tolerance):
        node.fail("is not positive semi-definite")
    return rows


def _is_finite_row(row: Any, size: int) -> bool:
    """Whether a row holds finite numbers; `bool` is not a number. Faster than `Node.vector`."""
    if not isinstance(row, list) or len(row) != size or not {*map(type, row)} <= {int, float}:
        return False
    return all(-inf < value < inf for value in row)
