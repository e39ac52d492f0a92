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
from overruler.vision.contours.overlap_choice import detection_of, likeliest_together
from overruler.vision.learned.ellipse_net import Traced, look, opinions, trace, trace_sized
from overruler.vision.learned.logits import logit_of, share_of
from overruler.vision.learned.patches import levels_of
from overruler.vision.rounds.fit_rounds import SURE, UNKNOWN
from overruler.vision.rounds.oval_contour import OvalFit, Start, fit_oval

HOPELESS, PROMISING = 0.01, 0.2
"""Candidates that score less at first sight, and when their rim was traced, are given up."""
SIZE_MM, SIZE_SIGMAS = 0.8, 2.0
"""A traced half length or half width is as sure as this at best, and as so many of its σ."""
WORTH_A_FIT, SIZES = 12.0, 2
"""Sizes this far from what was traced (squared σ) are not fitted, and at most so many are."""
ALIKE = 0.25
"""Candidates are of one oval whose middles lie this near each other, in half widths."""
TRACED = 4.0
"""How much larger the errors of a traced oval of known size are than the σ of its trace: counted on 305 rendered ovals,
together with what the fit finds."""
ODDS = np.array([-1.7, 0.85, 1.3, -0.33])
"""An oval's log odds: a constant, and so much for the log odds of the learned look and of the look from above, and for
how far its size is from what was traced, in squared σ: logistic regression on 60 rendered tables. What a fit
sees of the outline adds nothing to that."""
LEAST_SCORE = 0.6
LEAST_SEEN = 0.35
PLACED = [0, 1, 4]
"""Where x, y and the heading are among an oval's numbers."""


def find_ovals(frame: Frame, camera: Camera, bases: Sequence[Base], starts: Array) -> list[Detection]:
    """Those of the oval `bases` that lie in the photo, the surest first.

    `starts` (N, 6) are where some may lie: x, y, half length, half width in mm on the plane z = 0, heading in rad, and
    how likely that is.
    """
    traced = _traced(frame, camera, starts)
    fitted = _fits(frame, camera, bases, traced)
    fits, scores = [fit for fit, _ in fitted], [score for _, score in fitted]
    return [
        detection_of(camera, fit, fit.covariance_mm2, fit.d_xy_d_camera, score, float(np.mean(fit.seen > LEAST_SEEN)))
        for fit, score in (fitted[k] for k in likeliest_together(fits, scores, LEAST_SCORE))
    ]


def _traced(frame: Frame, camera: Camera, starts: Array) -> Traced:
    """The starts that look like ovals, their rims followed, one for each oval."""
    levels, ovals, likely = levels_of(frame), starts[:, :5], starts[:, 5]
    for _ in range(2):
        looked = look(levels, camera, ovals)
        hopeful = looked.score > HOPELESS
        ovals, likely = looked.ovals[hopeful], likely[hopeful]
    some = _distinct(Traced(looked.score[hopeful], *trace(levels, camera, ovals), likely))
    ovals, sigma = trace(levels, camera, some.ovals)
    again = replace(some, score=opinions(levels, camera, ovals), ovals=ovals, sigma=sigma)
    return _distinct(again[again.score > PROMISING])


def _distinct(traced: Traced) -> Traced:
    """Without those that speak of an oval of which a surer one speaks."""
    kept: list[int] = []
    for k in np.argsort(-traced.score, kind="stable"):
        apart = np.hypot(*(traced.ovals[kept, :2] - traced.ovals[k, :2]).T)
        if np.all(apart > ALIKE * np.minimum(traced.ovals[kept, 3], traced.ovals[k, 3])):
            kept.append(int(k))
    return traced[np.array(kept, int)]


def _fits(frame: Frame, camera: Camera, bases: Sequence[Base], traced: Traced) -> list[tuple[OvalFit, float]]:
    """The sizes that traced ovals may have, fitted, and how likely each is an oval base, 0 to 1."""
    sizes = np.array([[base.length_mm, base.width_mm] for base in bases]) / 2
    sigma = np.hypot(SIZE_MM, SIZE_SIGMAS * traced.sigma[:, None, 2:4])
    away = np.sum(((sizes - traced.ovals[:, None, 2:4]) / sigma) ** 2, axis=2)
    nearest = np.argsort(away, axis=1, kind="stable")[:, :SIZES]
    tried = [(k, i) for k, some in enumerate(nearest.tolist()) for i in some if away[k, i] < WORTH_A_FIT]
    which, size = np.array(tried, int).reshape(-1, 2).T
    as_large = np.column_stack([traced.ovals[which, :2], sizes[size], traced.ovals[which, 4]])
    places, own = (part[:, PLACED] for part in trace_sized(levels_of(frame), camera, as_large))
    said = logit_of(np.stack([traced.score, np.clip(traced.from_above, UNKNOWN, SURE)], -1))
    found = []
    for (k, i), place, doubt in zip(tried, places, own, strict=True):
        fit = fit_oval(frame.pixels, camera, Start(place, TRACED * doubt), bases[i], 0.0)
        if fit is not None:
            found.append((fit, float(share_of(ODDS @ [1.0, *said[k], away[k, i]]))))
    return found
