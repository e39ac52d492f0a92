"""Ways over a table in straight lines: what they cost, and whom they lead through or end on."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from overruler.geometry.shapes import Disc, Point, Shape, translate_shape
from overruler.geometry.sweep import contact_interval, entry_distance, overlaps
from overruler.reading import Node
from overruler.rules.measure import Body, bodies_named, gap_between
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

LARGE_SIZE = 2
"""From this size on a piece reaches an inch; as many sizes apart, two enemies do not block each other."""


class Leg(NamedTuple):
    """A straight line that a base's middle runs along."""

    start_mm: Point
    ux: float
    uy: float
    """The unit direction."""
    length_mm: float

    def point_at(self, along_mm: float) -> Point:
        return self.start_mm[0] + along_mm * self.ux, self.start_mm[1] + along_mm * self.uy


def legs_through(points: Sequence[Point]) -> tuple[Leg, ...]:
    """From each point to the next; a point repeated makes no leg."""
    found = []
    for start, end in pairwise(points):
        length = math.dist(start, end)
        if length > CONTACT_TOLERANCE_MM * 1e-3:
            found.append(
                Leg(start, (end[0] - start[0]) / length, (end[1] - start[1]) / length, length)
            )
    return tuple(found)


# --- what questions and pieces say ---


def read_direction(node: Node) -> tuple[float, float]:
    """The unit vector of an angle in degrees; exact along the axes."""
    angle = math.remainder(node.number(), 360.0)
    quarter, rest = divmod(angle, 90.0)
    c, s = math.cos(math.radians(rest)), math.sin(math.radians(rest))
    return ((c, s), (-s, c), (-c, -s), (s, -c))[int(quarter) % 4]


def read_body(scene: Scene, node: Node) -> Body:
    """The one piece or terrain that a question names."""
    bodies = bodies_named(scene, node)
    if len(bodies) > 1:
        node.fail(f"{node.value!r} is a unit of {len(bodies)} pieces, here one is asked for")
    return bodies[0]


def read_piece(scene: Scene, node: Node) -> tuple[Body, int]:
    """The one piece that a question names, and its place in the scene."""
    body = read_body(scene, node)
    if body.index is None:
        node.fail(f"{node.value!r} is terrain, here a piece is asked for")
    return body, body.index


def read_stat(scene: Scene, index: int, key: str) -> int:
    """A piece's size or tier; 1 where it has none."""
    node = Node(scene.pieces[index].stats, "scene", f"pieces[{index}].stats")
    value = node.get(key, Node.integer, 1)
    return value if value >= 0 else node[key].fail(f"must not be less than 0, is {value}")


def size_of(scene: Scene, body: Body) -> int:
    """The size of a piece or a terrain."""
    if body.index is not None:
        return read_stat(scene, body.index, "size")
    return next(terrain.size for terrain in scene.terrain if terrain.id == body.id)


def is_thing(scene: Scene, body: Body) -> bool:
    """Whether it is an obstacle or a device, no character."""
    return body.index is not None and scene.kind_of(scene.pieces[body.index]) in (
        "obstacle",
        "device",
    )


def piece_bodies(scene: Scene) -> Iterator[Body]:
    """Every piece as a body, in the scene's order."""
    for index, found in enumerate(scene.pieces):
        yield Body(found.id, (scene.shapes[index],), index, found.player, found.leader, found.z_mm)


def are_enemies(a: Body, b: Body) -> bool:
    return None not in (a.player, b.player) and a.player != b.player


def direction_away_from(mover: Point, target: Body, node: Node) -> Point:
    """The unit vector from the nearest point of a body to a point; `node` is complained about where there is none."""
    from_target = gap_between(target, Body("", (Disc(mover),)))
    if from_target.distance_mm <= CONTACT_TOLERANCE_MM:
        node.fail(
            f"the middle of what moves stands on {target.id!r}: no direction leads straight away from it"
        )
    (ax, ay), size = from_target.from_point, from_target.distance_mm
    return (mover[0] - ax) / size, (mover[1] - ay) / size


# --- a way ---


@dataclass(frozen=True)
class Route:
    """A piece's way over the table; its heading stays."""

    scene: Scene
    index: int
    legs: tuple[Leg, ...]
    exempt_bodies: tuple[Body, ...] = ()
    """Who is not in its way, the target of an advance or a retreat first."""

    @cached_property
    def mover(self) -> Body:
        return tuple(piece_bodies(self.scene))[self.index]

    def shape_at(self, place: Point) -> Shape:
        """Its outline with its middle at a place."""
        found = self.scene.pieces[self.index]
        return translate_shape(self.mover.parts[0], place[0] - found.x_mm, place[1] - found.y_mm)

    @cached_property
    def end_mm(self) -> Point:
        found = self.scene.pieces[self.index]
        return (
            self.legs[-1].point_at(self.legs[-1].length_mm)
            if self.legs
            else (found.x_mm, found.y_mm)
        )

    # --- what it costs ---

    @cached_property
    def length_mm(self) -> float:
        return math.fsum(leg.length_mm for leg in self.legs)

    @cached_property
    def rough_mm(self) -> float:
        """How much of it the base touches rough ground on."""
        return math.fsum(self._rough_length_mm(leg) for leg in self.legs)

    @cached_property
    def rough_patches(self) -> frozenset[str]:
        """The rough terrain that the base touches."""
        return frozenset(name for leg in self.legs for name, _, _ in self._rough_stretches(leg))

    @property
    def cost_mm(self) -> float:
        """Its length, rough ground twice."""
        return self.length_mm + self.rough_mm

    def _rough_length_mm(self, leg: Leg) -> float:
        total, reached = 0.0, 0.0
        for _, first, last in sorted(self._rough_stretches(leg), key=lambda patch: patch[1]):
            total += max(last - max(first, reached), 0.0)
            reached = max(reached, last)
        return total

    def _rough_stretches(self, leg: Leg) -> Iterator[tuple[str, float, float]]:
        """The stretches of a leg on which the base touches rough ground."""
        base = self.shape_at(leg.start_mm)
        for name, part in rough_parts(self.scene):
            met = contact_interval(base, part, leg.ux, leg.uy)
            if met and met.first_mm < leg.length_mm and met.last_mm > 0:
                yield name, max(met.first_mm, 0.0), min(met.last_mm, leg.length_mm)

    # --- who is in the way ---

    @cached_property
    def other_bodies(self) -> tuple[Body, ...]:
        """Every other piece, those aside left out."""
        out = {self.index, *(body.index for body in self.exempt_bodies)}
        return tuple(body for body in piece_bodies(self.scene) if body.index not in out)

    @cached_property
    def enemies(self) -> tuple[Body, ...]:
        return tuple(body for body in self.other_bodies if are_enemies(self.mover, body))

    def blocks_mover(self, enemy: Body) -> bool:
        """Whether its size keeps the mover out of an enemy's space."""
        return abs(size_of(self.scene, enemy) - size_of(self.scene, self.mover)) < LARGE_SIZE

    @cached_property
    def blockers(self) -> tuple[Body, ...]:
        return tuple(enemy for enemy in self.enemies if self.blocks_mover(enemy))

    @cached_property
    def blocked_by(self) -> Body | None:
        """The first enemy on the way whose space it leads through though it may not."""
        return self._first_entered(self.blockers)

    @cached_property
    def passed_enemy(self) -> Body | None:
        """The first enemy whose space it leads through as their sizes allow."""
        return self._first_entered([enemy for enemy in self.enemies if enemy not in self.blockers])

    def _first_entered(self, bodies: Sequence[Body]) -> Body | None:
        for leg in self.legs:
            base = self.shape_at(leg.start_mm)
            met = [
                (entry_distance(base, body.parts[0], leg.ux, leg.uy, leg.length_mm), body)
                for body in bodies
            ]
            into = [(along, body) for along, body in met if along is not None]
            if into:
                first = min(along for along, _ in into)
                return next(body for along, body in into if along <= first + CONTACT_TOLERANCE_MM)
        return None

    def touches_body(self, body: Body) -> bool:
        """Whether the base comes into contact with another's anywhere."""
        return any(self._touches_on_leg(leg, body) for leg in self.legs)

    def _touches_on_leg(self, leg: Leg, body: Body) -> bool:
        base, part = self.shape_at(leg.start_mm), body.parts[0]
        if (
            math.dist(base.center, part.center)
            > base.bounding_radius_mm
            + part.bounding_radius_mm
            + leg.length_mm
            + CONTACT_TOLERANCE_MM
        ):
            return False
        met = contact_interval(base, part, leg.ux, leg.uy)
        return (
            met is not None
            and met.first_mm <= leg.length_mm + CONTACT_TOLERANCE_MM
            and met.last_mm >= -CONTACT_TOLERANCE_MM
        )

    @property
    def is_free(self) -> bool:
        """Whether it leads through nobody and ends on nobody."""
        return self.blocked_by is None and self.ends_on is None

    @cached_property
    def ends_on(self) -> Body | None:
        """The first piece that the base would overlap at its end."""
        return first_overlapped(self.other_bodies, self.shape_at(self.end_mm))


def rough_parts(scene: Scene) -> Iterator[tuple[str, Shape]]:
    """Every convex part of rough terrain, with the terrain's name."""
    for terrain in scene.terrain:
        if terrain.rough:
            for part in scene.terrain_parts[terrain.id]:
                yield terrain.id, part


def first_overlapped(bodies: Sequence[Body], base: Shape) -> Body | None:
    """The first of some pieces that a base would overlap."""
    return next((body for body in bodies if overlaps(base, body.parts[0])), None)
