"""Find rectangular bases that nobody named: in rank and file, alone, or under small scales.

A network sees the whole table from above (`regiment_net`) and says where bases lie, how large they
are and how they are turned. Every size of the catalogue that is about as large is placed there and
fitted along its sides. The result is the likeliest set that can stand together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from overruler.bases import RECTANGLE_SIDES_MM, Base
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.overlap_choice import likeliest_compatible_set
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.logits import MAX_LOGIT, probability_to_logit, sigmoid
from overruler.vision.learned.shape_net import ShapeCandidate
from overruler.vision.plates.coarse_grid import PosePosterior
from overruler.vision.plates.rectangle_fit import (
    BasePose,
    RectangleHypothesis,
    find_alternatives,
    fit_pose,
    make_rectangle_detection,
    size_mm,
)
from overruler.vision.plates.sides import half_extents, side_normals

BASES = tuple(Base.rectangle(width, length) for length, width in RECTANGLE_SIDES_MM)
"""The sizes that are looked for."""
LOG_SIDE_SIGMA = 0.08
"""1 σ of the logarithm of a side that the network guesses."""
MAX_SIZE_CHI2 = 9.0
"""Largest squared error of a guessed size, in σ²."""
MOST_SIZES = 3
"""Most sizes that are fitted at a guess."""
CERTAIN_ELONGATION = 0.3
"""Certainty of a guess's long axis from which no base is placed across it."""
NEAR_LENGTHS = 2.0
"""A base of the same size within so many lengths supports another."""
MOST_SUPPORT = 4
"""So many of them are enough."""
CONTACT_GAP_MM = -1.5, 3.5
"""Gaps at which two bases of one size stand side by side; a negative one is an error of their places."""
CONTACT_SLIP_MM = 2.5
"""How far they may be shifted along their common side."""
CONTACT_TURN_RAD = np.radians(4.0)
"""How far they may be turned against each other."""
FEATURES = ("constant", "network_logit", "side_nats", "size_chi2", "support", "contacts")
"""What a probability depends on."""
LOGIT_WEIGHTS = np.array([load_coefficients("regiment_score")[name] for name in FEATURES])
"""Their weights."""
MIN_RIVAL_SCORE = 0.2
"""Smallest probability of a hypothesis that can exclude others."""
MIN_SCORE = 0.9
"""Smallest probability of a base that is told."""


def find_regiments(
    frame: Frame, camera: Camera, guesses: Sequence[ShapeCandidate]
) -> list[Detection]:
    """Return the rectangular bases among the network's `guesses`, the surest first."""
    hypotheses = _rate_hypotheses(frame, camera, guesses)
    scores = [one.score for one in hypotheses]
    chosen = likeliest_compatible_set(hypotheses, scores, MIN_RIVAL_SCORE)
    standing = [hypotheses[k] for k in chosen]
    detections = []
    for k, score in chosen.items():
        if score >= MIN_SCORE:
            others = find_alternatives(hypotheses[k], hypotheses, standing)
            detections.append(make_rectangle_detection(camera, hypotheses[k], score, others))
    return detections


def _rate_hypotheses(
    frame: Frame, camera: Camera, guesses: Sequence[ShapeCandidate]
) -> list[RectangleHypothesis]:
    """Return the likely sizes at all guesses, with their probabilities."""
    rows = measure_features(frame, camera, guesses)
    if not rows:
        return []
    features = np.stack([feature for _, feature in rows])
    scores = sigmoid(features @ LOGIT_WEIGHTS).tolist()
    return [replace(one, score=score) for (one, _), score in zip(rows, scores, strict=True)]


def measure_features(
    frame: Frame, camera: Camera, guesses: Sequence[ShapeCandidate]
) -> list[tuple[RectangleHypothesis, Array]]:
    """Return the likely sizes at all guesses, with the features (6,) of their probability."""
    found: list[RectangleHypothesis] = []
    known: list[tuple[float, float, float]] = []
    for guess in guesses:
        logit = float(probability_to_logit(guess.score, MAX_LOGIT))
        for chi2, pose in _likely_poses(guess):
            fit = fit_pose(frame, camera, pose, _side_nats)
            if fit is not None:
                found.append(fit)
                known.append((logit, fit.score, chi2))
    supports = _supports(found, [logit for logit, _, _ in known])
    known_table = np.array(known).reshape(-1, 3)
    table = np.column_stack([np.ones(len(found)), known_table, supports, _contacts(found)])
    return list(zip(found, table, strict=True))


def _side_nats(xy_mm: Array, posterior: PosePosterior) -> float:
    return float(posterior.stretch_nats.sum())


def _likely_poses(guess: ShapeCandidate) -> list[tuple[float, BasePose]]:
    """Return the sizes at a guess, the likeliest first, each with its error in σ²."""
    poses = [pose for base in BASES for pose in _poses_of_size(guess, base)]
    likely = [one for one in poses if one[0] < MAX_SIZE_CHI2]
    return sorted(likely, key=lambda one: one[0])[:MOST_SIZES]


def _poses_of_size(guess: ShapeCandidate, base: Base) -> Iterator[tuple[float, BasePose]]:
    """Yield the poses of a size, lengthwise and across, with the error in σ²."""
    size = np.log([base.length_mm, base.width_mm])
    error = (np.log([guess.length_mm, guess.width_mm]) - size) / LOG_SIDE_SIGMA
    chi2 = float(error @ error)
    for quarter in range(1 if base.is_square else 2):
        turn = guess.turn_rad + quarter * np.pi / 2
        axis = [np.cos(2 * turn), np.sin(2 * turn)]
        if base.is_square or np.dot(guess.double_heading_vector, axis) > -CERTAIN_ELONGATION:
            yield chi2, BasePose(base, guess.xy_mm, turn)


def _supports(found: Sequence[RectangleHypothesis], logits: Sequence[float]) -> Array:
    """Return how many likely bases of its own size stand near each (N,)."""
    counts = np.zeros(len(found))
    if not found:
        return counts
    xy = np.array([one.xy_mm for one in found])
    likely = sigmoid(np.array(logits))
    size = np.array([(one.base.length_mm, one.base.width_mm) for one in found])
    for k, one in enumerate(found):
        apart = np.hypot(*(xy - xy[k]).T)
        is_near = (apart < NEAR_LENGTHS * one.base.length_mm) & (apart > one.base.width_mm / 2)
        same = np.all(size == size[k], axis=1)
        counts[k] = min(MOST_SUPPORT, float(likely[is_near & same].sum()))
    return counts


def _contacts(found: Sequence[RectangleHypothesis]) -> Array:
    """Return at how many of its four sides each (N,) has a base of its size in rank and file."""
    counts = np.zeros(len(found))
    for k, one in enumerate(found):
        same = [other for other in found if other.base == one.base and _is_parallel(one, other)]
        offsets = np.array([other.xy_mm for other in same]) - one.xy_mm
        normals = side_normals(one.turn_rad)
        ahead = offsets @ normals.T
        aside = np.abs(offsets @ np.roll(normals, -1, axis=0).T)
        gap = ahead - 2 * half_extents(size_mm(one.base))
        low, high = CONTACT_GAP_MM
        counts[k] = ((gap > low) & (gap < high) & (aside < CONTACT_SLIP_MM)).any(0).sum()
    return counts


def _is_parallel(one: RectangleHypothesis, other: RectangleHypothesis) -> bool:
    """Tell whether two bases of one size are turned alike."""
    modulo = np.pi / 2 if one.base.is_square else np.pi
    turn = (one.turn_rad - other.turn_rad + modulo / 2) % modulo - modulo / 2
    return bool(abs(turn) < CONTACT_TURN_RAD)
