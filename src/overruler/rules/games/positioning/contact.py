"""Base to base, and distances in inches: who touches whom, who is engaged, what is in range."""

import math
from collections.abc import Sequence
from dataclasses import replace

from overruler.reading import Node
from overruler.rules.bodies import Body, is_thing, piece_bodies, piece_named, read_size
from overruler.rules.changes import smallest_changes
from overruler.rules.contact import Contact
from overruler.rules.fields import Field
from overruler.rules.games.positioning.fields import RANGE_IN, WITHIN_IN
from overruler.rules.measure import BodyPair, Measure, band_of, between, verdict_on
from overruler.rules.routes import LARGE_SIZE
from overruler.rules.uncertainty import distance_uncertainty
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM, mm_from_inches
from overruler.verdict import Change, Verdict

LARGE_PIECE_REACH_MM = mm_from_inches(1)
"""The largest distance at which a large piece still counts as touching."""


NEVER_MM = -math.inf
"""No distance is as short: stands for pairs whose heights do not meet."""


def _contact_line_mm(scene: Scene, pair: BodyPair) -> float:
    """The largest distance at which a pair counts as base to base."""
    if not pair.may_touch:
        return NEVER_MM
    large = _is_large(scene, pair.a) or _is_large(scene, pair.b)
    return LARGE_PIECE_REACH_MM if large else 0.0


def _is_large(scene: Scene, body: Body) -> bool:
    return body.index is not None and read_size(scene, body.index) >= LARGE_SIZE


# --- between two ---


def answer_b2b(scene: Scene, question: Node) -> Verdict:
    """Whether two are base to base."""
    verdict = _base_to_base(scene, between(scene, question))
    return replace(verdict, headline="base to base" if verdict.value else "not base to base")


def _base_to_base(scene: Scene, measure: Measure) -> Verdict:
    lines_mm = tuple(_contact_line_mm(scene, pair) for pair in measure.pairs)
    contact = Contact(scene, measure.pairs, lines_mm)
    return _contact_verdict(contact, measure, ("positioning.b2b", *_large_piece_clauses(contact)))


def _large_piece_clauses(contact: Contact) -> tuple[str, ...]:
    """The clauses on large pieces, where one of them reaches."""
    scene = contact.scene
    reaching = [
        pair for pair, line in zip(contact.pairs, contact.lines_mm, strict=True) if line > 0
    ]
    if not reaching:
        return ()
    if all(_is_large(scene, pair.b) and not _is_large(scene, pair.a) for pair in reaching):
        return ("positioning.b2b_large", "positioning.b2b_mutual")
    return ("positioning.b2b_large",)


def answer_range(scene: Scene, question: Node) -> Verdict:
    """Whether a target is in a range; range 0 asks for base to base."""
    measure = between(scene, question)
    if RANGE_IN.read(question) == 0:
        verdict = _base_to_base(scene, measure)
        verdict = replace(verdict, rules=("positioning.range_0", *verdict.rules))
    else:
        rules = ("positioning.range", *_terrain_clauses(measure), "positioning.inches")
        verdict = _verdict_within(scene, question, RANGE_IN, rules)
    in_range = "in range" if verdict.value else "not in range"
    return replace(verdict, headline=f"{in_range} {question['range_in'].number():g}")


def _terrain_clauses(measure: Measure) -> tuple[str, ...]:
    indices = (measure.closest.a.index, measure.closest.b.index)
    return ("positioning.range_terrain",) if None in indices else ()


def answer_within(scene: Scene, question: Node) -> Verdict:
    """Whether any part of a target is within some inches."""
    rules = ("positioning.within", "positioning.inches")
    verdict = _verdict_within(scene, question, WITHIN_IN, rules)
    within = "within" if verdict.value else "not within"
    return replace(verdict, headline=f'{within} {question["distance_in"].number():g}"')


def _verdict_within(
    scene: Scene, question: Node, inches: Field[float], rules: tuple[str, ...]
) -> Verdict:
    """Whether the closest part lies within the inches of a question's field."""
    measure, line_mm = between(scene, question), inches.read(question)
    contact = Contact(scene, measure.pairs, (line_mm,) * len(measure.pairs))
    return _contact_verdict(contact, measure, rules)


def _contact_verdict(contact: Contact, measure: Measure, rules: tuple[str, ...]) -> Verdict:
    """Whether any pair counts, with the closest distance."""
    lines_mm = tuple(sorted(set(contact.lines_mm) - {NEVER_MM}))
    uncertainty = distance_uncertainty(contact.scene, measure, lines_mm)
    sigma_mm = uncertainty.sigma_mm if uncertainty else 0.0
    margin_mm = max(contact.margins_mm) if lines_mm else None
    on_line = margin_mm is not None and lines_mm[-1] > 0 and abs(margin_mm) <= CONTACT_TOLERANCE_MM
    inclusive = ("positioning.inclusive",) if on_line else ()
    closest = ("any.closest_piece",) if len(measure.pairs) > 1 else ()
    return replace(
        verdict_on(Node({}, "question"), measure, sigma_mm),
        answer={"answer": contact.answer},
        value=contact.answer,
        probability=contact.probabilities,
        margin_mm=margin_mm,
        lines_mm=lines_mm,
        changes=() if NEVER_MM in contact.lines_mm else _smallest_changes(measure, lines_mm),
        rules=(*rules, *inclusive, "any.edge_to_edge", *closest),
    )


def _smallest_changes(measure: Measure, lines_mm: tuple[float, ...]) -> tuple[Change, ...]:
    """The smallest moves that change the answer, where one line decides for every pair."""
    if len(lines_mm) > 1:
        return ()
    band = band_of(measure.distance_mm, lines_mm)
    return smallest_changes(measure, lines_mm, band, lambda band: band == 0)


# --- engaged ---


def answer_engaged(scene: Scene, question: Node) -> Verdict:
    """Whether a piece is base to base with an enemy, and with which."""
    body, _ = piece_named(scene, question["piece"])
    enemies = [other for other in piece_bodies(scene) if body.is_enemy_of(other)]
    fighting = []
    if not is_thing(scene, body):
        fighting = [enemy for enemy in enemies if not is_thing(scene, enemy)]
    with_all, contact = _contact_with(scene, body, enemies), _contact_with(scene, body, fighting)
    left_out = len(with_all.pairs_within_line) > len(contact.pairs_within_line)
    things = ("positioning.engaged_things",) if left_out else ()
    large = _large_piece_clauses(contact)
    names = [pair.b.id for pair in contact.pairs_within_line]
    return Verdict(
        answer={"answer": contact.answer, "by": names},
        headline=f"engaged by {', '.join(names)}" if names else "not engaged",
        rules=("positioning.engaged", "positioning.b2b", *large, "any.enemies", *things),
        value=contact.answer,
        probability=contact.probabilities,
        question=question.value,
    )


def _contact_with(scene: Scene, body: Body, others: Sequence[Body]) -> Contact:
    pairs = tuple(BodyPair.of(body, other) for other in others)
    return Contact(scene, pairs, tuple(_contact_line_mm(scene, pair) for pair in pairs))
