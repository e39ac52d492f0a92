"""Fit the weights of a plate's score: prints `plate_score.json`, or writes it beside the networks' weights.

python tools/training/fit_plate_score.py build/odds/*.json --write

Each file is the truth of a rendered table, its photo beside it; tables without plates belong with them.
Every table is also scored by weights fitted on the others, to tell what the score is worth.
"""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX, WEIGHTS
from overruler.vision.learned.shape_net import find_plate_candidates
from overruler.vision.plates import find
from overruler.vision.plates.plate import LOGIT_WEIGHTS, Plate
from synthetic.from_above.sheet import read_truth, traced_view
from training.regression import ridge_regression
from training.score_tables import weights_text

SCORE = WEIGHTS / "plate_score.json"
"""The file of the weights."""
SIDES_MM = (40.0, 60.0, 80.0)
MARGIN_MM, MARKER_GROWN = 40.0, 1.4
NEAR_MM, NEAR_SIDES = 6.0, 0.15
"""A plate is the true one whose middle lies so near; one within half a side of its middle is a near miss."""
LEAST_VISIBLE = 0.25
MISSED = 0.3
"""What near misses count for."""
RIDGE = 0.3


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("truths", type=Path, nargs="+")
    parser.add_argument(
        "--write", action="store_true", help="write the file instead of printing it"
    )
    options = parser.parse_args(arguments)
    paths = options.truths
    find.MIN_LOGIT_FROM_ABOVE = find.MIN_RIVAL_LOGIT = -math.inf  # the hopeless teach as well
    rows = [np.array(judged(path)).reshape(-1, 3 + len(LOGIT_WEIGHTS) - 1) for path in paths]
    table, all_rows = (
        np.repeat(np.arange(len(rows)), [len(one) for one in rows]),
        np.concatenate(rows),
    )
    truth, weight, signs = all_rows[:, 0], all_rows[:, 1], all_rows[:, 3:]
    odds = np.zeros(len(truth))
    for number in set(table):
        here = table == number
        odds[here] = with_one(signs[here]) @ regression(signs[~here], truth[~here], weight[~here])
    text = record(regression(signs, truth, weight).round(2).tolist(), len(paths))
    if options.write:
        SCORE.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    for least in (0.3, 0.5, 0.6, 0.8, 0.95, 0.99):
        kept = odds > np.log(least / (1 - least))
        right, wrong = kept & (truth > 0) & (weight > 0), kept & (truth == 0) & (weight > 0)
        far = right & (all_rows[:, 2] > 3)
        print(
            f"score over {least}: {right.sum()} right, {far.sum()} of them 3 mm off or more, {wrong.sum()} wrong"
        )


def record(weights: Sequence[float], tables: int) -> str:
    """Return the text of the weights' file, with their origin."""
    features = list(load_coefficients("plate_score"))
    data = f"logistic regression on {tables} rendered tables"
    command = "fit_plate_score.py build/odds/*.json --write"
    return weights_text(features, np.array(weights), data, command)


def judged(path: Path) -> list[list[float]]:
    """Of every guess on one table: whether it is a plate, what it counts for, how far off it is (mm), and its signs."""
    truth, camera, photo = read_truth(path)
    frame = Frame(photo, path.stem)
    view = traced_view(photo, camera, truth, OVERVIEW_MM_PER_PX, MARGIN_MM)
    markers = [np.array(marker["corners_mm"])[:, :2] for marker in truth["markers"]["items"]]
    hidden = [one.mean(0) + MARKER_GROWN * (one - one.mean(0)) for one in markers]
    found = [
        find._fit_guess(frame, camera, guess, SIDES_MM)
        for guess in find_plate_candidates(view, camera, hidden)
    ]
    pieces = [piece for piece in truth["pieces"] if piece.get("base_style") == "xw"]
    return [[*verdict(plate, pieces), *plate.features] for plate in found if plate is not None]


def verdict(plate: Plate, pieces: Sequence[dict[str, Any]]) -> tuple[float, float, float]:
    """Whether a plate is a true one, what it counts for, and how far off it is (mm)."""
    off = [float(np.hypot(*(plate.fit.xy_mm - [piece["x_mm"], piece["y_mm"]]))) for piece in pieces]
    if not off:
        return 0.0, 1.0, math.inf
    nearest = int(np.argmin(off))
    piece, away = pieces[nearest], off[nearest]
    side = piece["shape"]["length_mm"]
    right = away < max(NEAR_MM, NEAR_SIDES * side) and plate.fit.side_mm == side
    seen = piece["in_frame"] > 0.5 and piece["visible_rim"] >= LEAST_VISIBLE
    near = away < 0.7 * side
    return float(right), float(seen or not near) * (MISSED if near and not right else 1.0), away


def with_one(signs: Array) -> Array:
    return np.column_stack([np.ones(len(signs)), signs])


def regression(signs: Array, truth: Array, weight: Array) -> Array:
    """The log odds' constant and slopes, by regression on scaled signs, slopes held back a little."""
    middle, scale = signs.mean(0), signs.std(0)
    scaled = with_one((signs - middle) / scale)
    slopes = ridge_regression(scaled, truth, RIDGE, weight)
    return np.array([slopes[0] - (slopes[1:] * middle / scale).sum(), *(slopes[1:] / scale)])


if __name__ == "__main__":
    main()
