"""Base to base, and distances in inches: who touches whom, who is engaged, what is in range."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from overruler.reading import Node
from overruler.rules.changes import smallest_changes
from overruler.rules.fields import read_inches_mm
from overruler.rules.measure import (
    Body,
    BodyPair,
    Measure,
    band_of,
    between,
    gap_between,
    verdict_on,
)
from overruler.rules.routes import (
    LARGE_SIZE,
    are_enemies,
    is_thing,
    piece_bodies,
    read_piece,
    read_stat,
)
from overruler.rules.sampling import draw_displacements, max_relative_shift_mm
from overruler.rules.uncertainty import distance_uncertainty
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM, mm_from_inches
from overruler.verdict import Change, Verdict

LARGE_PIECE_REACH_MM = mm_from_inches(1)
"""How far off a base may be that a large piece still counts as touching."""

DRAW_COUNT = 16384
"""Enough for 0.005 in a probability, however many pairs are near their lines."""


@dataclass(frozen=True)
class Contact:
    """Some pairs of bodies, and the distance up to which each of them counts."""

    scene: Scene
    pairs: tuple[BodyPair, ...]
    lines_mm: tuple[float, ...]

    @cached_property
    def pairs_within_line(self) -> tuple[BodyPair, ...]:
        """The pairs that are no farther apart than their line."""
        return tuple(
            pair
            for pair, room in zip(self.pairs, self.margins_mm, strict=True)
            if room >= -CONTACT_TOLERANCE_MM
        )

    @cached_property
    def margins_mm(self) -> tuple[float, ...]:
        """How far each pair is inside its line; negative: how far outside."""
        return tuple(
            line - pair.gap.distance_mm
            for pair, line in zip(self.pairs, self.lines_mm, strict=True)
        )

    @property
    def answer(self) -> bool:
        return bool(self.pairs_within_line)

    @cached_property
    def probabilities(self) -> dict[str, float] | None:
        """The probability that any pair is held, and that none is; None where every place is exact."""
        if self.scene.covariance is None:
            return None
        yes = self._probability_of_any()
        return {"true": yes, "false": 1 - yes}

    def _probability_of_any(self) -> float:
        open_ones = []
        for pair, line, room in zip(self.pairs, self.lines_mm, self.margins_mm, strict=True):
            reach = max_relative_shift_mm(self.scene, pair.a.index, pair.b.index)
            if line > 0 and room >= reach:
                return 1.0
            if room >= -reach - CONTACT_TOLERANCE_MM:
                open_ones.append((pair, line))
        if not open_ones:
            return 0.0
        if len(open_ones) > 1:
            return self._sampled_probability(open_ones)
        (pair, line), *_ = open_ones
        doubt = distance_uncertainty(self.scene, Measure((pair,)), (line,))
        return doubt.band_probabilities[0] if doubt else 0.0

    def _sampled_probability(self, pairs: Sequence[tuple[BodyPair, float]]) -> float:
        import numpy as np

        from overruler.geometry.batched.distances import gaps_at_shifts

        held = []
        places = draw_displacements(
            self.scene, [body.index for pair, _ in pairs for body in (pair.a, pair.b)], DRAW_COUNT
        )
        for k, (pair, line) in enumerate(pairs):
            apart = places[:, 2 * k + 1] - places[:, 2 * k]
            held += [
                gaps_at_shifts(p, q, apart) <= line + CONTACT_TOLERANCE_MM
                for p in pair.a.parts
                for q in pair.b.parts
            ]
        return float(np.mean(np.any(held, 0)))


def contact_line_mm(scene: Scene, pair: BodyPair) -> float:
    """How far apart a pair may be and still count as base to base."""
    return LARGE_PIECE_REACH_MM if any(is_large(scene, body) for body in (pair.a, pair.b)) else 0.0


def is_large(scene: Scene, body: Body) -> bool:
    return body.index is not None and read_stat(scene, body.index, "size") >= LARGE_SIZE


# --- between two ---


def answer_b2b(scene: Scene, question: Node) -> Verdict:
    """Whether two are base to base."""
    measure = between(scene, question)
    found = _base_to_base(scene, measure)
    return replace(found, headline="base to base" if found.value else "not base to base")


def _base_to_base(scene: Scene, measure: Measure) -> Verdict:
    contact = Contact(
        scene, measure.pairs, tuple(contact_line_mm(scene, pair) for pair in measure.pairs)
    )
    return _contact_verdict(contact, measure, ("positioning.b2b", *_large_piece_clauses(contact)))


def _large_piece_clauses(contact: Contact) -> tuple[str, ...]:
    """The clauses on large pieces, where one of them measures."""
    reaching = [
        pair for pair, line in zip(contact.pairs, contact.lines_mm, strict=True) if line > 0
    ]
    if not reaching:
        return ()
    mutual = all(
        is_large(contact.scene, pair.b) and not is_large(contact.scene, pair.a) for pair in reaching
    )
    return ("positioning.b2b_large", *(("positioning.b2b_mutual",) if mutual else ()))


def answer_range(scene: Scene, question: Node) -> Verdict:
    """Whether a target is in a range; range 0 asks for base to base."""
    measure, line = between(scene, question), read_inches_mm(question["range_in"])
    if line == 0:
        found = _base_to_base(scene, measure)
        found = replace(found, rules=("positioning.range_0", *found.rules))
    else:
        contact = Contact(scene, measure.pairs, (line,) * len(measure.pairs))
        found = _contact_verdict(
            contact,
            measure,
            ("positioning.range", *_terrain_clauses(measure), "positioning.inches"),
        )
    return replace(
        found, headline=f"{'' if found.value else 'not '}in range {question['range_in'].number():g}"
    )


def _terrain_clauses(measure: Measure) -> tuple[str, ...]:
    indexes = (measure.closest.a.index, measure.closest.b.index)
    return ("positioning.range_terrain",) if None in indexes else ()


def answer_within(scene: Scene, question: Node) -> Verdict:
    """Whether any part of a target is within some inches."""
    measure, line = between(scene, question), read_inches_mm(question["distance_in"])
    contact = Contact(scene, measure.pairs, (line,) * len(measure.pairs))
    found = _contact_verdict(contact, measure, ("positioning.within", "positioning.inches"))
    return replace(
        found,
        headline=f'{"" if found.value else "not "}within {question["distance_in"].number():g}"',
    )


def _contact_verdict(contact: Contact, measure: Measure, rules: tuple[str, ...]) -> Verdict:
    """Whether any pair is held, with the closest distance."""
    lines = tuple(sorted(set(contact.lines_mm)))
    doubt = distance_uncertainty(contact.scene, measure, lines)
    verdict = verdict_on(Node({}, "question"), measure, doubt.sigma_mm if doubt else 0.0)
    room = max(contact.margins_mm)
    inclusive = (
        ("positioning.inclusive",) if lines[-1] > 0 and abs(room) <= CONTACT_TOLERANCE_MM else ()
    )
    closest = ("any.closest_piece",) if len(measure.pairs) > 1 else ()
    return replace(
        verdict,
        answer={"answer": contact.answer},
        value=contact.answer,
        probability=contact.probabilities,
        margin_mm=room,
        lines_mm=lines,
        changes=_smallest_changes(measure, lines),
        rules=(*rules, *inclusive, "any.edge_to_edge", *closest),
    )


def _smallest_changes(measure: Measure, lines_mm: tuple[float, ...]) -> tuple[Change, ...]:
    """The least move that changes the answer, where one line decides for every pair."""
    if len(lines_mm) > 1:
        return ()
    return smallest_changes(
        measure, lines_mm, band_of(measure.distance_mm, lines_mm), lambda band: band == 0
    )


# --- engaged ---


def answer_engaged(scene: Scene, question: Node) -> Verdict:
    """Whether a piece is base to base with an enemy, and with which."""
    body, _ = read_piece(scene, question["piece"])
    everyone = _contact_with(
        scene, body, [other for other in piece_bodies(scene) if are_enemies(body, other)]
    )
    fighting = (
        []
        if is_thing(scene, body)
        else [pair.b for pair in everyone.pairs if not is_thing(scene, pair.b)]
    )
    contact = _contact_with(scene, body, fighting)
    left_out = len(everyone.pairs_within_line) > len(contact.pairs_within_line)
    names = [pair.b.id for pair in contact.pairs_within_line]
    return Verdict(
        answer={"answer": contact.answer, "by": names},
        headline=f"engaged by {', '.join(names)}" if names else "not engaged",
        rules=(
            *(
                "positioning.engaged",
                "positioning.b2b",
                *_large_piece_clauses(contact),
                "any.enemies",
            ),
            *(("positioning.engaged_things",) if left_out else ()),
        ),
        value=contact.answer,
        probability=contact.probabilities,
        question=question.value,
    )


def _contact_with(scene: Scene, body: Body, others: Sequence[Body]) -> Contact:
    pairs = tuple(BodyPair(body, other, gap_between(body, other)) for other in others)
    return Contact(scene, pairs, tuple(contact_line_mm(scene, pair) for pair in pairs))
