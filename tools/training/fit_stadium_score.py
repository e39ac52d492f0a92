"""Fit the weights of the score of bases with round ends: prints their file, or writes it.

python tools/training/fit_stadium_score.py TABLES... [--write]

TABLES are folders of rendered photos, each with its truth beside it; tables without such bases belong with them. Each
fifth of the photos is also scored by weights fitted on the others.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from overruler.bases import STADIUM_SIDES_MM, Base
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, wrapped_turn
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.disc_net import Discs, find_discs
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX, WEIGHTS
from overruler.vision.learned.patches import photo_pyramid
from overruler.vision.rounds import stadium_trials
from overruler.vision.rounds.find_stadiums import fit_outlines, starts_of_sizes, trace_likely
from overruler.vision.rounds.ring_filter import are_visible
from overruler.vision.rounds.stadium_trials import oval_starts, paired_starts
from synthetic.from_above.sheet import Truth, on_board, read_truth, traced_view
from training.regression import ridge_regression
from training.score_tables import cards_of, read_photo_options, rows_of_photos, weights_text

NAME = "stadium_score"
"""The file of the weights."""
NEAR_MM, NEAR_RAD = 7.0, 0.2
"""A fit is the base whose middle and heading differ so little."""
LEAST_VISIBLE = 0.3
"""Bases of which less of the rim is in sight count neither way."""
LOWERED = 2.0
"""What is taken off the constant: most tables have no such base, and its ends are sought as round ones as well."""
FOLDS = 5
NUMBER, IS_BASE = 0, 1
"""Columns of a row before its features: the photo's number, and whether a base lies there."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_photo_options(__doc__, arguments)
    rows, photos = rows_of_photos(options, _rows)
    features, truth = rows[:, IS_BASE + 1 :], rows[:, IS_BASE]
    odds = np.zeros(len(rows))
    for fold in range(FOLDS):
        here = rows[:, NUMBER] % FOLDS == fold
        odds[here] = features[here] @ ridge_regression(features[~here], truth[~here]) - LOWERED
    for least in (0.0, LOWERED):
        told = odds > least
        print(
            f"log odds over {least:g}: {truth[told].sum():.0f} of {truth.sum():.0f} fits on a base, "
            f"{(1 - truth[told]).sum():.0f} of {(1 - truth).sum():.0f} others"
        )
    weights = ridge_regression(features, truth)
    weights[0] -= LOWERED
    data = f"logistic regression on fits in {photos} rendered photos; the constant lowered by {LOWERED:g}"
    names = list(load_coefficients(NAME))
    text = weights_text(names, weights, data, "fit_stadium_score.py TABLES --write")
    print(text, end="")
    if options.write:
        (WEIGHTS / f"{NAME}.json").write_text(text, encoding="utf-8")


def _rows(seed: int, numbered: tuple[int, Path]) -> list[list[float]]:
    """A row a fit in a photo, whether two ends or an oval proposed it."""
    stadium_trials.HOPEFUL_LOGIT = -np.inf  # the hopeless teach as well
    number, path = numbered
    truth, camera, photo = read_truth(path)
    frame, view = Frame(photo, "table"), traced_view(photo, camera, truth, OVERVIEW_MM_PER_PX)
    discs, hidden = find_discs(view, camera), cards_of(truth)
    shown = [some[are_visible(view, hidden, some[:, :2])] for some in (discs.rounds, discs.ovals)]
    bases = _stadiums(truth, camera)
    rows = []
    for starts_of in (paired_starts, oval_starts):
        for said, features in _judged(frame, camera, Discs(*shown), bases, starts_of):
            rows.append([number, said, *features])
    return rows


def _judged(
    frame: Frame,
    camera: Camera,
    discs: Discs,
    bases: Array,
    starts_of: Callable[[Discs, Array], Array],
) -> Iterator[tuple[float, Array]]:
    """Of each fit: whether a base lies there, and the features of its score."""
    sizes = [Base.stadium(*sides) for sides in STADIUM_SIDES_MM]
    size, starts = starts_of_sizes(sizes, discs, starts_of)
    traced = trace_likely(photo_pyramid(frame), camera, size, starts)
    fits, features = fit_outlines(frame, camera, sizes, traced)
    for fit, row in zip(fits, features, strict=True):
        said = _verdict(fit.xy_mm, fit.turn_rad, bases)
        if said is not None:
            yield said, row


def _stadiums(truth: Truth, camera: Camera) -> Array:
    """The bases (M, 4) with round ends: where their middle appears on the table, heading, visible share of the rim."""
    some = [piece for piece in truth["pieces"] if piece["shape"]["type"] == "stadium"]
    seen = [on_board(camera, piece) for piece in some]
    rows = [
        [x, y, turn, one["visible_rim"]] for (x, y, *_, turn), one in zip(seen, some, strict=True)
    ]
    return np.array(rows).reshape(-1, 4)


def _verdict(xy_mm: Array, turn_rad: float, bases: Array) -> float | None:
    """1 for a base, 0 for none, None for what counts neither way."""
    away = np.hypot(*(bases[:, :2] - xy_mm).T)
    turn = np.abs(wrapped_turn(bases[:, 2] - turn_rad, np.pi))
    same = (away < NEAR_MM) & (turn < NEAR_RAD)
    if not same.any():
        return 0.0
    return 1.0 if bases[same, 3].max() >= LEAST_VISIBLE else None


if __name__ == "__main__":
    main()
