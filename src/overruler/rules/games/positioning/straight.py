"""Moves that a piece makes of itself: along a path, towards a target, away from one, or placed."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any

from overruler.geometry.shapes import Point
from overruler.geometry.sweep import meets
from overruler.pieces import length, point
from overruler.reading import Node
from overruler.rules.doubt import doubt_of
from overruler.rules.measure import Body, Measure, gap_of, measured, verdict_on
from overruler.rules.ways import (
    Leg,
    Way,
    are_enemies,
    direction,
    inches,
    legs_through,
    one,
    piece,
    pieces_of,
    straight_away,
)
from overruler.scene import Scene
from overruler.units import TOUCH_MM, inches_from_mm
from overruler.verdict import Verdict

# --- along a path ---


def move(scene: Scene, question: Node) -> Verdict:
    """Whether a piece may move along a path with its allowance."""
    _, index = piece(scene, question["piece"])
    points, allowance = path(question["path_mm"]), inches(question["allowance_in"])
    way = Way(scene, index, legs_through([place_of(scene, index), *points]))
    enough = way.cost_mm <= allowance + TOUCH_MM
    cost, most = inches_from_mm(way.cost_mm), question["allowance_in"].number()
    answer = {
        "legal": enough and way.free,
        "cost_in": cost,
        "length_in": inches_from_mm(way.length_mm),
        "blocked_by": way.blocked_by.id if way.blocked_by else None,
        "reason": in_the_way(way) or f'costs {cost:.2f}", {"within" if enough else "more than"} the {most:g}" allowed',
    }
    rules = ("positioning.move", "positioning.path", *on_the_way(way))
    chances = _chances(scene, lambda draws: draws.move(way, points, allowance))
    return _ruled(Verdict({}, "", (), question=question.value), answer, rules, chances)


def path(node: Node) -> list[Point]:
    """The points of a path, one at least."""
    points = [point(item) for item in node.items()]
    return points or node.fail("is empty: a path needs one point at least")


def place_of(scene: Scene, index: int) -> Point:
    return scene.pieces[index].x_mm, scene.pieces[index].y_mm


def in_the_way(way: Way) -> str | None:
    """Why a way is not legal whatever it costs; None where it is free."""
    if way.blocked_by:
        return f"leads through the space of {way.blocked_by.id}"
    return f"ends on the base of {way.ends_on.id}" if way.ends_on else None


def on_the_way(way: Way) -> tuple[str, ...]:
    """The clauses on what lies along a way."""
    found = {
        "positioning.rough": bool(way.patches),
        "positioning.rough_once": len(way.patches) > 1,
        "positioning.heading": way.scene.pieces[way.index].base.shape != "circle",
        "positioning.blocking": bool(way.blockers),
        "any.enemies": bool(way.blockers),
        "positioning.blocking_sizes": way.passes is not None,
        "positioning.blocking_touch": way.blocked_by is None and any(map(way.touches, way.blockers)),
        "positioning.end_clear": way.ends_on is not None,
        "positioning.inches": True,
    }
    return tuple(name for name, holds in found.items() if holds)


def _chances(scene: Scene, chance: Callable[[ModuleType], float]) -> dict[str, float] | None:
    """The probability of legal and of not, out of draws; None where every place is exact."""
    if scene.covariance is None:
        return None
    from overruler.rules.sampled import ways

    yes = chance(ways)
    return {"true": yes, "false": 1 - yes}


def _ruled(
    verdict: Verdict, answer: Mapping[str, Any], rules: tuple[str, ...], chances: dict[str, float] | None
) -> Verdict:
    headline = ("legal: " if answer["legal"] else "not legal: ") + answer["reason"]
    return replace(verdict, answer=answer, headline=headline, rules=rules, value=answer["legal"], probability=chances)


# --- towards and away from a target ---


def advance(scene: Scene, question: Node) -> Verdict:
    """Whether a piece may advance on a target in a direction, and where it ends."""
    index, measure = _aimed(scene, question)
    (ux, uy), most = direction(question["direction_deg"]), inches(question["distance_in"])
    met, target = met_at(measure.closest.a, measure.closest.b, ux, uy), measure.closest.b
    way = Way(scene, index, _leg(scene, index, ux, uy, most if met is None else min(most, met)), (target,))
    answer = {
        "legal": met is not None and way.free,
        "end_mm": list(way.end_mm),
        "cost_in": inches_from_mm(way.cost_mm),
        "reason": f"its line does not meet {target.id}" if met is None else in_the_way(way) or _met(way, met, target),
    }
    found = {
        "positioning.advance": True,
        "positioning.advance_line": met is not None,
        "positioning.advance_stop": met is not None and met <= most,
        "positioning.advance_in_contact": measure.closest.touches,
    }
    rules = (*(name for name, holds in found.items() if holds), *_straight(way))
    chances = _chances(scene, lambda draws: draws.advance(way, (ux, uy), most))
    return _ruled(_with_distance(scene, question, measure), answer, rules, chances)


def met_at(body: Body, target: Body, ux: float, uy: float) -> float | None:
    """Where on a line a body comes into contact with a target; None where it does not."""
    met = [meets(p, q, ux, uy) for p in body.parts for q in target.parts]
    return min((along for along in met if along is not None), default=None)


def _met(way: Way, met_mm: float, target: Body) -> str:
    if way.length_mm < met_mm - TOUCH_MM:
        return f"on a line that meets {target.id}"
    return f"up to {target.id}" if met_mm > 0 else f"already in contact with {target.id}"


def retreat(scene: Scene, question: Node) -> Verdict:
    """Whether a piece may retreat from a target, and where it ends."""
    index, measure = _aimed(scene, question)
    target, most = measure.closest.b, inches(question["distance_in"])
    ux, uy = straight_away(place_of(scene, index), target, question["target"])
    others = [body for body in pieces_of(scene) if body.index not in (index, target.index)]
    touched = [body for body in others if _in_contact(measure.closest.a, body)]
    way = Way(scene, index, _leg(scene, index, ux, uy, most), (target, *touched))
    answer = {
        "legal": way.free,
        "end_mm": list(way.end_mm),
        "cost_in": inches_from_mm(way.cost_mm),
        "reason": in_the_way(way) or f"straight away from {target.id}",
    }
    contact = ("positioning.retreat_contact",) if any(are_enemies(way.mover, body) for body in touched) else ()
    rules = ("positioning.retreat", "positioning.retreat_line", *contact, *_straight(way))
    chances = _chances(scene, lambda draws: draws.retreat(way, (ux, uy), most))
    return _ruled(_with_distance(scene, question, measure), answer, rules, chances)


def _aimed(scene: Scene, question: Node) -> tuple[int, Measure]:
    """Who moves, by its place in the scene, and the measure from it to whom it has in mind."""
    (body, index), target = piece(scene, question["piece"]), one(scene, question["target"])
    return index, measured([body], [target], question["target"])


def _in_contact(a: Body, b: Body) -> bool:
    return gap_of(a, b).distance_mm <= TOUCH_MM


def _leg(scene: Scene, index: int, ux: float, uy: float, length_mm: float) -> tuple[Leg, ...]:
    return (Leg(place_of(scene, index), ux, uy, length_mm),) if length_mm > 0 else ()


def _straight(way: Way) -> tuple[str, ...]:
    aside = are_enemies(way.mover, way.aside[0])
    bounded = ("positioning.bounded",) if way.patches else ()
    return (*on_the_way(way), *bounded, *(("positioning.blocking_aside",) if aside else ()))


def _with_distance(scene: Scene, question: Node, measure: Measure) -> Verdict:
    doubt = doubt_of(scene, measure, ())
    return verdict_on(question, measure, doubt.sigma_mm if doubt else 0.0)


# --- placed ---


def place(scene: Scene, question: Node) -> Verdict:
    """Whether a piece may be placed somewhere, whatever lies between."""
    _, index = piece(scene, question["piece"])
    at = (length(question["x_mm"]), length(question["y_mm"]))
    way = Way(scene, index, legs_through([place_of(scene, index), at]))
    under = way.ends_on
    answer = {
        "legal": under is None,
        "reason": f"the base of {under.id} is there" if under else "no other base is there",
    }
    rules = ("positioning.place", *(("positioning.place_clear",) if under else ()))
    chances = _chances(scene, lambda draws: draws.place(way, at))
    return _ruled(Verdict({}, "", (), question=question.value), answer, rules, chances)
