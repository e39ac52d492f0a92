"""What else may lie where a plate was found: squares of other sizes, or at other places.

A square, its rivals and no plate at all exclude each other. The log odds of each are against no
plate, so the probability of one is its share of all their odds (Bayes). Rivals of another size, or
of another place, make a plate less probable. All of them widen its covariance.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.contours.outlines import penetration_depth_mm
from overruler.vision.contours.rare_events import NEGLIGIBLE_PROBABILITY, RARE_WITHIN_SIGMAS
from overruler.vision.learned.logits import sigmoid
from overruler.vision.plates.sides import side_normals

if TYPE_CHECKING:
    from overruler.vision.plates.plate import Plate

AMBIGUOUS_LOGIT_GAP = 2.9
"""Smallest gap of log odds that rules an alternative out: one in twenty."""
ODDS_TEMPER = 1.5
"""Divisor of the log odds between places of one plate, which are as sure of themselves as the
posteriors of `coarse_grid`."""
SAME_PLATE_SHARE = 0.35
"""Squares of one size whose centres are nearer than this share of a side are one plate."""
MAX_OVERLAP_SHARE = 0.12
"""Largest apparent overlap of two plates, as a share of the smaller side."""
OVERLAP_SIGMA_MM = 1.5
"""1 σ of the apparent overlap of two plates in contact; a deeper one speaks against the unsurer."""


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


@dataclass(frozen=True, slots=True, eq=False)
class StandingPlate:
    """A plate that can stand beside the others kept."""

    plate: "Plate"
    probability: float
    """The probability that it is a plate of this size."""
    any_probability: float
    """The probability that it or one of its rivals is one."""


def keep_compatible(plates: Iterable["Plate"]) -> list[StandingPlate]:
    """Return the plates that can stand together, the most probable first.

    A square within a larger one that is not much less likely is print on that one's card. What is
    dropped stays a rival of what it overlaps.
    """
    candidates = sorted(plates, key=lambda plate: -plate.log_odds)
    kept: list[Plate] = []
    dropped: list[Plate] = []
    for plate in candidates:
        is_print = any(_is_card_print(plate, other) for other in candidates)
        is_beaten = is_print or any(_exclude_each_other(plate, other) for other in kept)
        (dropped if is_beaten else kept).append(plate)
    standing = []
    for k, plate in enumerate(kept):
        rivals = _distinct_rivals(plate, dropped)
        standing.append(_weigh(plate, kept[:k], rivals))
    return sorted(standing, key=lambda one: -one.probability)


def _weigh(plate: "Plate", surer: Sequence["Plate"], rivals: Sequence[Rival]) -> StandingPlate:
    """Return a plate with its probability beside `surer` plates and against its rivals."""
    depths_mm = [max(_overlap_mm(plate, other), 0.0) for other in surer]
    cost = 0.5 * sum((depth_mm / OVERLAP_SIGMA_MM) ** 2 for depth_mm in depths_mm)
    log_odds = plate.log_odds - cost
    against = np.logaddexp.reduce([0.0, *(rival.log_odds for rival in rivals)])
    either = np.logaddexp.reduce([log_odds, *(rival.log_odds for rival in rivals)])
    return StandingPlate(plate, float(sigmoid(log_odds - against)), float(sigmoid(either)))


def _distinct_rivals(plate: "Plate", dropped: Sequence["Plate"]) -> list[Rival]:
    """Return the other plates that may be there instead, each once."""
    beaten = [other.as_rival for other in dropped if _exclude_each_other(plate, other)]
    found: list[Rival] = [plate.as_rival]
    for rival in sorted([*plate.rivals, *beaten], key=lambda rival: -rival.log_odds):
        if not any(_is_same_plate(rival, other) for other in found):
            found.append(rival)
    return found[1:]


def _is_same_plate(one: Rival, other: Rival) -> bool:
    apart_mm = float(np.hypot(*(one.xy_mm - other.xy_mm)))
    return one.side_mm == other.side_mm and apart_mm < SAME_PLATE_SHARE * one.side_mm


def _exclude_each_other(one: "Plate", other: "Plate") -> bool:
    smaller_mm = min(one.fit.side_mm, other.fit.side_mm)
    return _overlap_mm(one, other) >= MAX_OVERLAP_SHARE * smaller_mm


def _overlap_mm(one: "Plate", other: "Plate") -> float:
    return penetration_depth_mm(one.corners_mm, other.corners_mm)


def _is_card_print(small: "Plate", large: "Plate") -> bool:
    """Return whether a square lies within a larger one that is not much less likely."""
    if small.fit.side_mm >= large.fit.side_mm:
        return False
    if small.log_odds > large.log_odds + AMBIGUOUS_LOGIT_GAP:
        return False
    inside = (small.corners_mm - large.fit.xy_mm) @ side_normals(large.turn_rad)[:2].T
    limit_mm = large.fit.side_mm / 2 + MAX_OVERLAP_SHARE * small.fit.side_mm
    return bool(np.abs(inside).max() <= limit_mm)
