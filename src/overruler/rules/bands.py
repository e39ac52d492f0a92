"""Rulers in bands: the band that a distance lies in, how sure that is, and what follows from it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from overruler.reading import Node
from overruler.rules.changes import Outcome, smallest_changes
from overruler.rules.measure import Measure, band_of, verdict_on
from overruler.rules.sampling import yes_no_probabilities
from overruler.rules.uncertainty import DistanceUncertainty, distance_uncertainty
from overruler.scene import Ruler, Scene
from overruler.units import CONTACT_TOLERANCE_MM
from overruler.verdict import Verdict


@dataclass(frozen=True)
class Reading:
    """A ruler laid along a measure."""

    scene: Scene
    question: Node
    measure: Measure
    ruler: Ruler

    @cached_property
    def lines_mm(self) -> tuple[float, ...]:
        """Where each band ends: contact, then the ruler's own."""
        return (0.0, *self.ruler.lines_mm)

    @property
    def contact(self) -> Measure | None:
        """The pairs whose contact is band 0: those whose heights meet. None without one."""
        return self.measure.touching_in_height

    @cached_property
    def band(self) -> int:
        """The band of the closest distance. A line touched is not crossed.

        Contact of other pairs than those of `contact` is the first band.
        """
        band = band_of(self.measure.distance_mm, self.lines_mm)
        in_contact = self.contact is not None and self.contact.touches
        return band if band or in_contact else 1

    @property
    def is_past_end(self) -> bool:
        """Whether the closest part lies past the ruler's end."""
        return self.band == len(self.lines_mm)

    @property
    def on_line(self) -> bool:
        """Whether the closest part touches a line of the ruler."""
        distance_mm = self.measure.distance_mm
        return any(abs(distance_mm - line) <= CONTACT_TOLERANCE_MM for line in self.lines_mm[1:])

    @cached_property
    def uncertainty(self) -> DistanceUncertainty | None:
        """The uncertainty of the closest distance; None in a scene without covariance."""
        return distance_uncertainty(self.scene, self.measure, self.lines_mm)

    @cached_property
    def band_probabilities(self) -> tuple[float, ...] | None:
        """The probability of each band; None where every place is exact."""
        if self.uncertainty is None:
            return None
        any_contact, first, *others = self.uncertainty.band_probabilities
        touching = 0.0
        if self.contact == self.measure:
            touching = any_contact
        elif self.contact and any_contact:
            alone = distance_uncertainty(self.scene, self.contact, (0.0,))
            touching = min(alone.band_probabilities[0], any_contact) if alone else 0.0
        return (touching, first + any_contact - touching, *others)

    def _outcome_by_band(self, outcome: Outcome) -> Outcome:
        """The answer in each band; contact is the first where no pair's is band 0."""
        if self.contact:
            return outcome
        return lambda band: outcome(max(band, 1))

    def decide(self, outcome: Outcome) -> Verdict:
        """The verdict by the band of the closest distance; the game adds words and clauses.

        Band 0 is contact, 1 the ruler's first, and one more than its last is past it.
        """
        outcome = self._outcome_by_band(outcome)
        edges = [line for k, line in enumerate(self.lines_mm) if outcome(k) != outcome(k + 1)]
        value = outcome(self.band)
        margin = min((abs(self.measure.distance_mm - line) for line in edges), default=None)
        if margin is not None and (value is None or value is False):
            margin = -margin
        verdict = self._verdict(value, self._answer_probabilities(outcome), margin, edges)
        changes = smallest_changes(self.measure, self.lines_mm, self.band, outcome, self.contact)
        return replace(verdict, changes=changes)

    def decide_within(self, first: int, last: int) -> Verdict:
        """Whether all of the second side lies in bands `first` to `last`. Band 1 begins nowhere."""
        measure, upper = self.measure, self.lines_mm[last]
        lower = self.lines_mm[first - 1] if first > 1 else None
        margin = upper - measure.farthest_mm
        is_within = margin >= -CONTACT_TOLERANCE_MM
        lines = [upper]
        if lower is not None:
            past_lower = measure.distance_mm - lower
            is_within = is_within and past_lower > CONTACT_TOLERANCE_MM
            margin = min(margin, past_lower)
            lines = [lower, upper]
        probability = None
        if self.scene.covariance is not None:
            from overruler.rules.sampled.within import probability_within

            yes = probability_within(self.scene, measure, lower, upper)
            probability = yes_no_probabilities(yes)
        return self._verdict(is_within, probability, margin, lines)

    def decide_any_part(self, first: int, last: int) -> Verdict:
        """Whether any part of the second side lies in bands `first` to `last`. Band 1 begins nowhere."""
        upper = self.lines_mm[last]
        lower = self.lines_mm[first - 1] if first > 1 else None
        margins = [
            _any_part_margin_mm(closest_mm, farthest_mm, lower, upper)
            for closest_mm, farthest_mm in self.measure.extremes_by_body
        ]
        probability = None
        if self.scene.covariance is not None:
            from overruler.rules.sampled.within import probability_any_part

            yes = probability_any_part(self.scene, self.measure, lower, upper)
            probability = yes_no_probabilities(yes)
        value = any(is_inside for is_inside, _ in margins)
        lines = [upper] if lower is None else [lower, upper]
        return self._verdict(value, probability, max(margins)[1], lines)

    def _answer_probabilities(self, outcome: Outcome) -> dict[str, float] | None:
        if self.band_probabilities is None:
            return None
        probability: dict[str, float] = {}
        for band, band_probability in enumerate(self.band_probabilities):
            key = json.dumps(outcome(band))
            probability[key] = probability.get(key, 0.0) + band_probability
        return probability

    def _verdict(
        self,
        value: Any,
        probability: dict[str, float] | None,
        margin_mm: float | None,
        lines_mm: Sequence[float],
    ) -> Verdict:
        sigma_mm = self.uncertainty.sigma_mm if self.uncertainty else 0.0
        return replace(
            verdict_on(self.question, self.measure, sigma_mm),
            value=value,
            probability=probability,
            margin_mm=margin_mm,
            lines_mm=tuple(lines_mm),
        )


def _any_part_margin_mm(
    closest_mm: float, farthest_mm: float, lower_mm: float | None, upper_mm: float
) -> tuple[bool, float]:
    """Whether a base has a part past `lower_mm` and not past `upper_mm`, and how far from changing."""
    margin = upper_mm - closest_mm
    is_inside = margin >= -CONTACT_TOLERANCE_MM
    if lower_mm is not None:
        past_lower = farthest_mm - lower_mm
        is_inside = is_inside and past_lower > CONTACT_TOLERANCE_MM
        margin = min(margin, past_lower)
    return is_inside, margin


def range_in_words(value: int | None) -> str:
    """A range in words."""
    return "past the ruler" if value is None else f"range {value}"


def bands_in_words(word: str, first: int, last: int, holds: bool) -> str:
    """Whether something is at, within or beyond some bands, in words."""
    span = range_in_words(first) if first == last else f"{range_in_words(first)} to {last}"
    return f"{word} {span}" if holds else f"not {word} {span}"


def read_bands(node: Node, least: int, most: int) -> tuple[int, int]:
    """The first and the last band of a question's `range`, `[2]` or `[1, 2]`, both included."""
    bands = [item.integer() for item in node.items()]
    if len(bands) not in (1, 2):
        node.fail(f"expected one number or two, found {len(bands)}")
    for item in node.items():
        if not least <= item.integer() <= most:
            item.fail(f"the ruler goes from {least} to {most}, found {item.integer()}")
    if bands[-1] < bands[0]:
        node.fail(f"runs backwards, from {bands[0]} to {bands[-1]}")
    return bands[0], bands[-1]
