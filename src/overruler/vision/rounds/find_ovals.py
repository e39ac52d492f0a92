"""Find oval bases: trace their rims with a network, then fit catalogue sizes in the photo's pixels.

The overview (`disc_net`) proposes places and `ellipse_net` scores and traces them. The traced size
selects catalogue sizes; each is fitted from a trace that assumes it. The likeliest fits that can
coexist are the ovals.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.overlap_choice import likeliest_compatible_set, make_detection
from overruler.vision.contours.rare_events import MIN_RIM_WEIGHT
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.logits import EVEN_SCORE
from overruler.vision.learned.patches import photo_pyramid
from overruler.vision.learned.shapes_in_play import SeenShapes
from overruler.vision.rounds.further_ovals import (
    add_further_trials,
    claim_one_place,
    doubt_few,
    weigh_company,
)
from overruler.vision.rounds.oval_edge_fit import OvalFit, PosePrior, fit_oval
from overruler.vision.rounds.oval_trials import (
    MIN_SCORE,
    Placed,
    SizeTrials,
    judge_trials,
    size_trials,
    trace_candidates,
)
from overruler.vision.rounds.ovals_in_play import judge_trials_in_play, trials_in_play
from overruler.vision.rounds.scoring import MIN_SCORE_IN_PLAY
from overruler.vision.rounds.uncertainty import MIN_REPORTED_PROBABILITY, add_misfit_covariance

TRACE_SIGMA_INFLATION = load_coefficients("sigma_inflation")["traced_oval_pose"]
"""Inflation of a trace's σ where the size is known: counted on 305 rendered ovals, with their
fit."""
POSE_COLUMNS = [0, 1, 4]
"""Columns of x, y and heading among an oval's numbers."""


def find_ovals(
    frame: Frame,
    camera: Camera,
    bases: Sequence[Base],
    starts: Array,
    seen: SeenShapes | None = None,
) -> list[Detection]:
    """Return those of the oval `bases` that lie in the photo, the surest first.

    `starts` (N, 6) are candidates: x, y, half length and half width in mm on the plane z = 0,
    heading in rad, and probability. On a table in play what the network there has `seen` counts.
    """
    pyramid = photo_pyramid(frame)
    sizes = np.array([[base.length_mm, base.width_mm] for base in bases]) / 2
    if seen is not None:
        trials = trials_in_play(pyramid, camera, seen, sizes)
    else:
        traced = trace_candidates(frame, camera, starts, sizes)
        first = size_trials(pyramid, camera, sizes, traced)
        further = add_further_trials(pyramid, camera, sizes, starts, first)
        trials = doubt_few(weigh_company(further))
    least = MIN_SCORE if seen is None else MIN_SCORE_IN_PLAY
    fitted = _fit_catalogue_sizes(frame, camera, bases, trials, least)
    chosen = likeliest_compatible_set(
        [one.fit for one in fitted], [one.score for one in fitted], least
    )
    return [_make_detection(camera, fitted[k]) for k in chosen]


def find_ovals_at(
    frame: Frame, camera: Camera, base: Base, places: Array, is_played: bool, least: float
) -> list[Detection]:
    """Return the ovals of one size about `places` (N, 3), with their own scores from `least` on.

    A place is x and y in mm on z = 0, and heading in rad. `is_played` tells a table in play.
    """
    pyramid = photo_pyramid(frame)
    half = np.tile([base.length_mm / 2, base.width_mm / 2], (len(places), 1))
    ovals = np.column_stack([places[:, :2], half, places[:, 2]])
    placed = Placed(np.zeros(len(places), int), ovals, np.full(len(places), EVEN_SCORE))
    judge = judge_trials_in_play if is_played else judge_trials
    fitted = _fit_catalogue_sizes(frame, camera, [base], judge(pyramid, camera, placed), least)
    return [_make_detection(camera, one) for one in fitted]


class _Fitted(NamedTuple):
    """A trial that was fitted."""

    fit: OvalFit
    score: float
    """Its probability."""
    also: tuple[Base, ...]
    """Other sizes that it likely has."""


def _make_detection(camera: Camera, one: _Fitted) -> Detection:
    fit, score, also = one
    visible = float(np.mean(fit.seen > MIN_RIM_WEIGHT))
    made = make_detection(camera, fit, fit.covariance_mm2, fit.d_xy_d_camera, score, visible, also)
    return add_misfit_covariance(camera, made)


def _fit_catalogue_sizes(
    frame: Frame, camera: Camera, bases: Sequence[Base], trials: SizeTrials, least: float
) -> list[_Fitted]:
    """Fit the likely trials of sizes of `bases`."""
    scores = trials.probabilities()
    fitted = []
    for j in np.flatnonzero(scores > least).tolist():
        pose, sigma = trials.poses[j, POSE_COLUMNS], trials.sigmas[j, POSE_COLUMNS]
        prior = PosePrior(pose, TRACE_SIGMA_INFLATION * sigma)
        fit = fit_oval(frame.pixels, camera, prior, bases[trials.size[j]], 0.0)
        if fit is not None:
            also = tuple(bases[size] for size in other_likely_sizes(trials, j))
            fitted.append(_Fitted(fit, float(scores[j]), also))
    return fitted


def other_likely_sizes(trials: SizeTrials, j: int) -> list[int]:
    """Return the sizes of rivals for the place of a trial that may be right instead, the likeliest first."""
    odds = np.exp(trials.features @ trials.weights)
    is_here = claim_one_place(trials.poses[j], trials.poses)
    rivals = np.flatnonzero(is_here & (trials.size != trials.size[j]))
    first = rivals[np.argsort(-odds[rivals], kind="stable")]
    likely = first[odds[first] / (odds[first] + odds[j]) > MIN_REPORTED_PROBABILITY]
    return list(dict.fromkeys(trials.size[likely].tolist()))
