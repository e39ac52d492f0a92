"""What a forced move is asked with, and the things it may run into."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from overruler.geometry.shapes import Point, translate_shape
from overruler.reading import Node
from overruler.rules.fields import read_inches_mm
from overruler.rules.games.positioning.fields import FORCE_KINDS
from overruler.rules.games.positioning.straight import piece_position
from overruler.rules.measure import Body
from overruler.rules.routes import (
    direction_away_from,
    piece_bodies,
    read_body,
    read_direction,
    read_piece,
    read_stat,
    size_of,
)
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM, mm_from_inches

INCH_MM = mm_from_inches(1)


class TableObject(NamedTuple):
    """What may be forced or stop what is: a piece or a terrain, and its middle."""

    body: Body
    center: Point

    def translated_by(self, x_mm: float, y_mm: float) -> "TableObject":
        parts = tuple(translate_shape(part, x_mm, y_mm) for part in self.body.parts)
        return TableObject(
            replace(self.body, parts=parts), (self.center[0] + x_mm, self.center[1] + y_mm)
        )


@dataclass(frozen=True)
class Force:
    """What a force asks for."""

    scene: Scene
    kind: str
    actor: Body
    targets: tuple[Node, ...]
    """In the order chosen."""
    distance_mm: float
    direction: Point | None
    """The unit direction of a reposition; None for a push and a pull."""

    @classmethod
    def of(cls, scene: Scene, question: Node) -> "Force":
        kind = question["kind"].choice(FORCE_KINDS)
        actor, _ = read_piece(scene, question["actor"])
        return cls(
            scene,
            kind,
            actor,
            _read_targets(scene, question, actor),
            read_inches_mm(question["distance_in"]),
            read_direction(question["direction_deg"]) if kind == "reposition" else None,
        )

    def resistances_in(self, target: Body) -> tuple[int, int]:
        """By how many inches a target's size and its tier shorten it; negative where they are below the actor's."""
        sizes = size_of(self.scene, target) - size_of(self.scene, self.actor)
        if target.index is None or self.actor.index is None:
            return sizes, 0
        return sizes, read_stat(self.scene, target.index, "tier") - read_stat(
            self.scene, self.actor.index, "tier"
        )

    def remaining_mm(self, target: Body) -> float:
        """The distance that is left of it; 0 where it fails."""
        left = self.distance_mm - INCH_MM * sum(
            max(inches, 0) for inches in self.resistances_in(target)
        )
        return left if left > CONTACT_TOLERANCE_MM else 0.0

    def direction_for(self, target: TableObject, node: Node) -> Point:
        """The unit direction in which it forces a target."""
        if self.direction:
            return self.direction
        ux, uy = direction_away_from(target.center, self.actor, node)
        return (ux, uy) if self.kind == "push" else (-ux, -uy)


def _read_targets(scene: Scene, question: Node, actor: Body) -> tuple[Node, ...]:
    if question.has("target") and question.has("targets"):
        question["targets"].fail("stands beside target; give one of the two")
    nodes = question["targets"].items() if question.has("targets") else [question["target"]]
    if not nodes:
        question["targets"].fail("is empty: name one target at least")
    seen = {actor.id}
    for node in nodes:
        name = read_body(scene, node).id
        if name in seen:
            node.fail(f"{name!r} is the actor" if name == actor.id else f"repeats {name!r}")
        seen.add(name)
    return tuple(nodes)


def objects_on_table(scene: Scene) -> dict[str, TableObject]:
    """All that stands on the table, by its id: pieces, then terrain."""
    found = {
        body.id: TableObject(body, piece_position(scene, body.index or 0))
        for body in piece_bodies(scene)
    }
    for terrain in scene.terrain:
        found[terrain.id] = TableObject(
            Body(terrain.id, scene.terrain_parts[terrain.id]), _box_center(terrain.footprint_mm)
        )
    return found


def _box_center(points: Sequence[Point]) -> Point:
    """The middle of the box round some points."""
    x, y = ((min(axis) + max(axis)) / 2 for axis in zip(*points, strict=True))
    return x, y
