"""Convert between probabilities and log odds (logits)."""

import numpy as np
from numpy.typing import ArrayLike

from overruler.geometry.pose import Array

MAX_LOGIT = 30.0
"""Log odds are clipped to ± this, so that no probability is quite 0 or 1."""
MAX_LOGIT_PER_VIEW = 6.0
"""Log odds of a single view are clipped to ± this."""
EVEN_SCORE = 0.5
"""Probability of what other photos show, before a photo is asked for it: it speaks neither for nor against."""


def sigmoid(logit: ArrayLike) -> Array:
    """Convert log odds (...) to probabilities (...)."""
    return np.asarray(1 / (1 + np.exp(-np.clip(logit, -MAX_LOGIT, MAX_LOGIT))))


def probability_to_logit(share: ArrayLike, most: float = MAX_LOGIT_PER_VIEW) -> Array:
    """Convert probabilities (...) to log odds (...), clipped to ± `most`."""
    share = np.asarray(share)
    odds = np.maximum(share, 1e-15) / np.maximum(1 - share, 1e-15)
    return np.asarray(np.log(odds).clip(-most, most))
