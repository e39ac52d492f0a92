"""Moves that a piece makes of itself: along a path, towards a target, away from one, or placed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from overruler.geometry.shapes import Point
from overruler.geometry.sweep import overlaps
from overruler.reading import Node
from overruler.rules.bodies import Body, body_named, piece_bodies, piece_named
from overruler.rules.clauses import clauses_that_hold
from overruler.rules.games.positioning.entering import first_contact_mm
from overruler.rules.games.positioning.fields import (
    ADVANCE_IN,
    ALLOWANCE_IN,
    DIRECTION_DEG,
    PATH_MM,
    RETREAT_IN,
    X_MM,
    Y_MM,
)
from overruler.rules.games.positioning.force import objects_on_table
from overruler.rules.measure import BodyPair, Measure, measure_sides, verdict_on
from overruler.rules.routes import Leg, Route, direction_away_from, legs_through, piece_position
from overruler.rules.sampling import yes_no_probabilities
from overruler.rules.uncertainty import distance_uncertainty
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM, inches_from_mm
from overruler.verdict import Verdict

# --- along a path ---


def answer_move(scene: Scene, question: Node) -> Verdict:
    """Whether a piece may move along a path with its allowance."""
    _, index = piece_named(scene, question["piece"])
    points, allowance_mm = PATH_MM.read(question), ALLOWANCE_IN.read(question)
    route = Route(scene, index, legs_through([piece_position(scene, index), *points]))
    enough = route.cost_mm <= allowance_mm + CONTACT_TOLERANCE_MM
    cost, allowance = inches_from_mm(route.cost_mm), question["allowance_in"].number()
    compared = "within" if enough else "more than"
    cost_reason = f'costs {cost:.2f}", {compared} the {allowance:g}" allowed'
    answer = {
        "legal": enough and route.is_free,
        "cost_in": cost,
        "length_in": inches_from_mm(route.length_mm),
        "blocked_by": route.blocked_by.id if route.blocked_by else None,
        "reason": _blocking_reason(route) or cost_reason,
    }
    rules = ("positioning.move", "positioning.path", *_route_clauses(route))
    probability = None
    if scene.covariance is not None:
        from overruler.rules.sampled.routes import move_probability

        probability = move_probability(route, points, allowance_mm)
    return _legality_verdict(_bare_verdict(question), answer, rules, probability, route.in_the_way)


def _blocking_reason(route: Route) -> str | None:
    """Why a route is not legal whatever it costs; None where it is free."""
    if route.blocked_by:
        return f"leads through the space of {route.blocked_by.id}"
    return f"ends on the base of {route.ends_on.id}" if route.ends_on else None


def _route_clauses(route: Route) -> tuple[str, ...]:
    """The clauses on whatever lies along a route."""
    touches_blocker = any(map(route.touches_body, route.blockers))
    holds = {
        "positioning.rough": bool(route.rough_patches),
        "positioning.rough_once": len(route.rough_patches) > 1,
        "positioning.heading": route.scene.pieces[route.index].base.shape != "circle",
        "positioning.blocking": bool(route.blockers),
        "any.enemies": bool(route.blockers),
        "positioning.blocking_sizes": route.passed_enemy is not None,
        "positioning.blocking_touch": route.blocked_by is None and touches_blocker,
        "positioning.end_clear": route.ends_on is not None,
        "positioning.inches": True,
    }
    return clauses_that_hold(holds)


def _bare_verdict(question: Node) -> Verdict:
    """A verdict that rests on no distance."""
    return Verdict({}, "", (), question=question.value)


def _legality_verdict(
    verdict: Verdict,
    answer: Mapping[str, Any],
    rules: tuple[str, ...],
    legal_probability: float | None,
    in_the_way: Body | None,
) -> Verdict:
    """The verdict on a move; without a probability every place is exact."""
    legality = "legal" if answer["legal"] else "not legal"
    probability = None
    if legal_probability is not None:
        probability = yes_no_probabilities(legal_probability)
    return replace(
        verdict,
        answer=answer,
        headline=f"{legality}: {answer['reason']}",
        rules=rules,
        value=answer["legal"],
        probability=probability,
        unnamed=(in_the_way.id,) if in_the_way else (),
    )


# --- towards and away from a target ---


def answer_advance(scene: Scene, question: Node) -> Verdict:
    """Whether a piece may advance on a target in a direction, and where it ends."""
    index, measure = _read_mover_and_target(scene, question)
    (ux, uy), most_mm = DIRECTION_DEG.read(question), ADVANCE_IN.read(question)
    mover, target = measure.closest.a, measure.closest.b
    contact_mm = first_contact_mm(mover, target, (ux, uy))
    reach_mm = _reach_mm(scene, index, ux, uy, most_mm)
    stop_mm = contact_mm if mover.meets_in_height(target) else None
    length_mm = reach_mm if stop_mm is None else min(reach_mm, stop_mm)
    route = Route(scene, index, _single_leg(scene, index, ux, uy, length_mm), (target,))
    if contact_mm is None:
        reason = f"its line does not meet {target.id}"
    else:
        reason = _blocking_reason(route) or _contact_reason(route, contact_mm, stop_mm, target)
    answer = {
        "legal": contact_mm is not None and route.is_free,
        "end_mm": list(route.end_mm),
        "cost_in": inches_from_mm(route.cost_mm),
        "reason": reason,
    }
    holds = {
        "positioning.advance": True,
        "positioning.advance_line": contact_mm is not None,
        "positioning.advance_stop": stop_mm is not None and stop_mm <= reach_mm,
        "positioning.advance_height": contact_mm is not None and stop_mm is None,
        "positioning.advance_in_contact": measure.closest.touches,
    }
    rules = (*clauses_that_hold(holds), *_straight_line_clauses(route))
    probability = None
    if scene.covariance is not None:
        from overruler.rules.sampled.routes import advance_probability

        probability = advance_probability(route, (ux, uy), most_mm)
    verdict = _with_distance(scene, question, measure)
    in_the_way = None if contact_mm is None else route.in_the_way
    return _legality_verdict(verdict, answer, rules, probability, in_the_way)


def _contact_reason(route: Route, contact_mm: float, stop_mm: float | None, target: Body) -> str:
    if stop_mm is None:
        where = "above" if route.mover.z_mm > target.z_mm else "below"
        return f"on a line that meets {target.id}, {where} it"
    if route.length_mm < contact_mm - CONTACT_TOLERANCE_MM:
        return f"on a line that meets {target.id}"
    return f"up to {target.id}" if contact_mm > 0 else f"already in contact with {target.id}"


def answer_retreat(scene: Scene, question: Node) -> Verdict:
    """Whether a piece may retreat from a target, and where it ends."""
    index, measure = _read_mover_and_target(scene, question)
    mover, target, most_mm = measure.closest.a, measure.closest.b, RETREAT_IN.read(question)
    ux, uy = direction_away_from(piece_position(scene, index), target, question["target"])
    reach_mm = _reach_mm(scene, index, ux, uy, most_mm)
    route = Route(scene, index, _single_leg(scene, index, ux, uy, reach_mm), (target,))
    touched = [body for body in route.other_bodies if BodyPair.of(mover, body).touches]
    answer = {
        "legal": route.is_free,
        "end_mm": list(route.end_mm),
        "cost_in": inches_from_mm(route.cost_mm),
        "reason": _blocking_reason(route) or f"straight away from {target.id}",
    }
    holds = {
        "positioning.retreat": True,
        "positioning.retreat_line": True,
        "positioning.retreat_contact": any(map(mover.is_enemy_of, touched)),
    }
    rules = (*clauses_that_hold(holds), *_straight_line_clauses(route))
    probability = None
    if scene.covariance is not None:
        from overruler.rules.sampled.routes import retreat_probability

        probability = retreat_probability(route, (ux, uy), most_mm)
    verdict = _with_distance(scene, question, measure)
    return _legality_verdict(verdict, answer, rules, probability, route.in_the_way)


def _read_mover_and_target(scene: Scene, question: Node) -> tuple[int, Measure]:
    """The index in the scene of the piece that moves, and the measure from it to its target."""
    body, index = piece_named(scene, question["piece"])
    target = body_named(scene, question["target"])
    return index, measure_sides([body], [target], question["target"])


def _reach_mm(scene: Scene, index: int, ux: float, uy: float, budget_mm: float) -> float:
    """How far a piece gets along a line until its distance is spent."""
    legs = _single_leg(scene, index, ux, uy, budget_mm)
    return Route(scene, index, legs).spent_at_mm(legs[0], budget_mm) if legs else 0.0


def _single_leg(
    scene: Scene, index: int, ux: float, uy: float, length_mm: float
) -> tuple[Leg, ...]:
    return (Leg(piece_position(scene, index), ux, uy, length_mm),) if length_mm > 0 else ()


def _straight_line_clauses(route: Route) -> tuple[str, ...]:
    from_enemy = route.mover.is_enemy_of(route.exempt_bodies[0])
    holds = {
        "positioning.spent": bool(route.rough_patches),
        "positioning.blocking_aside": from_enemy,
    }
    return (*_route_clauses(route), *clauses_that_hold(holds))


def _with_distance(scene: Scene, question: Node, measure: Measure) -> Verdict:
    uncertainty = distance_uncertainty(scene, measure, ())
    return verdict_on(question, measure, uncertainty.sigma_mm if uncertainty else 0.0)


# --- placed ---


def answer_place(scene: Scene, question: Node) -> Verdict:
    """Whether a piece may be placed somewhere, whatever lies between."""
    place = (X_MM.read(question), Y_MM.read(question))
    if body_named(scene, question["piece"]).index is None:
        return _answer_place_of_terrain(scene, question, place)
    _, index = piece_named(scene, question["piece"])
    route = Route(scene, index, legs_through([piece_position(scene, index), place]))
    probability = None
    if scene.covariance is not None:
        from overruler.rules.sampled.routes import place_probability

        probability = place_probability(route, place)
    return _place_verdict(question, route.ends_on, (), probability)


def _answer_place_of_terrain(scene: Scene, question: Node, place: Point) -> Verdict:
    """Whether a terrain may be placed with the middle of its bounding box somewhere."""
    terrain = objects_on_table(scene)[question["piece"].text()]
    x_mm, y_mm = place[0] - terrain.center[0], place[1] - terrain.center[1]
    placed = terrain.translated_by(x_mm, y_mm).body
    others = [body for body in piece_bodies(scene) if placed.meets_in_height(body)]
    covered = (b for b in others if any(overlaps(part, b.parts[0]) for part in placed.parts))
    under = next(covered, None)
    probability = None
    if scene.covariance is not None:
        from overruler.rules.sampled.routes import terrain_place_probability

        probability = terrain_place_probability(scene, placed, others)
    return _place_verdict(question, under, ("positioning.place_terrain",), probability)


def _place_verdict(
    question: Node, under: Body | None, rules: tuple[str, ...], probability: float | None
) -> Verdict:
    """The verdict on a place, and the piece whose base is there already."""
    answer = {
        "legal": under is None,
        "reason": f"the base of {under.id} is there" if under else "no other base is there",
    }
    holds = {"positioning.place": True, "positioning.place_clear": under is not None}
    clauses = (*clauses_that_hold(holds), *rules)
    return _legality_verdict(_bare_verdict(question), answer, clauses, probability, under)
