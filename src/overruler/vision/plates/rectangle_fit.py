"""A rectangular base of one size at a place: its fit along the sides, and its detection."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, wrapped_turn
from overruler.vision.contours.cone_fit import camera_jacobian
from overruler.vision.contours.overlap_choice import bases_overlap, make_detection
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.contours.rare_events import RARE_WITHIN_SIGMAS
from overruler.vision.learned.inference import WEIGHTS
from overruler.vision.learned.logits import probability_to_logit, sigmoid
from overruler.vision.plates.coarse_grid import PosePosterior, pose_posterior
from overruler.vision.plates.plate import MIN_JACOBIAN_WEIGHT
from overruler.vision.plates.rivals import AMBIGUOUS_LOGIT_GAP
from overruler.vision.plates.sides import crop_view, half_extents, side_normals

MODEL = WEIGHTS / "rectangle_edges.onnx"
"""The weights: a network like `plate_edges`, trained on bases under regiments."""
MIN_SIDE_NATS = 2.0
"""Smallest evidence of the sides of a hypothesis."""
SAME_POSE_MM = 3.0
"""Distance up to which two hypotheses of one size are one."""
SAME_POSE_RAD = 0.2
"""Turn up to which they are."""
FLOOR_SIGMA_MM = 0.15
"""Smallest 1 σ of a place."""
FLOOR_SIGMA_RAD = np.radians(0.3)
"""Smallest 1 σ of a heading."""
MIN_STRETCH_NATS = 0.3
"""Smallest evidence of a visible stretch of a side."""


class BasePose(NamedTuple):
    """A base at a pose."""

    base: Base
    """Its size."""
    xy_mm: Array
    """(2,): the centre."""
    turn_rad: float
    """The heading."""


@dataclass(frozen=True, slots=True, eq=False)
class RectangleHypothesis:
    """A base of one size, placed where its sides have most evidence."""

    base: Base
    """Its size."""
    xy_mm: Array
    """(2,): the centre."""
    turn_rad: float
    """The heading."""
    crop_mm: Array
    """(2,): the middle of the photo's part that was looked at."""
    start: BasePose
    """The middle of the grid of poses around it."""
    stretch_nats: Array
    """(4, STRETCHES): evidence of each stretch of its sides."""
    score: float
    """Its probability without regard to others."""

    def is_same_base(self, other: "RectangleHypothesis") -> bool:
        """Return whether two hypotheses are one base."""
        if self.base != other.base or np.hypot(*(self.xy_mm - other.xy_mm)) > SAME_POSE_MM:
            return False
        modulo = np.pi / 2 if self.base.is_square else np.pi
        return bool(abs(wrapped_turn(self.turn_rad - other.turn_rad, modulo)) < SAME_POSE_RAD)


def fit_pose(
    frame: Frame,
    camera: Camera,
    pose: BasePose,
    rate: Callable[[Array, PosePosterior], float],
    model: Path = MODEL,
    least_nats: float = MIN_SIDE_NATS,
) -> RectangleHypothesis | None:
    """Return the hypothesis near a pose; None where its sides have no more than `least_nats`.

    `rate` gives its probability, by its place (2,) and the evidence there. `model` looks at them.
    """
    base = pose.base
    view = crop_view(frame, camera, pose.xy_mm, base.length_mm)
    if view is None:
        return None
    posterior = _posterior_at(view, pose, model, least_nats)
    if posterior is None:
        return None
    start = BasePose(base, *posterior.best_pose)
    posterior = _posterior_at(view, start, model, least_nats)
    if posterior is None:
        return None
    xy, turn = posterior.best_pose
    nats, score = posterior.stretch_nats, rate(xy, posterior)
    # the grid is not kept: those of a whole table take hundreds of megabytes
    return RectangleHypothesis(base, xy, turn, pose.xy_mm, start, nats, score)


def _posterior_at(
    view: LabPatch, pose: BasePose, model: Path, least_nats: float = -np.inf
) -> PosePosterior | None:
    """Return the grid about a pose, if its sides have more evidence there than `least_nats`."""
    size = size_mm(pose.base)
    posterior = pose_posterior(view, pose.xy_mm, pose.turn_rad, size, pose.xy_mm, model)
    if posterior is None or posterior.stretch_nats.sum() <= least_nats:
        return None
    return posterior


def size_mm(base: Base) -> tuple[float, float]:
    """Return length and width."""
    return base.length_mm, base.width_mm


def find_alternatives(
    hypothesis: RectangleHypothesis,
    hypotheses: Sequence[RectangleHypothesis],
    chosen: Sequence[RectangleHypothesis],
) -> list[RectangleHypothesis]:
    """Return what else may lie there, excluded by `hypothesis` alone."""
    least = sigmoid(probability_to_logit(hypothesis.score) - AMBIGUOUS_LOGIT_GAP)
    rest = [other for other in chosen if other is not hypothesis]
    found = []
    for other in hypotheses:
        if other is hypothesis or other.score <= least or not bases_overlap(hypothesis, other):
            continue
        if not any(bases_overlap(other, third) for third in rest):
            found.append(other)
    return found


def make_rectangle_detection(
    frame: Frame,
    camera: Camera,
    hypothesis: RectangleHypothesis,
    score: float,
    alternatives: Sequence[RectangleHypothesis],
    model: Path = MODEL,
) -> Detection:
    """Return the detection of a base; alternatives widen its covariance."""
    view = crop_view(frame, camera, hypothesis.crop_mm, hypothesis.base.length_mm)
    assert view is not None
    posterior = _posterior_at(view, hypothesis.start, model)
    assert posterior is not None
    xy, turn, moments, turn_variance = posterior.mean_and_moments()
    lever_mm = hypothesis.base.length_mm / 2
    distances = [_side_distance_mm(hypothesis, other) for other in alternatives]
    distance_mm = max(distances, default=0.0)
    heading_mm2 = (turn_variance + FLOOR_SIGMA_RAD**2) * lever_mm**2 / 2
    alternative_mm2 = (distance_mm / RARE_WITHIN_SIGMAS) ** 2
    variance_mm2 = FLOOR_SIGMA_MM**2 + heading_mm2 + alternative_mm2
    covariance = moments + np.eye(2) * variance_mm2
    seen = hypothesis.stretch_nats > MIN_STRETCH_NATS
    normals = side_normals(turn)
    middles = xy + half_extents(size_mm(hypothesis.base))[:, None] * normals
    weights = np.clip(seen.mean(1), MIN_JACOBIAN_WEIGHT, 1)
    slopes = camera_jacobian(view, middles, normals, weights)
    bases = dict.fromkeys(other.base for other in alternatives)
    bases.pop(hypothesis.base, None)
    pose = BasePose(hypothesis.base, xy, turn)
    return make_detection(camera, pose, covariance, slopes, score, float(seen.mean()), tuple(bases))


def _side_distance_mm(hypothesis: RectangleHypothesis, other: RectangleHypothesis) -> float:
    """Return the largest distance between sides of two bases."""
    centres_mm = np.hypot(*(hypothesis.xy_mm - other.xy_mm))
    return float(centres_mm + abs(hypothesis.base.length_mm - other.base.length_mm) / 2)
