"""Rulers in bands: which band a distance lies in, how sure that is, and what hangs on it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from overruler.reading import Node
from overruler.rules.changes import Outcome, smallest_changes
from overruler.rules.measure import Measure, band_of, verdict_on
from overruler.rules.uncertainty import (
    DistanceUncertainty,
    distance_uncertainty,
    probability_within,
)
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

    @cached_property
    def band(self) -> int:
        """The band of the closest distance. A line touched is not crossed."""
        return band_of(self.measure.distance_mm, self.lines_mm)

    @property
    def is_past_end(self) -> bool:
        """Whether the closest part lies past the ruler's end."""
        return self.band == len(self.lines_mm)

    @property
    def on_line(self) -> bool:
        """Whether the closest part touches the line between two bands."""
        return any(
            abs(self.measure.distance_mm - line) <= CONTACT_TOLERANCE_MM
            for line in self.lines_mm[1:]
        )

    @cached_property
    def uncertainty(self) -> DistanceUncertainty | None:
        return distance_uncertainty(self.scene, self.measure, self.lines_mm)

    @cached_property
    def band_probabilities(self) -> tuple[float, ...] | None:
        """The probability of each band; None where every place is exact."""
        return self.uncertainty.band_probabilities if self.uncertainty else None

    def decide(self, outcome: Outcome) -> Verdict:
        """What the band of the closest distance decides; the answer's words and clauses are the game's to fill in.

        Band 0 is contact, 1 the ruler's first, one more than its last is past it.
        """
        edges = [line for k, line in enumerate(self.lines_mm) if outcome(k) != outcome(k + 1)]
        value = outcome(self.band)
        margin = min((abs(self.measure.distance_mm - line) for line in edges), default=None)
        inside = value is not None and value is not False
        verdict = self._verdict(
            value,
            self._answer_probabilities(outcome),
            margin if inside or margin is None else -margin,
            edges,
        )
        return replace(
            verdict, changes=smallest_changes(self.measure, self.lines_mm, self.band, outcome)
        )

    def decide_within(self, first: int, last: int) -> Verdict:
        """Whether every part of the second side lies in the bands from `first` to `last`; band 1 begins nowhere."""
        lower, upper = (self.lines_mm[first - 1] if first > 1 else None), self.lines_mm[last]
        room = [upper - self.measure.farthest_mm]
        value = room[0] >= -CONTACT_TOLERANCE_MM
        if lower is not None:
            room.append(self.measure.distance_mm - lower)
            value = value and room[1] > CONTACT_TOLERANCE_MM
        odds = None
        if self.scene.covariance is not None:
            yes = probability_within(self.scene, self.measure, lower, upper)
            odds = {"true": yes, "false": 1 - yes}
        return self._verdict(
            value, odds, min(room), [line for line in (lower, upper) if line is not None]
        )

    def _answer_probabilities(self, outcome: Outcome) -> dict[str, float] | None:
        if self.band_probabilities is None:
            return None
        odds: dict[str, float] = {}
        for k, share in enumerate(self.band_probabilities):
            key = json.dumps(outcome(k))
            odds[key] = odds.get(key, 0.0) + share
        return odds

    def _verdict(
        self,
        value: Any,
        odds: dict[str, float] | None,
        margin_mm: float | None,
        lines_mm: Sequence[float],
    ) -> Verdict:
        sigma = self.uncertainty.sigma_mm if self.uncertainty else 0.0
        verdict = verdict_on(self.question, self.measure, sigma)
        return replace(
            verdict, value=value, probability=odds, margin_mm=margin_mm, lines_mm=tuple(lines_mm)
        )


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
