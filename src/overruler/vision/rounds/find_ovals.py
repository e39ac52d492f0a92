"""Oval bases: a learned look at the places where one may lie, and a fit of each in the photo's own pixels.

Where ovals may lie `discs` says; `stretched` looks closer and follows their rims; what was traced says which sizes of
the catalogue may be fitted, each from where its rim is followed as that of an oval so large, and the surest of the fits
that can all be there are the ovals.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.overlap_choice import likeliest_compatible_set, make_detection
from overruler.vision.contours.rare_events import MIN_RIM_WEIGHT
from overruler.vision.learned.ellipse_net import (
    TracedOvals,
    average_augmented_scores,
    score_ovals,
    trace_ovals,
    trace_ovals_of_known_size,
)
from overruler.vision.learned.logits import probability_to_logit, sigmoid
from overruler.vision.learned.patches import photo_pyramid
from overruler.vision.rounds.fit_rounds import MAX_OVERVIEW_PROBABILITY, MIN_OVERVIEW_PROBABILITY
from overruler.vision.rounds.oval_edge_fit import OvalFit, PosePrior, fit_oval

MIN_LOOK_SCORE, MIN_TRACED_SCORE = 0.01, 0.2
"""Candidates that score less at first sight, and when their rim was traced, are given up."""
SIZE_FLOOR_SIGMA_MM, SIZE_SIGMA_INFLATION = 0.8, 2.0
"""A traced half length or half width is as sure as this at best, and as so many of its σ."""
MAX_SIZE_CHI2, MAX_FITTED_SIZES = 12.0, 2
"""Sizes this far from what was traced (squared σ) are not fitted, and at most so many are."""
SAME_OVAL_HALF_WIDTHS = 0.25
"""Candidates are of one oval whose middles lie this near each other, in half widths."""
TRACE_SIGMA_INFLATION = 4.0
"""How much larger the errors of a traced oval of known size are than the σ of its trace: counted on 305 rendered ovals,
together with what the fit finds."""
LOGIT_WEIGHTS = np.array([-1.7, 0.85, 1.3, -0.33])
"""An oval's log odds: a constant, and so much for the log odds of the learned look and of the look from above, and for
how far its size is from what was traced, in squared σ: logistic regression on 60 rendered tables. What a fit
sees of the outline adds nothing to that."""
MIN_SCORE = 0.6
POSE_COLUMNS = [0, 1, 4]
"""Where x, y and the heading are among an oval's numbers."""


def find_ovals(
    frame: Frame, camera: Camera, bases: Sequence[Base], starts: Array
) -> list[Detection]:
    """Those of the oval `bases` that lie in the photo, the surest first.

    `starts` (N, 6) are where some may lie: x, y, half length, half width in mm on the plane z = 0, heading in rad, and
    how likely that is.
    """
    traced = _trace_candidates(frame, camera, starts)
    fitted = _fit_catalogue_sizes(frame, camera, bases, traced)
    fits, scores = [fit for fit, _ in fitted], [score for _, score in fitted]
    return [
        make_detection(
            camera,
            fit,
            fit.covariance_mm2,
            fit.d_xy_d_camera,
            score,
            float(np.mean(fit.seen > MIN_RIM_WEIGHT)),
        )
        for fit, score in (fitted[k] for k in likeliest_compatible_set(fits, scores, MIN_SCORE))
    ]


def _trace_candidates(frame: Frame, camera: Camera, starts: Array) -> TracedOvals:
    """The starts that look like ovals, their rims followed, one for each oval."""
    levels, ovals, likely = photo_pyramid(frame), starts[:, :5], starts[:, 5]
    for _ in range(2):
        looked = score_ovals(levels, camera, ovals)
        hopeful = looked.score > MIN_LOOK_SCORE
        ovals, likely = looked.ovals[hopeful], likely[hopeful]
    some = _suppress_overlaps(
        TracedOvals(looked.score[hopeful], *trace_ovals(levels, camera, ovals), likely)
    )
    ovals, sigma = trace_ovals(levels, camera, some.ovals)
    again = replace(
        some, score=average_augmented_scores(levels, camera, ovals), ovals=ovals, sigma=sigma
    )
    return _suppress_overlaps(again[again.score > MIN_TRACED_SCORE])


def _suppress_overlaps(traced: TracedOvals) -> TracedOvals:
    """Without those that speak of an oval of which a surer one speaks."""
    kept: list[int] = []
    for k in np.argsort(-traced.score, kind="stable"):
        apart = np.hypot(*(traced.ovals[kept, :2] - traced.ovals[k, :2]).T)
        if np.all(
            apart > SAME_OVAL_HALF_WIDTHS * np.minimum(traced.ovals[kept, 3], traced.ovals[k, 3])
        ):
            kept.append(int(k))
    return traced[np.array(kept, int)]


def _fit_catalogue_sizes(
    frame: Frame, camera: Camera, bases: Sequence[Base], traced: TracedOvals
) -> list[tuple[OvalFit, float]]:
    """The sizes that traced ovals may have, fitted, and how likely each is an oval base, 0 to 1."""
    sizes = np.array([[base.length_mm, base.width_mm] for base in bases]) / 2
    sigma = np.hypot(SIZE_FLOOR_SIGMA_MM, SIZE_SIGMA_INFLATION * traced.sigma[:, None, 2:4])
    away = np.sum(((sizes - traced.ovals[:, None, 2:4]) / sigma) ** 2, axis=2)
    nearest = np.argsort(away, axis=1, kind="stable")[:, :MAX_FITTED_SIZES]
    tried = [
        (k, i)
        for k, some in enumerate(nearest.tolist())
        for i in some
        if away[k, i] < MAX_SIZE_CHI2
    ]
    which, size = np.array(tried, int).reshape(-1, 2).T
    as_large = np.column_stack([traced.ovals[which, :2], sizes[size], traced.ovals[which, 4]])
    places, own = (
        part[:, POSE_COLUMNS]
        for part in trace_ovals_of_known_size(photo_pyramid(frame), camera, as_large)
    )
    said = probability_to_logit(
        np.stack(
            [
                traced.score,
                np.clip(traced.from_above, MIN_OVERVIEW_PROBABILITY, MAX_OVERVIEW_PROBABILITY),
            ],
            -1,
        )
    )
    found = []
    for (k, i), place, doubt in zip(tried, places, own, strict=True):
        fit = fit_oval(
            frame.pixels, camera, PosePrior(place, TRACE_SIGMA_INFLATION * doubt), bases[i], 0.0
        )
        if fit is not None:
            found.append((fit, float(sigmoid(LOGIT_WEIGHTS @ [1.0, *said[k], away[k, i]]))))
    return found
