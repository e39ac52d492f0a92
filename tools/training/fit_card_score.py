"""Fit how likely a rectangle among round bases is a base and no card: prints `card_score.json`, or writes it.

python tools/training/fit_card_score.py TABLES... [--write]

TABLES are folders of rendered photos, each with its truth beside it. Rectangles that stand there say what bases look
like, printed squares and oblongs on mats without any say what cards do. Both kinds count as much in all: that a
rectangle among round bases is as often one as the other is a judgement. Each fifth of the photos is also judged by
weights fitted on the others.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.detection.cards import card_features
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX, WEIGHTS
from overruler.vision.plates.regiment_net import look_for_bases
from overruler.vision.plates.regiments import find_regiments
from synthetic.from_above.sheet import on_board, read_truth, traced_view
from synthetic.printed_mats import Lookalike, any_angular, print_on_mat
from training.fit_piece_likelihood import balanced_regression, count, said_by_others
from training.score_tables import read_photo_options, rows_of_photos, weights_text

NAME = "card_score"
PRINTS = 8
"""Prints on a mat."""
FOLDS = 5
NEAR_SHARE = 0.3
"""A finding is a base where its middle is as near to one's, in widths."""
IS_BASE = 1
"""The column of a row before its features: what is there. The first has the photo's number."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_photo_options(__doc__, arguments)
    rows, photos = rows_of_photos(options, _rows)
    count(said_by_others(rows, FOLDS, _fitted), rows[:, IS_BASE])
    text = _record(_fitted(rows), photos)
    print(text, end="")
    if options.write:
        (WEIGHTS / f"{NAME}.json").write_text(text, encoding="utf-8")


def _fitted(rows: Array) -> Array:
    """The weights by regression, as if half of the findings were bases."""
    return balanced_regression(rows[:, IS_BASE + 1 :], rows[:, IS_BASE])


def _rows(seed: int, numbered: tuple[int, Path]) -> list[list[float]]:
    return list(_judged(seed, *numbered))


def _judged(seed: int, number: int, path: Path) -> Iterator[list[float]]:
    """Of each rectangle that is found: the photo's number, whether it is a base, and its features."""
    truth, camera, photo = read_truth(path)
    rng = np.random.default_rng([seed, number])
    pieces = [one for one in truth["pieces"] if one["shape"]["type"] == "rectangle"]
    bases = np.array([on_board(camera, piece) for piece in pieces]).reshape(-1, 5)
    cards: list[Lookalike] = []
    if not pieces:
        photo, cards = print_on_mat(rng, photo, camera, truth, PRINTS, any_angular(rng))
    frame = Frame(photo, path.name)
    cells = look_for_bases(frame, camera, traced_view(photo, camera, truth, OVERVIEW_MM_PER_PX))
    found = [] if cells is None else find_regiments(frame, camera, cells)
    for one, features in zip(found, card_features(frame, camera, found), strict=True):
        apart = np.hypot(*(bases[:, :2] - one.xy_mm).T)
        is_base = bool((apart < NEAR_SHARE * bases[:, 3]).any())
        if is_base or any(card.holds(one.xy_mm) for card in cards):
            yield [number, float(is_base), *features]


def _record(weights: Array, photos: int) -> str:
    """The text of the weights' file, with their origin."""
    data = f"logistic regression on rectangles and printed ones found in {photos} rendered photos"
    command = "fit_card_score.py TABLES --write"
    return weights_text(list(load_coefficients(NAME)), weights, data, command)


if __name__ == "__main__":
    main()
