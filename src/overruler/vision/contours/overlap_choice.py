"""Ovals and rectangles that may be there: which of them can all be, and what is said of each."""

from collections.abc import Sequence
from itertools import combinations
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from overruler.bases import Base
from overruler.detections import Detection
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.outlines import penetration_depth_mm, placed_outline
from overruler.vision.contours.reproject import reproject_outline
from overruler.vision.learned.logits import MAX_LOGIT, probability_to_logit, sigmoid

MAX_OVERLAP_SHARE = 0.2
"""Two bases may seem to overlap by this share of the smaller one's width, not more."""


class PlacedBase(Protocol):
    """A base at a place."""

    @property
    def base(self) -> Base: ...
    @property
    def xy_mm(self) -> Array: ...
    @property
    def turn_rad(self) -> float: ...


def likeliest_compatible_set(
    placed: Sequence[PlacedBase], scores: Sequence[float], least_score: float
) -> dict[int, float]:
    """Which of some can all be there and are together the likeliest; and how likely each then is, the surest first.

    `scores`, over 0 and below 1, say how likely each is by itself; what scores `least_score` is worth nothing. One is
    no surer than what stands there is likelier than all that could without it.
    """
    least = float(probability_to_logit(least_score, MAX_LOGIT))
    worth = probability_to_logit(scores, MAX_LOGIT) - least
    likely = [k for k in range(len(placed)) if worth[k] > 0]
    worth = worth[likely]
    pairs = combinations(range(len(likely)), 2)
    rivals = [(i, j) for i, j in pairs if bases_overlap(placed[likely[i]], placed[likely[j]])]
    there = _max_weight_subset(worth, rivals)
    margins = {}
    for k in np.flatnonzero(there):
        without = np.where(np.arange(len(worth)) == k, 0.0, worth)
        contested = any(k in pair for pair in rivals)
        margin = (
            there @ worth - _max_weight_subset(without, rivals) @ without if contested else worth[k]
        )
        margins[likely[k]] = float(sigmoid(margin + least))
    return dict(sorted(margins.items(), key=lambda item: -item[1]))


def bases_overlap(one: PlacedBase, other: PlacedBase, share: float = MAX_OVERLAP_SHARE) -> bool:
    """Whether one of two bases cannot be there if the other is: by more than a share of the smaller one's width."""
    if np.hypot(*(one.xy_mm - other.xy_mm)) > (one.base.length_mm + other.base.length_mm) / 2**0.5:
        return False
    rings = [placed_outline(two.base, two.xy_mm, two.turn_rad) for two in (one, other)]
    return penetration_depth_mm(*rings) > share * min(one.base.width_mm, other.base.width_mm)


def _max_weight_subset(odds: Array, rivals: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    """Which (N,) of some to take for the highest sum of their odds, no two rivals among them."""
    if not rivals:
        return np.ones(len(odds), bool)
    from scipy.optimize import Bounds, LinearConstraint, milp  # slow to load, and seldom needed

    either = np.zeros((len(rivals), len(odds)))
    np.put_along_axis(either, np.array(rivals), 1.0, 1)
    limits = LinearConstraint(either, ub=1)
    best = milp(-odds, integrality=np.ones(len(odds), int), bounds=Bounds(0, 1), constraints=limits)
    return np.asarray(best.x) > 0.5


def make_detection(
    camera: Camera,
    placed: PlacedBase,
    covariance_mm2: Array,
    d_xy_d_camera: Array,
    score: float,
    visible: float,
    also: tuple[Base, ...] = (),
) -> Detection:
    """What is said of a base; its heading is known but for half a turn, a square's but for a quarter."""
    modulo = 90.0 if placed.base.is_square else 180.0
    found = Detection(
        base=placed.base,
        xy_mm=placed.xy_mm,
        z_mm=0.0,
        heading_deg=float(np.degrees(placed.turn_rad) % modulo),
        covariance_mm2=covariance_mm2,
        d_xy_d_camera=d_xy_d_camera,
        score=score,
        visible=visible,
        alternative_bases=also,
        heading_modulo_deg=modulo,
    )
    return reproject_outline(camera, found)
