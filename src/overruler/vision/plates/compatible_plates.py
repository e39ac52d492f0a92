"""Choose among plates that overlap, by the odds of each and of what else may lie there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from overruler.vision.contours.outlines import penetration_depth_mm
from overruler.vision.learned.logits import sigmoid
from overruler.vision.plates.plate import Plate
from overruler.vision.plates.rivals import AMBIGUOUS_LOGIT_GAP, Rival
from overruler.vision.plates.sides import side_normals

SAME_PLATE_SHARE = 0.35
"""Squares of one size whose centres are nearer than this share of a side are one plate."""
MAX_OVERLAP_SHARE = 0.12
"""Largest apparent overlap of two plates, as a share of the smaller side."""
OVERLAP_SIGMA_MM = 1.5
"""1 σ of the apparent overlap of two plates in contact; a deeper one speaks against the unsurer."""


@dataclass(frozen=True, slots=True, eq=False)
class StandingPlate:
    """A plate that can stand beside the others kept."""

    plate: Plate
    probability: float
    """The probability that it is a plate of this size."""
    any_probability: float
    """The probability that it or one of its rivals is one."""


def keep_compatible(plates: Iterable[Plate]) -> list[StandingPlate]:
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


def _weigh(plate: Plate, surer: Sequence[Plate], rivals: Sequence[Rival]) -> StandingPlate:
    """Return a plate with its probability beside `surer` plates and against its rivals."""
    depths_mm = [max(_overlap_mm(plate, other), 0.0) for other in surer]
    cost = 0.5 * sum((depth_mm / OVERLAP_SIGMA_MM) ** 2 for depth_mm in depths_mm)
    log_odds = plate.log_odds - cost
    against = np.logaddexp.reduce([0.0, *(rival.log_odds for rival in rivals)])
    either = np.logaddexp.reduce([log_odds, *(rival.log_odds for rival in rivals)])
    return StandingPlate(plate, float(sigmoid(log_odds - against)), float(sigmoid(either)))


def _distinct_rivals(plate: Plate, dropped: Sequence[Plate]) -> list[Rival]:
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


def _exclude_each_other(one: Plate, other: Plate) -> bool:
    smaller_mm = min(one.fit.side_mm, other.fit.side_mm)
    return _overlap_mm(one, other) >= MAX_OVERLAP_SHARE * smaller_mm


def _overlap_mm(one: Plate, other: Plate) -> float:
    return penetration_depth_mm(one.corners_mm, other.corners_mm)


def _is_card_print(small: Plate, large: Plate) -> bool:
    """Return whether a square lies within a larger one that is not much less likely."""
    if small.fit.side_mm >= large.fit.side_mm:
        return False
    if small.log_odds > large.log_odds + AMBIGUOUS_LOGIT_GAP:
        return False
    inside = (small.corners_mm - large.fit.xy_mm) @ side_normals(large.turn_rad)[:2].T
    limit_mm = large.fit.side_mm / 2 + MAX_OVERLAP_SHARE * small.fit.side_mm
    return bool(np.abs(inside).max() <= limit_mm)
