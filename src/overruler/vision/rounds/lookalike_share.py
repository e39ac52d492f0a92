"""Probabilities of findings by their likelihood ratios and by how many lookalikes the photo has.

Lookalikes (counters, lids, tower tops) are few on one table and many on another. The ratios of all
findings of a photo show how many it has, by the method of Saerens, Latinne and Decaestecker
(2002). So a middling finding counts for more on a clear table than among other middling ones.
"""

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.learned.logits import sigmoid

USUAL_FINDINGS = 30.0
"""How many findings of a usual photo count beside those of this one."""
SHARE_STEPS = 60
"""Steps in which the share of lookalikes settles."""


def probabilities_among(ratios: Array, usual_share: float) -> Array:
    """Return the probability (N,) that each finding is a base, by the log-likelihood ratios (N,) of all.

    `usual_share` is the share of lookalikes among the findings of a usual photo.
    """
    share = usual_share
    for _ in range(SHARE_STEPS):
        lookalikes = (1 - sigmoid(ratios + _log_odds_of_base(share))).sum()
        seen = usual_share * USUAL_FINDINGS + float(lookalikes)
        share = seen / (USUAL_FINDINGS + len(ratios))
    return sigmoid(ratios + _log_odds_of_base(share))


def _log_odds_of_base(lookalike_share: float) -> float:
    return float(np.log((1 - lookalike_share) / lookalike_share))
