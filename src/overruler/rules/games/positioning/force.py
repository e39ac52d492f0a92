"""A forced move as a question asks for it, and the objects that it may run into."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from overruler.geometry.shapes import Point, translate_shape
from overruler.reading import Node
from overruler.rules.bodies import (
    Body,
    body_named,
    piece_bodies,
    piece_named,
    read_stat,
    size_of,
    terrain_body,
)
from overruler.rules.games.positioning.fields import FORCE_IN, FORCE_KIND, REPOSITION_DEG
from overruler.rules.routes import direction_away_from, piece_position
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM, MM_PER_INCH


class TableObject(NamedTuple):
    """A piece or a terrain, which may be forced or stop what is, and its centre."""

    body: Body
    center: Point

    def translated_by(self, x_mm: float, y_mm: float) -> "TableObject":
        """The object moved over the table."""
        parts = tuple(translate_shape(part, x_mm, y_mm) for part in self.body.parts)
        center = self.center[0] + x_mm, self.center[1] + y_mm
        outline = tuple((x + x_mm, y + y_mm) for x, y in self.body.outline)
        return TableObject(replace(self.body, parts=parts, outline=outline), center)

    def is_in_the_way_of(self, other: "TableObject") -> bool:
        """Whether the two can meet in height; terrain that only touches is above or below."""
        if None in (self.body.index, other.body.index):
            return self.body.height_overlap_mm(other.body) > CONTACT_TOLERANCE_MM
        return self.body.meets_in_height(other.body)


@dataclass(frozen=True, slots=True)
class Force:
    """A push, a pull or a reposition."""

    scene: Scene
    kind: str
    """One of `FORCE_KINDS`."""
    actor: Body
    targets: tuple[Node, ...]
    """The names of the targets, in the order chosen."""
    distance_mm: float
    directions: tuple[Point, ...]
    """The unit direction of a reposition for each target; empty for a push and a pull."""

    @classmethod
    def of(cls, scene: Scene, question: Node) -> "Force":
        """The force that a question asks about."""
        kind = FORCE_KIND.read(question)
        actor, _ = piece_named(scene, question["actor"])
        targets = _read_targets(scene, question, actor)
        distance_mm = FORCE_IN.read(question)
        directions = _read_directions(question, len(targets)) if kind == "reposition" else ()
        return cls(scene, kind, actor, targets, distance_mm, directions)

    def resistances_in(self, target: Body) -> tuple[float, int]:
        """The inches that a target's size and tier take off; negative where below the actor's."""
        size = size_of(self.scene, target) - size_of(self.scene, self.actor)
        if target.index is None or self.actor.index is None:
            return size, 0
        target_tier = read_stat(self.scene, target.index, "tier")
        return size, target_tier - read_stat(self.scene, self.actor.index, "tier")

    def remaining_mm(self, target: Body) -> float:
        """The distance that the target does not resist; 0 where the force fails."""
        resisted_in = sum(max(inches, 0) for inches in self.resistances_in(target))
        remaining_mm = self.distance_mm - MM_PER_INCH * resisted_in
        return remaining_mm if remaining_mm > CONTACT_TOLERANCE_MM else 0.0

    def direction_for(self, target: TableObject, node: Node) -> Point:
        """The unit direction in which it forces a target, which `node` names."""
        if self.directions:
            return self.directions[self.targets.index(node)]
        ux, uy = direction_away_from(target.center, self.actor, node)
        return (ux, uy) if self.kind == "push" else (-ux, -uy)


def _read_directions(question: Node, count: int) -> tuple[Point, ...]:
    """The direction of each target: its own, or one for all."""
    directions = REPOSITION_DEG.read(question)
    if len(directions) not in (1, count):
        question["direction_deg"].fail(
            f"expected one direction, or one for each of {count} targets, found {len(directions)}"
        )
    return directions if len(directions) == count else directions * count


def _read_targets(scene: Scene, question: Node, actor: Body) -> tuple[Node, ...]:
    if question.has("target") and question.has("targets"):
        question["targets"].fail("stands beside target; give one of the two")
    nodes = question["targets"].items() if question.has("targets") else [question["target"]]
    if not nodes:
        question["targets"].fail("is empty: name one target at least")
    seen = {actor.id}
    for node in nodes:
        name = body_named(scene, node).id
        if name in seen:
            node.fail(f"{name!r} is the actor" if name == actor.id else f"repeats {name!r}")
        seen.add(name)
    return tuple(nodes)


def objects_on_table(scene: Scene) -> dict[str, TableObject]:
    """Every object on the table by its id: pieces, then terrain."""
    objects = {
        body.id: TableObject(body, piece_position(scene, index))
        for index, body in enumerate(piece_bodies(scene))
    }
    for terrain in scene.terrain:
        body = terrain_body(scene, terrain.id)
        objects[terrain.id] = TableObject(body, _box_center(terrain.footprint_mm))
    return objects


def _box_center(points: Sequence[Point]) -> Point:
    """The centre of the bounding box of some points."""
    x, y = ((min(axis) + max(axis)) / 2 for axis in zip(*points, strict=True))
    return x, y
