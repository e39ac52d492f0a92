"""Fit how likely a base is a hexagon that only the look from above sees: prints its weights, or writes them.

python tools/training/fit_hexagon_from_above.py TABLES... [--write]

TABLES are folders of rendered photos with hexagons, each with its truth beside it. Each circle of the whole-table
network that has a hexagon's size is fitted, and its sides are looked at. It is a hexagon, or nothing; round bases and
other shapes are left out. Each fifth of the photos is also judged by weights fitted on the others.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from overruler.bases import HEXAGON_WIDTHS_MM
from overruler.geometry.pose import Array
from overruler.vision.hexagons.judged import LEAST_RADIUS_PX
from overruler.vision.hexagons.on_table import hexagon_logit
from overruler.vision.hexagons.rim_evidence import see_rim
from overruler.vision.hexagons.seen_from_above import score_features, stand_ins_seen_from_above
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.disc_net import find_discs
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX, WEIGHTS
from synthetic.from_above.sheet import on_board, read_truth, traced_view
from training.fit_piece_likelihood import count, regression, said_by_others
from training.score_tables import read_photo_options, rows_of_photos, weights_text

NAME = "hexagon_score_from_above"
FOLDS = 5
NEAR_SHARE = 0.35
"""A circle is of a base where its centre lies so near to the base's, by the base's width."""
WEIGHT_SIGMA = np.array([3.0, 1.0, 1.0])
"""Prior 1 σ of each weight."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_photo_options(__doc__, arguments)
    rows, photos = rows_of_photos(options, _rows)
    count(said_by_others(rows, FOLDS, _fitted), rows[:, 1])
    data = (
        f"logistic regression on circles of the overview in {photos} rendered photos with hexagons"
    )
    command = "fit_hexagon_from_above.py TABLES --write"
    text = weights_text(list(load_coefficients(NAME)), _fitted(rows), data, command)
    print(text, end="")
    if options.write:
        (WEIGHTS / f"{NAME}.json").write_text(text, encoding="utf-8")


def _fitted(rows: Array) -> Array:
    return regression(rows[:, 2:], rows[:, 1], np.array([0.0, 1.0, 0.5]), WEIGHT_SIGMA)


def _rows(seed: int, numbered: tuple[int, Path]) -> list[list[float]]:
    return list(_looked_at(*numbered))


def _looked_at(number: int, path: Path) -> Iterator[list[float]]:
    """Of each circle: the photo's number, whether it is a hexagon, and its features."""
    truth, camera, photo = read_truth(path)
    rounds = find_discs(traced_view(photo, camera, truth, OVERVIEW_MM_PER_PX), camera).rounds
    kinds = [piece["shape"]["type"] for piece in truth["pieces"]]
    bases = np.array([on_board(camera, piece) for piece in truth["pieces"]])
    for one in stand_ins_seen_from_above(photo, camera, rounds, (), HEXAGON_WIDTHS_MM):
        away = np.hypot(*(bases[:, :2] - one.xy_mm).T)
        nearest = int(away.argmin())
        is_base = away[nearest] < NEAR_SHARE * bases[nearest, 3]
        evidence = see_rim(photo, camera, one)
        is_told = evidence is not None and evidence.radius_px >= LEAST_RADIUS_PX
        if evidence is not None and is_told and not (is_base and kinds[nearest] != "hexagon"):
            features = score_features(one.score, hexagon_logit(evidence))
            yield [number, float(is_base), *features]


if __name__ == "__main__":
    main()
