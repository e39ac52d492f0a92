"""Fit what a score says of a piece: prints `piece_likelihood.json`, or writes it beside the weights.

python tools/training/fit_piece_likelihood.py TABLES... [--write]

TABLES are folders of rendered photos, each with its truth beside it. Their round bases are measured.
Tables with many lookalikes (`render_samples.py --crowded --lookalikes`) teach it. Every table is
also judged by weights fitted on the others.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from evaluate.accuracy import board_of
from overruler.detections import Detection
from overruler.errors import CannotMeasure
from overruler.geometry.pose import Array
from overruler.referee import Referee
from overruler.sources.photo import load_photo
from overruler.vision.assembly.piece_probability import likely_score, score_features
from overruler.vision.learned.inference import WEIGHTS
from overruler.vision.learned.logits import sigmoid
from training.regression import logistic_regression
from training.score_tables import weights_text

FILE = WEIGHTS / "piece_likelihood.json"
"""The file of the weights."""
FEATURES = ("constant", "score_logit")
"""The features, in the order of `score_features`."""
PRIOR = np.array([0.0, 1.0])
"""Prior mean of the weights: a score is a probability."""
PRIOR_SIGMA = np.array([3.0, 1.0])
"""Prior 1 σ of the weights."""
NEAR_SHARE = 0.5
"""A finding is a piece where its middle is as near to one's, in half widths of the outline."""
EDGES = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99, 1.001)
"""Bounds of the bins that are counted."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, count, and print or write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", type=Path, nargs="+")
    parser.add_argument("--write", action="store_true", help="write the file, too")
    options = parser.parse_args(arguments)
    tables = list(judged_tables(options.tables))
    number = np.repeat(np.arange(len(tables)), [len(truth) for _, truth in tables])
    features = np.concatenate([rows for rows, _ in tables])
    truth = np.concatenate([truth for _, truth in tables])
    said = np.zeros(len(truth))
    for one in range(len(tables)):
        here = number == one
        said[here] = sigmoid(features[here] @ regression(features[~here], truth[~here]))
    count(said, truth)
    weights = regression(features, truth)
    weights[0] -= np.log(truth.mean() / (1 - truth.mean()))  # the odds on these tables
    text = record(weights, len(tables))
    print(text, end="")
    if options.write:
        FILE.write_text(text, encoding="utf-8")


def judged_tables(folders: Sequence[Path]) -> Iterator[tuple[Array, Array]]:
    """Measure every photo; the features (N, 2) of its round bases, and which (N,) are pieces."""
    for photo in sorted(path for folder in folders for path in folder.glob("*.jpg")):
        truth = json.loads(photo.with_suffix(".json").read_text())
        try:
            found = Referee(board_of(photo, truth)).look(load_photo(photo)).detections
        except CannotMeasure as error:
            print(f"{photo.name}: {error}")
            continue
        rounds = [one for one in found if one.base.shape == "circle"]
        there = np.array([piece["center_px"] for piece in truth["pieces"]], float).reshape(-1, 2)
        scores = np.array([likely_score(one) for one in rounds])
        yield score_features(scores), np.array([_is_any_at(one, there) for one in rounds], float)


def _is_any_at(one: Detection, there_px: Array) -> bool:
    half_px = float(np.ptp(one.outline_px, axis=0).min() / 2)
    away = np.hypot(*(there_px - one.center_px).T)
    return bool((away < NEAR_SHARE * half_px).any())


def regression(
    features: Array, truth: Array, prior: Array = PRIOR, sigma: Array = PRIOR_SIGMA
) -> Array:
    """Weights by logistic regression, near those that are likely in advance."""
    return logistic_regression(features, truth, sigma**-2, prior)


def balanced_regression(
    features: Array, truth: Array, prior: Array = PRIOR, sigma: Array = PRIOR_SIGMA
) -> Array:
    """The same, as if half of the rows were true; the first feature is the constant."""
    weights = regression(features, truth, prior, sigma)
    weights[0] -= np.log(truth.mean() / (1 - truth.mean()))
    return weights


def said_by_others(rows: Array, folds: int, fitted: Callable[[Array], Array]) -> Array:
    """What each row (N,) is given by the weights that `fitted` finds on the photos of the other folds.

    A row has its photo's number, its truth and its features.
    """
    fold, said = rows[:, 0] % folds, np.zeros(len(rows))
    for one in range(folds):
        said[fold == one] = sigmoid(rows[fold == one, 2:] @ fitted(rows[fold != one]))
    return said


def count(said: Array, truth: Array) -> None:
    """Print how often what was said is right."""
    for low, high in pairwise(EDGES):
        here = (said >= low) & (said < high)
        if here.any():
            share = f"{said[here].mean():.3f} said, {truth[here].mean():.3f} are"
            print(f"{low:.2f} to {high:.2f}: {here.sum()} findings, {share}")


def record(weights: Array, tables: int) -> str:
    """The text of the weights' file, with their origin."""
    data = f"logistic regression on {tables} rendered tables with lookalikes"
    return weights_text(FEATURES, weights, data, "fit_piece_likelihood.py TABLES --write")


if __name__ == "__main__":
    main()
