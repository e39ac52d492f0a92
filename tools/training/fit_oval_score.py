"""Fit the weights of an oval's score on tables in play.

python tools/training/fit_oval_score.py --painted 80 --sprites build/sprites.npz --write

It looks at painted crowds as the program does: what the look from above proposes is traced and tried as ovals of
catalogue sizes. Whether each is one follows from the painter. Three thirds of the tables are each judged by weights
of the others, to tell how often a score is right.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import date

import numpy as np

from overruler.bases import OVAL_SIDES_MM
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.disc_net import find_discs
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX, WEIGHTS
from overruler.vision.learned.patches import photo_pyramid, shape_matrices_mm
from overruler.vision.rounds.oval_trials import (
    IN_PLAY,
    Judge,
    oval_features,
    size_trials,
    trace_candidates,
)
from synthetic.arrays import Array, Picture
from synthetic.camera import patch_view
from synthetic.from_above.crowds import crowd_photo
from synthetic.from_above.quick_tables import OVAL
from synthetic.from_above.sheet import drawn_view
from synthetic.painted.wardrobe import Wardrobe
from training.fit_round_score import (
    FOLDS,
    LEAST_VISIBLE,
    LOW_SHARE,
    LOW_TILT,
    OVERVIEW_SHARE,
    REACH_MM,
    TILES,
    USUAL_TILT,
    regression,
    told_calibration,
)
from training.score_tables import Table, judged_rows, kept_rows, read_options, teaching_tables

NEAR_SHARE, NEAR_LOG, NEAR_ASPECT_LOG = 0.4, 0.12, 0.16
"""A trial is an oval's whose middle lies so near, in half widths, and whose size and proportions differ so little."""
ANY = Judge(IN_PLAY.look, np.array([9.0, 0.0, 0.0, 0.0]), IN_PLAY.grows_all)
"""Takes every trial for an oval, so that none is left out."""
ABOVE = 2
"""The place of the look from above among the weights."""
FILE = "oval_score_in_play"
"""The file of the weights."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(__doc__, 17, arguments)
    rows = kept_rows(options.rows, lambda: _rows(teaching_tables(
        options, 37, painted_table, _no_ovals, mats=TILES, card_share=1.0
    )))  # fmt: skip
    text = _record(_fitted(rows), len(set(rows[:, 0])))
    print(text, end="")
    if options.write:
        (WEIGHTS / f"{FILE}.json").write_text(text, encoding="utf-8")


def _rows(tables: Iterator[Table]) -> Array:
    """A row a trial: the table's number, whether it is an oval, and the features of its score."""
    return judged_rows(tables, judged, "trials")


def _no_ovals(truth: object, camera: Camera) -> Array:
    """Traced tables teach nothing here."""
    raise ValueError("ovals are taught on painted tables alone: leave out --tables")


def painted_table(
    seed: Sequence[int], tiles: Sequence[Picture], wardrobe: Wardrobe | None = None
) -> Table:
    """A crowd that nothing was taught on; its ovals (M, 6) as x, y, half axes, heading and the share in sight."""
    rng = np.random.default_rng(list(seed))
    most_tilt = LOW_TILT if rng.random() < LOW_SHARE else USUAL_TILT
    view = patch_view(rng, REACH_MM, float(rng.uniform(0.4, 1.1)), most_tilt)
    photo, found = crowd_photo(rng, view, tiles, REACH_MM, wardrobe)
    ovals = found[found[:, 5] == OVAL]
    bases = np.column_stack([ovals[:, :2], ovals[:, 2:4] / 2, ovals[:, 4], ovals[:, 6]])
    flat = drawn_view(photo, view.camera, REACH_MM, OVERVIEW_MM_PER_PX)
    return Table(photo, view.camera, flat, bases)


def judged(table: Table) -> Iterator[list[float]]:
    """Of each trial on a table: whether it is an oval, and the features of its score."""
    frame = Frame(table.photo, "table")
    sizes = np.array(OVAL_SIDES_MM)[:, ::-1] / 2
    starts = find_discs(table.view, table.camera, in_play=True).ovals
    traced = trace_candidates(frame, table.camera, starts, sizes, ANY)
    trials = size_trials(photo_pyramid(frame), table.camera, sizes, traced, ANY)
    for pose, *seen in zip(trials.poses, trials.score, trials.from_above, trials.chi2, strict=True):
        said = verdict(pose, table.bases)
        if said is not None:
            yield [said, *oval_features(*seen)]


def verdict(pose: Array, ovals: Array) -> float | None:
    """1 for an oval, 0 for none, None for what counts neither way."""
    if not len(ovals):
        return 0.0
    own = shape_matrices_mm(pose[None])
    offset = np.linalg.solve(own, (ovals[:, :2] - pose[:2])[..., None])[..., 0]
    ratio = np.linalg.solve(own, shape_matrices_mm(ovals[:, :5]))
    stretch = np.log(np.linalg.svd(ratio, compute_uv=False))
    size, aspect = np.abs(stretch.mean(1)), stretch[:, 0] - stretch[:, 1]
    here = int(np.argmin(np.linalg.norm(offset, axis=1) + size))
    near = np.linalg.norm(offset[here]) < NEAR_SHARE
    if near and size[here] < NEAR_LOG and aspect[here] < NEAR_ASPECT_LOG:
        return 1.0 if ovals[here, 5] >= LEAST_VISIBLE else None
    return 0.0


def _fitted(rows: Array) -> Array:
    """The weights on all tables; prints how often the scores of tables not fitted on are right."""
    table, truth, signs = rows[:, 0], rows[:, 1], rows[:, 2:]
    before = np.array(list(load_coefficients(FILE).values()))
    odds = np.zeros(len(rows))
    for fold in range(FOLDS):
        kept = table % FOLDS == fold
        odds[kept] = signs[kept] @ fitted(signs[~kept], truth[~kept], before)
    for told, said in (("before", signs @ before), ("now", odds)):
        print(f"{told}: {told_calibration(said, truth)}")
    return fitted(signs, truth, before)


def fitted(signs: Array, truth: Array, before: Array) -> Array:
    """Weights by regression; the look from above is trusted less, and the others make up for it."""
    places = np.arange(len(before))
    weights = regression(signs, truth, before, places < 0)
    weights[ABOVE] *= OVERVIEW_SHARE
    return regression(signs, truth, weights, places == ABOVE)


def _record(weights: Array, tables: int) -> str:
    """The text of the weights' file, with their origin."""
    origin = {
        "coefficients": weights.round(3).tolist(),
        "features": list(load_coefficients(FILE)),
        "date": date.today().isoformat(),
        "data": f"logistic regression on the sizes tried on {tables} painted crowds",
        "command": "python tools/training/fit_oval_score.py --painted 80 --sprites SPRITES --write",
    }
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in origin.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    main()
