"""How likely a finding is a piece, by all photos: those that see it, and those that should but do not."""

from collections.abc import Sequence

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.learned.logits import probability_to_logit, sigmoid
from overruler.vision.pairing.sighting import SeenPhoto, Sighting

MAX_LOGIT = 5.0
"""Largest log odds by the surest photo: what deceives it once deceives it all over."""
AGREEING_NATS = (0.0, 2.7)
"""Least and largest log-likelihood ratio of one more photo that sees something there. Of 73 findings
that both of two photos saw, however weakly, on 21 rendered tables all were pieces."""
EVEN_LOGIT = 0.7
"""Log odds of a score that speaks neither for nor against, where another photo sees a base: false
findings look a little like bases from other sides too."""
SILENT_NATS = -1.6
"""Log-likelihood ratio of a photo that sees nothing there: of pieces one in six is hidden or missed,
of false findings four in five are nothing in another photo."""


def piece_probability(
    sightings: Sequence[Sighting], xyz_mm: Array, photos: Sequence[SeenPhoto]
) -> float:
    """The probability that a finding is a piece, by P photos."""
    seen = {one.photo.index for one in sightings}
    silent = [photo for photo in photos if photo.index not in seen and photo.shows(xyz_mm)]
    scores = np.array([one.detection.score for one in sightings])
    logits = np.sort(probability_to_logit(scores, MAX_LOGIT))[::-1]
    agreeing = np.clip(logits[1:] - EVEN_LOGIT, *AGREEING_NATS).sum()
    total = min(float(logits[0]), MAX_LOGIT) + agreeing + len(silent) * SILENT_NATS
    return float(sigmoid(np.asarray(total)))
