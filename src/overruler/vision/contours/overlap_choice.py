"""Choose among ovals and rectangles that overlap, and make detections of the chosen ones."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from operator import itemgetter
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
"""Most overlap of two bases that may both stand, as a share of the smaller one's width."""

MAX_GROUP = 24
"""Most bases that claim one place, one beside the other, of which the best are found without SciPy.

Loading it takes a third of a second. On 5 photographs of games the largest group has 7."""


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
    """Choose the likeliest bases that can stand together: index → probability, sorted.

    `scores`, over 0 and below 1, are the probabilities of each base alone. A score of `least_score`
    is worth nothing. The returned probability is by the margin over the best set without that base.
    """
    least = float(probability_to_logit(least_score, MAX_LOGIT))
    worth = probability_to_logit(scores, MAX_LOGIT) - least
    likely = [k for k in range(len(placed)) if worth[k] > 0]
    worth = worth[likely]
    pairs = combinations(range(len(likely)), 2)
    rivals = [(i, j) for i, j in pairs if bases_overlap(placed[likely[i]], placed[likely[j]])]
    chosen = _max_weight_subset(worth, rivals)
    probabilities = {}
    for k in np.flatnonzero(chosen):
        margin = worth[k]
        if any(k in pair for pair in rivals):
            without = np.where(np.arange(len(worth)) == k, 0.0, worth)
            margin = chosen @ worth - _max_weight_subset(without, rivals) @ without
        probabilities[likely[k]] = float(sigmoid(margin + least))
    return dict(sorted(probabilities.items(), key=lambda item: -item[1]))


def bases_overlap(one: PlacedBase, other: PlacedBase, share: float = MAX_OVERLAP_SHARE) -> bool:
    """Tell whether two bases overlap by more than a share of the smaller one's width."""
    reach_mm = (one.base.length_mm + other.base.length_mm) / 2**0.5
    if np.hypot(*(one.xy_mm - other.xy_mm)) > reach_mm:
        return False
    ring = placed_outline(one.base, one.xy_mm, one.turn_rad)
    other_ring = placed_outline(other.base, other.xy_mm, other.turn_rad)
    limit_mm = share * min(one.base.width_mm, other.base.width_mm)
    return penetration_depth_mm(ring, other_ring) > limit_mm


def _max_weight_subset(weights: Array, rivals: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    """Choose the subset (N,) of the largest total weight that contains no pair of rivals."""
    rivals_of: list[set[int]] = [set() for _ in weights]
    for one, other in rivals:
        rivals_of[one].add(other)
        rivals_of[other].add(one)
    chosen = np.zeros(len(weights), bool)
    for group in _rival_groups(rivals_of, range(len(weights))):
        if len(group) > MAX_GROUP:
            return _solve_program(weights, rivals)
        _, best = _best_subset(weights.tolist(), rivals_of, group)
        chosen[list(best)] = True
    return chosen


def _best_subset(
    weights: Sequence[float], rivals_of: Sequence[set[int]], free: set[int]
) -> tuple[float, set[int]]:
    """Return the largest total weight of some of the `free` without rivals, and those.

    Groups without rivals in others are told apart; in each, who has the most rivals is in or out.
    """
    total, chosen = 0.0, set[int]()
    for group in _rival_groups(rivals_of, free):
        most = max(sorted(group), key=lambda k: len(rivals_of[k] & group))
        weight, some = _best_subset(weights, rivals_of, group - rivals_of[most] - {most})
        best = weights[most] + weight, some | {most}
        if len(group) > 1:
            best = max(best, _best_subset(weights, rivals_of, group - {most}), key=itemgetter(0))
        total += best[0]
        chosen |= best[1]
    return total, chosen


def _solve_program(weights: Array, rivals: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    """Do as `_max_weight_subset`, by an integer program."""
    from scipy.optimize import Bounds, LinearConstraint, milp  # slow to load, and seldom needed

    members = np.zeros((len(rivals), len(weights)))
    np.put_along_axis(members, np.array(rivals), 1.0, 1)
    at_most_one = LinearConstraint(members, ub=1)
    whole = np.ones(len(weights), int)
    best = milp(-weights, integrality=whole, bounds=Bounds(0, 1), constraints=at_most_one)
    return np.asarray(best.x) > 0.5


def _rival_groups(rivals_of: Sequence[set[int]], free: Iterable[int]) -> Iterator[set[int]]:
    """Yield the groups of the `free` that have no rival in another group."""
    left = set(free)
    while left:
        group: set[int] = set()
        reached = {left.pop()}
        while reached:
            group |= reached
            reached = set().union(*(rivals_of[k] for k in reached)) & left
            left -= reached
        yield group


def make_detection(
    camera: Camera,
    placed: PlacedBase,
    covariance_mm2: Array,
    d_xy_d_camera: Array,
    score: float,
    visible: float,
    alternative_bases: tuple[Base, ...] = (),
) -> Detection:
    """Make the detection of a base on the board; `alternative_bases` are other sizes that it may have.

    Its heading is known modulo the turn after which it looks the same.
    """
    modulo = placed.base.heading_modulo_deg
    heading_deg = float(np.degrees(placed.turn_rad) % modulo)
    found = Detection(
        base=placed.base,
        xy_mm=placed.xy_mm,
        z_mm=0.0,
        heading_deg=heading_deg,
        covariance_mm2=covariance_mm2,
        d_xy_d_camera=d_xy_d_camera,
        score=score,
        visible=visible,
        alternative_bases=alternative_bases,
        heading_modulo_deg=modulo,
    )
    return reproject_outline(camera, found)
