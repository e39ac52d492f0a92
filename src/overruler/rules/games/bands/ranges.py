"""Ranges on a ruler that the scene brings, with bands of any lengths and names."""

from collections.abc import Iterable
from dataclasses import replace

from overruler.reading import Node
from overruler.rules.bands import Reading, bands_in_words, range_in_words, read_bands
from overruler.rules.clauses import clauses_that_hold
from overruler.rules.game import ruler_of
from overruler.rules.measure import between
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM
from overruler.verdict import Verdict


def answer_range(scene: Scene, question: Node) -> Verdict:
    """The band of the ruler that the closest distance lies in, and the band's name."""
    reading = _lay_ruler(scene, question)
    verdict = reading.decide(lambda band: band if band <= reading.ruler.segments else None)
    name = reading.ruler.band_name(verdict.value)
    words = range_in_words(verdict.value)
    return replace(
        verdict,
        answer={"range": verdict.value, "name": name},
        headline=f"{words} ({name})" if name else words,
        rules=("bands.range", *_ruler_clauses(reading)),
    )


def answer_at(scene: Scene, question: Node) -> Verdict:
    """Whether the closest part lies in one of some bands."""
    reading = _lay_ruler(scene, question)
    first, last = read_bands(question["range"], 0, reading.ruler.segments)
    verdict = reading.decide(lambda band: first <= band <= last)
    return _yes_no_verdict(verdict, "at", (first, last), _ruler_clauses(reading))


def answer_within(scene: Scene, question: Node) -> Verdict:
    """Whether every part of every base lies in some bands."""
    reading = _lay_ruler(scene, question)
    first, last = read_bands(question["range"], 0, reading.ruler.segments)
    if last == 0:
        question["range"].fail("nothing is within range 0; within starts at range 1")
    clauses = {
        "bands.within_nearest": len(reading.measure.from_bodies) > 1,
        "bands.within_contact": reading.band == 0 and first <= 1,
        "bands.line": _touches_line(reading, reading.measure.farthest_mm),
    }
    rules = (*clauses_that_hold(clauses), *_ruler_clauses(reading))
    verdict = reading.decide_within(max(first, 1), last)
    return _yes_no_verdict(verdict, "within", (first, last), rules)


def answer_beyond(scene: Scene, question: Node) -> Verdict:
    """Whether no part lies up to the end of the last of some bands."""
    reading = _lay_ruler(scene, question)
    first, last = read_bands(question["range"], 0, reading.ruler.segments)
    verdict = reading.decide(lambda band: band > last)
    return _yes_no_verdict(verdict, "beyond", (first, last), _ruler_clauses(reading))


def _lay_ruler(scene: Scene, question: Node) -> Reading:
    """The ruler between the two that a question names."""
    return Reading(scene, question, between(scene, question), ruler_of(scene))


def _touches_line(reading: Reading, distance_mm: float) -> bool:
    lines_mm = reading.ruler.lines_mm
    return any(abs(distance_mm - line) <= CONTACT_TOLERANCE_MM for line in lines_mm)


def _ruler_clauses(reading: Reading) -> tuple[str, ...]:
    """The clauses that this use of the ruler rests on."""
    clauses = {
        "bands.line": reading.on_line,
        "bands.contact": reading.band == 0,
        "bands.past": reading.is_past_end,
        "any.edge_to_edge": True,
        "any.closest_piece": len(reading.measure.pairs) > 1,
    }
    return clauses_that_hold(clauses)


def _yes_no_verdict(
    verdict: Verdict, word: str, bands: tuple[int, int], rules: Iterable[str]
) -> Verdict:
    first, last = bands
    from_to = ("bands.from_to",) if last > first else ()
    return replace(
        verdict,
        answer={"answer": verdict.value},
        headline=bands_in_words(word, first, last, verdict.value),
        rules=tuple(dict.fromkeys((f"bands.{word}", *from_to, *rules))),
    )
