"""Attacks of X-Wing: ranges to the closest point of the target inside an arc."""

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from overruler.geometry.arcs import Region, distance_to_outline_mm, is_on_outline
from overruler.geometry.shapes import Gap, Point
from overruler.reading import Node
from overruler.rules.areas.arcs import ShipArc, read_arcs
from overruler.rules.bands import range_in_words
from overruler.rules.bodies import Body, bodies_named
from overruler.rules.clauses import clauses_that_hold
from overruler.rules.games.xwing.arc_uncertainty import ArcRangeUncertainty, arc_range_uncertainty
from overruler.rules.games.xwing.obstruction import MeasuredLine, gap_in_arcs
from overruler.rules.games.xwing.ship_ruler import LaidRuler, all_ranges, lay_along, ruler_clauses
from overruler.rules.measure import BodyPair, Measure, measure_sides, verdict_on
from overruler.scene import Scene
from overruler.verdict import Verdict


@dataclass(frozen=True)
class ArcRuler(LaidRuler):
    """The ruler laid to the closest point in any arc named; without one, to the closest of all."""

    arcs: tuple[ShipArc, ...]
    regions: tuple[Region, ...]
    """The part of the board that each arc covers."""
    closest_pair: BodyPair
    """The closest points, in the arc or not."""
    gap_in_arc: Gap | None
    """The gap to the closest point in the arc; None where no part lies in it."""

    @cached_property
    def arc_uncertainty(self) -> ArcRangeUncertainty | None:
        """None in a scene without covariance."""
        return arc_range_uncertainty(self.scene, self.arcs, self.closest_pair, self.lines_mm)

    @property
    def range_in_arc(self) -> int | None:
        """The attack range; None out of arc."""
        return self.range_at(self.band) if self.gap_in_arc else None

    @property
    def margin_mm(self) -> float | None:
        """How far the answer is from changing.

        In arc, the distance from the nearest of the ruler's lines, negative past the last; None
        where the pair is held at range 0. Out of arc, minus the distance of the base from the arc.
        """
        if not self.gap_in_arc:
            target = self.closest_pair.b.parts[0]
            return -min(distance_to_outline_mm(region, target) for region in self.regions)
        if self.held_at_zero:
            return None
        margin = min(abs(self.measure.distance_mm - line) for line in self.lines_mm)
        return -margin if self.is_past_end else margin

    @property
    def borders_mm(self) -> tuple[tuple[Point, Point], ...]:
        """The arc's straight borders, from the ship to the ruler's reach."""
        ship_radius_mm = self.closest_pair.a.parts[0].bounding_radius_mm
        reach_mm = ship_radius_mm + self.ruler.lines_mm[-1]
        return tuple(
            (edge.point_at(0.0), edge.point_at(min(reach_mm, edge.length_mm)))
            for region in self.regions
            for edge in region.edges
        )

    @property
    def range_probabilities(self) -> dict[str, float] | None:
        """The probability of each range by its JSON text; null out of arc and past the ruler."""
        if self.arc_uncertainty is None:
            return None
        in_arc = self.arc_uncertainty.in_arc_probability
        *bands, past = self.arc_uncertainty.band_probabilities
        if not self.closest_pair.may_touch:
            bands[:2] = [0.0, bands[0] + bands[1]]
        if self.held_at_zero:
            bands, past = [in_arc], 0
        by_range = dict.fromkeys(map(json.dumps, all_ranges(self)), 0.0)
        for band, probability in enumerate(bands):
            by_range[str(band)] = probability
        by_range["null"] = 1 - in_arc + past
        return by_range


def _lay_arc_ruler(scene: Scene, question: Node) -> ArcRuler:
    """The ruler laid from an attacker to the closest point of its target in one of its arcs."""
    ship = _read_single_piece(scene, question["attacker"])
    target = _read_single_piece(scene, question["defender"])
    closest = measure_sides([ship], [target], question["defender"]).closest
    index = ship.index or 0
    arcs = read_arcs(scene, index, question["arc"])
    regions = tuple(arc.on_board(scene.pieces[index]) for arc in arcs)
    gap_in_arc = gap_in_arcs(scene.pieces[index], ship.parts[0], target.parts[0], arcs)
    measured = BodyPair(ship, target, gap_in_arc or closest.gap)
    laid = lay_along(scene, question, Measure((measured,)))
    return ArcRuler(
        scene,
        question,
        laid.measure,
        laid.ruler,
        laid.held_at_zero,
        laid.nearer_band,
        arcs,
        regions,
        closest,
        gap_in_arc,
    )


def _read_single_piece(scene: Scene, node: Node) -> Body:
    bodies = bodies_named(scene, node)
    if len(bodies) > 1 or bodies[0].index is None:
        node.fail(f"{node.value!r} is no single piece; an attack is between two ships")
    return bodies[0]


def attack_range(scene: Scene, question: Node) -> Verdict:
    """The range of an attack: to the closest point of the target that lies in the arc."""
    ruler = _lay_arc_ruler(scene, question)
    verdict = _verdict_in_arc(ruler) if ruler.gap_in_arc else _verdict_out_of_arc(ruler)
    answer = dict(verdict.answer)
    if ruler.arc_uncertainty:
        answer["in_arc_probability"] = ruler.arc_uncertainty.in_arc_probability
    holds = {
        "xwing.standard_arcs": any(arc.standard for arc in ruler.arcs),
        "xwing.own_arcs": not all(arc.standard for arc in ruler.arcs),
        "xwing.several_arcs": len(ruler.arcs) > 1,
    }
    return replace(
        verdict,
        answer=answer,
        rules=("xwing.attack", *clauses_that_hold(holds), *verdict.rules),
        value=ruler.range_in_arc,
        null_text="out of arc or past the ruler",
        margin_mm=ruler.margin_mm,
        probability=ruler.range_probabilities,
        borders_mm=ruler.borders_mm,
    )


def _verdict_in_arc(ruler: ArcRuler) -> Verdict:
    point = ruler.measure.closest.gap.to_point
    touches_outside = ruler.closest_pair.touches and ruler.band > 0
    clauses = {
        "xwing.arc_line": any(is_on_outline(region, point) for region in ruler.regions),
        "xwing.in_arc_only": touches_outside and not ruler.held_at_zero,
        "xwing.held_in_arc": ruler.held_at_zero,
    }
    sigma_mm = ruler.arc_uncertainty.sigma_mm if ruler.arc_uncertainty else None
    obstruction = _obstruction(ruler)
    over = ", obstructed" if obstruction["obstructed"] else ""
    return replace(
        verdict_on(ruler.question, ruler.measure, sigma_mm or 0.0),
        answer={"in_arc": True, "range": ruler.range_in_arc, **obstruction},
        headline=f"{range_in_words(ruler.range_in_arc)}, in arc{over}",
        rules=(*ruler_clauses(ruler, True), *clauses_that_hold(clauses), "xwing.obstructed"),
        lines_mm=ruler.lines_mm,
        settings=ruler.settings(ruler.on_line),
    )


def _obstruction(ruler: ArcRuler) -> dict[str, Any]:
    """Whether the measured line runs over an obstacle, over which, and how sure that is."""
    pair = ruler.measure.closest
    line = MeasuredLine(ruler.scene, pair.a, pair.b, ruler.arcs, pair.gap)
    crossed = line.crossed
    told: dict[str, Any] = {"obstructed": bool(crossed), "obstructed_by": crossed}
    if ruler.scene.covariance is not None:
        told["obstructed_probability"] = line.crossing_probability()
    return told


def _verdict_out_of_arc(ruler: ArcRuler) -> Verdict:
    nothing = dict.fromkeys(
        ("range", "obstructed", "distance_mm", "sigma_mm", "from_point_mm", "to_point_mm")
    )
    pair = ruler.closest_pair
    return Verdict(
        answer={"in_arc": False, **nothing},
        headline="out of arc",
        rules=("xwing.out_of_arc",),
        pair=(pair.a.id, pair.b.id),
        question=ruler.question.value,
        drawn_between_mm=(pair.gap.from_point, pair.gap.to_point),
    )
