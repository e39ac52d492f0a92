"""Ranges of X-Wing between any two objects."""

from collections.abc import Iterable
from dataclasses import replace

from overruler.reading import Node
from overruler.rules.bands import bands_in_words, range_in_words, read_bands
from overruler.rules.clauses import clauses_that_hold
from overruler.rules.game import answer_distance
from overruler.rules.games.xwing.ship_ruler import (
    LaidRuler,
    all_ranges,
    lay_along,
    ruler_clauses,
    with_every_answer,
)
from overruler.rules.measure import between
from overruler.scene import Scene
from overruler.verdict import Verdict


def answer_any_distance(scene: Scene, question: Node) -> Verdict:
    """How far apart two objects are."""
    verdict = answer_distance(scene, question)
    return replace(verdict, rules=(*verdict.rules, "xwing.closest_points"))


def answer_range(scene: Scene, question: Node) -> Verdict:
    """The range between two objects."""
    ruler = _lay_ruler(scene, question)
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
    ruler = _lay_ruler(scene, question)
    first, last = read_bands(question["range"], 0, ruler.ruler.segments)
    verdict = ruler.decide(lambda band: first <= (0 if ruler.held_at_zero else band) <= last)
    return _yes_no_verdict(ruler, verdict, "at", ruler_clauses(ruler, True), ruler.on_line)


def answer_within(scene: Scene, question: Node) -> Verdict:
    """Whether every part of every base lies in some bands."""
    ruler = _lay_ruler(scene, question)
    first, last = read_bands(question["range"], 0, ruler.ruler.segments)
    if last == 0:
        question["range"].fail("nothing is within range 0; within starts at range 1")
    verdict = ruler.decide_within(max(first, 1), last)
    on_line = ruler.touches_line(ruler.measure.farthest_mm)
    if first > 1:
        on_line = on_line or ruler.touches_line(ruler.measure.distance_mm)
    clauses = {
        "xwing.within_low": first > 1,
        "xwing.within_touching": ruler.band == 0,
        "xwing.within_zero": first == 0,
    }
    rules = (*ruler_clauses(ruler, False), *clauses_that_hold(clauses))
    return _yes_no_verdict(ruler, verdict, "within", rules, on_line)


def answer_beyond(scene: Scene, question: Node) -> Verdict:
    """Whether no part lies up to the end of the last of some bands."""
    ruler = _lay_ruler(scene, question)
    _, last = read_bands(question["range"], 0, ruler.ruler.segments)
    verdict = ruler.decide(lambda band: band > last and not (last == 0 and ruler.held_at_zero))
    beyond_zero = ("xwing.beyond_zero",) if last == 0 else ()
    rules = (*ruler_clauses(ruler, last == 0), *beyond_zero)
    return _yes_no_verdict(ruler, verdict, "beyond", rules, ruler.on_line)


def _lay_ruler(scene: Scene, question: Node) -> LaidRuler:
    """The ruler between the two that a question names."""
    return lay_along(scene, question, between(scene, question))


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
