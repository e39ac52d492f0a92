"""Find stadiums, bases with round ends: trace both ends with a network, then fit the outline.

Pairs of round candidates along an oval one are tried first. Where that finds some, what the overview
took for ovals is tried too. The network in play, which knows the shapes of bases, looks at each fit.
The likeliest fits that can coexist are the bases.
"""

from collections.abc import Callable, Iterable, Sequence

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
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.disc_net import Discs
from overruler.vision.learned.ellipse_net import average_augmented_scores
from overruler.vision.learned.in_play_net import LOGIT, LOGITS, RECTANGLE_LOGIT, wanted_changes
from overruler.vision.learned.logits import MAX_LOGIT, probability_to_logit, sigmoid
from overruler.vision.learned.patches import Picture, photo_pyramid
from overruler.vision.learned.rivals_for_a_place import likeliest_of_each_place
from overruler.vision.learned.shapes_in_play import answers_from_both_sides
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

LEAST_TRACED_LOGIT = -8.0
"""Least log odds of a trace whose outline is fitted. Where a pixel is 1.6 mm, true ones reach no more."""
OUTLINE_WEIGHTS = np.array([-36.9, 4.5, 7.4, 0.47, 23.7])
"""Weights of the log odds by the outline: as `TRACED_WEIGHTS`, then the less likely end's log odds, and the share of
the outline that is seen.

Fitted by logistic regression to 86 traces on stadiums and 384 on other things, on 19 rendered tables;
then the constant was made smaller by 1.8."""
LEAST_OUTLINE_LOGIT = -8.0
"""Least log odds by the outline of a fit that the network in play looks at."""
LOGIT_WEIGHTS = np.array(list(load_coefficients("stadium_score").values()))
"""Weights of the log odds. The features: the constant, the log odds by the outline, and the log odds of a
base by the network in play; then how much that network would change the size, and the place."""
END_LOGITS = (-6.0, 2.0)
"""Limits of an end's log odds of being a round base, by the patch network: most ends have some, since
half of them is one."""
MIN_SCORE = 0.5
"""Smallest probability of a base."""
FEWEST_TOGETHER = 2
"""From so many likely ones on, ..."""
TOGETHER_LOGIT = 1.0
"""... the log odds of all are larger by this: bikes come in units."""
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
    fits: list[OvalFit] = []
    scores: list[float] = []
    for starts_of in (paired_starts, oval_starts):
        size, ovals = starts_of_sizes(bases, discs, starts_of)
        found = [fit for fit, score in zip(fits, scores, strict=True) if score > MIN_SCORE]
        is_free = ~_are_inside(ovals[:, :2], found)
        traced = trace_likely(photo_pyramid(frame), camera, size[is_free], ovals[is_free])
        more, features = fit_outlines(frame, camera, bases, traced)
        fits, scores = fits + more, scores + sigmoid(features @ LOGIT_WEIGHTS).tolist()
        if max(scores, default=0.0) <= MIN_SCORE:
            return []
    if sum(score > MIN_SCORE for score in scores) >= FEWEST_TOGETHER:
        logits = probability_to_logit(scores, MAX_LOGIT) + TOGETHER_LOGIT
        scores = sigmoid(logits).tolist()
    chosen = likeliest_compatible_set(fits, scores, MIN_SCORE)
    return [_make_detection(camera, fits[k], scores[k]) for k in chosen]


def find_stadiums_at(
    frame: Frame, camera: Camera, base: Base, places: Array, least: float
) -> list[Detection]:
    """Return the stadiums of one size about `places` (N, 3), with their own scores from `least` on.

    A place is x and y in mm on z = 0, and heading in rad. From 2 mm beside it a trace finds the base.
    """
    half = np.tile(_half_sizes([base]), (len(places), 1))
    starts = np.column_stack([places[:, :2], half, places[:, 2]])
    traced = trace_stadiums(photo_pyramid(frame), camera, np.zeros(len(places), int), starts)
    fits, features = fit_outlines(frame, camera, [base], traced)
    scored = zip(fits, sigmoid(features @ LOGIT_WEIGHTS).tolist(), strict=True)
    return [_make_detection(camera, fit, score) for fit, score in scored if score >= least]


def starts_of_sizes(
    bases: Sequence[Base], discs: Discs, starts_of: Callable[[Discs, Array], Array]
) -> tuple[NDArray[np.intp], Array]:
    """Return where each of the `bases` may lie, as `starts_of` proposes: which (N,), and the stadiums (N, 5)."""
    starts = [starts_of(discs, half_size) for half_size in _half_sizes(bases)]
    return np.repeat(np.arange(len(starts)), [len(some) for some in starts]), np.concatenate(starts)


def _half_sizes(bases: Iterable[Base]) -> Array:
    """Half lengths and half widths (N, 2)."""
    return np.array([[base.length_mm, base.width_mm] for base in bases]) / 2


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


def trace_likely(
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


def fit_outlines(
    frame: Frame, camera: Camera, bases: Sequence[Base], traced: Stadiums
) -> tuple[list[OvalFit], Array]:
    """Fit the outlines of traces; return N fits and their features (N, 5), as `LOGIT_WEIGHTS` has them."""
    pyramid = photo_pyramid(frame)
    ends = _end_logits(pyramid, camera, traced)
    fits: list[OvalFit] = []
    logits: list[float] = []
    for k, size in enumerate(traced.size.tolist()):
        sigma = TRACE_SIGMA_INFLATION * np.sqrt(np.diagonal(traced.covariance[k]))
        prior = PosePrior(traced.poses[k, POSE_COLUMNS], sigma)
        fit = fit_oval(frame.pixels, camera, prior, bases[size], 0.0)
        if fit is not None:
            features = [1.0, -traced.misfit[k], traced.contrast[k], ends[k], _seen_share(fit)]
            logit = float(OUTLINE_WEIGHTS @ features)
            if logit > LEAST_OUTLINE_LOGIT:
                fits.append(fit)
                logits.append(logit)
    return fits, _features(pyramid, camera, fits, logits)


def _features(
    pyramid: list[Picture], camera: Camera, fits: Sequence[OvalFit], outline_logits: Sequence[float]
) -> Array:
    """Ask the network in play about fits; return their features (N, 5)."""
    if not fits:
        return np.empty((0, len(LOGIT_WEIGHTS)))
    places, turns = [one.xy_mm for one in fits], [one.turn_rad for one in fits]
    shapes = np.column_stack([places, _half_sizes(one.base for one in fits), turns])
    answers = answers_from_both_sides(pyramid, camera, shapes)
    as_base = np.logaddexp(*answers[:, [LOGIT, RECTANGLE_LOGIT]].clip(*LOGITS).T)
    resized, _, moved = wanted_changes(answers).T
    return np.column_stack([np.ones(len(fits)), outline_logits, as_base, resized, moved])


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
