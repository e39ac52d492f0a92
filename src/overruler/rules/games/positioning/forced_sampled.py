"""Forced movement for many draws of all places at once: how likely each thing is to stop it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.sweeps import entered, separations
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Point
from overruler.rules.games.positioning.force import Force, Thing, everything
from overruler.rules.measure import Body
from overruler.rules.sampled.ways import Draws, away_from, in_reach, turn_of
from overruler.rules.sampling import odds, reach_mm
from overruler.rules.ways import Leg, one
from overruler.units import TOUCH_MM

Odds = dict[str, float]


def chances(force: Force) -> tuple[Odds, list[Odds]]:
    """The probabilities of what stops all targets together, as a list, and of what stops each."""
    things = everything(force.scene)
    targets = [things[one(force.scene, node).id] for node in force.targets]
    near = _near(force, targets, list(things.values()))
    if near == targets and len(targets) == 1:
        return {"[null]": 1.0}, [{"null": 1.0}]
    draws = Draws(force.scene, [force.actor.index, *(thing.body.index for thing in near)])
    shifts = {thing.body.id: draws.of(thing.body.index) for thing in near}
    names = np.array([*(thing.body.id for thing in near), None], object)
    stopped = [names[_stopped(force, target, near, shifts, draws)] for target in targets]
    return odds(zip(*stopped, strict=True)), [odds(each) for each in stopped]


def _near(force: Force, targets: Sequence[Thing], things: Sequence[Thing]) -> list[Thing]:
    """The targets and whatever else may come into contact with any of them, in the scene's order."""
    met = {target.body.id for target in targets}
    for target, node in zip(targets, force.targets, strict=True):
        if (left := force.left_mm(target.body)) > 0:
            met |= {body.id for body in _in_reach(force, target, force.line(target, node), left, things)}
    return [thing for thing in things if thing.body.id in met]


def _in_reach(force: Force, target: Thing, line: Point, left_mm: float, things: Sequence[Thing]) -> list[Body]:
    """What may stop one target, were its line turned and everything displaced as far as can be."""
    scene, index = force.scene, target.body.index
    others = [thing.body for thing in things if thing.body.id != target.body.id]
    slack = max((reach_mm(scene, index, body.index) for body in others if body.index != index), default=0.0)
    if force.towards is None:
        slack += left_mm * turn_of(scene, index, target.middle, force.actor)
    legs = [(part, Leg(part.center, *line, left_mm)) for part in target.body.parts]
    return [body for part, leg in legs for body in in_reach(part, others, leg, slack)]


def _stopped(force: Force, target: Thing, near: Sequence[Thing], shifts: dict[str, Array], draws: Draws) -> Any:
    """Which (n,) of `near` stops a target, the one past the last where nothing does; moves it in `shifts`."""
    left, here = force.left_mm(target.body), shifts[target.body.id]
    if left == 0:
        return np.full(len(draws), len(near))
    u = _lines(force, target, here, draws)
    stops = np.array([_stops(target, other, shifts[other.body.id] - here, u) for other in near])
    first = stops.min(0)
    shifts[target.body.id] = here + u * np.minimum(first, left)[:, None]
    return np.where(first <= left + TOUCH_MM, (stops <= first + TOUCH_MM).argmax(0), len(near))


def _lines(force: Force, target: Thing, here: Array, draws: Draws) -> Array:
    if force.towards:
        return np.broadcast_to(force.towards, here.shape)
    away = away_from(force.actor, target.middle, here - draws.of(force.actor.index))
    return away if force.kind == "push" else -away


def _stops(target: Thing, other: Thing, apart: Array, u: Array) -> Array:
    """How far (n,) a target gets before another thing stops it; inf where it does not."""
    if target.body.id == other.body.id:
        return np.full(len(apart), np.inf)
    met = [entered(p, q, apart, u) for p in target.body.parts for q in other.body.parts]
    on = _on(target, other, -apart) | _on(other, target, apart)
    return np.asarray(np.where(on, np.inf, np.min(met, 0)))


def _on(upper: Thing, lower: Thing, apart: Array) -> NDArray[np.bool_]:
    """Whether (n,) the middle of the one, displaced by `apart`, lies in the other, a terrain."""
    if lower.body.index is not None:
        return np.zeros(len(apart), bool)
    held = [separations(part, Disc(upper.middle), apart)[0] <= 0 for part in lower.body.parts]
    return np.asarray(np.any(held, 0))
