"""Forced movement: push, pull and reposition, less what the target resists, up to what stops it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from overruler.geometry.shapes import Disc, Point
from overruler.geometry.sweep import contact_interval
from overruler.reading import Node
from overruler.rules.bodies import Body, body_named
from overruler.rules.clauses import clauses_that_hold
from overruler.rules.games.positioning.entering import entry_mm
from overruler.rules.games.positioning.force import Force, TableObject, objects_on_table
from overruler.rules.measure import gap_between
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM, inches_from_mm
from overruler.verdict import Verdict

# --- one target ---


@dataclass(frozen=True, slots=True)
class ForcedMove:
    """The move of one target."""

    id: str
    distance_mm: float
    """The distance that the target does not resist."""
    moved_mm: float
    end_mm: Point
    """Where its centre ends."""
    stopped_by: str | None
    """The id of what stops it."""
    rules: tuple[str, ...]
    """The clauses that it rests on."""

    @property
    def fails(self) -> bool:
        """Whether the target resists all of it."""
        return self.distance_mm == 0

    def to_json(self) -> dict[str, Any]:
        return {
            "distance_in": inches_from_mm(self.distance_mm),
            "moved_in": inches_from_mm(self.moved_mm),
            "end_mm": list(self.end_mm),
            "stopped_by": self.stopped_by,
            "fails": self.fails,
        }

    @property
    def summary_text(self) -> str:
        """The move in a few words."""
        if self.fails:
            return f"{self.id} resists all of it"
        stopped = f", stopped by {self.stopped_by}" if self.stopped_by else ""
        return f'{self.id} is moved {inches_from_mm(self.moved_mm):.2f}"{stopped}'


def _force_target(force: Force, objects: Mapping[str, TableObject], node: Node) -> ForcedMove:
    """The move of one target among all objects on the table."""
    target = objects[body_named(force.scene, node).id]
    name, remaining_mm = target.body.id, force.remaining_mm(target.body)
    resistance = _resistance_clauses(force, target.body)
    if remaining_mm == 0:
        return ForcedMove(name, 0.0, 0.0, target.center, None, resistance)
    ux, uy = direction = force.direction_for(target, node)
    others = [other for other in objects.values() if other.body.id != name]
    stops = _stop_distances_mm(target, others, direction, remaining_mm)
    first_mm = min(stops.values(), default=math.inf)
    first_names = (
        other for other, along in stops.items() if along <= first_mm + CONTACT_TOLERANCE_MM
    )
    stopped_by = next(first_names, None)
    moved_mm = min(remaining_mm, first_mm)
    end_mm = (target.center[0] + moved_mm * ux, target.center[1] + moved_mm * uy)
    passed = [other for other in others if other.body.id not in stops]
    brushed = [other for other in passed if _touches_on_way(target, other, direction, moved_mm)]
    holds = {
        "positioning.forced_stop": stopped_by is not None,
        "positioning.forced_pressed": stopped_by is not None and moved_mm == 0,
        "positioning.forced_slides": bool(brushed),
        "positioning.forced_stands": any(_stands_on_other(target, other) for other in brushed),
        "positioning.forced_line": not force.directions,
    }
    holds["positioning.forced_own_direction"] = len({*force.directions}) > 1
    rules = (*resistance, *clauses_that_hold(holds))
    return ForcedMove(name, remaining_mm, moved_mm, end_mm, stopped_by, rules)


def _stop_distances_mm(
    target: TableObject, others: Sequence[TableObject], direction: Point, most_mm: float
) -> dict[str, float]:
    """How far the target gets before each object, by id, that stops it within `most_mm`."""
    stops = {}
    for other in others:
        along_mm = _stop_distance_mm(target, other, direction)
        if along_mm <= most_mm + CONTACT_TOLERANCE_MM:
            stops[other.body.id] = along_mm
    return stops


def _stop_distance_mm(target: TableObject, other: TableObject, direction: Point) -> float:
    """How far along a line a target gets before another object stops it; inf where it does not."""
    if _stands_on_other(target, other) or not target.is_in_the_way_of(other):
        return math.inf
    return entry_mm(target.body, other.body, direction)


def _stands_on_other(a: TableObject, b: TableObject) -> bool:
    """Whether the one stands on the other: its centre lies in terrain."""
    return _is_on_terrain(a, b) or _is_on_terrain(b, a)


def _is_on_terrain(upper: TableObject, lower: TableObject) -> bool:
    if lower.body.index is not None:
        return False
    return gap_between(Body("", (Disc(upper.center),)), lower.body).distance_mm == 0


def _touches_on_way(
    target: TableObject, other: TableObject, direction: Point, moved_mm: float
) -> bool:
    contacts = [
        contact_interval(p, q, *direction) for p in target.body.parts for q in other.body.parts
    ]
    return any(
        contact.first_mm <= moved_mm + CONTACT_TOLERANCE_MM
        and contact.last_mm >= -CONTACT_TOLERANCE_MM
        for contact in contacts
        if contact is not None
    )


def _resistance_clauses(force: Force, target: Body) -> tuple[str, ...]:
    size, tier = force.resistances_in(target)
    holds = {
        f"positioning.{force.kind}": True,
        "positioning.forced": True,
        "positioning.forced_terrain": target.index is None,
        "positioning.resistance_size": size > 0,
        "positioning.resistance_tier": tier > 0,
        "positioning.resistance_sum": size > 0 and tier > 0,
        "positioning.resistance_least": size < 0 or tier < 0,
        "positioning.resistance_fails": force.remaining_mm(target) == 0,
    }
    return clauses_that_hold(holds)


# --- the question ---


def answer_force(scene: Scene, question: Node) -> Verdict:
    """How forced movement moves its target, or its targets one after the other."""
    force = Force.of(scene, question)
    moves = _force_targets(force)
    several = question.has("targets")
    stopped = [move.stopped_by for move in moves]
    rules = dict.fromkeys(name for move in moves for name in move.rules)
    order = ("positioning.forced_order",) if len(moves) > 1 else ()
    results = [{"target": move.id, **move.to_json()} for move in moves]
    verdict = Verdict(
        answer={"results": results} if several else moves[0].to_json(),
        headline="; ".join(move.summary_text for move in moves),
        rules=(*rules, *order, "positioning.inches"),
        value=stopped if several else stopped[0],
        null_text="stopped by nothing",
        question=question.value,
    )
    return verdict if scene.covariance is None else _with_probabilities(force, verdict, several)


def _force_targets(force: Force) -> list[ForcedMove]:
    """The moves of all targets, one after the other."""
    objects, moves = objects_on_table(force.scene), []
    for node in force.targets:
        start = objects[body_named(force.scene, node).id]
        move = _force_target(force, objects, node)
        x_mm, y_mm = move.end_mm[0] - start.center[0], move.end_mm[1] - start.center[1]
        objects[move.id] = start.translated_by(x_mm, y_mm)
        moves.append(move)
    return moves


def _with_probabilities(force: Force, verdict: Verdict, several: bool) -> Verdict:
    """The verdict with the probabilities of what stops each target, and of all of it together."""
    from overruler.rules.games.positioning.forced_sampled import stop_probabilities

    together, each = stop_probabilities(force)
    if not several:
        return replace(verdict, probability=each[0])
    results = [
        {**result, "probability": stops}
        for result, stops in zip(verdict.answer["results"], each, strict=True)
    ]
    return replace(verdict, answer={"results": results}, probability=together)
