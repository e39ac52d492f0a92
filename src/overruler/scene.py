"""A scene: what stands where on the table, with its covariance. Measured in a photo, or written by a person."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overruler.errors import BadInput, UnknownName
from overruler.games import GAMES, Ruler, facts_of, read_ruler
from overruler.geometry.covariance import (
    Covariance,
    covariance_json,
    read_covariance_rows,
    read_joint_covariance,
)
from overruler.geometry.shapes import Point, Polygon, Shape
from overruler.pieces import Grid, Piece, Table
from overruler.reading import Node, merge_keys, unknown_keys
from overruler.reading.fields import check_kind, file_path, tuple_of
from overruler.terrain import Terrain, read_footprint
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
        """Check what would rule wrongly, as `from_json` does; `BadInput` names what is wrong."""
        Node(self.game, "Scene", "game").choice(GAMES)
        check_kind(self.board, Table, "Scene", "board")
        check_kind(self.ruler, (Ruler, type(None)), "Scene", "ruler")
        check_kind(self.grid, (Grid, type(None)), "Scene", "grid")
        pieces = tuple_of(self.pieces, Piece, "Scene", "pieces")
        terrain = tuple_of(self.terrain, Terrain, "Scene", "terrain")
        _check_names(Node(None, "Scene"), pieces, terrain)
        joint = self.covariance
        if joint is None:
            joint = independent_covariance(pieces)
        elif not isinstance(joint, Covariance):
            node = Node(joint, "Scene", "covariance")
            joint = Covariance(read_covariance_rows(node, 2 * len(pieces)))
        elif len(joint.rows) != 2 * len(pieces):
            count = f"expected {2 * len(pieces)} rows, two a piece, found {len(joint.rows)}"
            Node(joint, "Scene", "covariance").fail(f"{count}: give that of these pieces, or None")
        for key, value in (("pieces", pieces), ("terrain", terrain), ("covariance", joint)):
            object.__setattr__(self, key, value)

    # --- files ---

    @classmethod
    def load(cls, path: str | Path) -> "Scene":
        """Read a scene file; `BadInput` names the JSON path of what is wrong."""
        return cls.from_json(Node.of_json_file(file_path(path, "Scene.load")))

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
        """Write the scene file, whole or not at all; `BadInput` where it holds what JSON has not."""
        try:
            text = json.dumps(self.to_json(), indent=1, allow_nan=False, default=_plain_value)
        except (TypeError, ValueError) as error:
            raise BadInput(f"{path}: the scene cannot be written: {error}") from None
        write_atomically(path, text + "\n")

    def to_json(self) -> dict[str, Any]:
        """The scene as a file has it: lengths in mm in the board frame, headings in degrees."""
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
            known["covariance"] = {"order": order, **covariance_json(self.covariance)}
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
    def zones(self) -> Mapping[str, tuple[Point, ...]]:
        """Outlines of the zones that `state.zones` names; raises `BadInput` where one is none."""
        node = Node(self.state.get("zones", {}), "scene", "state.zones").object()
        return {name: read_footprint(node[name]) for name in node.keys()}  # noqa: SIM118 - a Node

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


def independent_covariance(pieces: Iterable[Piece]) -> Covariance | None:
    """The block-diagonal covariance of the pieces' own ones; None where no piece has one."""
    blocks = [piece.covariance_mm2 for piece in pieces]
    return Covariance.of_blocks(blocks) if any(blocks) else None


def _read_covariance(node: Node, pieces: Sequence[Piece]) -> Covariance:
    own = [piece.covariance_mm2 for piece in pieces]
    return read_joint_covariance(node, [piece.id for piece in pieces], own)


def _plain_value(value: Any) -> Any:
    """A number or an array of numpy's as JSON has it."""
    if not hasattr(value, "tolist"):
        raise TypeError(f"it holds {type(value).__name__}, which JSON has not")
    return value.tolist()
