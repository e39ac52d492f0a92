"""Moves that a piece makes of itself: along a path, towards a target, away from one, or placed."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any

from overruler.geometry.shapes import Point
from overruler.geometry.sweep import first_contact_distance
from overruler.pieces import read_coordinate, read_point
from overruler.reading import Node
from overruler.rules.fields import read_inches_mm
from overruler.rules.measure import Body, Measure, gap_between, measure_sides, verdict_on
from overruler.rules.routes import (
    Leg,
    Route,
    are_enemies,
    direction_away_from,
    legs_through,
    piece_bodies,
    read_body,
    read_direction,
    read_piece,
)
from overruler.rules.uncertainty import distance_uncertainty
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM, inches_from_mm
from overruler.verdict import Verdict

# --- along a path ---


def answer_move(scene: Scene, question: Node) -> Verdict:
    """Whether a piece may move along a path with its allowance."""
    _, index = read_piece(scene, question["piece"])
    points, allowance = read_path(question["path_mm"]), read_inches_mm(question["allowance_in"])
    way = Route(scene, index, legs_through([piece_position(scene, index), *points]))
    enough = way.cost_mm <= allowance + CONTACT_TOLERANCE_MM
    cost, most = inches_from_mm(way.cost_mm), question["allowance_in"].number()
    answer = {
        "legal": enough and way.is_free,
        "cost_in": cost,
        "length_in": inches_from_mm(way.length_mm),
        "blocked_by": way.blocked_by.id if way.blocked_by else None,
        "reason": blocking_reason(way)
        or f'costs {cost:.2f}", {"within" if enough else "more than"} the {most:g}" allowed',
    }
    rules = ("positioning.move", "positioning.path", *way_clauses(way))
    chances = _legal_probabilities(
        scene, lambda draws: draws.move_probability(way, points, allowance)
    )
    return _legality_verdict(Verdict({}, "", (), question=question.value), answer, rules, chances)


def read_path(node: Node) -> list[Point]:
    """The points of a path, one at least."""
    points = [read_point(item) for item in node.items()]
    return points or node.fail("is empty: a path needs one point at least")


def piece_position(scene: Scene, index: int) -> Point:
    return scene.pieces[index].x_mm, scene.pieces[index].y_mm


def blocking_reason(way: Route) -> str | None:
    """Why a way is not legal whatever it costs; None where it is free."""
    if way.blocked_by:
        return f"leads through the space of {way.blocked_by.id}"
    return f"ends on the base of {way.ends_on.id}" if way.ends_on else None


def way_clauses(way: Route) -> tuple[str, ...]:
    """The clauses on what lies along a way."""
    found = {
        "positioning.rough": bool(way.rough_patches),
        "positioning.rough_once": len(way.rough_patches) > 1,
        "positioning.heading": way.scene.pieces[way.index].base.shape != "circle",
        "positioning.blocking": bool(way.blockers),
        "any.enemies": bool(way.blockers),
        "positioning.blocking_sizes": way.passed_enemy is not None,
        "positioning.blocking_touch": way.blocked_by is None
        and any(map(way.touches_body, way.blockers)),
        "positioning.end_clear": way.ends_on is not None,
        "positioning.inches": True,
    }
    return tuple(name for name, holds in found.items() if holds)


def _legal_probabilities(
    scene: Scene, chance: Callable[[ModuleType], float]
) -> dict[str, float] | None:
    """The probability of legal and of not, out of draws; None where every place is exact."""
    if scene.covariance is None:
        return None
    from overruler.rules.sampled import routes

    yes = chance(routes)
    return {"true": yes, "false": 1 - yes}


def _legality_verdict(
    verdict: Verdict,
    answer: Mapping[str, Any],
    rules: tuple[str, ...],
    chances: dict[str, float] | None,
) -> Verdict:
    headline = ("legal: " if answer["legal"] else "not legal: ") + answer["reason"]
    return replace(
        verdict,
        answer=answer,
        headline=headline,
        rules=rules,
        value=answer["legal"],
        probability=chances,
    )


# --- towards and away from a target ---


def answer_advance(scene: Scene, question: Node) -> Verdict:
    """Whether a piece may advance on a target in a direction, and where it ends."""
    index, measure = _read_mover_and_target(scene, question)
    (ux, uy), most = (
        read_direction(question["direction_deg"]),
        read_inches_mm(question["distance_in"]),
    )
    met, target = target_contact_mm(measure.closest.a, measure.closest.b, ux, uy), measure.closest.b
    way = Route(
        scene,
        index,
        _single_leg(scene, index, ux, uy, most if met is None else min(most, met)),
        (target,),
    )
    answer = {
        "legal": met is not None and way.is_free,
        "end_mm": list(way.end_mm),
        "cost_in": inches_from_mm(way.cost_mm),
        "reason": f"its line does not meet {target.id}"
        if met is None
        else blocking_reason(way) or _contact_reason(way, met, target),
    }
    found = {
        "positioning.advance": True,
        "positioning.advance_line": met is not None,
        "positioning.advance_stop": met is not None and met <= most,
        "positioning.advance_in_contact": measure.closest.touches,
    }
    rules = (*(name for name, holds in found.items() if holds), *_straight_line_clauses(way))
    chances = _legal_probabilities(
        scene, lambda draws: draws.advance_probability(way, (ux, uy), most)
    )
    return _legality_verdict(_with_distance(scene, question, measure), answer, rules, chances)


def target_contact_mm(body: Body, target: Body, ux: float, uy: float) -> float | None:
    """Where on a line a body comes into contact with a target; None where it does not."""
    met = [first_contact_distance(p, q, ux, uy) for p in body.parts for q in target.parts]
    return min((along for along in met if along is not None), default=None)


def _contact_reason(way: Route, met_mm: float, target: Body) -> str:
    if way.length_mm < met_mm - CONTACT_TOLERANCE_MM:
        return f"on a line that meets {target.id}"
    return f"up to {target.id}" if met_mm > 0 else f"already in contact with {target.id}"


def answer_retreat(scene: Scene, question: Node) -> Verdict:
    """Whether a piece may retreat from a target, and where it ends."""
    index, measure = _read_mover_and_target(scene, question)
    target, most = measure.closest.b, read_inches_mm(question["distance_in"])
    ux, uy = direction_away_from(piece_position(scene, index), target, question["target"])
    others = [body for body in piece_bodies(scene) if body.index not in (index, target.index)]
    touched = [body for body in others if _in_contact(measure.closest.a, body)]
    way = Route(scene, index, _single_leg(scene, index, ux, uy, most), (target, *touched))
    answer = {
        "legal": way.is_free,
        "end_mm": list(way.end_mm),
        "cost_in": inches_from_mm(way.cost_mm),
        "reason": blocking_reason(way) or f"straight away from {target.id}",
    }
    contact = (
        ("positioning.retreat_contact",)
        if any(are_enemies(way.mover, body) for body in touched)
        else ()
    )
    rules = (
        "positioning.retreat",
        "positioning.retreat_line",
        *contact,
        *_straight_line_clauses(way),
    )
    chances = _legal_probabilities(
        scene, lambda draws: draws.retreat_probability(way, (ux, uy), most)
    )
    return _legality_verdict(_with_distance(scene, question, measure), answer, rules, chances)


def _read_mover_and_target(scene: Scene, question: Node) -> tuple[int, Measure]:
    """Who moves, by its place in the scene, and the measure from it to whom it has in mind."""
    (body, index), target = (
        read_piece(scene, question["piece"]),
        read_body(scene, question["target"]),
    )
    return index, measure_sides([body], [target], question["target"])


def _in_contact(a: Body, b: Body) -> bool:
    return gap_between(a, b).distance_mm <= CONTACT_TOLERANCE_MM


def _single_leg(
    scene: Scene, index: int, ux: float, uy: float, length_mm: float
) -> tuple[Leg, ...]:
    return (Leg(piece_position(scene, index), ux, uy, length_mm),) if length_mm > 0 else ()


def _straight_line_clauses(way: Route) -> tuple[str, ...]:
    aside = are_enemies(way.mover, way.exempt_bodies[0])
    bounded = ("positioning.bounded",) if way.rough_patches else ()
    return (*way_clauses(way), *bounded, *(("positioning.blocking_aside",) if aside else ()))


def _with_distance(scene: Scene, question: Node, measure: Measure) -> Verdict:
    doubt = distance_uncertainty(scene, measure, ())
    return verdict_on(question, measure, doubt.sigma_mm if doubt else 0.0)


# --- placed ---


def answer_place(scene: Scene, question: Node) -> Verdict:
    """Whether a piece may be placed somewhere, whatever lies between."""
    _, index = read_piece(scene, question["piece"])
    at = (read_coordinate(question["x_mm"]), read_coordinate(question["y_mm"]))
    way = Route(scene, index, legs_through([piece_position(scene, index), at]))
    under = way.ends_on
    answer = {
        "legal": under is None,
        "reason": f"the base of {under.id} is there" if under else "no other base is there",
    }
    rules = ("positioning.place", *(("positioning.place_clear",) if under else ()))
    chances = _legal_probabilities(scene, lambda draws: draws.place_probability(way, at))
    return _legality_verdict(Verdict({}, "", (), question=question.value), answer, rules, chances)
