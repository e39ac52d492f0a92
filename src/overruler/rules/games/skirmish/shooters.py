"""What a scene of Skirmish says of each unit: its weapon, its defence, and what has happened to it this turn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from overruler.errors import UnknownName
from overruler.geometry.shapes import Shape
from overruler.pieces import MAX_LENGTH_MM, Piece
from overruler.reading import Node
from overruler.scene import Scene
from overruler.units import mm_from_inches

UNIT_FLAGS = (
    "large",
    "engaged",
    "ran",
    "cast",
    "stunned",
    "dazed",
    "shot_this_turn",
    "shot_last_turn",
    "moved",
)


@dataclass(frozen=True, slots=True)
class Weapon:
    """A ranged weapon."""

    range_mm: float
    """Its greatest distance, itself included."""
    piercing: int
    """What it adds to the number that its target must roll in defence."""
    injury: int
    """What it adds to a roll that wounds."""
    long_reload: bool

    @classmethod
    def of(cls, node: Node) -> "Weapon":
        range_mm = mm_from_inches(node["range_in"].positive())
        if range_mm > MAX_LENGTH_MM:
            node["range_in"].fail("is more than 10 km")
        return cls(
            range_mm,
            node["piercing"].integer(),
            node["injury"].integer(),
            node["long_reload"].boolean(),
        )


@dataclass(frozen=True, eq=False)
class Fighter:
    """One unit on the table."""

    index: int
    """Its piece's place in the scene."""
    piece: Piece
    shape: Shape
    stats: Node
    flags: frozenset[str]
    """Those of `UNIT_FLAGS` that it carries."""
    in_cover_from: frozenset[str] | None
    out_of_sight_of: frozenset[str] | None
    """The shooters from whom the players see it so; None where they do not say."""

    @property
    def id(self) -> str:
        return self.piece.id

    @property
    def helpless(self) -> bool:
        """Whether it is stunned or dazed."""
        return not self.flags.isdisjoint(("stunned", "dazed"))

    @property
    def weapon(self) -> Weapon | None:
        node = self.stats["ranged_weapon"]
        return None if node.value is None else Weapon.of(node)

    @property
    def defence(self) -> int:
        """The number that it must roll in defence, before any piercing."""
        return self.stats["defence"].integer()

    def is_enemy(self, other: "Fighter") -> bool:
        players = (self.piece.player, other.piece.player)
        return None not in players and players[0] != players[1]


def read_fighters(scene: Scene) -> tuple[Fighter, ...]:
    """All units, in the scene's order."""
    return tuple(_read_fighter(scene, index) for index in range(len(scene.pieces)))


def _read_fighter(scene: Scene, index: int) -> Fighter:
    piece = scene.pieces[index]
    stats = Node(piece.stats, "scene", f"pieces[{index}].stats")
    marks = frozenset(flag for flag in UNIT_FLAGS if stats.get(flag, Node.boolean, False))
    known = [other.id for other in scene.pieces]
    lists = (
        stats.get(key, lambda node: _read_ids(node, known), None)
        for key in ("in_cover_from", "out_of_sight_of")
    )
    return Fighter(index, piece, scene.shapes[index], stats, marks, *lists)


def _read_ids(node: Node, known: Sequence[str]) -> frozenset[str]:
    """The pieces that an array names."""
    return frozenset(_read_id(item, known) for item in node.items())


def _read_id(node: Node, known: Sequence[str]) -> str:
    name = node.text()
    if name not in known:
        raise UnknownName(f"{node.name}: {node.path}", name, known)
    return name


def read_piece_index(scene: Scene, node: Node) -> int:
    """The place in the scene of the piece that a question names by its id."""
    known = [piece.id for piece in scene.pieces]
    name = node.text()
    if name not in known and (name in scene.piece_indices or name in scene.terrain_parts):
        node.fail(
            f"{name!r} is {'terrain' if name in scene.terrain_parts else 'a unit'}; here the id of a piece is asked for"
        )
    return known.index(_read_id(node, known))


def enemies_of(units: Sequence[Fighter], shooter: Fighter) -> Iterator[Fighter]:
    """The shooter's enemies, in the scene's order."""
    return (unit for unit in units if unit.is_enemy(shooter))
