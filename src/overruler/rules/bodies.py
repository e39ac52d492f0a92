"""Bodies: pieces and terrain, as questions name them and distances are measured between them."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from overruler.geometry.shapes import Point, Shape
from overruler.reading import Node
from overruler.scene import Scene
from overruler.terrain import read_half
from overruler.units import CONTACT_TOLERANCE_MM

THINGS = ("obstacle", "device", "objective")
"""The kinds of pieces that nobody fights."""


@dataclass(frozen=True, slots=True)
class Body:
    """A piece or a terrain."""

    id: str
    parts: tuple[Shape, ...]
    """Convex shapes that together are its outline; one for a piece."""
    index: int | None = None
    """A piece's index in the scene; None for terrain, whose place is exact."""
    player: str | None = None
    leader: bool = False
    """Whether the piece leads its unit."""
    z_mm: float = 0.0
    """The height of the base above the table."""
    top_z_mm: float = inf
    """The height of its top above the table."""
    outline: tuple[Point, ...] = ()
    """The corners of terrain, counter-clockwise; empty for a piece."""

    def is_enemy_of(self, other: "Body") -> bool:
        """Whether the two belong to different players; without a player it is nobody's enemy."""
        return None not in (self.player, other.player) and self.player != other.player

    def meets_in_height(self, other: "Body") -> bool:
        """Whether the heights that the two stand from and to overlap or touch."""
        return self.height_overlap_mm(other) >= -CONTACT_TOLERANCE_MM

    def height_overlap_mm(self, other: "Body") -> float:
        """How far the two overlap in height; negative where one stands above the other."""
        return min(self.top_z_mm, other.top_z_mm) - max(self.z_mm, other.z_mm)

    def is_near_in_height(self, other: "Body", limit_mm: float) -> bool:
        """Whether the gap in height between the two is at most a limit; 0 where they overlap."""
        gap_mm = max(-self.height_overlap_mm(other), 0.0)
        return gap_mm <= limit_mm + CONTACT_TOLERANCE_MM


def piece_body(scene: Scene, index: int) -> Body:
    """A piece as a body."""
    piece = scene.pieces[index]
    return Body(
        piece.id,
        (scene.shapes[index],),
        index,
        piece.player,
        piece.leader,
        piece.z_mm,
        piece.top_z_mm,
    )


def terrain_body(scene: Scene, name: str) -> Body:
    """A terrain as a body."""
    terrain = next(one for one in scene.terrain if one.id == name)
    parts = scene.terrain_parts[name]
    return Body(
        name,
        parts,
        z_mm=terrain.base_z_mm,
        top_z_mm=terrain.top_z_mm,
        outline=terrain.outline_mm,
    )


def piece_bodies(scene: Scene) -> Iterator[Body]:
    """Every piece as a body, in the scene's order."""
    return (piece_body(scene, index) for index in range(len(scene.pieces)))


def bodies_named(scene: Scene, node: Node) -> tuple[Body, ...]:
    """The bodies that a name in a question stands for: a piece, a unit's pieces, or a terrain."""
    name = node.text()
    scene.check_name(name, f"{node.name}: {node.path}")
    if name in scene.terrain_parts:
        return (terrain_body(scene, name),)
    return tuple(piece_body(scene, index) for index in scene.sure_indices(name))


def body_named(scene: Scene, node: Node) -> Body:
    """The one piece or terrain that a question names."""
    bodies = bodies_named(scene, node)
    if len(bodies) > 1:
        node.fail(f"{node.value!r} is a unit of {len(bodies)} pieces, here one is asked for")
    return bodies[0]


def piece_named(scene: Scene, node: Node) -> tuple[Body, int]:
    """The one piece that a question names, and its index in the scene."""
    body = body_named(scene, node)
    if body.index is None:
        node.fail(f"{node.value!r} is terrain, here a piece is asked for")
    return body, body.index


def read_size(scene: Scene, index: int) -> float:
    """A piece's size, a multiple of 0.5; 1 where it has none."""
    node = Node(scene.pieces[index].stats, "scene", f"pieces[{index}].stats")
    value = node.get("size", read_half, 1.0)
    if value < 0:
        node["size"].fail(f"must not be less than 0, is {value:g}")
    return value


def read_stat(scene: Scene, index: int, key: str) -> int:
    """A whole number of a piece, such as its tier; 1 where it has none."""
    node = Node(scene.pieces[index].stats, "scene", f"pieces[{index}].stats")
    value = node.get(key, Node.integer, 1)
    if value < 0:
        node[key].fail(f"must not be less than 0, is {value}")
    return value


def size_of(scene: Scene, body: Body) -> float:
    """The size of a piece or a terrain."""
    if body.index is not None:
        return read_size(scene, body.index)
    return next(terrain.size for terrain in scene.terrain if terrain.id == body.id)


def is_thing(scene: Scene, body: Body) -> bool:
    """Whether it is a piece that nobody fights: an obstacle, a device or an objective."""
    if body.index is None:
        return False
    return scene.kind_of(scene.pieces[body.index]) in THINGS
