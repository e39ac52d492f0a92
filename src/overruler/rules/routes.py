"""Routes over a table in straight legs: what they cost, and whom they lead through or end on."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from overruler.geometry.shapes import Disc, Point, Shape, translate_shape
from overruler.geometry.sweep import contact_interval, entry_distance, overlaps
from overruler.reading import Node
from overruler.rules.bodies import Body, piece_bodies, piece_body, size_of
from overruler.rules.measure import gap_between
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

LARGE_SIZE = 2
"""From this size on a piece reaches an inch. Enemies whose sizes differ by this do not block."""
MIN_LEG_MM = CONTACT_TOLERANCE_MM * 1e-3
"""A shorter leg has no direction and is left out."""


class Leg(NamedTuple):
    """A straight line that a base's centre runs along."""

    start_mm: Point
    ux: float
    uy: float
    """The unit direction."""
    length_mm: float

    def point_at(self, along_mm: float) -> Point:
        """The point at a distance from its start."""
        return self.start_mm[0] + along_mm * self.ux, self.start_mm[1] + along_mm * self.uy


def legs_through(points: Sequence[Point]) -> tuple[Leg, ...]:
    """The legs from each point to the next; a point repeated makes no leg."""
    legs = []
    for start, end in pairwise(points):
        length = math.dist(start, end)
        if length > MIN_LEG_MM:
            ux, uy = (end[0] - start[0]) / length, (end[1] - start[1]) / length
            legs.append(Leg(start, ux, uy, length))
    return tuple(legs)


def piece_position(scene: Scene, index: int) -> Point:
    """The centre of a piece's base."""
    return scene.pieces[index].x_mm, scene.pieces[index].y_mm


def direction_away_from(mover: Point, target: Body, node: Node) -> Point:
    """The unit vector from the nearest point of a body to `mover`; `BadInput` without one."""
    gap = gap_between(target, Body("", (Disc(mover),)))
    if gap.distance_mm <= CONTACT_TOLERANCE_MM:
        node.fail(
            f"the middle of what moves stands on {target.id!r}: "
            "no direction leads straight away from it"
        )
    (ax, ay), distance = gap.from_point, gap.distance_mm
    return (mover[0] - ax) / distance, (mover[1] - ay) / distance


@dataclass(frozen=True)
class Route:
    """A piece's route over the table; its heading stays."""

    scene: Scene
    index: int
    """The piece's index in the scene."""
    legs: tuple[Leg, ...]
    exempt_bodies: tuple[Body, ...] = ()
    """The bodies that cannot be in its way; the target of an advance or a retreat comes first."""

    @cached_property
    def mover(self) -> Body:
        """The piece that moves."""
        return piece_body(self.scene, self.index)

    def shape_at(self, place: Point) -> Shape:
        """The piece's outline with its centre at a place."""
        x_mm, y_mm = piece_position(self.scene, self.index)
        return translate_shape(self.mover.parts[0], place[0] - x_mm, place[1] - y_mm)

    @cached_property
    def end_mm(self) -> Point:
        """Where the centre of the base ends."""
        if not self.legs:
            return piece_position(self.scene, self.index)
        return self.legs[-1].point_at(self.legs[-1].length_mm)

    # --- cost ---

    @cached_property
    def length_mm(self) -> float:
        """The length of all legs."""
        return math.fsum(leg.length_mm for leg in self.legs)

    @cached_property
    def rough_mm(self) -> float:
        """The length over which the base touches rough ground."""
        return math.fsum(self._rough_length_mm(leg) for leg in self.legs)

    @cached_property
    def rough_patches(self) -> frozenset[str]:
        """The ids of the rough terrain that the base touches."""
        return frozenset(name for leg in self.legs for name, _, _ in self._rough_stretches(leg))

    def spent_at_mm(self, leg: Leg, budget_mm: float) -> float:
        """How far along a leg a budget is spent, rough ground counting twice."""
        along = 0.0
        for _, first, last in sorted(self._rough_stretches(leg), key=lambda patch: patch[1]):
            free_mm = max(first - along, 0.0)
            if budget_mm <= free_mm:
                break
            budget_mm, along = budget_mm - free_mm, along + free_mm
            rough_mm = max(last - along, 0.0)
            if budget_mm <= 2 * rough_mm:
                return along + budget_mm / 2
            budget_mm, along = budget_mm - 2 * rough_mm, along + rough_mm
        return along + budget_mm

    @property
    def cost_mm(self) -> float:
        """Its length, rough ground counted twice."""
        return self.length_mm + self.rough_mm

    def _rough_length_mm(self, leg: Leg) -> float:
        total, reached = 0.0, 0.0
        for _, first, last in sorted(self._rough_stretches(leg), key=lambda patch: patch[1]):
            total += max(last - max(first, reached), 0.0)
            reached = max(reached, last)
        return total

    def _rough_stretches(self, leg: Leg) -> Iterator[tuple[str, float, float]]:
        """The stretches of a leg, in mm from its start, on which the base is on rough ground."""
        base = self.shape_at(leg.start_mm)
        for name, part in rough_parts(self.scene):
            stretch = contact_interval(base, part, leg.ux, leg.uy)
            if stretch and stretch.first_mm < leg.length_mm and stretch.last_mm > 0:
                yield name, max(stretch.first_mm, 0.0), min(stretch.last_mm, leg.length_mm)

    # --- who is in the way ---

    @cached_property
    def other_bodies(self) -> tuple[Body, ...]:
        """Every other piece at the mover's height that is not exempt."""
        left_out = {self.index, *(body.index for body in self.exempt_bodies)}
        others = (body for body in piece_bodies(self.scene) if body.index not in left_out)
        return tuple(body for body in others if self.mover.meets_in_height(body))

    @cached_property
    def enemies(self) -> tuple[Body, ...]:
        """The mover's enemies among them."""
        return tuple(body for body in self.other_bodies if self.mover.is_enemy_of(body))

    @cached_property
    def blockers(self) -> tuple[Body, ...]:
        """The enemies whose sizes keep the mover out of their space."""
        return tuple(enemy for enemy in self.enemies if self._blocks_mover(enemy))

    def _blocks_mover(self, enemy: Body) -> bool:
        return abs(size_of(self.scene, enemy) - size_of(self.scene, self.mover)) < LARGE_SIZE

    @cached_property
    def blocked_by(self) -> Body | None:
        """The first blocker whose space it leads through."""
        return self._first_entered(self.blockers)

    @cached_property
    def passed_enemy(self) -> Body | None:
        """The first enemy whose space it leads through as their sizes allow."""
        return self._first_entered([enemy for enemy in self.enemies if enemy not in self.blockers])

    def _first_entered(self, bodies: Sequence[Body]) -> Body | None:
        for leg in self.legs:
            base = self.shape_at(leg.start_mm)
            entered = []
            for body in bodies:
                along = entry_distance(base, body.parts[0], leg.ux, leg.uy, leg.length_mm)
                if along is not None:
                    entered.append((along, body))
            if entered:
                limit_mm = min(along for along, _ in entered) + CONTACT_TOLERANCE_MM
                return next(body for along, body in entered if along <= limit_mm)
        return None

    def touches_body(self, body: Body) -> bool:
        """Whether the base comes into contact with another anywhere."""
        return any(self._touches_on_leg(leg, body) for leg in self.legs)

    def _touches_on_leg(self, leg: Leg, body: Body) -> bool:
        base, part = self.shape_at(leg.start_mm), body.parts[0]
        radii_mm = base.bounding_radius_mm + part.bounding_radius_mm
        reach_mm = radii_mm + leg.length_mm + CONTACT_TOLERANCE_MM
        if math.dist(base.center, part.center) > reach_mm:
            return False
        contact = contact_interval(base, part, leg.ux, leg.uy)
        if contact is None or contact.last_mm < -CONTACT_TOLERANCE_MM:
            return False
        return contact.first_mm <= leg.length_mm + CONTACT_TOLERANCE_MM

    @cached_property
    def ends_on(self) -> Body | None:
        """The first piece that the base would overlap at its end."""
        base = self.shape_at(self.end_mm)
        return next((body for body in self.other_bodies if overlaps(base, body.parts[0])), None)

    @property
    def is_free(self) -> bool:
        """Whether it leads through nobody and ends on nobody."""
        return self.in_the_way is None

    @property
    def in_the_way(self) -> Body | None:
        """Whoever keeps it from being legal; None where it is free."""
        return self.blocked_by or self.ends_on


def rough_parts(scene: Scene) -> Iterator[tuple[str, Shape]]:
    """Every convex part of rough terrain, with the terrain's id."""
    for terrain in scene.terrain:
        if terrain.rough:
            for part in scene.terrain_parts[terrain.id]:
                yield terrain.id, part
