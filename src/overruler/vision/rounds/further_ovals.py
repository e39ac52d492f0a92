"""Further trials of ovals on a table that has some: riders come in units, often in contact.

Where one oval is likely, those of its size beside it are tried, and all sizes that fit at candidates
that no oval explains: figures and neighbours mislead the free trace there, in size and heading. The
network in play sees these by the whole. Then sizes near those of the likely ones are tried.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.vectors import unit_vectors
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.learned.ellipse_net import score_ovals
from overruler.vision.learned.in_play_net import LOGIT, wanted_changes
from overruler.vision.learned.patches import Picture
from overruler.vision.learned.rivals_for_a_place import likeliest_of_each_place
from overruler.vision.learned.shapes_in_play import (
    CORRECTIONS,
    MIN_LOGIT,
    answers_from_both_sides,
    correct_shapes,
)
from overruler.vision.rounds.oval_trials import (
    AMONG_WEIGHTS,
    MIN_SCORE,
    Placed,
    SizeTrials,
    judge_trials,
)

LEAST_GROWTH = 0.8
"""Smallest ratio of a catalogue size's length, and width, to those of a shape that the network sees."""
LARGEST_GROWTH = 1.6
"""Largest such ratio: a figure may hide a part of a base."""
MIN_SIGHT_SCORE = 0.3
"""Smallest score at first sight of an oval that is traced."""
PLACE_HALF_WIDTHS = 0.8
"""Trials nearer than this share of the smaller half width cannot both stand: the likelier one counts."""
NEAR_HALF_LENGTHS = 6.0
"""Ovals of a unit lie within so many half lengths, ..."""
MOST_NEAR = 3.0
"""... and so many of them are enough."""
USUAL_HALF_LENGTH_MM = 30.0
"""Half length of the usual oval: hardly anything else looks like a far larger one, which stands alone."""
ROUNDS = 3
"""How often ovals beside new ones are tried: so far a unit reaches from one that was found."""
LOOKS = 2
"""How often the network corrects a place before that."""
SIDES = 8
"""Sides of an oval at which others are tried: units stand in rows and staggered, ..."""
GAPS = (1.0, 1.3)
"""... in contact or a little apart: the distance of their centres, as a share of that in contact."""
NEAR_SIZE = 0.26
"""Difference of the logarithms of lengths, and of widths, up to which one size may be taken for another."""
MAX_RESIZED = 0.12
"""Largest change of its logarithm by the network in play with which that other size is tried."""
FEWEST_TOGETHER = 3
"""With fewer likely ovals on the table, ..."""
FEW_LOGIT = 1.0
"""... the log odds of each are lower by this: bushes and stones look like one now and then."""
SAME_HALF_WIDTHS = 0.35
"""Trials of one size nearer than this share of its half width are one oval."""


def add_further_trials(
    pyramid: list[Picture], camera: Camera, sizes: Array, starts: Array, trials: SizeTrials
) -> SizeTrials:
    """Return the trials, and where some are likely those of others near them and at the `starts` (M, 6).

    The half `sizes` (C, 2) are those of the trials.
    """
    tried = 0
    for look in range(ROUNDS):
        likely = np.flatnonzero(trials.probabilities() > MIN_SCORE)
        new = likely[likely >= tried]
        if not len(new):
            break
        tried, standing = len(trials.size), trials.poses[likely]
        placed = beside(trials.size[new], trials.poses[new])
        if look == 0:
            others = _at_candidates(pyramid, camera, starts, sizes, standing)
            placed = _joined(placed, others)
        placed = _corrected(pyramid, camera, placed, standing)
        if not len(placed.size):
            break
        trials = trials.joined(judge_trials(pyramid, camera, placed))
    rivals = _of_other_sizes(pyramid, camera, sizes, trials)
    return trials.joined(judge_trials(pyramid, camera, rivals))


def _of_other_sizes(
    pyramid: list[Picture], camera: Camera, sizes: Array, trials: SizeTrials
) -> Placed:
    """Return the likely ovals in sizes near their own that were not tried in their places.

    Those that the network in play would resize are left out.
    """
    likely = np.flatnonzero(trials.probabilities() > MIN_SCORE)
    growth = np.abs(np.log(sizes / trials.poses[likely, None, 2:4])).max(2)
    which, size = np.nonzero((growth > 0) & (growth < NEAR_SIZE))
    row = likely[which]
    middles, heading = trials.poses[row, :2], trials.poses[row, 4]
    ovals = np.column_stack([middles, sizes[size], heading])
    apart = np.hypot(*(middles[:, None] - trials.poses[:, :2]).transpose(2, 0, 1))
    tried = (apart < PLACE_HALF_WIDTHS * ovals[:, 3:4]) & (size[:, None] == trials.size)
    placed = Placed(size, ovals, trials.from_above[row]).among(~tried.any(1))
    answers = answers_from_both_sides(pyramid, camera, placed.ovals)
    fits = (answers[:, LOGIT] > MIN_LOGIT) & (wanted_changes(answers)[:, 0] < MAX_RESIZED)
    return placed.among(fits)


def weigh_company(trials: SizeTrials) -> SizeTrials:
    """Return the trials weighed by their size and by how many likely ovals of it are near, too."""
    alone, at = trials.probabilities(), trials.poses[:, :2]
    apart = np.hypot(*(at[:, None] - at).transpose(2, 0, 1))
    half_width = trials.poses[:, 3]
    first = first_of_each_place(trials.poses, alone)
    others = apart > PLACE_HALF_WIDTHS * half_width[:, None]
    near = others & (apart < NEAR_HALF_LENGTHS * trials.poses[:, 2:3])
    alike = near & (trials.size[:, None] == trials.size)
    number = np.minimum(MOST_NEAR, alike[:, first] @ alone[first])
    log_length = np.log(trials.poses[:, 2] / USUAL_HALF_LENGTH_MM)
    features = np.column_stack([trials.features, log_length, number])
    return replace(trials, features=features, weights=AMONG_WEIGHTS)


def doubt_few(trials: SizeTrials) -> SizeTrials:
    """Return the trials with lower log odds where few on the table are likely: most tables have no ovals."""
    probability = trials.probabilities()
    first = first_of_each_place(trials.poses, probability)
    is_many = (probability[first] > MIN_SCORE).sum() >= FEWEST_TOGETHER
    return trials if is_many else trials.with_offset(np.full(len(probability), -FEW_LOGIT))


def first_of_each_place(ovals: Array, likelihood: Array) -> list[int]:
    """Return the likeliest of the trials (N, 5) of each place, by probabilities or log odds (N,)."""
    return likeliest_of_each_place(
        likelihood, lambda k, others: claim_one_place(ovals[k], ovals[others])
    )


def claim_one_place(oval: Array, others: Array) -> NDArray[np.bool_]:
    """Tell which of the ovals (N, 5) cannot stand beside one (5,)."""
    reach = PLACE_HALF_WIDTHS * np.minimum(others[:, 3], oval[3])
    return np.asarray(np.hypot(*(others[:, :2] - oval[:2]).T) <= reach)


def _joined(one: Placed, other: Placed) -> Placed:
    return Placed(*(np.concatenate(pair) for pair in zip(one, other, strict=True)))


def beside(size: NDArray[np.intp], ovals: Array) -> Placed:
    """Return the places of ovals beside ovals (N, 5) of their `size`, all around and parallel to them."""
    along = unit_vectors(ovals[:, 4])
    across = np.column_stack([-along[:, 1], along[:, 0]])
    steps = [
        2 * gap * (np.cos(angle) * ovals[:, 2:3] * along + np.sin(angle) * ovals[:, 3:4] * across)
        for angle in np.arange(SIDES) * 2 * np.pi / SIDES
        for gap in GAPS
    ]
    around = [np.column_stack([ovals[:, :2] + step, ovals[:, 2:]]) for step in steps]
    number = len(steps) * len(size)
    return Placed(np.tile(size, len(steps)), np.concatenate(around), np.zeros(number))


def _at_candidates(
    pyramid: list[Picture], camera: Camera, starts: Array, sizes: Array, standing: Array
) -> Placed:
    """Return ovals of half `sizes` (C, 2) at the shapes that the network in play sees where `starts` (M, 6) are.

    None has its middle in an oval of `standing` (N, 5).
    """
    free = starts[are_outside(starts[:, :2], standing)]
    number, shapes, logits = correct_shapes(pyramid, camera, free[:, :5], CORRECTIONS)
    kept = (logits > MIN_LOGIT) & are_outside(shapes[:, :2], standing)
    number, shapes = number[kept], shapes[kept]
    growth = sizes / shapes[:, None, 2:4]
    which, size = np.nonzero(((growth > LEAST_GROWTH) & (growth < LARGEST_GROWTH)).all(2))
    ovals = np.column_stack([shapes[which, :2], sizes[size], shapes[which, 4]])
    return Placed(size, ovals, free[number[which], 5])


def _corrected(pyramid: list[Picture], camera: Camera, placed: Placed, standing: Array) -> Placed:
    """Return the trials that look like ovals at the places where the network moves them.

    None has its middle in an oval of `standing` (N, 5); of those of one place the likeliest stays.
    """
    score = np.empty(0)
    for _ in range(LOOKS):
        placed = placed.among(are_outside(placed.ovals[:, :2], standing))
        if not len(placed.size):
            return placed
        seen = score_ovals(pyramid, camera, placed.ovals)
        likely = seen.score > MIN_SIGHT_SCORE
        placed, score = placed.among(likely), seen.score[likely]
        moved = seen.ovals[likely]
        moved[:, 2:4] = placed.ovals[:, 2:4]
        placed = placed._replace(ovals=moved)
    return placed.among(_distinct(placed.size, placed.ovals, score))


def _distinct(size: NDArray[np.intp], ovals: Array, score: Array) -> list[int]:
    """Return the likeliest of the ovals (N, 5) of each place and size."""

    def are_one(k: int, others: list[int]) -> NDArray[np.bool_]:
        apart = np.hypot(*(ovals[others, :2] - ovals[k, :2]).T)
        return np.asarray((apart < SAME_HALF_WIDTHS * ovals[k, 3]) & (size[others] == size[k]))

    return likeliest_of_each_place(score, are_one)


def are_outside(points: Array, ovals: Array) -> NDArray[np.bool_]:
    """Tell which points (M, 2) lie in none of the ovals (N, 5): (M,)."""
    offsets = points[:, None] - ovals[:, :2]
    cos, sin = np.cos(ovals[:, 4]), np.sin(ovals[:, 4])
    along = (offsets[..., 0] * cos + offsets[..., 1] * sin) / ovals[:, 2]
    across = (offsets[..., 1] * cos - offsets[..., 0] * sin) / ovals[:, 3]
    return np.asarray((along**2 + across**2 >= 1).all(1))
