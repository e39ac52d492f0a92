"""How likely each finding of a photo is a piece at all.

A finding's score is a network's, and the network is surer on tables like those it learned from.
How sure it usually is in a photo shows how far the photo is from those. So the log odds of a
finding rest on its own score and on the others' of its photo.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from overruler.detections import Detection
from overruler.geometry.pose import Array
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.logits import probability_to_logit, sigmoid

WEIGHTS = load_coefficients("piece_probability")
"""Weights of the log odds by feature; `tools/training/fit_piece_probability.py` fits them."""
MAX_SCORE_LOGIT = 9.0
"""Largest log odds of a score that is believed: one in eight thousand."""
UNSURE_SCORE = 0.99
"""Findings of a smaller score are unsure."""
USUAL_UNSURE = 1.0
"""Unsure findings among `USUAL_FINDINGS` of a usual photo, which every photo is taken to have."""
USUAL_FINDINGS = 20.0
"""See `USUAL_UNSURE`."""


def piece_probabilities(detections: Sequence[Detection]) -> list[float]:
    """The probability that each finding of one photo is a piece; 1 where a person said so."""
    scores = np.array([detection.score for detection in detections])
    found = np.array([not detection.is_confirmed for detection in detections], bool)
    log_odds = probability_features(scores, found) @ np.array(list(WEIGHTS.values()))
    return [float(one) for one in np.where(found, sigmoid(log_odds), 1.0)]


def probability_features(scores: Array, found: NDArray[np.bool_]) -> Array:
    """(N, 3): constant, log odds of the score, and log odds of an unsure finding among the others.

    Only those `found` (N,) by the program count as others.
    """
    logits = probability_to_logit(scores, MAX_SCORE_LOGIT)
    unsure = (scores < UNSURE_SCORE) & found
    others_unsure = unsure.sum() - unsure + USUAL_UNSURE
    others = found.sum() - found + USUAL_FINDINGS
    share = others_unsure / others
    return np.column_stack([np.ones(len(scores)), logits, np.log(share / (1 - share))])
