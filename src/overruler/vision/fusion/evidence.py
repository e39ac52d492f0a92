"""How likely a finding is a piece, by all photos: those that see it, and those that should but do not."""

from collections.abc import Sequence

import numpy as np

from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.vision.fusion.sighting import SeenPhoto, Sighting
from overruler.vision.learned.logits import probability_to_logit, sigmoid

MAX_LOGIT_PER_PHOTO = 5.0
"""Largest log odds that one photo adds: what deceives it once deceives it all over."""
MISSED_SHARE = 0.17
"""Share of bases in a photo's picture that it does not find, hidden ones included: 1 minus the mean
recall of single photos on rendered tables with hills and walls, 0.83."""
FALSE_MISSED_SHARE = 0.97
"""Share of places of false findings at which another photo finds nothing."""
COINCIDENCE_NATS = 1.7
"""Log-likelihood ratio of one more photo that sees the same thing in the same place: of false
findings one in six is seen again, of pieces all but one in six."""
SURE_SIZE = 0.95
"""Probability of a stated size of which the photo names no other."""
UNSURE_SIZE = 0.65
"""The same where it names others."""
OTHER_SIZE = 0.003
"""Probability of a size that it does not name."""
MIN_REPORTED_SIZE = 0.05
"""Least probability of another size that is reported."""


def piece_probability(
    sightings: Sequence[Sighting], xyz_mm: Array, photos: Sequence[SeenPhoto]
) -> float:
    """The probability that a finding is a piece, by P photos."""
    seen = {one.photo.index for one in sightings}
    silent = [photo for photo in photos if photo.index not in seen and photo.shows(xyz_mm)]
    scores = np.array([one.detection.score for one in sightings])
    logits = np.minimum(probability_to_logit(scores, MAX_LOGIT_PER_PHOTO), MAX_LOGIT_PER_PHOTO)
    missed = len(silent) * np.log(MISSED_SHARE / FALSE_MISSED_SHARE)
    agreed = COINCIDENCE_NATS * (len(sightings) - 1)
    return float(sigmoid(np.asarray(logits.sum() + agreed + missed)))


def size_probabilities(sightings: Sequence[Sighting]) -> dict[Base, float]:
    """The sizes that a base may have, with their probabilities, the likeliest first."""
    detections = [one.detection for one in sightings]
    named: dict[Base, float] = {}
    for detection in detections:
        for base in (detection.base, *detection.alternative_bases):
            named.setdefault(base, 0.0)
    for base in named:
        chances = [_size_chance(one.base, one.alternative_bases, base) for one in detections]
        named[base] = float(np.sum(np.log(chances)))
    weights = np.exp(np.array(list(named.values())) - max(named.values()))
    shares = zip(named, (weights / weights.sum()).tolist(), strict=True)
    return dict(sorted(shares, key=lambda pair: -pair[1]))


def _size_chance(stated: Base, others: Sequence[Base], base: Base) -> float:
    if base == stated:
        return UNSURE_SIZE if others else SURE_SIZE
    return (1 - UNSURE_SIZE) / len(others) if base in others else OTHER_SIZE
