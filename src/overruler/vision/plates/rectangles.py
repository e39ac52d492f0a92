"""Find rectangular bases other than ships' plates: place hypotheses, then choose the likeliest set.

In rank and file bases touch and figures hide them, so from above it is hard to say where one ends.
Every size is therefore placed at every centre that the overview (`shape_net`) proposes, and moved
to where a network along its sides (`coarse_grid`) finds most evidence. The result is the likeliest
set of bases that can coexist: four small squares side by side explain more than the large one that
they form.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.overlap_choice import PlacedBase, likeliest_compatible_set
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.logits import probability_to_logit, sigmoid
from overruler.vision.learned.shape_net import ShapeCandidate, find_rectangle_candidates
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

MAX_LOG_SIZE_ERROR = 0.45
"""Largest error of a guessed side: logarithm of the ratio of the square roots of the areas."""
CERTAIN_ELONGATION = 0.3
"""Certainty of a guess's long axis from which no base is placed across it."""
SLACK_MM = 2.0
"""Length by which bases may exceed the larger one that they seem to form together."""
GUESS_REACH_MM = 8.0
"""Distance up to which an overview guess counts for a hypothesis."""
MIN_OVERVIEW_PROBABILITY = 0.02
"""Overview probability of a place without a guess."""
LOGIT_WEIGHTS = np.array(list(load_coefficients("rectangle_score").values()))
"""Weights of constant, evidence of the sides, overview log odds, and squared log size error."""
MIN_RIVAL_SCORE = 0.32
"""Smallest probability of a hypothesis that can exclude others."""
MIN_SCORE = 0.6
"""Smallest probability of a base."""


def find_rectangles(
    frame: Frame,
    camera: Camera,
    from_above: Orthophoto,
    bases: Sequence[Base],
    hidden: Sequence[Array] = (),
) -> list[Detection]:
    """Return the rectangular `bases` in the photo outside `hidden` polygons (K, 2), surest first."""
    guesses = find_rectangle_candidates(from_above, camera, hidden)
    hypotheses = place_hypotheses(frame, camera, bases, guesses)
    scores = _choose(hypotheses)
    chosen = [hypotheses[k] for k in scores]
    detections = []
    for k, score in scores.items():
        if score >= MIN_SCORE:
            others = find_alternatives(hypotheses[k], hypotheses, chosen)
            told = hypotheses[k], score, others
            detections.append(make_rectangle_detection(frame, camera, *told))
    return detections


def _choose(hypotheses: Sequence[RectangleHypothesis]) -> dict[int, float]:
    """Return the indices of the likeliest compatible set, and their probabilities."""
    scores = [hypothesis.score for hypothesis in hypotheses]
    return likeliest_compatible_set(hypotheses, scores, MIN_RIVAL_SCORE)


def place_hypotheses(
    frame: Frame, camera: Camera, bases: Sequence[Base], guesses: Sequence[ShapeCandidate]
) -> list[RectangleHypothesis]:
    """Return hypotheses at the guesses, and beside and within likely ones, the likeliest first."""

    def fit_all(poses: Iterable[BasePose]) -> list[RectangleHypothesis]:
        fits = [_fit_pose(frame, camera, guesses, pose) for pose in poses]
        return [fit for fit in fits if fit is not None]

    poses = [pose for guess in guesses for base in bases for pose in _poses_of_guess(guess, base)]
    hypotheses = _deduplicate(fit_all(poses))
    near: list[BasePose] = []
    for k in _choose(hypotheses):
        for base in bases:
            near += _poses_beside(hypotheses[k], base)
            near += _poses_within(hypotheses[k], base)
    return _deduplicate([*hypotheses, *fit_all(near)])


def _deduplicate(hypotheses: Iterable[RectangleHypothesis]) -> list[RectangleHypothesis]:
    """Return the hypotheses without duplicates, the likeliest first."""
    kept: list[RectangleHypothesis] = []
    for hypothesis in sorted(hypotheses, key=lambda hypothesis: -hypothesis.score):
        if not any(hypothesis.is_same_base(other) for other in kept):
            kept.append(hypothesis)
    return kept


def _poses_of_guess(guess: ShapeCandidate, base: Base) -> Iterator[BasePose]:
    """Yield the poses of a base at a guess: lengthwise, and across where that is unsure."""
    if abs(_log_size_error(guess, base)) >= MAX_LOG_SIZE_ERROR:
        return
    for turn in guess.turn_rad + _distinct_turns(base):
        axis = [np.cos(2 * turn), np.sin(2 * turn)]
        if base.is_square or np.dot(guess.double_heading_vector, axis) > -CERTAIN_ELONGATION:
            yield BasePose(base, guess.xy_mm, turn)


def _distinct_turns(base: Base) -> Array:
    """Return the quarter turns (rad) that change a base's outline."""
    return np.arange(1 if base.is_square else 2) * np.pi / 2


def _poses_beside(placed: PlacedBase, base: Base) -> Iterator[BasePose]:
    """Yield the poses of the neighbours in rank and file."""
    if base != placed.base:
        return
    for step in 2 * half_extents(size_mm(base))[:, None] * side_normals(placed.turn_rad):
        yield BasePose(base, placed.xy_mm + step, placed.turn_rad)


def _poses_within(placed: PlacedBase, base: Base) -> Iterator[BasePose]:
    """Yield the poses of a base of which two or more side by side look like the larger `placed`."""
    half_base = half_extents(size_mm(base))
    axes = side_normals(placed.turn_rad)[:2]
    for quarter in _distinct_turns(base):
        turned = np.roll(half_base, int(quarter > 0))[:2]
        x, y = half_extents(size_mm(placed.base))[:2] - turned
        if min(x, y) <= -SLACK_MM or max(x, y) <= half_base.min() - SLACK_MM:
            continue
        for step in {(-x, -y), (-x, y), (x, -y), (x, y)}:
            yield BasePose(base, placed.xy_mm + np.array(step) @ axes, placed.turn_rad + quarter)


def _fit_pose(
    frame: Frame, camera: Camera, guesses: Sequence[ShapeCandidate], pose: BasePose
) -> RectangleHypothesis | None:
    """Return the hypothesis near a pose; None where its sides have no evidence."""

    def rate(xy_mm: Array, posterior: PosePosterior) -> float:
        return _base_probability(pose.base, xy_mm, posterior, guesses)

    return fit_pose(frame, camera, pose, rate)


def _base_probability(
    base: Base, xy_mm: Array, posterior: PosePosterior, guesses: Sequence[ShapeCandidate]
) -> float:
    """Return the probability of a base at a place."""
    places = np.array([guess.xy_mm for guess in guesses])
    distances = np.hypot(*(places - xy_mm).T)
    near = np.flatnonzero(distances < GUESS_REACH_MM).tolist()
    overview = max((guesses[k].score for k in near), default=MIN_OVERVIEW_PROBABILITY)
    error = _log_size_error(guesses[int(np.argmin(distances))], base)
    nats = posterior.stretch_nats.sum()
    features = [1.0, nats, probability_to_logit(overview), error**2]
    return float(sigmoid(LOGIT_WEIGHTS @ features))


def _log_size_error(guess: ShapeCandidate, base: Base) -> float:
    """Return the logarithm of the ratio of a base's side to the guessed one."""
    ratio = base.length_mm * base.width_mm / (guess.length_mm * guess.width_mm)
    return float(np.log(ratio) / 2)
