"""Find stadiums, bases with round ends: trace both ends with a network, then fit the outline.

Pairs of round candidates along an oval one are tried first. Where that finds some, what the overview
took for ovals is tried too. The likeliest fits that can coexist are the bases.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from overruler.bases import Base
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.batched.vectors import left_component, unit_vectors
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.overlap_choice import likeliest_compatible_set, make_detection
from overruler.vision.contours.rare_events import MIN_RIM_WEIGHT
from overruler.vision.learned.disc_net import Discs
from overruler.vision.learned.ellipse_net import average_augmented_scores
from overruler.vision.learned.logits import MAX_LOGIT, probability_to_logit, sigmoid
from overruler.vision.learned.patches import Picture, photo_pyramid
from overruler.vision.learned.rivals_for_a_place import likeliest_of_each_place
from overruler.vision.rounds.oval_edge_fit import OvalFit, PosePrior, fit_oval
from overruler.vision.rounds.stadium_trials import (
    Stadiums,
    end_circles,
    oval_starts,
    paired_starts,
    trace_stadiums,
    traced_logits,
)
from overruler.vision.rounds.uncertainty import add_misfit_covariance

LEAST_TRACED_LOGIT = -3.0
"""Least log odds of a trace whose outline is fitted."""
SCORE_WEIGHTS = np.array([-36.9, 4.5, 7.4, 0.47, 23.7])
"""Weights of the log odds: as `TRACED_WEIGHTS`, then the less likely end's log odds, and the share of the outline
that is seen.

Fitted by logistic regression to 86 traces on stadiums and 384 on other things, on 19 rendered tables;
then the constant was made smaller by 1.8. Each table judged by the weights of the rest, 0.85 of the
stadiums and no other thing then reach `MIN_SCORE`."""
END_LOGITS = (-6.0, 2.0)
"""Limits of an end's log odds of being a round base, by the patch network: most ends have some, since
half of them is one."""
MIN_SCORE = 0.5
"""Smallest probability of a base."""
FEWEST_TOGETHER = 2
"""From so many likely ones on, ..."""
TOGETHER_LOGIT = 1.8
"""... the log odds of all are larger by this: bikes come in units. It makes up for the smaller constant."""
SAME_PLACE_HALF_WIDTHS = 0.5
"""Traces of one size nearer than this share of its half width are one."""
TRACE_SIGMA_INFLATION = 3.0
"""Inflation of a trace's σ: neighbouring directions share their errors."""
POSE_COLUMNS = [0, 1, 4]
"""Columns of x, y and heading among a stadium's numbers."""


def find_stadiums(
    frame: Frame, camera: Camera, bases: Sequence[Base], discs: Discs
) -> list[Detection]:
    """Return those of the `bases`, stadiums all, that lie in the photo, the surest first."""
    half_sizes = np.array([[base.length_mm, base.width_mm] for base in bases]) / 2
    fits: list[OvalFit] = []
    scores: list[float] = []
    for starts_of in (paired_starts, oval_starts):
        starts = [starts_of(discs, half_size) for half_size in half_sizes]
        size = np.repeat(np.arange(len(starts)), [len(some) for some in starts])
        ovals = np.concatenate(starts)
        found = [fit for fit, score in zip(fits, scores, strict=True) if score > MIN_SCORE]
        is_free = ~_are_inside(ovals[:, :2], found)
        traced = _trace_likely(photo_pyramid(frame), camera, size[is_free], ovals[is_free])
        more, their_scores = _fit_outlines(frame, camera, bases, traced)
        fits, scores = fits + more, scores + their_scores
        if max(scores, default=0.0) <= MIN_SCORE:
            return []
    if sum(score > MIN_SCORE for score in scores) >= FEWEST_TOGETHER:
        logits = probability_to_logit(scores, MAX_LOGIT) + TOGETHER_LOGIT
        scores = sigmoid(logits).tolist()
    chosen = likeliest_compatible_set(fits, scores, MIN_SCORE)
    return [_make_detection(camera, fits[k], scores[k]) for k in chosen]


def _are_inside(points: Array, fits: Sequence[OvalFit]) -> NDArray[np.bool_]:
    """Tell which points (N, 2) lie in one of the fitted bases."""
    is_inside = np.zeros(len(points), bool)
    for fit in fits:
        ahead = unit_vectors(np.asarray(fit.turn_rad))
        apart = points - fit.xy_mm
        along, across = apart @ ahead, left_component(apart, ahead)
        half_length, half_width = fit.base.length_mm / 2, fit.base.width_mm / 2
        is_inside |= (np.abs(along) < half_length) & (np.abs(across) < half_width)
    return is_inside


def _trace_likely(
    pyramid: list[Picture], camera: Camera, size: NDArray[np.intp], starts: Array
) -> Stadiums:
    """Trace stadiums (N, 5) of known size (N,); return those likely enough to be fitted, one of each place."""
    traced = trace_stadiums(pyramid, camera, size, starts)
    likely = traced[traced_logits(traced) > LEAST_TRACED_LOGIT]

    def are_one(k: int, others: list[int]) -> NDArray[np.bool_]:
        apart = np.hypot(*(likely.poses[others, :2] - likely.poses[k, :2]).T)
        is_near = apart < SAME_PLACE_HALF_WIDTHS * likely.poses[k, 3]
        return np.asarray(is_near & (likely.size[others] == likely.size[k]))

    return likely[likeliest_of_each_place(traced_logits(likely), are_one)]


def _fit_outlines(
    frame: Frame, camera: Camera, bases: Sequence[Base], traced: Stadiums
) -> tuple[list[OvalFit], list[float]]:
    """Fit the outlines of traces; return the fits and their probabilities."""
    ends = _end_logits(photo_pyramid(frame), camera, traced)
    fits: list[OvalFit] = []
    logits: list[float] = []
    for k, size in enumerate(traced.size.tolist()):
        sigma = TRACE_SIGMA_INFLATION * np.sqrt(np.diagonal(traced.covariance[k]))
        prior = PosePrior(traced.poses[k, POSE_COLUMNS], sigma)
        fit = fit_oval(frame.pixels, camera, prior, bases[size], 0.0)
        if fit is not None:
            features = [1.0, -traced.misfit[k], traced.contrast[k], ends[k], _seen_share(fit)]
            fits.append(fit)
            logits.append(float(SCORE_WEIGHTS @ features))
    return fits, sigmoid(np.array(logits)).tolist()


def _end_logits(pyramid: list[Picture], camera: Camera, traced: Stadiums) -> Array:
    """Return the log odds (N,) that the less likely end is round, by the patch network."""
    if not len(traced.size):
        return np.empty(0)
    circles, _ = end_circles(traced.poses)
    rounds = np.column_stack([circles, circles[:, 2], np.zeros(len(circles))])
    logits = probability_to_logit(average_augmented_scores(pyramid, camera, rounds))
    return np.asarray(np.minimum(*np.split(logits.clip(*END_LOGITS), 2)))


def _seen_share(fit: OvalFit) -> float:
    return float(np.mean(fit.seen > MIN_RIM_WEIGHT))


def _make_detection(camera: Camera, fit: OvalFit, score: float) -> Detection:
    seen = _seen_share(fit)
    made = make_detection(camera, fit, fit.covariance_mm2, fit.d_xy_d_camera, score, seen)
    return add_misfit_covariance(camera, made)
