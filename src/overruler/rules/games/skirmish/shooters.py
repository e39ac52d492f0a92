"""The units of Skirmish: weapon, defence, and what has happened to each this turn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from overruler.errors import UnknownName
from overruler.geometry.shapes import Shape
from overruler.pieces import Piece
from overruler.reading import MAX_LENGTH_MM, Node
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
    """The greatest distance that it reaches, itself included."""
    piercing: int
    """Added to the number that its target must roll in defence."""
    injury: int
    """Added to a roll that wounds."""
    long_reload: bool
    """Whether it rests in the turn after a shot."""

    @classmethod
    def of(cls, node: Node) -> "Weapon":
        """The weapon in a unit's stats."""
        range_mm = mm_from_inches(node["range_in"].positive())
        if range_mm > MAX_LENGTH_MM:
            node["range_in"].fail("is more than 10 km")
        return cls(
            range_mm,
            node["piercing"].integer(),
            node["injury"].integer(),
            node["long_reload"].boolean(),
        )


@dataclass(frozen=True, eq=False, slots=True)
class Fighter:
    """One unit on the table."""

    index: int
    """The index of its piece in the scene."""
    piece: Piece
    shape: Shape
    stats: Node
    """The piece's `stats`."""
    flags: frozenset[str]
    """Those of `UNIT_FLAGS` that it carries."""
    in_cover_from: frozenset[str] | None
    """The ids of the shooters from whom the players see it in cover; None where they do not say."""
    out_of_sight_of: frozenset[str] | None
    """The ids of the shooters who, by the players, do not see it; None where they do not say."""

    @property
    def id(self) -> str:
        """The id of its piece."""
        return self.piece.id

    @property
    def helpless(self) -> bool:
        """Whether it is stunned or dazed."""
        return not self.flags.isdisjoint(("stunned", "dazed"))

    @property
    def weapon(self) -> Weapon | None:
        """Its ranged weapon."""
        node = self.stats["ranged_weapon"]
        return None if node.value is None else Weapon.of(node)

    @property
    def defence(self) -> int:
        """The number that it must roll in defence, before any piercing."""
        return self.stats["defence"].integer()

    @property
    def wounds(self) -> int | None:
        """The wounds that it has left; None where they are not told."""
        if not self.stats.has("wounds"):
            return None
        wounds = self.stats["wounds"].integer()
        return (
            wounds if wounds >= 1 else self.stats["wounds"].fail(f"must be 1 or more, is {wounds}")
        )

    def is_enemy(self, other: "Fighter") -> bool:
        """Whether the two belong to different players."""
        players = (self.piece.player, other.piece.player)
        return None not in players and players[0] != players[1]


def read_fighters(scene: Scene) -> tuple[Fighter, ...]:
    """All units, in the scene's order."""
    return tuple(_read_fighter(scene, index) for index in range(len(scene.pieces)))


def _read_fighter(scene: Scene, index: int) -> Fighter:
    piece = scene.pieces[index]
    stats = Node(piece.stats, "scene", f"pieces[{index}].stats")
    flags = frozenset(flag for flag in UNIT_FLAGS if stats.get(flag, Node.boolean, False))
    ids = [other.id for other in scene.pieces]
    in_cover_from, out_of_sight_of = (
        _read_ids(stats[key], ids) if stats.has(key) else None
        for key in ("in_cover_from", "out_of_sight_of")
    )
    shape = scene.shapes[index]
    return Fighter(index, piece, shape, stats, flags, in_cover_from, out_of_sight_of)


def _read_ids(node: Node, known: Sequence[str]) -> frozenset[str]:
    """The pieces that an array names."""
    return frozenset(_read_id(item, known) for item in node.items())


def _read_id(node: Node, known: Sequence[str]) -> str:
    name = node.text()
    if name not in known:
        raise UnknownName(f"{node.name}: {node.path}", name, known)
    return name


def read_piece_index(scene: Scene, node: Node) -> int:
    """The index in the scene of the piece that a question names by its id."""
    ids = [piece.id for piece in scene.pieces]
    name = node.text()
    if name not in ids and (name in scene.piece_indices or name in scene.terrain_parts):
        kind = "terrain" if name in scene.terrain_parts else "a unit"
        node.fail(f"{name!r} is {kind}; here the id of a piece is asked for")
    return ids.index(_read_id(node, ids))


def enemies_of(units: Sequence[Fighter], shooter: Fighter) -> Iterator[Fighter]:
    """The shooter's enemies, in the scene's order."""
    return (unit for unit in units if unit.is_enemy(shooter))
