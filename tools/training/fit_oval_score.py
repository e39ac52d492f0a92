"""Fit the weights of an oval's score in play: prints their file, or writes it beside the networks' weights.

python tools/training/fit_oval_score.py --painted 120 --sprites build/sprites.npz --write

Painted tables with units of ovals in contact and under figures teach which trials of a size are right. Each third of
the tables is also scored by weights fitted on the others. The weights are held to those of before.
"""

import argparse
from collections.abc import Iterator, Sequence

import numpy as np

from overruler.bases import catalogue
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.learned.disc_net import find_discs
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX
from overruler.vision.learned.patches import build_pyramid
from overruler.vision.learned.shapes_in_play import find_shapes
from overruler.vision.rounds.ovals_in_play import trials_in_play
from synthetic.arrays import Picture
from synthetic.from_above.crowds import crowd_photo
from synthetic.from_above.quick_tables import OVAL
from synthetic.from_above.sheet import drawn_view
from synthetic.painted.wardrobe import Wardrobe
from training.fit_round_score import (
    LEAST_VISIBLE,
    REACH_MM,
    TILES,
    cross_validated,
    random_view,
    regression,
)
from training.score_tables import (
    Table,
    judged_rows,
    kept_rows,
    read_options,
    teaching_tables,
    tell_weights,
)

NEAR_SHARE, NEAR_LOG, NEAR_RAD = 0.4, 0.08, 0.4
"""A trial is right whose middle lies so near, in half widths, whose size differs so little, and whose heading too."""
FILE = "oval_score_in_play"
"""The file of the weights."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(__doc__, 9, arguments)
    rows = kept_rows(options.rows, lambda: _rows(options))
    tables = f"the trials of {len(set(rows[:, 0]))} tables painted with units"
    tell_weights(options, FILE, cross_validated(rows, FILE, _fitted), tables, "fit_oval_score.py")


def _rows(options: argparse.Namespace) -> Array:
    """A row a trial: the table's number, whether it is right, and the features of its score."""
    tables = teaching_tables(options, 37, painted_table, no_bases, mats=TILES)
    return judged_rows(tables, judged, "trials")


def painted_table(
    seed: Sequence[int], tiles: Sequence[Picture], wardrobe: Wardrobe | None = None
) -> Table:
    """A table with units in play."""
    rng = np.random.default_rng(list(seed))
    view = random_view(rng)
    photo, found = crowd_photo(rng, view, tiles, REACH_MM, wardrobe)
    flat = drawn_view(photo, view.camera, REACH_MM, OVERVIEW_MM_PER_PX)
    return Table(photo, view.camera, flat, found[found[:, 5] == OVAL])


def no_bases(truth: dict[str, object], camera: Camera) -> Array:
    """Traced tables have too few ovals to teach."""
    return np.empty((0, 7))


def judged(table: Table) -> Iterator[list[float]]:
    """Of each trial on a table: whether it is right, and the features of its score."""
    sizes = [base for base in catalogue() if base.shape == "oval"]
    half = np.array([[base.length_mm, base.width_mm] for base in sizes]) / 2
    discs = find_discs(table.view, table.camera, in_play=True)
    pyramid = build_pyramid(table.photo)
    seen = find_shapes(pyramid, table.camera, discs)
    trials = trials_in_play(pyramid, table.camera, seen, half)
    for pose, features in zip(trials.poses, trials.features, strict=True):
        said = verdict(pose, table.bases)
        if said is not None:
            yield [said, *features]


def verdict(pose: Array, bases: Array) -> float | None:
    """1 for an oval (5,) of a base of bases (M, 7), 0 for none, None for what counts neither way."""
    if not len(bases):
        return 0.0
    half = bases[:, 2:4] / 2
    away = np.linalg.norm(bases[:, :2] - pose[:2], axis=1) / half[:, 1]
    size = np.abs(np.log(half / pose[2:4])).max(1)
    turn = np.abs((bases[:, 4] - pose[4] + np.pi / 2) % np.pi - np.pi / 2)
    here = int(np.argmin(away + size + turn))
    if away[here] < NEAR_SHARE and size[here] < NEAR_LOG and turn[here] < NEAR_RAD:
        return 1.0 if bases[here, 6] >= LEAST_VISIBLE else None
    return 0.0


def _fitted(signs: Array, truth: Array, before: Array) -> Array:
    return regression(signs, truth, before)


if __name__ == "__main__":
    main()
