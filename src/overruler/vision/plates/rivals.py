"""What else may lie where a plate was found: squares of other sizes, or at other places.

A square, its rivals and no plate at all exclude each other. The log odds of each are against no
plate, so the probability of one is its share of all their odds (Bayes). Rivals of another size, or
of another place, make a plate less probable. All of them widen its covariance.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.contours.rare_events import NEGLIGIBLE_PROBABILITY, RARE_WITHIN_SIGMAS

AMBIGUOUS_LOGIT_GAP = 2.9
"""Smallest gap of log odds that rules an alternative out: one in twenty."""
ODDS_TEMPER = 1.5
"""Divisor of the log odds between places of one plate, which are as sure of themselves as the
posteriors of `coarse_grid`."""


@dataclass(frozen=True, slots=True, eq=False)
class Rival:
    """A square that may lie there instead of the likeliest one."""

    xy_mm: Array
    """(2,): its centre."""
    side_mm: float
    """Its side."""
    log_odds: float
    """Log odds that it is a plate, against no plate."""


def rival_covariances(
    xy_mm: Array, side_mm: float, log_odds: float, rivals: Sequence[Rival]
) -> tuple[Array, Array]:
    """Return the usual and the rare covariance (2, 2) that rivals add to a square's place.

    Their centre lies elsewhere, and so may their edges. The usual one weighs each by its
    probability; the rare one keeps each within `RARE_WITHIN_SIGMAS`.
    """
    odds = np.array([log_odds, *(rival.log_odds for rival in rivals)])
    weights = np.exp((odds - odds.max()) / ODDS_TEMPER)
    usual, rare = np.zeros((2, 2)), np.zeros((2, 2))
    for rival, chance in zip(rivals, weights[1:] / weights.sum(), strict=True):
        if chance < NEGLIGIBLE_PROBABILITY:
            continue
        offset = rival.xy_mm - xy_mm
        edge_mm = (rival.side_mm - side_mm) / 2
        moment = np.outer(offset, offset) + np.eye(2) * edge_mm**2
        usual += chance * moment
        rare += max(chance, RARE_WITHIN_SIGMAS**-2) * moment
    return usual, rare
