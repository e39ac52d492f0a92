"""Ways over a table for many draws of all places at once: how likely they are to be legal.

A path stays where it is on the board; where it begins, and everything that may be in the way, is displaced. n draws.
"""

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.geometry import sweep
from overruler.geometry.batched.distances import vector_lengths
from overruler.geometry.batched.sweeps import (
    contact_intervals,
    entry_distances,
    first_contact_distances,
    overlap_mask,
    signed_separations,
)
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Point, Shape
from overruler.rules.measure import Body, gap_between
from overruler.rules.routes import Leg, Route, legs_through, rough_parts
from overruler.rules.sampling import draw_displacements, max_relative_shift_mm
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

DRAW_COUNT = 16384
"""Draws enough for 0.005 in a probability, however many pieces matter."""
BoolArray = NDArray[np.bool_]


class Draws:
    """Displacements (n, 2) of those pieces that may matter."""

    def __init__(self, scene: Scene, indices: Iterable[int | None]) -> None:
        self.indices = sorted({index for index in indices if index is not None})
        self.places = draw_displacements(
            scene, self.indices, None if len(self.indices) <= 2 else DRAW_COUNT
        )

    def __len__(self) -> int:
        return len(self.places)

    def for_piece(self, index: int | None) -> Array:
        """Those of one; 0 for terrain, which stays, and for who does not matter."""
        if index not in self.indices:
            return np.zeros((len(self), 2))
        return np.asarray(self.places[:, self.indices.index(index)])


class DrawnLegs(NamedTuple):
    """One leg of a way in every draw."""

    base: Shape
    """Its mover as it begins, as measured."""
    shift: Array
    """How much (n, 2) that is displaced."""
    u: Array
    """Its directions (n, 2)."""
    length_mm: Array
    """(n,)"""


def bodies_in_reach(base: Shape, others: Iterable[Body], leg: Leg, slack: float) -> list[Body]:
    """Those whom a base on a leg can meet, were anything displaced by `slack` mm against anything else."""
    return [
        body for body in others if any(_can_meet(base, part, leg, slack) for part in body.parts)
    ]


def _can_meet(base: Shape, part: Shape, leg: Leg, slack: float) -> bool:
    x, y = part.center[0] - base.center[0], part.center[1] - base.center[1]
    along, reach = (
        x * leg.ux + y * leg.uy,
        base.bounding_radius_mm + part.bounding_radius_mm + slack + CONTACT_TOLERANCE_MM,
    )
    if not -reach <= along <= leg.length_mm + reach:
        return False
    return sweep.lateral_overlap_mm(base, part, leg.ux, leg.uy) >= -slack - CONTACT_TOLERANCE_MM


def _max_shift_mm(scene: Scene, index: int | None, bodies: Sequence[Body]) -> float:
    """How far any of some bodies can be displaced against a piece, or against the board."""
    return max(
        (max_relative_shift_mm(scene, index, body.index) for body in bodies if body.index != index),
        default=0.0,
    )


# --- who is in the way ---


def leads_through(
    legs: DrawnLegs, bodies: Iterable[Body], draws: Draws, leaving: bool = False
) -> BoolArray:
    """Whether a leg leads through any of some bodies; not, `leaving`, through one that it begins in contact with."""
    found = np.zeros(len(draws), bool)
    for body in bodies:
        for part in body.parts:
            met = entry_distances(
                legs.base, part, draws.for_piece(body.index) - legs.shift, legs.u, legs.length_mm
            )
            found |= np.isfinite(met) & ~(leaving & (met == 0))
    return found


def ends_on_body(
    legs: DrawnLegs, bodies: Iterable[Body], draws: Draws, leaving: bool = False
) -> BoolArray:
    """Whether a leg ends on any of some bodies; not, `leaving`, on one that it begins in contact with."""
    found, on = np.zeros(len(draws), bool), legs.u * np.asarray(legs.length_mm)[..., None]
    for body in bodies:
        for part in body.parts:
            apart = draws.for_piece(body.index) - legs.shift
            under = overlap_mask(legs.base, part, apart - on)
            if leaving and under.any():
                under[under] = (
                    signed_separations(legs.base, part, apart[under])[0] > CONTACT_TOLERANCE_MM
                )
            found |= under
    return found


# --- a path ---


def move_probability(way: Route, points: Sequence[Point], allowance_mm: float) -> float:
    """The probability that a move from wherever its piece stands through `points` of the board is legal."""
    scene, index = way.scene, way.index
    loose, slack = (
        max_relative_shift_mm(scene, None, index),
        _max_shift_mm(scene, None, way.other_bodies),
    )
    first, rest = _first_leg(way, points[0]), legs_through(points)
    end = Leg(points[-1], 1.0, 0.0, 0.0)
    rough = bodies_in_reach(way.shape_at(first.start_mm), rough_bodies(scene), first, loose)
    met_first = bodies_in_reach(way.shape_at(first.start_mm), way.blockers, first, loose + slack)
    met = [bodies_in_reach(way.shape_at(leg.start_mm), way.blockers, leg, slack) for leg in rest]
    under = bodies_in_reach(way.shape_at(end.start_mm), way.other_bodies, end, slack)
    spare = allowance_mm - way.cost_mm
    if not rough and abs(spare) > loose + CONTACT_TOLERANCE_MM:
        if spare < 0:
            return 0.0
        if not any((met_first, *met, under)):
            return 1.0
    draws = Draws(
        scene, [index, *(body.index for body in (*met_first, *itertools.chain(*met), *under))]
    )
    start = _displaced_first_leg(way, first, points[0], draws)
    cost = start.length_mm + _rough_length_mm(start, rough) + Route(scene, index, rest).cost_mm
    stopped = leads_through(start, met_first, draws) | ends_on_body(
        _fixed_leg(way, end, draws), under, draws
    )
    for leg, bodies in zip(rest, met, strict=True):
        stopped |= leads_through(_fixed_leg(way, leg, draws), bodies, draws)
    return float(np.mean(~stopped & (cost <= allowance_mm + CONTACT_TOLERANCE_MM)))


def _first_leg(way: Route, to: Point) -> Leg:
    """The leg to a path's first point, which may have no length."""
    found = way.scene.pieces[way.index]
    start = (found.x_mm, found.y_mm)
    return next(iter(legs_through([start, to])), Leg(start, 1.0, 0.0, 0.0))


def _displaced_first_leg(way: Route, first: Leg, to: Point, draws: Draws) -> DrawnLegs:
    """The first leg: its start is displaced, its end is not."""
    shift = draws.for_piece(way.index)
    line = np.subtract(to, first.start_mm) - shift
    length = vector_lengths(line)
    u = np.where((length > 1e-9)[:, None], line / np.maximum(length, 1e-9)[:, None], [1.0, 0.0])
    return DrawnLegs(way.shape_at(first.start_mm), shift, u, length)


def _fixed_leg(way: Route, leg: Leg, draws: Draws) -> DrawnLegs:
    """A leg that stays where it is."""
    count = len(draws)
    u = np.broadcast_to([leg.ux, leg.uy], (count, 2))
    return DrawnLegs(
        way.shape_at(leg.start_mm), np.zeros((count, 2)), u, np.full(count, leg.length_mm)
    )


def rough_bodies(scene: Scene) -> list[Body]:
    return [Body(name, (part,)) for name, part in rough_parts(scene)]


def _rough_length_mm(legs: DrawnLegs, bodies: Sequence[Body]) -> Array:
    """How much (n,) of a leg the base touches rough ground on."""
    total, reached = np.zeros(len(legs.shift)), np.zeros(len(legs.shift))
    if not bodies:
        return total
    met = np.array(
        [contact_intervals(legs.base, body.parts[0], -legs.shift, legs.u) for body in bodies]
    )
    order = np.argsort(met[:, 0], 0)
    for first, last in np.take_along_axis(met, order[:, None], 0).clip(0, legs.length_mm):
        total += np.maximum(last - np.maximum(first, reached), 0)
        reached = np.maximum(reached, last)
    return total


# --- a straight line ---


def advance_probability(way: Route, line: Point, most_mm: float) -> float:
    """The probability that an advance along a direction is legal."""
    scene, index, target, base = way.scene, way.index, way.exempt_bodies[0], way.mover.parts[0]
    leg = Leg(base.center, *line, most_mm)
    slack = max_relative_shift_mm(scene, index, target.index)
    sure = _surely_meets(base, target, line, slack)
    if sure is False:
        return 0.0
    near = bodies_in_reach(
        base, way.other_bodies, leg, _max_shift_mm(scene, index, way.other_bodies)
    )
    if sure and not near:
        return 1.0
    draws = Draws(scene, [index, target.index, *(body.index for body in near)])
    apart, u = (
        draws.for_piece(target.index) - draws.for_piece(index),
        np.broadcast_to(line, (len(draws), 2)),
    )
    met = np.min([first_contact_distances(base, part, apart, u) for part in target.parts], 0)
    legs = DrawnLegs(base, draws.for_piece(index), u, np.minimum(met, most_mm))
    blockers = [body for body in near if body in way.blockers]
    return float(
        np.mean(
            np.isfinite(met)
            & ~leads_through(legs, blockers, draws)
            & ~ends_on_body(legs, near, draws)
        )
    )


def _surely_meets(base: Shape, target: Body, line: Point, slack: float) -> bool | None:
    """Whether a line meets a target, were that displaced by `slack` any way; None where it may or may not."""
    beside = [sweep.lateral_overlap_mm(base, part, *line) for part in target.parts]
    if max(beside) < -slack - CONTACT_TOLERANCE_MM:
        return False
    sure = slack + CONTACT_TOLERANCE_MM
    if (
        len(target.parts) > 1
        or beside[0] <= sure
        or sweep.signed_separation(base, target.parts[0]) <= sure
    ):
        return None
    met = sweep.contact_interval(base, target.parts[0], *line)
    return met is not None and met.first_mm > 0


def retreat_probability(way: Route, line: Point, most_mm: float) -> float:
    """The probability that a retreat is legal; `line` is its direction as measured."""
    scene, index, target, base = way.scene, way.index, way.exempt_bodies[0], way.mover.parts[0]
    open_way = Route(scene, index, way.legs, (target,))
    slack = _max_shift_mm(scene, index, open_way.other_bodies) + most_mm * max_direction_change(
        scene, index, base.center, target
    )
    near = bodies_in_reach(base, open_way.other_bodies, Leg(base.center, *line, most_mm), slack)
    if not near:
        return 1.0
    draws = Draws(scene, [index, target.index, *(body.index for body in near)])
    u = directions_away_from(
        target, base.center, draws.for_piece(index) - draws.for_piece(target.index)
    )
    legs = DrawnLegs(base, draws.for_piece(index), u, np.full(len(draws), most_mm))
    blockers = [body for body in near if body in open_way.blockers]
    return float(
        np.mean(
            ~leads_through(legs, blockers, draws, True) & ~ends_on_body(legs, near, draws, True)
        )
    )


def max_direction_change(scene: Scene, index: int | None, middle: Point, target: Body) -> float:
    """How far, as a length on the unit circle, the direction away from a target can be off."""
    apart = gap_between(target, Body("", (Disc(middle),))).distance_mm
    reach = max_relative_shift_mm(scene, index, target.index)
    return 2 * reach / apart if apart > 2 * reach else 2.0


def directions_away_from(target: Body, middle: Point, apart: Array) -> Array:
    """The unit directions (n, 2) from a body's nearest point to a point that is displaced by `apart` (n, 2)."""
    found = [signed_separations(part, Disc(middle), apart) for part in target.parts]
    nearest = np.argmin([away for away, _ in found], 0)
    return np.asarray(
        np.take_along_axis(np.array([u for _, u in found]), nearest[None, :, None], 0)[0]
    )


def place_probability(way: Route, at: Point) -> float:
    """The probability that nobody stands where a piece is to be placed."""
    leg = Leg(at, 1.0, 0.0, 0.0)
    near = bodies_in_reach(
        way.shape_at(at), way.other_bodies, leg, _max_shift_mm(way.scene, None, way.other_bodies)
    )
    if not near:
        return 1.0
    draws = Draws(way.scene, [body.index for body in near])
    return float(np.mean(~ends_on_body(_fixed_leg(way, leg, draws), near, draws)))
