"""What several photos say about the sides of one rim."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from overruler.bases import HEXAGON_MEAN_RATIO
from overruler.detections import Detection
from overruler.vision.hexagons.judged import LEAST_RADIUS_PX
from overruler.vision.hexagons.on_table import hexagon_logit
from overruler.vision.hexagons.rim_evidence import SIDES, RimEvidence, see_rim
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.sighting import Sighting

LOGIT_CORRELATION = 0.3
"""Correlation of the log odds by two photos, among bases of one shape: the make of the rim, a stain and what
stands on the base mislead both. It was 0.32 among 197 round bases on eleven rendered tables, and 0.14 among
177 hexagons there."""


@dataclass(frozen=True, slots=True, eq=False)
class SeenRim:
    """A round base of several photos, and what these say about its sides."""

    base: Decided
    evidence: Mapping[int, RimEvidence]
    """By the numbers of the base's sightings, of those that show the rim."""

    @classmethod
    def of(cls, base: Decided) -> "SeenRim":
        """Look at the rim in all photos that see the base."""
        looks = {m: _look(one) for m, one in enumerate(base.sightings)}
        return cls(base, {m: seen for m, seen in looks.items() if seen is not None})

    @property
    def telling(self) -> dict[int, RimEvidence]:
        """What those photos say that show the rim with enough pixels."""
        seen = self.evidence.items()
        return {m: one for m, one in seen if one.radius_px >= LEAST_RADIUS_PX}

    @property
    def logit(self) -> float | None:
        """The log odds that it is a hexagon, if as many are hexagons as round; None where no photo tells.

        For n normal measurements of equal variance and equal correlation ρ the log likelihood ratios add
        up to their sum over 1 + (n - 1) ρ.
        """
        logits = [hexagon_logit(one) for one in self.telling.values()]
        return add_alike(logits) if logits else None

    @property
    def heading_rad(self) -> float:
        """Direction of a corner if it is a hexagon: the mean of what the photos' edges say."""
        seen = self.evidence.values()
        weights = np.array([max(one.hexagon - one.circle, 0.0) + 1e-3 for one in seen])
        turns = np.exp(1j * SIDES * np.array([one.heading_rad for one in seen]))
        return float(np.angle(weights @ turns) / SIDES)

    @property
    def width_mm(self) -> float:
        """Width from side to side if it is a hexagon, by the edges."""
        seen = self.telling or self.evidence
        widths = [
            _as_round(self.base.sightings[m].detection).base.width_mm * one.share
            for m, one in seen.items()
        ]
        weights = [one.radius_px**2 for one in seen.values()]
        return float(np.average(widths, weights=weights)) / HEXAGON_MEAN_RATIO


def add_alike(log_likelihood_ratios: list[float]) -> float:
    """Add up what several photos say of one rim, as their errors are alike in part."""
    count = len(log_likelihood_ratios)
    return float(np.sum(log_likelihood_ratios)) / (1 + LOGIT_CORRELATION * (count - 1))


def _look(one: Sighting) -> RimEvidence | None:
    photo = one.photo
    return see_rim(photo.frame.pixels, photo.calibration.camera, _as_round(one.detection))


def _as_round(found: Detection) -> Detection:
    """The round base that was found; a hexagon that a photo had told by itself as one."""
    return replace(found, base=found.base.as_round) if found.base.shape == "hexagon" else found
