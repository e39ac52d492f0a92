"""Trials of ovals: trace the rims of candidates with a network, and try catalogue sizes there.

The overview (`disc_net`) proposes places and `ellipse_net` scores and traces them. The traced size
selects catalogue sizes.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.ellipse_net import (
    TracedOvals,
    average_augmented_scores,
    score_ovals,
    trace_ovals,
    trace_ovals_of_known_size,
)
from overruler.vision.learned.in_play_net import LOGIT, LOGITS, wanted_changes
from overruler.vision.learned.logits import probability_to_logit, sigmoid
from overruler.vision.learned.patches import Picture, photo_pyramid
from overruler.vision.learned.rivals_for_a_place import likeliest_of_each_place
from overruler.vision.learned.shapes_in_play import answers_from_both_sides
from overruler.vision.rounds.scoring import MAX_OVERVIEW_PROBABILITY

MIN_NET_SCORE = 0.01
"""Smallest score of a candidate at first sight."""
MIN_TRACED_SCORE = 0.2
"""Smallest score of a candidate whose rim was traced."""
SIZE_FLOOR_SIGMA_MM = 0.8
"""Smallest 1 σ of a traced half length or half width."""
SIZE_SIGMA_INFLATION = 2.0
"""Inflation of the stated σ of a traced half length or half width."""
MAX_SIZE_CHI2 = 12.0
"""Largest squared distance, in σ, of a fitted size from the traced one."""
MIN_GROWN_SCORE = 0.6
"""Smallest score of a trace of no catalogue size that is tried as a part of a larger oval.

Beside other bases a trace holds to figures and neighbours. Started as large as the base, it follows
the rim; other things then no longer look like an oval."""
MIN_GROWN_SIGHT_SCORE = 0.1
"""Smallest score at first sight of an oval that a trace may be a part of. Of 156 on 12 rendered
tables the 18 that became bases had 0.7 or more."""
LEAST_GROWTH = 0.8
"""Smallest ratio of a catalogue size's length, and width, to those of a trace that may be its part."""
LARGEST_GROWTH = 2.2
"""Largest such ratio."""
MAX_FITTED_SIZES = 2
"""Largest number of sizes fitted to a candidate."""
SAME_OVAL_HALF_WIDTHS = 0.25
"""Distance of the centres, in half widths, below which two candidates are one oval."""
TURNS = np.pi * np.array([0.0, 0.25, 0.5, 0.75])
"""Headings that are tried where a candidate's own tells little, in rad from it."""
MIN_FROM_ABOVE = 0.2
"""Overview probability that counts for any lower one: beside others it is low for true ovals."""
MIN_SCORE = 0.6
"""Smallest score of an oval base. The rim of a mug on a sample photo has 0.57."""
OWN_FEATURES = (
    *("constant", "network_logit", "overview_logit", "size_chi2"),
    *("in_play_logit", "resized", "stretched", "moved"),
)
"""What the probability of an oval alone depends on: the network's score at the oval of known size, the overview's,
the size error in χ², and what the network in play says there: its log odds, and by how much it would change size,
proportions and place. The fit adds nothing."""
SCORE = load_coefficients("oval_score")
ALONE_WEIGHTS = np.array([SCORE[f"alone_{name}"] for name in OWN_FEATURES])
"""Weights of the log odds of an oval alone."""
AMONG_FEATURES = (*OWN_FEATURES, "log_length", "alike")
"""The same among others: besides, its length, and how many of its size are near."""
AMONG_WEIGHTS = np.array([SCORE[name] for name in AMONG_FEATURES])
"""Weights of those of an oval among others."""


def trace_candidates(frame: Frame, camera: Camera, starts: Array, sizes: Array) -> TracedOvals:
    """Trace the rims of the candidates that look like ovals, one for each oval.

    Left out are those that are no base of half `sizes` (C, 2), nor a part of one.
    """
    pyramid = photo_pyramid(frame)
    ovals, from_above = starts[:, :5], starts[:, 5]
    for _ in range(2):
        scored = score_ovals(pyramid, camera, ovals)
        is_likely = scored.score > MIN_NET_SCORE
        ovals, from_above = scored.ovals[is_likely], from_above[is_likely]
    ovals, sigma = trace_ovals(pyramid, camera, ovals)
    traced = TracedOvals(scored.score[is_likely], ovals, sigma, from_above)
    traced = _suppress_overlaps(traced)
    ovals, sigma = trace_ovals(pyramid, camera, traced.ovals)
    traced = replace(traced, ovals=ovals, sigma=sigma)
    traced = traced[_may_matter(traced, sizes)]
    traced = replace(traced, score=average_augmented_scores(pyramid, camera, traced.ovals))
    return _suppress_overlaps(traced[traced.score > MIN_TRACED_SCORE])


def _may_matter(traced: TracedOvals, sizes: Array) -> NDArray[np.bool_]:
    """Tell which traces (N,) have a size of a base, or of a part of one, or take such a one's place."""
    is_base = _size_chi2(sizes, traced).min(1, initial=np.inf) < MAX_SIZE_CHI2
    may_be = is_base | _may_be_parts(traced.ovals, sizes).any(1)
    return np.asarray((_are_one_oval(traced.ovals, traced.ovals) & may_be).any(1))


def _are_one_oval(ovals: Array, others: Array) -> NDArray[np.bool_]:
    """Tell which of the ovals (N, 5) and others (M, 5) have one place (N, M)."""
    distances = np.hypot(*(ovals[:, None, :2] - others[:, :2]).transpose(2, 0, 1))
    half_widths = np.minimum(ovals[:, None, 3], others[:, 3])
    return np.asarray(distances <= SAME_OVAL_HALF_WIDTHS * half_widths)


def _suppress_overlaps(traced: TracedOvals) -> TracedOvals:
    """Keep the best of the candidates of each oval."""
    are_one = _are_one_oval(traced.ovals, traced.ovals)
    best = likeliest_of_each_place(traced.score, lambda k, others: are_one[k, others])
    return traced[np.array(best, int)]


class Placed(NamedTuple):
    """N ovals of catalogue sizes that are to be tried."""

    size: NDArray[np.intp]
    """(N,): which size."""
    ovals: Array
    """(N, 5)."""
    from_above: Array
    """(N,): probability of an oval by the whole-table network."""

    def among(self, rows: NDArray[np.bool_] | list[int]) -> "Placed":
        return Placed(self.size[rows], self.ovals[rows], self.from_above[rows])


@dataclass(frozen=True, slots=True, eq=False)
class SizeTrials:
    """N ovals of catalogue sizes that traces may be."""

    size: NDArray[np.intp]
    """(N,): which size."""
    poses: Array
    """(N, 5): the ovals, traced again as ones of that size."""
    sigmas: Array
    """(N, 5): 1 σ of each number."""
    features: Array
    """(N, K): what the probabilities are weighed from."""
    weights: Array
    """(K,): their weights."""

    @property
    def from_above(self) -> Array:
        """(N,): probability of an oval by the whole-table network, within its limits."""
        return sigmoid(self.features[:, OWN_FEATURES.index("overview_logit")])

    def probabilities(self) -> Array:
        """Return the probability (N,) that each is a base."""
        return sigmoid(self.features @ self.weights)

    def with_offset(self, log_odds: Array) -> "SizeTrials":
        """Return these with log odds (N,) that count beside the features."""
        features = np.column_stack([self.features, log_odds])
        return replace(self, features=features, weights=np.append(self.weights, 1.0))

    def among(self, rows: NDArray[np.bool_]) -> "SizeTrials":
        return SizeTrials(
            self.size[rows], self.poses[rows], self.sigmas[rows], self.features[rows], self.weights
        )

    def joined(self, others: "SizeTrials") -> "SizeTrials":
        """Return these and others that are weighed alike."""
        return SizeTrials(
            np.concatenate([self.size, others.size]),
            np.concatenate([self.poses, others.poses]),
            np.concatenate([self.sigmas, others.sigmas]),
            np.concatenate([self.features, others.features]),
            self.weights,
        )


def size_trials(
    pyramid: list[Picture], camera: Camera, sizes: Array, traced: TracedOvals
) -> SizeTrials:
    """Try the half `sizes` (C, 2) that the traced ovals likely have.

    Each is traced again as one of that size, and scored there.
    """
    chi2 = _size_chi2(sizes, traced)
    which, size = _plausible_sizes(chi2)
    ovals = _resized(traced.ovals[which], sizes[size])
    has_no_size = chi2.min(1) >= MAX_SIZE_CHI2
    parts = np.flatnonzero(has_no_size & (traced.score > MIN_GROWN_SCORE))
    grown_from = traced.ovals[parts]
    of_part, grown_size, grown = _grow_parts(pyramid, camera, grown_from, sizes)
    which = np.concatenate([which, parts[of_part]])
    resized = np.concatenate([ovals, grown])
    size = np.concatenate([size, grown_size])
    return judge_trials(pyramid, camera, Placed(size, resized, traced.from_above[which]))


def judge_trials(pyramid: list[Picture], camera: Camera, placed: Placed) -> SizeTrials:
    """Trace ovals again as ones of their sizes, and score them there.

    Their size error is that of a free trace from there.
    """
    if not len(placed.size):
        empty = np.empty((0, 5))
        return SizeTrials(
            placed.size, empty, empty, np.empty((0, len(ALONE_WEIGHTS))), ALONE_WEIGHTS
        )
    poses, sigmas = trace_ovals_of_known_size(pyramid, camera, placed.ovals)
    score = average_augmented_scores(pyramid, camera, poses)
    again = TracedOvals(score, *trace_ovals(pyramid, camera, poses), placed.from_above)
    chi2 = np.minimum(np.diagonal(_size_chi2(poses[:, 2:4], again)), MAX_SIZE_CHI2)
    from_above = np.clip(placed.from_above, MIN_FROM_ABOVE, MAX_OVERVIEW_PROBABILITY)
    logits = probability_to_logit([score, from_above])
    in_play = answers_from_both_sides(pyramid, camera, poses)
    features = np.column_stack(
        [
            *(np.ones(len(score)), *logits, chi2),
            in_play[:, LOGIT].clip(*LOGITS),
            wanted_changes(in_play),
        ]
    )
    return SizeTrials(placed.size, poses, sigmas, features, ALONE_WEIGHTS)


def _resized(ovals: Array, half_sizes: Array) -> Array:
    """Return ovals (N, 5) with other half lengths and widths (N, 2)."""
    return np.column_stack([ovals[:, :2], half_sizes, ovals[:, 4]])


def _grow_parts(
    pyramid: list[Picture], camera: Camera, parts: Array, sizes: Array
) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Place ovals of half `sizes` (C, 2) that each of the `parts` (N, 5) may be a part of.

    Returns part, size and oval (M, 5). The network moves each by up to half its length.
    """
    part, size = np.nonzero(_may_be_parts(parts, sizes))
    grown = _resized(parts[part], sizes[size])
    for _ in range(2):
        if not len(grown):
            break
        seen = score_ovals(pyramid, camera, grown)
        is_likely = seen.score > MIN_GROWN_SIGHT_SCORE
        part, size = part[is_likely], size[is_likely]
        grown = _resized(seen.ovals[is_likely], sizes[size])
    return part, size, grown


def _may_be_parts(ovals: Array, sizes: Array) -> NDArray[np.bool_]:
    """Tell which ovals (N, 5) may be a part of those of half `sizes` (C, 2): (N, C)."""
    growth = sizes / ovals[:, None, 2:4]
    return np.asarray(((growth > LEAST_GROWTH) & (growth < LARGEST_GROWTH)).all(2))


def _size_chi2(sizes: Array, traced: TracedOvals) -> Array:
    """Return the squared distances (N, C), in σ, of half sizes (C, 2) from the traced ones."""
    sigma = np.hypot(SIZE_FLOOR_SIGMA_MM, SIZE_SIGMA_INFLATION * traced.sigma[:, None, 2:4])
    residual = (sizes - traced.ovals[:, None, 2:4]) / sigma
    return np.asarray(np.sum(residual**2, axis=2))


def _plausible_sizes(chi2: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return oval and size (M,) of the pairs to fit, by their squared distances (N, C)."""
    nearest = np.argsort(chi2, axis=1, kind="stable")[:, :MAX_FITTED_SIZES]
    is_near = np.take_along_axis(chi2, nearest, 1) < MAX_SIZE_CHI2
    oval, rank = np.nonzero(is_near)
    return oval, nearest[oval, rank]
