"""Covariance that a single fit does not show: other sizes, other rims and fits gone astray."""

from dataclasses import dataclass

import numpy as np

from overruler.bases import Base
from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.rare_events import NEGLIGIBLE_PROBABILITY, RARE_WITHIN_SIGMAS
from overruler.vision.learned.logits import MAX_LOGIT, probability_to_logit
from overruler.vision.rounds.remeasure import remeasure_base
from overruler.vision.rounds.size_likelihood import SizeHypothesis

MIN_REPORTED_PROBABILITY = 0.05
"""Sizes at least this probable are reported beside the likeliest."""
CONFIDENT_SCORE = 0.99
"""Bases that score less are measured again and may be far off. Of 2892 bases on 134 rendered tables
none was off by more than 2.4 mm. Of the 61 below this score one in twenty was off by 1.4 mm, of the
others by 0.64 mm."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """How far fits of a kind of base err by the score, beyond what each fit states."""

    sigma_px: float
    """Usual 1 σ, in pixels along each axis, where a base is as likely as none."""
    logits: float
    """Log odds of the score over which that σ falls by a factor of e."""
    rare_factor: float
    """Ratio of the rare σ of a base below `CONFIDENT_SCORE` to the usual one."""
    rare_mm: float
    """Rare error of such a base along each axis, beside that."""
    rare_lengths: float
    """The same, in lengths of the base."""


CIRCLE_MISFIT = Misfit(1.3, 3.33, rare_factor=3.0, rare_mm=3.0, rare_lengths=0.0)
"""The likeliest for 923 round bases on 43 rendered photos. Their error falls from 1.1 px at log odds below 2
to 0.25 px above 8. Pixels explain the errors better than millimetres do. The rare error holds all
107 such bases within `RARE_WITHIN_SIGMAS`; one was 8.9 usual σ off, the next 4.2."""
OVAL_MISFIT = Misfit(8.1, 1.09, rare_factor=1.0, rare_mm=0.0, rare_lengths=0.27)
"""The likeliest for 186 ovals on 12 rendered photos. In a crowd one of seven whose log odds are below 3 takes
edges of its neighbours for its own; the worst was 0.27 of its length off."""


def remeasure_uncertain(frame: Frame, calibration: Calibration, detection: Detection) -> Detection:
    """Measure a base below `CONFIDENT_SCORE` again; add the misfit covariance to any base."""
    if detection.score < CONFIDENT_SCORE:
        detection = remeasure_base(frame, calibration, detection) or detection
    return add_misfit_covariance(calibration.camera, detection)


def add_misfit_covariance(camera: Camera, detection: Detection) -> Detection:
    """Add the covariance of a misfit: the less a piece looks like a base, the more its rim errs."""
    return detection.with_added_covariance(*misfit_covariances(camera, detection))


def misfit_covariances(camera: Camera, detection: Detection) -> tuple[Array, Array]:
    """Return the usual and the rare covariance (2, 2) of a misfit, in mm²."""
    base = detection.base
    misfit = OVAL_MISFIT if base.shape in ("oval", "stadium") else CIRCLE_MISFIT
    logit = float(probability_to_logit(detection.score, MAX_LOGIT))
    usual_px = misfit.sigma_px * np.exp(-max(logit, 0.0) / misfit.logits)
    usual_mm = usual_px * float(camera.mm_per_px(np.array([*detection.xy_mm, detection.z_mm])))
    usual = np.eye(2) * usual_mm**2
    if detection.score >= CONFIDENT_SCORE:
        return usual, usual
    far_mm = (misfit.rare_mm + misfit.rare_lengths * base.length_mm) / RARE_WITHIN_SIGMAS
    return usual, np.eye(2) * (far_mm**2 + (misfit.rare_factor * usual_mm) ** 2)


def other_likely_bases(shares: Array, best: int, radii: Array) -> tuple[Base, ...]:
    """Return the bases other than `best` that are reported too; `shares` (C,) are probabilities."""
    likely = np.flatnonzero(shares > MIN_REPORTED_PROBABILITY)
    return tuple(Base.circle(float(2 * radii[c])) for c in likely if c != best)


def size_covariances(
    best: SizeHypothesis, tried: list[SizeHypothesis], share: Array, radii: Array
) -> tuple[Array, Array]:
    """Return the usual and the rare covariance (2, 2) that the other hypotheses add.

    Their edge lies elsewhere, and so may their centre. The usual one weighs each by its probability
    in `share` (C, 2); the rare one keeps each within `RARE_WITHIN_SIGMAS`.
    """
    usual, rare = np.zeros((2, 2)), np.zeros((2, 2))
    for other in tried:
        chance = float(share[other.size_index, other.rim_kind])
        if other is best or chance < NEGLIGIBLE_PROBABILITY:
            continue
        offset = other.fit.xy_mm - best.fit.xy_mm
        edge_mm = radii[other.size_index] - radii[best.size_index]
        moment = np.outer(offset, offset) + np.eye(2) * edge_mm**2
        usual += chance * moment
        rare += max(chance, RARE_WITHIN_SIGMAS**-2) * moment
    return usual, rare
