"""Within, completely within and not within some segments of Legion, by the wording that a table plays."""

from dataclasses import replace

from overruler.reading import Node
from overruler.rules.bands import bands_in_words, read_bands
from overruler.rules.clauses import clauses_that_hold
from overruler.rules.game import Setting
from overruler.rules.games.legion.ranges import (
    LegionRuler,
    from_to_clauses,
    lay_ruler,
    ruler_clauses,
)
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM
from overruler.verdict import Verdict

ANY_PART_WITHIN = Setting(
    "any_part_within",
    False,
    "Within a range is what has any part of its base there, as the wording of 2025 has it.",
)
Segments = tuple[int, int]
"""The first and the last segment, both included."""


def answer_within(scene: Scene, question: Node) -> Verdict:
    """Whether every part of every base lies in some segments; by the wording of 2025, whether any does."""
    ruler, segments = _read_question(scene, question)
    any_part = ANY_PART_WITHIN.chosen(scene)
    verdict = ruler.decide_any_part(*segments) if any_part else ruler.decide_within(*segments)
    clause = "legion.any_part_within" if any_part else "legion.within"
    return replace(
        _yes_no_verdict(ruler, verdict, "within", segments, clause),
        settings={ANY_PART_WITHIN.name: any_part},
    )


def answer_completely_within(scene: Scene, question: Node) -> Verdict:
    """Whether every part of every base lies in some segments."""
    ruler, segments = _read_question(scene, question)
    verdict = ruler.decide_within(*segments)
    return _yes_no_verdict(
        ruler, verdict, "completely within", segments, "legion.completely_within"
    )


def answer_not_within(scene: Scene, question: Node) -> Verdict:
    """Whether no part of any base lies in some segments."""
    ruler, segments = _read_question(scene, question)
    verdict = ruler.decide_any_part(*segments).negated()
    return _yes_no_verdict(ruler, verdict, "without a part in", segments, "legion.not_within")


def _read_question(scene: Scene, question: Node) -> tuple[LegionRuler, Segments]:
    ruler = lay_ruler(scene, question)
    return ruler, read_bands(question["range"], 1, ruler.ruler.segments)


def _yes_no_verdict(
    ruler: LegionRuler, verdict: Verdict, words: str, segments: Segments, clause: str
) -> Verdict:
    first, last = segments
    from_line_mm = abs(ruler.measure.distance_mm - ruler.lines_mm[first - 1])
    clauses = {
        clause: True,
        "legion.within_several": last > first,
        "legion.within_low": first == 1 or from_line_mm <= CONTACT_TOLERANCE_MM,
        "legion.within_nearest": len(ruler.measure.from_bodies) > 1,
    }
    rules = (*clauses_that_hold(clauses), *ruler_clauses(ruler), *from_to_clauses(segments))
    return replace(
        verdict,
        answer={"answer": verdict.value},
        headline=bands_in_words(words, first, last, verdict.value),
        rules=rules,
    )
