"""What a photo says of rectangular bases at places that other photos tell.

A figure hides sides of its base and of those beside it, in each photo others. So what one photo says
of each stretch of each side is kept, to be added up.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.imaging.orthophoto import rectify_photo
from overruler.vision.learned.logits import probability_to_logit
from overruler.vision.learned.shape_net import ShapeCandidate
from overruler.vision.plates.rectangle_fit import MIN_SIDE_NATS, BasePose, make_rectangle_detection
from overruler.vision.plates.regiment_net import MM_PER_PX, look_at
from overruler.vision.plates.regiments import (
    MAX_STRETCH_NATS,
    SIDES_MODEL,
    WORST_SIZE_CHI2,
    Fitted,
    fit_at_guess,
    look_closely,
    rate,
    size_chi2,
)
from overruler.vision.plates.side_net import STRETCHES_PER_SIDE

BOX_LENGTHS = 2.0
"""Margin about the places, in lengths of the longest base: the network sees what stands beside them."""
REACH_SHARE = 0.125
"""Farthest from its place that a fit is of the same base, in widths of the base, ..."""
LEAST_REACH_MM = 4.0
"""... or this many mm, whichever is more."""
VISIBLE_SCORE = 0.5
"""Probability of a middle from which on it is in sight."""
MAX_NETWORK_LOGIT = 4.6
"""Largest log odds with which the network says that a middle is there, or is not."""


class SeenPlace(NamedTuple):
    """What one photo says of a base at a place."""

    network_logit: float
    """Log odds of a middle there."""
    mm_per_px: float
    """The photo's resolution."""
    stretch_nats: Array
    """(4, STRETCHES): evidence of each stretch of its sides, clipped; 0 where none is found there."""
    size_chi2: float
    """Squared error of the size that the network guesses there, if the base is of its own, in σ²."""


Look = tuple[SeenPlace, Detection | None]
"""What one photo says of one place, and the base that it shows there."""


def look_at_places(frame: Frame, camera: Camera, poses: Sequence[BasePose]) -> list[Look]:
    """Return what a photo says of each pose, and the base that it shows about it, if any.

    A base has the score that it has among those at the other poses, however low.
    """
    seen = look_at(rectify_photo(frame.pixels, camera, _box_about(poses), MM_PER_PX), camera)
    guesses = [seen.guess_near(pose.xy_mm) for pose in poses]
    fits = [
        _if_of_base(fit_at_guess(frame, camera, guess, pose, -np.inf), guess, pose)
        for guess, pose in zip(guesses, poses, strict=True)
    ]
    there = look_closely(frame, camera, [fit for fit in fits if fit is not None])
    scores = iter(one.score for one in rate(there))
    looks: list[Look] = []
    for pose, guess, fit in zip(poses, guesses, fits, strict=True):
        mm_per_px = float(camera.mm_per_px(np.array([*pose.xy_mm, 0.0])))
        logit = float(probability_to_logit(guess.score, MAX_NETWORK_LOGIT))
        chi2 = min(size_chi2(guess, pose.base), WORST_SIZE_CHI2)
        nats, base = np.zeros((4, STRETCHES_PER_SIDE)), None
        if fit is not None:
            one = fit.hypothesis
            nats = np.clip(one.stretch_nats, -MAX_STRETCH_NATS, MAX_STRETCH_NATS)
            score = next(scores)
            if one.stretch_nats.sum() > MIN_SIDE_NATS:
                base = make_rectangle_detection(frame, camera, one, score, (), SIDES_MODEL)
        looks.append((SeenPlace(logit, mm_per_px, nats, chi2), base))
    return looks


def _if_of_base(fit: Fitted | None, guess: ShapeCandidate, pose: BasePose) -> Fitted | None:
    """Return a fit that is of the base at a pose.

    Sides without evidence speak against a base where the network sees a middle; else they are hidden.
    """
    if fit is None:
        return None
    one = fit.hypothesis
    if one.stretch_nats.sum() <= MIN_SIDE_NATS and guess.score < VISIBLE_SCORE:
        return None
    apart_mm = float(np.hypot(*(one.xy_mm - pose.xy_mm)))
    reach_mm = max(REACH_SHARE * pose.base.width_mm, LEAST_REACH_MM)
    return fit if apart_mm < reach_mm else None


def _box_about(poses: Sequence[BasePose]) -> tuple[float, float, float, float]:
    """Return the part of the table about the poses: left, bottom, right and top."""
    places = np.array([pose.xy_mm for pose in poses])
    margin_mm = BOX_LENGTHS * max(pose.base.length_mm for pose in poses)
    left, bottom = (places.min(0) - margin_mm).tolist()
    right, top = (places.max(0) + margin_mm).tolist()
    return left, bottom, right, top
