"""Forced movement over n draws of all places at once: how likely each object is to stop it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.sweeps import signed_separations
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Point
from overruler.reading import Node
from overruler.rules.bodies import Body, body_named
from overruler.rules.games.positioning.force import Force, TableObject, objects_on_table
from overruler.rules.routes import Leg
from overruler.rules.sampled.drawn_legs import Draws, bodies_in_reach
from overruler.rules.sampled.entering import drawn_entries_mm
from overruler.rules.sampled.routes import directions_away_from, max_direction_change
from overruler.rules.sampling import answer_probabilities, max_relative_shift_mm
from overruler.units import CONTACT_TOLERANCE_MM

Probabilities = dict[str, float]
"""By the JSON text of what stops a target."""


def stop_probabilities(force: Force) -> tuple[Probabilities, list[Probabilities]]:
    """The probabilities of what stops all targets together, as a list, and of what stops each."""
    objects = objects_on_table(force.scene)
    targets = [objects[body_named(force.scene, node).id] for node in force.targets]
    near = _relevant_objects(force, targets, list(objects.values()))
    if near == targets and len(targets) == 1:
        return {"[null]": 1.0}, [{"null": 1.0}]
    draws = Draws(force.scene, [force.actor.index, *(other.body.index for other in near)])
    shifts = {other.body.id: draws.for_piece(other.body.index) for other in near}
    names = np.array([*(other.body.id for other in near), None], object)
    stoppers = [
        names[_stopper_indices(force, target, node, near, shifts, draws)]
        for target, node in zip(targets, force.targets, strict=True)
    ]
    together = answer_probabilities(zip(*stoppers, strict=True))
    return together, [answer_probabilities(stopper) for stopper in stoppers]


def _relevant_objects(
    force: Force, targets: Sequence[TableObject], objects: Sequence[TableObject]
) -> list[TableObject]:
    """The targets and whatever may come into contact with any of them, in the scene's order."""
    relevant = {target.body.id for target in targets}
    for target, node in zip(targets, force.targets, strict=True):
        remaining_mm = force.remaining_mm(target.body)
        if remaining_mm > 0:
            direction = force.direction_for(target, node)
            stoppers = _bodies_that_may_stop(force, target, direction, remaining_mm, objects)
            relevant |= {body.id for body in stoppers}
    return [other for other in objects if other.body.id in relevant]


def _bodies_that_may_stop(
    force: Force,
    target: TableObject,
    direction: Point,
    remaining_mm: float,
    objects: Sequence[TableObject],
) -> list[Body]:
    """The bodies that may stop one target, whatever its direction and all places may be instead."""
    scene, index = force.scene, target.body.index
    others = [
        other.body
        for other in objects
        if other.body.id != target.body.id and other.is_in_the_way_of(target)
    ]
    shifts = [
        max_relative_shift_mm(scene, index, body.index) for body in others if body.index != index
    ]
    slack_mm = max(shifts, default=0.0)
    if not force.directions:
        turn = max_direction_change(scene, index, target.center, force.actor)
        slack_mm += remaining_mm * turn
    bodies = []
    for part in target.body.parts:
        leg = Leg(part.center, *direction, remaining_mm)
        bodies += bodies_in_reach(part, others, leg, slack_mm)
    return bodies


def _stopper_indices(
    force: Force,
    target: TableObject,
    node: Node,
    near: Sequence[TableObject],
    shifts: dict[str, Array],
    draws: Draws,
) -> NDArray[np.intp]:
    """The index in `near` (n,) of what stops a target, its length for nothing; moves `shifts`."""
    remaining_mm, start = force.remaining_mm(target.body), shifts[target.body.id]
    if remaining_mm == 0:
        return np.full(len(draws), len(near))
    u = _force_directions(force, target, node, start, draws)
    stops = np.array(
        [_stop_distances(target, other, shifts[other.body.id] - start, u) for other in near]
    )
    first = stops.min(0)
    shifts[target.body.id] = start + u * np.minimum(first, remaining_mm)[:, None]
    stopper = (stops <= first + CONTACT_TOLERANCE_MM).argmax(0)
    return np.where(first <= remaining_mm + CONTACT_TOLERANCE_MM, stopper, len(near))


def _force_directions(
    force: Force, target: TableObject, node: Node, shift: Array, draws: Draws
) -> Array:
    """The unit directions (n, 2) in which a target displaced by `shift` (n, 2) is forced."""
    if force.directions:
        return np.broadcast_to(force.direction_for(target, node), shift.shape)
    actor_shift = draws.for_piece(force.actor.index)
    away = directions_away_from(force.actor, target.center, shift - actor_shift)
    return away if force.kind == "push" else -away


def _stop_distances(target: TableObject, other: TableObject, shift: Array, u: Array) -> Array:
    """How far (n,) a target gets before an object displaced by `shift` stops it, or inf."""
    if target.body.id == other.body.id or not target.is_in_the_way_of(other):
        return np.full(len(shift), np.inf)
    entries = drawn_entries_mm(target.body, other.body, shift, u)
    stands_on = _is_on_terrain(target, other, -shift) | _is_on_terrain(other, target, shift)
    return np.asarray(np.where(stands_on, np.inf, entries))


def _is_on_terrain(upper: TableObject, lower: TableObject, shift: Array) -> NDArray[np.bool_]:
    """Whether (n,) the centre of the one, displaced by `shift`, lies in the other, a terrain."""
    if lower.body.index is not None:
        return np.zeros(len(shift), bool)
    inside = [
        signed_separations(part, Disc(upper.center), shift)[0] <= 0 for part in lower.body.parts
    ]
    return np.asarray(np.any(inside, 0))
