"""Forced movement: push, pull and reposition, less what the target resists, up to what stops it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from overruler.geometry.shapes import Disc, Point
from overruler.geometry.sweep import contact_interval, entry_distance
from overruler.reading import Node
from overruler.rules.games.positioning.force import Force, TableObject, objects_on_table
from overruler.rules.measure import Body, gap_between
from overruler.rules.routes import read_body
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM, inches_from_mm
from overruler.verdict import Verdict

# --- one target ---


@dataclass(frozen=True, slots=True)
class ForcedMove:
    """How one target was moved."""

    id: str
    distance_mm: float
    moved_mm: float
    end_mm: Point
    stopped_by: str | None
    fails: bool
    rules: tuple[str, ...] = field(default=())

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
        if self.fails:
            return f"{self.id} resists all of it"
        stopped = f", stopped by {self.stopped_by}" if self.stopped_by else ""
        return f'{self.id} is moved {inches_from_mm(self.moved_mm):.2f}"{stopped}'


def force_target(force: Force, things: Mapping[str, TableObject], node: Node) -> ForcedMove:
    """How a force moves one target among all that stands on the table."""
    target = things[read_body(force.scene, node).id]
    left = force.remaining_mm(target.body)
    if left == 0:
        return ForcedMove(
            target.body.id,
            0.0,
            0.0,
            target.center,
            None,
            True,
            _resistance_clauses(force, target.body, True),
        )
    ux, uy = force.direction_for(target, node)
    others = [other for name, other in things.items() if name != target.body.id]
    stops = {
        other.body.id: along
        for other in others
        if (along := stop_distance_mm(target, other, ux, uy)) <= left + CONTACT_TOLERANCE_MM
    }
    first = min(stops.values(), default=math.inf)
    stopped_by = next(
        (name for name, along in stops.items() if along <= first + CONTACT_TOLERANCE_MM), None
    )
    moved = min(left, first)
    end = (target.center[0] + moved * ux, target.center[1] + moved * uy)
    brushed = [
        other
        for other in others
        if other.body.id not in stops and _touches_on_way(target, other, (ux, uy), moved)
    ]
    found = {
        "positioning.forced_stop": stopped_by is not None,
        "positioning.forced_pressed": stopped_by is not None and moved == 0,
        "positioning.forced_slides": bool(brushed),
        "positioning.forced_stands": any(stands_on_other(target, other) for other in brushed),
        "positioning.forced_line": force.direction is None,
    }
    rules = (
        *_resistance_clauses(force, target.body, False),
        *(name for name, holds in found.items() if holds),
    )
    return ForcedMove(target.body.id, left, moved, end, stopped_by, False, rules)


def stop_distance_mm(target: TableObject, other: TableObject, ux: float, uy: float) -> float:
    """How far along a line a target gets before something else stops it; inf where it does not."""
    if stands_on_other(target, other):
        return math.inf
    met = [entry_distance(p, q, ux, uy) for p in target.body.parts for q in other.body.parts]
    return min((along for along in met if along is not None), default=math.inf)


def stands_on_other(a: TableObject, b: TableObject) -> bool:
    """Whether the one stands on the other: its middle lies in terrain."""
    return _is_on_terrain(a, b) or _is_on_terrain(b, a)


def _is_on_terrain(upper: TableObject, lower: TableObject) -> bool:
    return (
        lower.body.index is None
        and gap_between(Body("", (Disc(upper.center),)), lower.body).distance_mm == 0
    )


def _touches_on_way(target: TableObject, other: TableObject, line: Point, moved_mm: float) -> bool:
    met = [contact_interval(p, q, *line) for p in target.body.parts for q in other.body.parts]
    return any(
        one
        and one.first_mm <= moved_mm + CONTACT_TOLERANCE_MM
        and one.last_mm >= -CONTACT_TOLERANCE_MM
        for one in met
    )


def _resistance_clauses(force: Force, target: Body, fails: bool) -> tuple[str, ...]:
    size, tier = force.resistances_in(target)
    found = {
        f"positioning.{force.kind}": True,
        "positioning.forced": True,
        "positioning.forced_terrain": target.index is None,
        "positioning.resistance_size": size > 0,
        "positioning.resistance_tier": tier > 0,
        "positioning.resistance_sum": size > 0 and tier > 0,
        "positioning.resistance_least": size < 0 or tier < 0,
        "positioning.resistance_fails": fails,
    }
    return tuple(name for name, holds in found.items() if holds)


# --- the question ---


def answer_force(scene: Scene, question: Node) -> Verdict:
    """How forced movement moves its target, or its targets one after the other."""
    asked = Force.of(scene, question)
    things, results = objects_on_table(scene), []
    for node in asked.targets:
        start = things[read_body(scene, node).id]
        result = force_target(asked, things, node)
        x, y = result.end_mm[0] - start.center[0], result.end_mm[1] - start.center[1]
        things[result.id] = start.translated_by(x, y)
        results.append(result)
    several = question.has("targets")
    stopped = [result.stopped_by for result in results]
    rules = dict.fromkeys(name for result in results for name in result.rules)
    listed = [{"target": result.id, **result.to_json()} for result in results]
    verdict = Verdict(
        answer={"results": listed} if several else results[0].to_json(),
        headline="; ".join(result.summary_text for result in results),
        rules=(
            *rules,
            *(("positioning.forced_order",) if len(results) > 1 else ()),
            "positioning.inches",
        ),
        value=stopped if several else stopped[0],
        null_text="stopped by nothing",
        question=question.value,
    )
    return verdict if scene.covariance is None else _with_probabilities(asked, verdict, several)


def _with_probabilities(force: Force, verdict: Verdict, several: bool) -> Verdict:
    """The verdict with the probabilities of what stops each target, and of all of it together."""
    from overruler.rules.games.positioning.forced_sampled import stop_probabilities

    together, each = stop_probabilities(force)
    if not several:
        return replace(verdict, probability=each[0])
    results = [
        {**result, "probability": odds, "call": replace(verdict, probability=odds).call}
        for result, odds in zip(verdict.answer["results"], each, strict=True)
    ]
    return replace(verdict, answer={"results": results}, probability=together)
