"""X-Wing: ranges on a ruler of three bands, range 0, and ranges inside an arc."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from overruler.geometry.arcs import Region, distance_to_outline_mm, gap_inside_region, is_on_outline
from overruler.geometry.shapes import Gap, Point
from overruler.reading import Node
from overruler.rules.bands import bands_in_words, range_in_words, read_bands
from overruler.rules.game import Game, Setting, answer_distance
from overruler.rules.games.xwing.range_zero import held_pairs, id_pair, range0_after
from overruler.rules.games.xwing.ship_arcs import (
    ArcRangeUncertainty,
    ShipArc,
    arc_range_uncertainty,
    read_arc,
)
from overruler.rules.games.xwing.ship_ruler import (
    LaidRuler,
    all_ranges,
    ruler_clauses,
    with_every_answer,
)
from overruler.rules.measure import (
    Body,
    BodyPair,
    Measure,
    between,
    bodies_named,
    measure_sides,
    verdict_on,
)
from overruler.scene import Ruler, Scene
from overruler.verdict import Verdict

CLAUSES = {
    "xwing.range": "Range is the distance between two objects, measured with the range ruler.",
    "xwing.bands": "The ruler has numbered bands; the range is the number of the band that a distance lies in.",
    "xwing.closest_points": "The ruler runs between the closest points of the two objects.",
    "xwing.attack": "The range of an attack is measured to the closest point of the target that lies in the arc.",
    "xwing.from_to": "Two numbers stand for every band from the lowest to the highest.",
    "xwing.at": "At a range is what has its closest point in it.",
    "xwing.within": "Within a range is what lies in it with all of its base.",
    "xwing.beyond": "Beyond a range is what has no part between it and where the measuring starts.",
    "xwing.ship_base": "To a ship the closest point of its base counts, not of its token or its model.",
    "xwing.not_a_ship": "To anything else the point of it counts that is closest to the ship's base.",
    "xwing.one_edge": "One edge of the ruler measures; its width and thickness count for nothing.",
    "xwing.zero": "Range 0 is on no ruler: it is the range of objects that touch.",
    "xwing.partial": "A ship that did only part of its maneuver is at range 0 of the last ship it overlapped.",
    "xwing.on_top": "What stands on an obstacle or a device is at range 0 of it.",
    "xwing.touching": "Ships whose bases touch are at range 0 of each other.",
    "xwing.held": "Ships at range 0 stay there until one of them moves and their bases no longer touch.",
    "xwing.moved_into": "A ship that moves into contact is at range 0 of the other, overlapped or not.",
    "xwing.line": "The line between two bands belongs to the nearer one. (Decided here; tables may differ.)",
    "xwing.past": "Past the ruler's last band there is no range. (Decided here.)",
    "xwing.within_low": "The line that a band begins with lies outside it, but for the first. (Decided here.)",
    "xwing.within_touching": "A base in contact is at range 0 and counts as inside band 1 for within. (Decided here.)",
    "xwing.within_zero": "Nothing is within range 0; within 0 to a band reads as within 1 to it. (Decided here.)",
    "xwing.beyond_zero": "Beyond range 0 is what is not at range 0. (Decided here.)",
    "xwing.held_apart": "Ships held across a gap are at range 0; within and beyond go by bases. (Decided here.)",
    "xwing.edge_contact": "Touching an obstacle, a device or terrain is as good as standing on it. (Decided here.)",
    "xwing.default_kind": "A piece that does not say what it is is a ship. (Decided here.)",
    "xwing.in_arc_only": "Contact outside the arc is not attack range 0: the part in arc decides. (Decided here.)",
    "xwing.held_in_arc": "A held pair is at attack range 0 if any part of the target is in the arc. (Decided here.)",
    "xwing.out_of_arc": "What has no part in the arc has no attack range. (Decided here.)",
    "xwing.arc_line": "The lines of an arc belong to it. (Decided here.)",
    "xwing.standard_arcs": "Every ship has the arcs printed on tokens for its base, from its middle. (Decided here.)",
    "xwing.own_arcs": "A ship's own arc runs counter-clockwise between two headings, or is a strip. (Decided here.)",
    "xwing.pairs": "After moves all pairs of ships at range 0 are told, touching ones too. (Decided here.)",
}


def lay_ruler(scene: Scene, question: Node) -> LaidRuler:
    """The ruler between the two that a question names."""
    return _lay_ruler(scene, question, between(scene, question))


def _lay_ruler(scene: Scene, question: Node, measure: Measure) -> LaidRuler:
    pairs = held_pairs(scene)
    held = any(id_pair(pair.a.id, pair.b.id) in pairs for pair in measure.pairs)
    return LaidRuler(
        scene, question, measure, GAME.ruler_of(scene), held, GAME.chosen(scene, "nearer_band")
    )


# --- between anything ---


def answer_any_distance(scene: Scene, question: Node) -> Verdict:
    """How far apart two objects are."""
    verdict = answer_distance(scene, question)
    return replace(verdict, rules=(*verdict.rules, "xwing.closest_points"))


def answer_range(scene: Scene, question: Node) -> Verdict:
    """The range between two objects."""
    ruler = lay_ruler(scene, question)
    verdict = ruler.decide(ruler.range_at)
    return replace(
        with_every_answer(verdict, all_ranges(ruler)),
        answer={"range": verdict.value},
        headline=range_in_words(verdict.value),
        rules=ruler_clauses(ruler, True),
        settings=ruler.settings(ruler.on_line),
    )


def answer_at(scene: Scene, question: Node) -> Verdict:
    """Whether the closest part lies in one of some bands."""
    ruler = lay_ruler(scene, question)
    first, last = read_bands(question["range"], 0, ruler.ruler.segments)
    verdict = ruler.decide(lambda band: first <= (0 if ruler.held_at_zero else band) <= last)
    return _yes_no_verdict(ruler, verdict, "at", ruler_clauses(ruler, True), ruler.on_line)


def answer_within(scene: Scene, question: Node) -> Verdict:
    """Whether every part of every base lies in some bands."""
    ruler = lay_ruler(scene, question)
    first, last = read_bands(question["range"], 0, ruler.ruler.segments)
    if last == 0:
        question["range"].fail("nothing is within range 0; within starts at range 1")
    verdict = ruler.decide_within(max(first, 1), last)
    ends = [ruler.measure.distance_mm] if first > 1 else []
    on_line = any(ruler.touches_line(end) for end in (*ends, ruler.measure.farthest_mm))
    clauses = {
        "xwing.within_low": first > 1,
        "xwing.within_touching": ruler.band == 0,
        "xwing.within_zero": first == 0,
    }
    rules = [*ruler_clauses(ruler, False), *(clause for clause, holds in clauses.items() if holds)]
    return _yes_no_verdict(ruler, verdict, "within", rules, on_line)


def answer_beyond(scene: Scene, question: Node) -> Verdict:
    """Whether no part lies up to the end of the last of some bands."""
    ruler = lay_ruler(scene, question)
    _, last = read_bands(question["range"], 0, ruler.ruler.segments)
    verdict = ruler.decide(lambda band: band > last and not (last == 0 and ruler.held_at_zero))
    rules = (*ruler_clauses(ruler, last == 0), *(("xwing.beyond_zero",) if last == 0 else ()))
    return _yes_no_verdict(ruler, verdict, "beyond", rules, ruler.on_line)


def _yes_no_verdict(
    ruler: LaidRuler, verdict: Verdict, word: str, rules: Iterable[str], on_line: bool
) -> Verdict:
    first, last = read_bands(ruler.question["range"], 0, ruler.ruler.segments)
    from_to = ("xwing.from_to",) if last > first else ()
    line = ("xwing.line",) if on_line else ()
    return replace(
        with_every_answer(verdict, (True, False)),
        answer={"answer": verdict.value},
        headline=bands_in_words(word, first, last, verdict.value),
        rules=tuple(dict.fromkeys((f"xwing.{word}", *from_to, *rules, *line))),
        settings=ruler.settings(on_line),
    )


# --- attacks ---


@dataclass(frozen=True)
class ArcRuler(LaidRuler):
    """The ruler laid to the closest point in an arc; to the closest of all where none lies in it."""

    arc: ShipArc
    region: Region
    closest_pair: BodyPair
    """The closest of all."""
    gap_in_arc: Gap | None

    @cached_property
    def arc_uncertainty(self) -> ArcRangeUncertainty | None:
        return arc_range_uncertainty(
            self.scene, self.arc, self.closest_pair, self.gap_in_arc, self.lines_mm
        )

    @property
    def range_in_arc(self) -> int | None:
        """The attack range; none out of arc."""
        return self.range_at(self.band) if self.gap_in_arc else None

    @property
    def margin_mm(self) -> float | None:
        """How far the distance is inside the nearest of the ruler's lines, or from it past the last; out of arc, minus
        how far the base is from the arc; None where neither counts."""
        if not self.gap_in_arc:
            return -distance_to_outline_mm(self.region, self.closest_pair.b.parts[0])
        margin = min(abs(self.measure.distance_mm - line) for line in self.lines_mm)
        return None if self.held_at_zero else -margin if self.is_past_end else margin

    @property
    def borders_mm(self) -> tuple[tuple[Point, Point], ...]:
        """The arc's straight borders, as far as the ruler reaches from the ship."""
        reach = (
            self.closest_pair.a.parts[0].bounding_radius_mm
            + self.ruler.segment_mm * self.ruler.segments
        )
        return tuple(
            (edge.point_at(0.0), edge.point_at(min(reach, edge.length_mm)))
            for edge in self.region.edges
        )

    @property
    def range_probabilities(self) -> dict[str, float] | None:
        """The probability of each range; what lies in no arc has none, as what lies past the ruler."""
        if self.arc_uncertainty is None:
            return None
        *bands, past = self.arc_uncertainty.band_probabilities
        shares = [self.arc_uncertainty.in_arc_probability] if self.held_at_zero else bands
        odds = dict.fromkeys(map(json.dumps, all_ranges(self)), 0.0) | {
            str(k): share for k, share in enumerate(shares)
        }
        return odds | {
            "null": 1 - self.arc_uncertainty.in_arc_probability + (0 if self.held_at_zero else past)
        }


def lay_arc_ruler(scene: Scene, question: Node) -> ArcRuler:
    """The ruler laid from an attacker to the closest point of its target in one of its arcs."""
    a, b = (
        _read_single_piece(scene, question["attacker"]),
        _read_single_piece(scene, question["defender"]),
    )
    free = measure_sides([a], [b], question["defender"]).closest
    arc = read_arc(scene, a.index or 0, question["arc"])
    region = arc.on_board(scene.pieces[a.index or 0])
    found = gap_inside_region(region, a.parts[0], b.parts[0])
    base = _lay_ruler(scene, question, Measure((BodyPair(a, b, found or free.gap),)))
    return ArcRuler(
        scene,
        question,
        base.measure,
        base.ruler,
        base.held_at_zero,
        base.nearer_band,
        arc,
        region,
        free,
        found,
    )


def _read_single_piece(scene: Scene, node: Node) -> Body:
    bodies = bodies_named(scene, node)
    if len(bodies) > 1 or bodies[0].index is None:
        node.fail(f"{node.value!r} is no single piece; an attack is between two ships")
    return bodies[0]


def attack_range(scene: Scene, question: Node) -> Verdict:
    """The range of an attack: to the closest point of the target that lies in the arc."""
    aim = lay_arc_ruler(scene, question)
    verdict = _verdict_in_arc(aim) if aim.gap_in_arc else _verdict_out_of_arc(aim)
    sure = (
        {"in_arc_probability": aim.arc_uncertainty.in_arc_probability}
        if aim.arc_uncertainty
        else {}
    )
    standard = "xwing.standard_arcs" if aim.arc.standard else "xwing.own_arcs"
    return replace(
        verdict,
        answer={**verdict.answer, **sure},
        rules=("xwing.attack", standard, *verdict.rules),
        value=aim.range_in_arc,
        null_text="out of arc or past the ruler",
        margin_mm=aim.margin_mm,
        probability=aim.range_probabilities,
        borders_mm=aim.borders_mm,
    )


def _verdict_in_arc(aim: ArcRuler) -> Verdict:
    clauses = {
        "xwing.arc_line": is_on_outline(aim.region, aim.measure.closest.gap.to_point),
        "xwing.in_arc_only": aim.closest_pair.touches and aim.band > 0 and not aim.held_at_zero,
        "xwing.held_in_arc": aim.held_at_zero,
    }
    sigma = aim.arc_uncertainty.sigma_mm if aim.arc_uncertainty else None
    return replace(
        verdict_on(aim.question, aim.measure, sigma or 0.0),
        answer={"in_arc": True, "range": aim.range_in_arc},
        headline=f"{range_in_words(aim.range_in_arc)}, in arc",
        rules=(*ruler_clauses(aim, True), *(clause for clause, holds in clauses.items() if holds)),
        lines_mm=aim.lines_mm,
        settings=aim.settings(aim.on_line),
    )


def _verdict_out_of_arc(aim: ArcRuler) -> Verdict:
    nothing = dict.fromkeys(("range", "distance_mm", "sigma_mm", "from_point_mm", "to_point_mm"))
    return Verdict(
        answer={"in_arc": False, **nothing},
        headline="out of arc",
        rules=("xwing.out_of_arc",),
        pair=(aim.closest_pair.a.id, aim.closest_pair.b.id),
        question=aim.question.value,
        drawn_between_mm=(aim.closest_pair.gap.from_point, aim.closest_pair.gap.to_point),
    )


GAME = Game(
    name="xwing",
    title="X-Wing",
    ruler=Ruler(100.0, 3),
    questions={
        "distance": answer_any_distance,
        "range": answer_range,
        "at": answer_at,
        "within": answer_within,
        "beyond": answer_beyond,
        "attack_range": attack_range,
        "range0_after": range0_after,
    },
    clauses=CLAUSES,
    examples={
        "attack_range": {"attacker": "p01", "defender": "p02", "arc": "front"},
        "range0_after": {
            "events": [{"type": "move", "ship": "p01", "x_mm": 300, "y_mm": 420, "heading_deg": 90}]
        },
    },
    settings={
        "nearer_band": Setting(True, "The line between two bands belongs to the nearer one.")
    },
)
