"""The squads of Tide of Iron: their figures' range values, their type and their ground."""

from dataclasses import dataclass

from overruler.reading import Node
from overruler.scene import Piece, Scene

TARGET_TYPES = ("infantry", "vehicle")
GROUND_LEVELS = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class Squad:
    """A piece as an attack knows it."""

    piece: Piece
    index: int
    """Its index in the scene."""
    type: str
    """One of `TARGET_TYPES`."""
    elevation: int
    """One of `GROUND_LEVELS`."""
    stats: Node
    """The piece's `stats`."""

    @classmethod
    def of(cls, scene: Scene, name: Node) -> "Squad":
        """The squad that a question names."""
        index = _read_piece_index(scene, name)
        stats = Node(scene.pieces[index].stats, "scene", f"pieces[{index}].stats")
        target_type = stats.get("type", lambda node: node.choice(TARGET_TYPES), TARGET_TYPES[0])
        elevation = stats.get("elevation", _read_level, 0)
        return cls(scene.pieces[index], index, target_type, elevation, stats)

    @property
    def figure_count(self) -> int:
        """The number of its figures."""
        return len(self.range_values())

    @property
    def uses_defaults(self) -> bool:
        """Whether its type or its level is left to the defaults."""
        return not (self.stats.has("type") and self.stats.has("elevation"))

    def range_values(self) -> list[dict[str, int]]:
        """The range values of each figure, by type of target."""
        nodes = self.stats["figures"].items()
        if not nodes:
            self.stats["figures"].fail("is empty; an attack needs a figure that fires")
        return [_read_range_values(node["range"]) for node in nodes]

    def lowest_range_value(self, firing: list[int] | None, against: str) -> int:
        """The lowest range value against a type of target, of the figures that fire (None: all)."""
        values = self.range_values()
        indices = range(len(values)) if firing is None else firing
        for index in indices:
            if against not in values[index]:
                figure = self.stats["figures"].items()[index]
                figure["range"].fail(f"has no value against {against}, and the figure fires")
        return min(values[index][against] for index in indices)


def _read_piece_index(scene: Scene, name: Node) -> int:
    scene.check_name(name.text(), f"{name.name}: {name.path}")
    if name.value in scene.terrain_parts:
        name.fail(f"{name.value!r} is terrain; an attack is between pieces")
    indices = scene.piece_indices[name.value]
    if len(indices) > 1:
        pieces = ", ".join(scene.pieces[index].id for index in indices)
        name.fail(f"{name.value!r} is a unit of several pieces; name one of {pieces}")
    return indices[0]


def _read_level(node: Node) -> int:
    level = node.integer()
    if level not in GROUND_LEVELS:
        node.fail(f"there are the levels 0, 1 and 2, found {level}")
    return level


def _read_range_values(node: Node) -> dict[str, int]:
    """A figure's range value against each type of target: one number for all, or one for each."""
    if not isinstance(node.value, dict):
        return dict.fromkeys(TARGET_TYPES, _read_range_value(node))
    return {key: _read_range_value(node[key]) for key in TARGET_TYPES if node.has(key)}


def _read_range_value(node: Node) -> int:
    value = node.integer()
    if value < 0:
        node.fail(f"must be 0 or more, is {value}")
    return value
