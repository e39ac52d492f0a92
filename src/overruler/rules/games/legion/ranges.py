"""Ranges of Legion between anything: miniatures, units and terrain."""

from dataclasses import replace

from overruler.reading import Node
from overruler.rules.bands import Reading, bands_in_words, range_in_words, read_bands
from overruler.rules.clauses import clauses_that_hold
from overruler.rules.game import answer_distance, ruler_of
from overruler.rules.measure import Measure, between
from overruler.scene import Ruler, Scene
from overruler.units import CONTACT_TOLERANCE_MM
from overruler.verdict import CERTAIN_PROBABILITY, Verdict

MARKED_SEGMENTS = 4
"""Segments of the ruler that measures range 5 from a mark."""


class LegionRuler(Reading):
    """The ruler laid along a measure. Its band 0 is melee: any other contact is range 1 alone."""

    @property
    def contact(self) -> Measure | None:
        """The pairs of enemies whose heights meet; None without one."""
        return self.measure.enemies_in_height


def lay_ruler(scene: Scene, question: Node) -> LegionRuler:
    """The ruler laid from what a question names to what it asks about."""
    return LegionRuler(scene, question, between(scene, question), ruler_of(scene))


def range_at(band: int, segments: int) -> int | None:
    """The range in a band of the ruler: contact is range 1, past the ruler there is none."""
    return max(band, 1) if band <= segments else None


def ruler_clauses(ruler: LegionRuler) -> tuple[str, ...]:
    """The clauses that this use of the ruler rests on."""
    a, b = ruler.measure.closest.a, ruler.measure.closest.b
    clauses = {
        "legion.segments": True,
        "legion.one_edge": True,
        "legion.line": ruler.on_line,
        "legion.contact": ruler.measure.touches,
        "legion.past": ruler.is_past_end,
        "legion.level": a.z_mm != b.z_mm,
        "legion.terrain": None in (a.index, b.index),
    }
    return clauses_that_hold(clauses)


def unit_clauses(measure: Measure) -> tuple[str, ...]:
    """The clause on units, where one is measured."""
    return ("legion.closest_miniatures",) if len(measure.pairs) > 1 else ()


def range_verdict(ruler: LegionRuler, *rules: str) -> Verdict:
    """The range along a ruler, and whether it is melee range."""
    segments, melee = ruler.ruler.segments, ruler.band == 0
    verdict = ruler.decide(lambda band: range_at(band, segments))
    answer = {"range": verdict.value, "melee": melee}
    melee_probability = None
    if ruler.band_probabilities and any(pair.are_enemies for pair in ruler.measure.pairs):
        melee_probability = ruler.band_probabilities[0]
        answer["melee_probability"] = melee_probability
    contact = ("legion.melee", "any.enemies") if ruler.measure.touches else ()
    return replace(
        verdict,
        answer=answer,
        headline=range_in_words(verdict.value) + _melee_in_words(melee, melee_probability),
        rules=(*rules, *ruler_clauses(ruler), *contact),
    )


def _melee_in_words(melee: bool, probability: float | None) -> str:
    if probability and 1 - CERTAIN_PROBABILITY < probability < CERTAIN_PROBABILITY:
        return f", melee {100 * probability:.0f} %"
    return ", melee" if melee else ""


# --- the questions ---


def answer_any_distance(scene: Scene, question: Node) -> Verdict:
    """How far apart two miniatures, units or terrains are."""
    verdict = answer_distance(scene, question)
    return replace(verdict, rules=(*verdict.rules, "legion.any_time"))


def answer_range(scene: Scene, question: Node) -> Verdict:
    """The range between two miniatures, units or terrains."""
    ruler = lay_ruler(scene, question)
    return range_verdict(ruler, *unit_clauses(ruler.measure))


def answer_at(scene: Scene, question: Node) -> Verdict:
    """Whether the closest part lies in one of some segments."""
    ruler = lay_ruler(scene, question)
    first, last = read_bands(question["range"], 1, ruler.ruler.segments)
    verdict = ruler.decide(lambda band: first <= max(band, 1) <= last)
    rules = ("legion.at", *ruler_clauses(ruler), *unit_clauses(ruler.measure))
    return _yes_no_verdict(verdict, "at", (first, last), rules)


def answer_beyond(scene: Scene, question: Node) -> Verdict:
    """Whether no part lies up to the end of the last of some segments."""
    ruler = lay_ruler(scene, question)
    first, last = read_bands(question["range"], 1, ruler.ruler.segments)
    verdict = ruler.decide(lambda band: band > last)
    rules = ("legion.beyond", *ruler_clauses(ruler), *unit_clauses(ruler.measure))
    return _yes_no_verdict(verdict, "beyond", (first, last), rules)


def _yes_no_verdict(
    verdict: Verdict, word: str, bands: tuple[int, int], rules: tuple[str, ...]
) -> Verdict:
    return replace(
        verdict,
        answer={"answer": verdict.value},
        headline=bands_in_words(word, *bands, verdict.value),
        rules=(*rules, *from_to_clauses(bands)),
    )


def from_to_clauses(bands: tuple[int, int]) -> tuple[str, ...]:
    """The clause on two numbers, where they differ."""
    return ("legion.from_to",) if bands[1] > bands[0] else ()


def mark_range_one(scene: Scene, question: Node) -> Verdict:
    """The range up to 5 with a ruler of four segments: a mark at range 1, and on from there."""
    measure, lines_mm = between(scene, question), ruler_of(scene).lines_mm
    mark_at_mm = lines_mm[0]
    from_mark = [mark_at_mm + line for line in lines_mm[:MARKED_SEGMENTS]]
    ruler = LegionRuler(scene, question, measure, Ruler((mark_at_mm, *from_mark)))
    short = measure.distance_mm < mark_at_mm - CONTACT_TOLERANCE_MM
    mark = ("legion.mark", "legion.mark_short") if short else ("legion.mark",)
    verdict = range_verdict(ruler, *mark, *unit_clauses(measure))
    mark_mm = None if short else _mark_point(measure, mark_at_mm)
    return replace(verdict, answer={"mark_mm": mark_mm, "range": verdict.value})


def _mark_point(measure: Measure, mark_at_mm: float) -> list[float]:
    gap = measure.closest.gap
    (ax, ay), (bx, by) = gap.from_point, gap.to_point
    share = mark_at_mm / measure.distance_mm
    return [ax + share * (bx - ax), ay + share * (by - ay)]
