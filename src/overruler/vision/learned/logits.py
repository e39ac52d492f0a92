"""Likelihoods, and the log odds (logits) that networks say and that signs add up to."""

import numpy as np
from numpy.typing import ArrayLike

from overruler.geometry.pose import Array

MAX_LOGIT = 30.0
"""Log odds beyond this count as this: no likelihood is quite 0 or 1."""
MAX_LOGIT_PER_VIEW = 6.0
"""Those of one look count up to here."""


def sigmoid(logit: ArrayLike) -> Array:
    """How likely (0 to 1) what has these log odds (...) is."""
    return np.asarray(1 / (1 + np.exp(-np.clip(logit, -MAX_LOGIT, MAX_LOGIT))))


def probability_to_logit(share: ArrayLike, most: float = MAX_LOGIT_PER_VIEW) -> Array:
    """The log odds (...) of what is so likely, `most` at most."""
    share = np.asarray(share)
    return np.asarray(
        np.log(np.maximum(share, 1e-15) / np.maximum(1 - share, 1e-15)).clip(-most, most)
    )
