"""Fit how likely a rim is a hexagon's by its sides: prints `hexagon_odds.json`, or writes it.

python tools/training/fit_hexagon_odds.py TABLES... [--write]

TABLES are folders of rendered photos, each with its truth beside it: some with hexagons, and some without. Each round
base and each hexagon in sight is looked at as if it was found as a round base: a little beside its place, and with the
error of a size. Both kinds count as much in all. Each fifth of the photos is also judged by weights fitted on the
others.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from overruler.bases import HEXAGON_MEAN_RATIO, Base
from overruler.detections import Detection
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.hexagons.judged import LEAST_RADIUS_PX
from overruler.vision.hexagons.on_table import hexagon_features
from overruler.vision.hexagons.rim_evidence import see_rim
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.inference import WEIGHTS
from synthetic.arrays import Rng
from synthetic.from_above.sheet import Truth, on_board, read_truth
from training.fit_piece_likelihood import balanced_regression, count, said_by_others
from training.score_tables import read_photo_options, rows_of_photos, weights_text

NAME = "hexagon_odds"
FOLDS = 5
LEAST_VISIBLE = 0.4
"""Bases of which less is in sight are left out."""
LARGEST_MM = 65.0
"""Larger round bases are left out: no hexagon is so large."""
PLACE_ERROR, SIZE_ERROR = 0.03, 0.03
"""1 σ of how far a round base is found beside its place, in radii, and of its size, as a share."""
WEIGHT_SIGMA = np.array([3.0, 1.0, 3.0])
"""Prior 1 σ of each weight."""
IS_HEXAGON = 1
"""The column of a row before its features: what is there. The first has the photo's number."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_photo_options(__doc__, arguments)
    rows, photos = rows_of_photos(options, _rows)
    count(said_by_others(rows, FOLDS, _fitted), rows[:, IS_HEXAGON])
    text = _record(_fitted(rows), photos)
    print(text, end="")
    if options.write:
        (WEIGHTS / f"{NAME}.json").write_text(text, encoding="utf-8")


def _fitted(rows: Array) -> Array:
    """The weights by regression, as if half of the bases were hexagons."""
    return balanced_regression(
        rows[:, IS_HEXAGON + 1 :], rows[:, IS_HEXAGON], np.zeros(3), WEIGHT_SIGMA
    )


def _rows(seed: int, numbered: tuple[int, Path]) -> list[list[float]]:
    return list(_looked_at(seed, *numbered))


def _looked_at(seed: int, number: int, path: Path) -> Iterator[list[float]]:
    """Of each round base and hexagon: the photo's number, whether it is a hexagon, and its features."""
    truth, camera, photo = read_truth(path)
    rng = np.random.default_rng([seed, number])
    for piece in truth["pieces"]:
        found = _as_found(rng, camera, piece)
        if found is not None and piece["visible_rim"] > LEAST_VISIBLE:
            evidence = see_rim(photo, camera, found)
            if evidence is not None and evidence.radius_px >= LEAST_RADIUS_PX:
                is_hexagon = float(piece["shape"]["type"] == "hexagon")
                yield [number, is_hexagon, *hexagon_features(evidence)]


def _as_found(rng: Rng, camera: Camera, piece: Truth) -> Detection | None:
    """The round base that a piece would be found as; None for other shapes and large ones."""
    kind = piece["shape"]["type"]
    if kind not in ("circle", "hexagon"):
        return None
    x_mm, y_mm, _, width_mm, _ = on_board(camera, piece)
    if kind == "hexagon":
        width_mm *= HEXAGON_MEAN_RATIO
    if width_mm > LARGEST_MM:
        return None
    width_mm *= float(np.exp(rng.normal(0, SIZE_ERROR)))
    xy_mm = np.array([x_mm, y_mm]) + rng.normal(0, PLACE_ERROR * width_mm / 2, 2)
    nothing = np.zeros((2, 15))
    return Detection(Base.circle(width_mm), xy_mm, 0.0, 0.0, np.eye(2), nothing, 1.0, 1.0)


def _record(weights: Array, photos: int) -> str:
    """The text of the weights' file, with their origin."""
    data = f"logistic regression on round bases and hexagons in {photos} rendered photos"
    command = "fit_hexagon_odds.py TABLES --write"
    return weights_text(list(load_coefficients(NAME)), weights, data, command)


if __name__ == "__main__":
    main()
