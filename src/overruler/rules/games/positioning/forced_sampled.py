"""Forced movement for many draws of all places at once: how likely each thing is to stop it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.sweeps import entry_distances, signed_separations
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Point
from overruler.rules.games.positioning.force import Force, TableObject, objects_on_table
from overruler.rules.measure import Body
from overruler.rules.routes import Leg, read_body
from overruler.rules.sampled.routes import (
    Draws,
    bodies_in_reach,
    directions_away_from,
    max_direction_change,
)
from overruler.rules.sampling import answer_probabilities, max_relative_shift_mm
from overruler.units import CONTACT_TOLERANCE_MM

Probabilities = dict[str, float]


def stop_probabilities(force: Force) -> tuple[Probabilities, list[Probabilities]]:
    """The probabilities of what stops all targets together, as a list, and of what stops each."""
    things = objects_on_table(force.scene)
    targets = [things[read_body(force.scene, node).id] for node in force.targets]
    near = _relevant_objects(force, targets, list(things.values()))
    if near == targets and len(targets) == 1:
        return {"[null]": 1.0}, [{"null": 1.0}]
    draws = Draws(force.scene, [force.actor.index, *(thing.body.index for thing in near)])
    shifts = {thing.body.id: draws.for_piece(thing.body.index) for thing in near}
    names = np.array([*(thing.body.id for thing in near), None], object)
    stopped = [names[_stopper_indices(force, target, near, shifts, draws)] for target in targets]
    return answer_probabilities(zip(*stopped, strict=True)), [
        answer_probabilities(each) for each in stopped
    ]


def _relevant_objects(
    force: Force, targets: Sequence[TableObject], things: Sequence[TableObject]
) -> list[TableObject]:
    """The targets and whatever else may come into contact with any of them, in the scene's order."""
    met = {target.body.id for target in targets}
    for target, node in zip(targets, force.targets, strict=True):
        if (left := force.remaining_mm(target.body)) > 0:
            met |= {
                body.id
                for body in _bodies_that_may_stop(
                    force, target, force.direction_for(target, node), left, things
                )
            }
    return [thing for thing in things if thing.body.id in met]


def _bodies_that_may_stop(
    force: Force, target: TableObject, line: Point, left_mm: float, things: Sequence[TableObject]
) -> list[Body]:
    """What may stop one target, were its line turned and everything displaced as far as can be."""
    scene, index = force.scene, target.body.index
    others = [thing.body for thing in things if thing.body.id != target.body.id]
    slack = max(
        (max_relative_shift_mm(scene, index, body.index) for body in others if body.index != index),
        default=0.0,
    )
    if force.direction is None:
        slack += left_mm * max_direction_change(scene, index, target.center, force.actor)
    legs = [(part, Leg(part.center, *line, left_mm)) for part in target.body.parts]
    return [body for part, leg in legs for body in bodies_in_reach(part, others, leg, slack)]


def _stopper_indices(
    force: Force,
    target: TableObject,
    near: Sequence[TableObject],
    shifts: dict[str, Array],
    draws: Draws,
) -> Any:
    """Which (n,) of `near` stops a target, the one past the last where nothing does; moves it in `shifts`."""
    left, here = force.remaining_mm(target.body), shifts[target.body.id]
    if left == 0:
        return np.full(len(draws), len(near))
    u = _force_directions(force, target, here, draws)
    stops = np.array(
        [_stop_distances(target, other, shifts[other.body.id] - here, u) for other in near]
    )
    first = stops.min(0)
    shifts[target.body.id] = here + u * np.minimum(first, left)[:, None]
    return np.where(
        first <= left + CONTACT_TOLERANCE_MM,
        (stops <= first + CONTACT_TOLERANCE_MM).argmax(0),
        len(near),
    )


def _force_directions(force: Force, target: TableObject, here: Array, draws: Draws) -> Array:
    if force.direction:
        return np.broadcast_to(force.direction, here.shape)
    away = directions_away_from(
        force.actor, target.center, here - draws.for_piece(force.actor.index)
    )
    return away if force.kind == "push" else -away


def _stop_distances(target: TableObject, other: TableObject, apart: Array, u: Array) -> Array:
    """How far (n,) a target gets before another thing stops it; inf where it does not."""
    if target.body.id == other.body.id:
        return np.full(len(apart), np.inf)
    met = [entry_distances(p, q, apart, u) for p in target.body.parts for q in other.body.parts]
    on = _is_on_terrain(target, other, -apart) | _is_on_terrain(other, target, apart)
    return np.asarray(np.where(on, np.inf, np.min(met, 0)))


def _is_on_terrain(upper: TableObject, lower: TableObject, apart: Array) -> NDArray[np.bool_]:
    """Whether (n,) the middle of the one, displaced by `apart`, lies in the other, a terrain."""
    if lower.body.index is not None:
        return np.zeros(len(apart), bool)
    held = [
        signed_separations(part, Disc(upper.center), apart)[0] <= 0 for part in lower.body.parts
    ]
    return np.asarray(np.any(held, 0))
