"""Fit the weights of an oval's score on tables with markers: prints their file, or writes it.

python tools/training/fit_oval_score_with_markers.py TABLES... [--write]

TABLES are folders of rendered photos, each with its truth beside it; tables without ovals belong with them. Each
fifth of the photos is also scored by weights fitted on the others.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from overruler.bases import catalogue
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.learned.disc_net import find_discs
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX, WEIGHTS
from overruler.vision.learned.patches import photo_pyramid
from overruler.vision.rounds.further_ovals import (
    add_further_trials,
    first_of_each_place,
    weigh_company,
)
from overruler.vision.rounds.oval_trials import (
    AMONG_FEATURES,
    MIN_SCORE,
    OWN_FEATURES,
    SizeTrials,
    size_trials,
    trace_candidates,
)
from overruler.vision.rounds.ring_filter import are_visible
from synthetic.from_above.sheet import bases_of_shape, read_truth, traced_view
from training.fit_oval_score import verdict
from training.regression import ridge_regression
from training.score_tables import cards_of, read_photo_options, rows_of_photos, weights_text

NAME = "oval_score"
"""The file of the weights."""
CAUTION = 0.5
"""What is taken off the log odds: most tables have fewer ovals than those that teach."""
FOLDS = 5
NUMBER, IS_BASE, SIZE = 0, 1, 2
"""Columns of a row: the photo's number, whether a base lies there (-1: counts neither way), which size."""
POSE = slice(3, 8)
"""Columns of the oval, before its own features."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_photo_options(__doc__, arguments)
    rows, photos = rows_of_photos(options, _rows)
    odds = np.zeros(len(rows))
    for fold in range(FOLDS):
        here = rows[:, NUMBER] % FOLDS == fold
        alone, among = fitted(rows[~here])
        odds[here] = _among_others(rows[here], alone) @ among
    truth, told = rows[:, IS_BASE], rows[odds > np.log(MIN_SCORE / (1 - MIN_SCORE)), IS_BASE]
    print(
        f"told: {(told == 1).sum()} of {(truth == 1).sum()} trials that are right, "
        f"{(told == 0).sum()} of {(truth == 0).sum()} others"
    )
    alone, among = fitted(rows)
    among = calibrated(among, rows, odds)
    names = [*(f"alone_{name}" for name in OWN_FEATURES), *AMONG_FEATURES]
    data = (
        f"logistic regression on trials in {photos} rendered photos; log odds calibrated for the likeliest of each "
        f"place, then lowered by {CAUTION:g}"
    )
    program = "fit_oval_score_with_markers.py TABLES --write"
    text = weights_text(names, np.concatenate([alone, among]), data, program)
    print(text, end="")
    if options.write:
        (WEIGHTS / f"{NAME}.json").write_text(text, encoding="utf-8")


def fitted(rows: Array) -> tuple[Array, Array]:
    """The weights of the log odds of an oval alone, and among others."""
    counts = rows[:, IS_BASE] >= 0
    truth = rows[counts, IS_BASE]
    alone = ridge_regression(rows[counts, POSE.stop :], truth)
    return alone, ridge_regression(_among_others(rows, alone)[counts], truth)


def calibrated(among: Array, rows: Array, odds: Array) -> Array:
    """Weights whose probabilities hold for the likeliest trial of each place, by `odds` (N,) of others' weights.

    The regression counts rivals of one place, most of them of a wrong size, as if all could be told.
    """
    told = [k for number in np.unique(rows[:, NUMBER]) for k in _likeliest(rows, odds, number)]
    told = [k for k in told if rows[k, IS_BASE] >= 0]
    offset, slope = ridge_regression(
        np.column_stack([np.ones(len(told)), odds[told]]), rows[told, IS_BASE]
    )
    weights: Array = slope * among
    weights[0] += offset - CAUTION
    return weights


def _likeliest(rows: Array, odds: Array, number: float) -> list[int]:
    """The likeliest trials of each place in one photo."""
    here = np.flatnonzero(rows[:, NUMBER] == number)
    return [int(here[k]) for k in first_of_each_place(rows[here, POSE], odds[here])]


def _among_others(rows: Array, alone: Array) -> Array:
    """The features of rows (N, K) among others, photo by photo."""
    features = np.empty((len(rows), len(AMONG_FEATURES)))
    for number in np.unique(rows[:, NUMBER]):
        here = rows[:, NUMBER] == number
        some = rows[here]
        poses = some[:, POSE]
        trials = SizeTrials(some[:, SIZE].astype(int), poses, poses, some[:, POSE.stop :], alone)
        features[here] = weigh_company(trials).features
    return features


def _rows(seed: int, numbered: tuple[int, Path]) -> list[list[float]]:
    """A row a trial in a photo."""
    number, path = numbered
    truth, camera, photo = read_truth(path)
    frame, view = Frame(photo, "table"), traced_view(photo, camera, truth, OVERVIEW_MM_PER_PX)
    ovals = find_discs(view, camera).ovals
    starts = ovals[are_visible(view, cards_of(truth), ovals[:, :2])]
    sizes = [base for base in catalogue() if base.shape == "oval"]
    half = np.array([[base.length_mm, base.width_mm] for base in sizes]) / 2
    pyramid = photo_pyramid(frame)
    first = size_trials(pyramid, camera, half, trace_candidates(frame, camera, starts, half))
    trials = add_further_trials(pyramid, camera, half, starts, first)
    bases = bases_of_shape(truth, camera, "oval")
    rows = []
    for size, pose, own in zip(trials.size, trials.poses, trials.features, strict=True):
        said = verdict(pose, bases)
        rows.append([number, -1 if said is None else said, size, *pose, *own])
    return rows


if __name__ == "__main__":
    main()
