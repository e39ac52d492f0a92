"""Trials of ovals on tables in play: catalogue sizes are tried on the shapes that a network sees.

Figures hide much of a rim there, and rings of gradients hold to them. The network of `in_play_net` saw
such tables. It says where the base lies, how large and long it is, and how sure it is of each.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from overruler.bases import OVAL_SHARES, OVAL_SIDES_MM
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.in_play_net import (
    LOG_SIGMA_PLACE,
    LOG_SIGMA_SIZE,
    LOG_SIGMA_STRETCH,
    LOGIT,
    SIZE,
    STRETCH,
    corrected_shapes,
    look_at_shapes,
)
from overruler.vision.learned.logits import MAX_LOGIT, probability_to_logit
from overruler.vision.learned.patches import Picture, equal_area_radius_mm
from overruler.vision.learned.rivals_for_a_place import likeliest_of_each_place
from overruler.vision.learned.shapes_in_play import (
    CORRECTIONS,
    MIN_LOGIT,
    SeenShapes,
    answers_from_both_sides,
    may_be_bases,
)
from overruler.vision.rounds.further_ovals import ROUNDS, are_outside, beside
from overruler.vision.rounds.oval_trials import MIN_FROM_ABOVE, TURNS, Placed, SizeTrials
from overruler.vision.rounds.scoring import (
    MAX_OVERVIEW_PROBABILITY,
    MIN_SCORE_IN_PLAY,
    company_ratio,
)

SIZE_GROWTH = (0.75, 2.0)
"""Ratios of a catalogue size's length, and width, to a candidate's that are tried: a figure may hide
half of a base."""
LEAST_ASPECT = 1.08
"""A candidate that is longer than wide by less tells no heading: several are tried."""
SIZE_SIGMA, STRETCH_SIGMA = 0.05, 0.05
"""Least 1 σ of the logarithm of a size and of a stretch."""
LOGIT_WEIGHTS = np.array(list(load_coefficients("oval_score_in_play").values()))
"""Weights of the features: the constant, the network's log odds at the size, and at the candidate's own
size; the overview's log odds, the size error in χ², and the logarithm of the company of its size."""
ALONE_WEIGHTS = LOGIT_WEIGHTS[:-1]
"""The same without company."""


def trials_in_play(
    pyramid: list[Picture], camera: Camera, seen: SeenShapes, sizes: Array
) -> SizeTrials:
    """Try the half `sizes` (C, 2) on the shapes that the network sees, and beside likely ovals."""
    which, size, ovals = _of_catalogue_size(seen.shapes, sizes)
    placed = Placed(size, ovals, seen.from_above[which])
    alone = _judge_alone(pyramid, camera, placed, seen.answers[which, LOGIT])
    trials, tried = _among_others(alone, sizes), 0
    for _ in range(ROUNDS):
        likely = np.flatnonzero(trials.probabilities() > MIN_SCORE_IN_PLAY)
        new = likely[likely >= tried]
        tried, standing = len(trials.size), trials.poses[likely]
        further = _judge_free(
            pyramid, camera, beside(trials.size[new], trials.poses[new]), standing
        )
        if not len(further.size):
            break
        alone = alone.joined(further)
        trials = _among_others(alone, sizes)
    return trials


def judge_trials_in_play(pyramid: list[Picture], camera: Camera, placed: Placed) -> SizeTrials:
    """Correct place and heading of ovals of known sizes, and score them there."""
    return _with_company(_judge_alone(pyramid, camera, placed))


def _among_others(alone: SizeTrials, sizes: Array) -> SizeTrials:
    """Weigh trials of the half `sizes` (C, 2) by their company and by how common they are, too."""
    return _with_company(alone).with_offset(log_shares(sizes)[alone.size])


def _judge_free(
    pyramid: list[Picture], camera: Camera, placed: Placed, standing: Array
) -> SizeTrials:
    """Judge those whose middles lie in no oval of `standing` (N, 5), neither before nor after."""
    free = placed.among(are_outside(placed.ovals[:, :2], standing))
    judged = _judge_alone(pyramid, camera, free)
    return judged.among(are_outside(judged.poses[:, :2], standing))


def log_shares(sizes: Array) -> Array:
    """Return how much commoner each of the half `sizes` (C, 2) is than the mean one, as logarithms (C,).

    Where somebody chose some of the catalogue's or others, all are as common.
    """
    sides = 2 * sizes[:, ::-1]
    if sides.shape != np.shape(OVAL_SIDES_MM) or not np.array_equal(sides, OVAL_SIDES_MM):
        return np.zeros(len(sizes))
    shares = np.array(OVAL_SHARES)
    return np.asarray(np.log(shares / shares.mean()))


def _of_catalogue_size(
    shapes: Array, sizes: Array
) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Place ovals of the half `sizes` (C, 2) that candidates may be or be parts of.

    Returns candidate, size and oval (M, 5).
    """
    least, most = SIZE_GROWTH
    growth = sizes / shapes[:, None, 2:4]
    which, size = np.nonzero(((growth > least) & (growth < most)).all(2))
    is_round = shapes[which, 2] < LEAST_ASPECT * shapes[which, 3]
    turns = np.where(is_round[:, None], TURNS, np.append(0.0, np.full(len(TURNS) - 1, np.nan)))
    row, turn = np.nonzero(np.isfinite(turns))
    which, size = which[row], size[row]
    heading = shapes[which, 4] + turns[row, turn]
    return which, size, np.column_stack([shapes[which, :2], sizes[size], heading])


def _judge_alone(
    pyramid: list[Picture], camera: Camera, placed: Placed, own_logits: Array | None = None
) -> SizeTrials:
    """Correct place and heading of ovals of known size, and score each without its company.

    `own_logits` (N,) are the log odds of what they come from, whatever its size. Where they are not
    known, those count that the network has at the size that it sees.
    """
    size, ovals, from_above = placed
    number = np.arange(len(size))
    for _ in range(CORRECTIONS if len(ovals) else 0):
        answers = look_at_shapes(pyramid, camera, ovals)
        corrected = corrected_shapes(camera, ovals, answers)
        kept = (answers[:, 0] > MIN_LOGIT) & may_be_bases(corrected)
        number = number[kept]
        ovals = np.column_stack([corrected[kept, :2], ovals[kept, 2:4], corrected[kept, 4]])
    if not len(ovals):
        return SizeTrials(size[:0], ovals, ovals, np.empty((0, len(ALONE_WEIGHTS))), ALONE_WEIGHTS)
    answers = answers_from_both_sides(pyramid, camera, ovals)
    at_size = answers[:, LOGIT]
    if own_logits is None:
        seen = corrected_shapes(camera, ovals, answers)
        own = np.maximum(answers_from_both_sides(pyramid, camera, seen)[:, LOGIT], at_size)
    else:
        own = own_logits[number]
    clipped = np.clip(from_above[number], MIN_FROM_ABOVE, MAX_OVERVIEW_PROBABILITY)
    logits = np.array([at_size, own]).clip(-MAX_LOGIT, MAX_LOGIT)
    features = np.column_stack(
        [np.ones(len(ovals)), *logits, probability_to_logit(clipped), _chi2(answers)]
    )
    return SizeTrials(size[number], ovals, _sigmas(ovals, answers), features, ALONE_WEIGHTS)


def _with_company(alone: SizeTrials) -> SizeTrials:
    """Weigh trials by the company of their sizes, too."""
    company = _log_company(alone.size, alone.poses, alone.probabilities())
    features = np.column_stack([alone.features, company])
    return replace(alone, features=features, weights=LOGIT_WEIGHTS)


def _log_company(size: NDArray[np.intp], ovals: Array, alone: Array) -> Array:
    """Return the logarithm (N,) of how many others of a trial's size there are, against those expected.

    Ovals come in units. Of the trials of one place the likeliest counts, by its probability `alone`.
    """

    def claim_one_place(k: int, others: list[int]) -> NDArray[np.bool_]:
        apart = np.hypot(*(ovals[others, :2] - ovals[k, :2]).T)
        return np.asarray(apart < ovals[others, 3] + ovals[k, 3])

    likeliest = likeliest_of_each_place(alone, claim_one_place)
    weight = np.zeros(len(alone))
    weight[likeliest] = alone[likeliest]
    same = np.maximum(np.bincount(size, weight)[size] - alone, 0)
    others = np.maximum(weight.sum() - alone, 0)
    return np.asarray(np.log(company_ratio(same, others)))


def _chi2(answers: Array) -> Array:
    """Return the squared error (N,), in σ, that the network sees in the size of ovals."""
    size_sigma = np.hypot(SIZE_SIGMA, np.exp(answers[:, LOG_SIGMA_SIZE]))
    stretch_sigma = np.hypot(STRETCH_SIGMA, np.exp(answers[:, LOG_SIGMA_STRETCH]))
    stretch = np.hypot(*answers[:, STRETCH].T)
    return np.asarray((answers[:, SIZE] / size_sigma) ** 2 + (stretch / stretch_sigma) ** 2)


def _sigmas(ovals: Array, answers: Array) -> Array:
    """Return 1 σ (N, 5) of place, half length and width, and heading."""
    place = equal_area_radius_mm(ovals) * np.exp(answers[:, LOG_SIGMA_PLACE])
    size = np.exp(answers[:, LOG_SIGMA_SIZE])[:, None] * ovals[:, 2:4]
    aspect = np.log(ovals[:, 2] / ovals[:, 3])
    heading = np.exp(answers[:, LOG_SIGMA_STRETCH]) / aspect
    return np.column_stack([place, place, size, heading])
