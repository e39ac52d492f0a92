"""Whether any of some pairs is close enough, each up to a line of its own, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from overruler.rules.measure import BodyPair, Measure
from overruler.rules.sampling import (
    DRAW_COUNT,
    draw_displacements,
    max_relative_shift_mm,
    yes_no_probabilities,
)
from overruler.rules.uncertainty import distance_uncertainty
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM


@dataclass(frozen=True)
class Contact:
    """Some pairs of bodies, and the distance up to which each of them counts."""

    scene: Scene
    pairs: tuple[BodyPair, ...]
    lines_mm: tuple[float, ...]
    """The largest distance that counts, for each pair."""

    @cached_property
    def margins_mm(self) -> tuple[float, ...]:
        """How far each pair is inside its line; negative outside."""
        pairs = zip(self.pairs, self.lines_mm, strict=True)
        return tuple(line - pair.gap.distance_mm for pair, line in pairs)

    @cached_property
    def pairs_within_line(self) -> tuple[BodyPair, ...]:
        """The pairs that are no farther apart than their line."""
        pairs = zip(self.pairs, self.margins_mm, strict=True)
        return tuple(pair for pair, margin in pairs if margin >= -CONTACT_TOLERANCE_MM)

    @property
    def answer(self) -> bool:
        """Whether any pair counts."""
        return bool(self.pairs_within_line)

    @cached_property
    def probabilities(self) -> dict[str, float] | None:
        """The probability that any pair counts, and that none does; None in an exact scene."""
        if self.scene.covariance is None:
            return None
        return yes_no_probabilities(self._probability_of_any())

    def _probability_of_any(self) -> float:
        unsure = []
        for pair, line, margin in zip(self.pairs, self.lines_mm, self.margins_mm, strict=True):
            reach = max_relative_shift_mm(self.scene, pair.a.index, pair.b.index)
            if line > 0 and margin >= reach:
                return 1.0
            if margin >= -reach - CONTACT_TOLERANCE_MM:
                unsure.append((pair, line))
        if not unsure:
            return 0.0
        if len(unsure) > 1:
            return self._sampled_probability(unsure)
        pair, line = unsure[0]
        uncertainty = distance_uncertainty(self.scene, Measure((pair,)), (line,))
        return uncertainty.band_probabilities[0] if uncertainty else 0.0

    def _sampled_probability(self, pairs: Sequence[tuple[BodyPair, float]]) -> float:
        import numpy as np

        from overruler.geometry.batched.distances import gaps_at_shifts

        indices = [body.index for pair, _ in pairs for body in (pair.a, pair.b)]
        places = draw_displacements(self.scene, indices, DRAW_COUNT)
        counts = []
        for k, (pair, line) in enumerate(pairs):
            shift = places[:, 2 * k + 1] - places[:, 2 * k]
            for p in pair.a.parts:
                for q in pair.b.parts:
                    gaps = gaps_at_shifts(p, q, shift)
                    counts.append(gaps <= line + CONTACT_TOLERANCE_MM)
        return float(np.mean(np.any(counts, 0)))
