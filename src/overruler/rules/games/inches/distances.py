"""Distances in inches between two pieces, units or terrains, and who is engaged."""

from dataclasses import replace

from overruler.games import Ruler
from overruler.reading import Node
from overruler.rules.bands import Reading
from overruler.rules.clauses import clauses_that_hold
from overruler.rules.contact import Contact
from overruler.rules.game import answer_distance
from overruler.rules.games.inches.fields import HORIZONTAL_IN, VERTICAL_IN, WITHIN_IN
from overruler.rules.measure import Measure, between, verdict_on
from overruler.rules.uncertainty import distance_uncertainty
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM, inches_from_mm
from overruler.verdict import Verdict


def answer_range(scene: Scene, question: Node) -> Verdict:
    """How many inches lie between the closest parts of two."""
    verdict = answer_distance(scene, question)
    assert verdict.distance_mm is not None
    answer = {"distance_in": inches_from_mm(verdict.distance_mm)}
    return replace(verdict, answer=answer, rules=("inches.range", *verdict.rules))


def answer_within(scene: Scene, question: Node) -> Verdict:
    """Whether the closest parts of two are within some inches."""
    reading = _lay_tape(scene, question)
    verdict = reading.decide(lambda band: band <= 1)
    rules = ("inches.within", *_tape_clauses(reading.measure, reading.on_line))
    return _yes_no_verdict(verdict, "within", rules)


def answer_wholly_within(scene: Scene, question: Node) -> Verdict:
    """Whether every part of every base is within some inches of the nearest piece."""
    reading = _lay_tape(scene, question)
    measure, line_mm = reading.measure, reading.ruler.lines_mm[0]
    on_line = abs(measure.farthest_mm - line_mm) <= CONTACT_TOLERANCE_MM
    nearest = ("inches.nearest",) if len(measure.from_bodies) > 1 else ()
    inclusive = ("inches.inclusive",) if on_line else ()
    rules = ("inches.wholly_within", *nearest, *inclusive, "any.edge_to_edge")
    return _yes_no_verdict(reading.decide_within(1, 1), "wholly within", rules)


def _lay_tape(scene: Scene, question: Node) -> Reading:
    """A tape of the question's length between the two that it names."""
    measure = between(scene, question)
    return Reading(scene, question, measure, Ruler((WITHIN_IN.read(question),)))


def _tape_clauses(measure: Measure, on_line: bool) -> tuple[str, ...]:
    clauses = {
        "inches.inclusive": on_line,
        "any.edge_to_edge": True,
        "any.closest_piece": len(measure.pairs) > 1,
    }
    return clauses_that_hold(clauses)


def _yes_no_verdict(verdict: Verdict, word: str, rules: tuple[str, ...]) -> Verdict:
    words = f'{word} {verdict.question["distance_in"]:g}"'
    headline = words if verdict.value else f"not {words}"
    return replace(verdict, answer={"answer": verdict.value}, headline=headline, rules=rules)


# --- engaged ---


def answer_engaged(scene: Scene, question: Node) -> Verdict:
    """Whether a piece of one and a piece of the other are near enough, level and in height."""
    measure = between(scene, question)
    horizontal_mm, vertical_mm = HORIZONTAL_IN.read(question), VERTICAL_IN.read(question)
    pairs = tuple(pair for pair in measure.pairs if pair.a.is_near_in_height(pair.b, vertical_mm))
    contact = Contact(scene, pairs, (horizontal_mm,) * len(pairs))
    shown = Measure(pairs) if pairs else measure
    uncertainty = distance_uncertainty(scene, shown, (horizontal_mm,))
    margin_mm = max(contact.margins_mm, default=None)
    on_line = margin_mm is not None and abs(margin_mm) <= CONTACT_TOLERANCE_MM
    return replace(
        verdict_on(question, shown, uncertainty.sigma_mm if uncertainty else 0.0),
        answer={"answer": contact.answer},
        headline="engaged" if contact.answer else "not engaged",
        rules=("inches.engaged", "inches.height", *_tape_clauses(measure, on_line)),
        value=contact.answer,
        probability=contact.probabilities,
        margin_mm=margin_mm,
        lines_mm=(horizontal_mm,) if pairs else (),
    )
