"""Routes over a table in n draws of all places at once: how likely they are to be legal.

A path stays where it is on the board. Its start, and all that may be in the way, is displaced.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from overruler.geometry import sweep
from overruler.geometry.batched.distances import vector_lengths
from overruler.geometry.batched.sweeps import (
    contact_intervals,
    signed_separations,
)
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Point, Shape
from overruler.geometry.tangents import signed_gap_mm
from overruler.rules.bodies import Body
from overruler.rules.measure import gap_between
from overruler.rules.routes import Leg, Route, legs_through, piece_position, rough_parts
from overruler.rules.sampled.drawn_legs import (
    DrawnLegs,
    Draws,
    bodies_in_reach,
    ends_on_body,
    leads_through,
    max_shift_mm,
)
from overruler.rules.sampled.entering import drawn_first_contacts_mm
from overruler.rules.sampling import max_relative_shift_mm
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

MIN_LENGTH_MM = 1e-9
"""A shorter vector has no direction."""


def _blockers_among(route: Route, bodies: Iterable[Body]) -> list[Body]:
    return [body for body in bodies if body in route.blockers]


# --- a path ---


class _PathNeighbours(NamedTuple):
    """Everything that may matter to a move along a path."""

    rough: list[Body]
    """Rough ground on the first leg, whose start is displaced."""
    on_first_leg: list[Body]
    """Blockers on the first leg."""
    on_legs: list[list[Body]]
    """Blockers on each of the other legs."""
    under_end: list[Body]
    """Pieces that may stand where it ends."""

    @property
    def bodies(self) -> list[Body]:
        """All pieces among them."""
        on_legs = [body for bodies in self.on_legs for body in bodies]
        return [*self.on_first_leg, *on_legs, *self.under_end]


def move_probability(route: Route, points: Sequence[Point], allowance_mm: float) -> float:
    """The probability that a move is legal, from wherever its piece stands through `points`."""
    scene, index = route.scene, route.index
    first, rest = _first_leg(route, points[0]), legs_through(points)
    end = Leg(points[-1], 1.0, 0.0, 0.0)
    near = _path_neighbours(route, first, rest, end)
    spare_mm = allowance_mm - route.cost_mm
    start_shift_mm = max_relative_shift_mm(scene, None, index)
    if not near.rough and abs(spare_mm) > start_shift_mm + CONTACT_TOLERANCE_MM:
        if spare_mm < 0:
            return 0.0
        if not near.bodies:
            return 1.0
    draws = Draws(scene, [index, *(body.index for body in near.bodies)])
    start = _displaced_first_leg(route, first, points[0], draws)
    rough_mm = _rough_lengths_mm(start, near.rough)
    cost = start.length_mm + rough_mm + Route(scene, index, rest).cost_mm
    stopped = leads_through(start, near.on_first_leg, draws)
    stopped |= ends_on_body(_fixed_leg(route, end, draws), near.under_end, draws)
    for leg, bodies in zip(rest, near.on_legs, strict=True):
        stopped |= leads_through(_fixed_leg(route, leg, draws), bodies, draws)
    affordable = cost <= allowance_mm + CONTACT_TOLERANCE_MM
    return float(np.mean(~stopped & affordable))


def _path_neighbours(route: Route, first: Leg, rest: Sequence[Leg], end: Leg) -> _PathNeighbours:
    start_shift_mm = max_relative_shift_mm(route.scene, None, route.index)
    shift_mm = max_shift_mm(route.scene, None, route.other_bodies)
    base = route.shape_at(first.start_mm)
    return _PathNeighbours(
        _rough_bodies(route.scene, base, first, start_shift_mm),
        bodies_in_reach(base, route.blockers, first, start_shift_mm + shift_mm),
        [
            bodies_in_reach(route.shape_at(leg.start_mm), route.blockers, leg, shift_mm)
            for leg in rest
        ],
        bodies_in_reach(route.shape_at(end.start_mm), route.other_bodies, end, shift_mm),
    )


def _rough_bodies(scene: Scene, base: Shape, leg: Leg, slack_mm: float) -> list[Body]:
    """The convex parts of rough ground that a base on a leg may touch."""
    rough = [Body(name, (part,)) for name, part in rough_parts(scene)]
    return bodies_in_reach(base, rough, leg, slack_mm)


def _first_leg(route: Route, to: Point) -> Leg:
    """The leg to a path's first point, which may have no length."""
    start = piece_position(route.scene, route.index)
    return next(iter(legs_through([start, to])), Leg(start, 1.0, 0.0, 0.0))


def _displaced_first_leg(route: Route, first: Leg, to: Point, draws: Draws) -> DrawnLegs:
    """The first leg: its start is displaced, its end is not."""
    shift = draws.for_piece(route.index)
    line = np.subtract(to, first.start_mm) - shift
    length = vector_lengths(line)
    direction = line / np.maximum(length, MIN_LENGTH_MM)[:, None]
    u = np.where((length > MIN_LENGTH_MM)[:, None], direction, [1.0, 0.0])
    return DrawnLegs(route.shape_at(first.start_mm), shift, u, length)


def _fixed_leg(route: Route, leg: Leg, draws: Draws) -> DrawnLegs:
    """A leg that stays where it is."""
    count = len(draws)
    u = np.broadcast_to([leg.ux, leg.uy], (count, 2))
    length_mm = np.full(count, leg.length_mm)
    return DrawnLegs(route.shape_at(leg.start_mm), np.zeros((count, 2)), u, length_mm)


def _rough_lengths_mm(legs: DrawnLegs, bodies: Sequence[Body]) -> Array:
    """The length (n,) of a leg over which the base touches rough ground."""
    total, reached = np.zeros(len(legs.shift)), np.zeros(len(legs.shift))
    for first, last in _rough_stretches(legs, bodies):
        total += np.maximum(last - np.maximum(first, reached), 0)
        reached = np.maximum(reached, last)
    return total


def _rough_stretches(legs: DrawnLegs, bodies: Sequence[Body]) -> Array:
    """The stretches (m, 2, n) of a leg on which the base touches rough ground, the first first."""
    if not bodies:
        return np.zeros((0, 2, len(legs.shift)))
    stretches = np.array(
        [contact_intervals(legs.base, body.parts[0], -legs.shift, legs.u) for body in bodies]
    )
    order = np.argsort(stretches[:, 0], 0)
    return np.take_along_axis(stretches, order[:, None], 0).clip(0, legs.length_mm)


def _spent_at_mm(legs: DrawnLegs, rough: Sequence[Body]) -> Array:
    """How far (n,) along a leg its length is spent, rough ground counting twice."""
    budget, along = legs.length_mm.copy(), np.zeros(len(legs.shift))
    for first, last in _rough_stretches(legs, rough):
        free = np.minimum(np.maximum(first - along, 0), budget)
        budget, along = budget - free, along + free
        doubled = np.minimum(2 * np.maximum(last - along, 0), budget)
        budget, along = budget - doubled, along + doubled / 2
    return along + budget


# --- a straight line ---


def advance_probability(route: Route, direction: Point, most_mm: float) -> float:
    """The probability that an advance along a direction is legal."""
    scene, index = route.scene, route.index
    target, base = route.exempt_bodies[0], route.mover.parts[0]
    leg = Leg(base.center, *direction, most_mm)
    slack_mm = max_relative_shift_mm(scene, index, target.index)
    meets = _surely_meets(base, target, direction, slack_mm)
    if meets is False:
        return 0.0
    shift_mm = max_shift_mm(scene, index, route.other_bodies)
    near = bodies_in_reach(base, route.other_bodies, leg, shift_mm)
    if meets and not near:
        return 1.0
    rough = _rough_bodies(scene, base, leg, max_relative_shift_mm(scene, None, index))
    draws = Draws(scene, [index, target.index, *(body.index for body in near)])
    shift = draws.for_piece(target.index) - draws.for_piece(index)
    u = np.broadcast_to(direction, (len(draws), 2))
    contact_mm = drawn_first_contacts_mm(route.mover, target, shift, u)
    longest = DrawnLegs(base, draws.for_piece(index), u, np.full(len(draws), most_mm))
    length_mm = _spent_at_mm(longest, rough)
    if route.mover.meets_in_height(target):
        length_mm = np.minimum(contact_mm, length_mm)
    legs = longest._replace(length_mm=length_mm)
    through = leads_through(legs, _blockers_among(route, near), draws)
    ends_on = ends_on_body(legs, near, draws)
    return float(np.mean(np.isfinite(contact_mm) & ~through & ~ends_on))


def _surely_meets(base: Shape, target: Body, direction: Point, slack_mm: float) -> bool | None:
    """Whether a line meets a target displaced by up to `slack_mm`; None where it may or may not."""
    overlaps_mm = [sweep.lateral_overlap_mm(base, part, *direction) for part in target.parts]
    sure_mm = slack_mm + CONTACT_TOLERANCE_MM
    if max(overlaps_mm) < -slack_mm - CONTACT_TOLERANCE_MM:
        return False
    if len(target.parts) > 1 or overlaps_mm[0] <= sure_mm:
        return None
    if signed_gap_mm(base, target.parts[0]) <= sure_mm:
        return None
    contact = sweep.contact_interval(base, target.parts[0], *direction)
    return contact is not None and contact.first_mm > 0


def retreat_probability(route: Route, direction: Point, most_mm: float) -> float:
    """The probability that a retreat is legal; `direction` is as measured."""
    scene, index = route.scene, route.index
    target, base = route.exempt_bodies[0], route.mover.parts[0]
    from_target = Route(scene, index, route.legs, (target,))
    turn = max_direction_change(scene, index, base.center, target)
    slack_mm = max_shift_mm(scene, index, from_target.other_bodies) + most_mm * turn
    leg = Leg(base.center, *direction, most_mm)
    near = bodies_in_reach(base, from_target.other_bodies, leg, slack_mm)
    if not near:
        return 1.0
    draws = Draws(scene, [index, target.index, *(body.index for body in near)])
    shift = draws.for_piece(index)
    u = directions_away_from(target, base.center, shift - draws.for_piece(target.index))
    rough = _rough_bodies(scene, base, leg, slack_mm + max_relative_shift_mm(scene, None, index))
    longest = DrawnLegs(base, shift, u, np.full(len(draws), most_mm))
    legs = longest._replace(length_mm=_spent_at_mm(longest, rough))
    through = leads_through(legs, _blockers_among(from_target, near), draws)
    ends_on = ends_on_body(legs, near, draws, leaving=True)
    return float(np.mean(~through & ~ends_on))


def max_direction_change(scene: Scene, index: int | None, center: Point, target: Body) -> float:
    """The largest error of the direction away from a target, as a length on the unit circle."""
    distance = gap_between(target, Body("", (Disc(center),))).distance_mm
    reach = max_relative_shift_mm(scene, index, target.index)
    return 2 * reach / distance if distance > 2 * reach else 2.0


def directions_away_from(target: Body, center: Point, shift: Array) -> Array:
    """The unit directions (n, 2) from a body's nearest point to a point displaced by `shift`."""
    by_part = [signed_separations(part, Disc(center), shift) for part in target.parts]
    nearest = np.argmin([separation for separation, _ in by_part], 0)
    directions = np.array([u for _, u in by_part])
    return np.asarray(np.take_along_axis(directions, nearest[None, :, None], 0)[0])


def place_probability(route: Route, place: Point) -> float:
    """The probability that nobody stands where a piece is to be placed."""
    scene, others = route.scene, route.other_bodies
    leg = Leg(place, 1.0, 0.0, 0.0)
    shift_mm = max_shift_mm(scene, None, others)
    near = bodies_in_reach(route.shape_at(place), others, leg, shift_mm)
    if not near:
        return 1.0
    draws = Draws(scene, [body.index for body in near])
    return float(np.mean(~ends_on_body(_fixed_leg(route, leg, draws), near, draws)))


def terrain_place_probability(scene: Scene, placed: Body, others: Sequence[Body]) -> float:
    """The probability that nobody stands where a terrain is to be placed."""
    leg = Leg((0.0, 0.0), 1.0, 0.0, 0.0)
    shift_mm = max_shift_mm(scene, None, others)
    parts = [(part, bodies_in_reach(part, others, leg, shift_mm)) for part in placed.parts]
    draws = Draws(scene, [body.index for _, near in parts for body in near])
    zeros = np.zeros((len(draws), 2))
    covered = np.zeros(len(draws), bool)
    for part, near in parts:
        covered |= ends_on_body(DrawnLegs(part, zeros, zeros, zeros[:, 0]), near, draws)
    return float(np.mean(~covered))
