"""Fit the weights by which a base is told from a bare cell of a printed grid: prints their file, or writes it.

python tools/training/fit_printed_grid.py TABLES... [--write]

TABLES are folders of rendered photos, each with its truth beside it. Some mats have grids (`render_views.py
--grid`): all findings count there, as if no grid were known; what lies near no base is a cell, or something
else. Those without get dots or rings, and their findings count, too. And they get grids, each with a cell about
the middle of a base: its rim looks most like lines there.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evaluate.accuracy import board_of
from overruler.bases import Base, catalogue
from overruler.calibration import Calibration
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.referee import Referee
from overruler.vision.detection.detect import detect, rectify_board
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX, WEIGHTS
from overruler.vision.prints.printed_grid import PrintedGrid
from synthetic.arrays import Picture, Rng
from synthetic.from_above.sheet import (
    Truth,
    apart_px,
    lengthwise,
    on_board,
    read_truth,
    traced_view,
)
from synthetic.printed_grids import FORMS, FORMS_OF_CELLS, lay_grid
from training.regression import ridge_regression
from training.score_tables import cards_of, read_photo_options, rows_of_photos, weights_text

NAME = "printed_grid"
"""The file of the weights."""
FEATURES = ["constant", "correlation", "contrast"]
CAUTION = 1.5
"""What is taken off the log odds of a bare cell: no base is to be lost to it."""
RIDGE = 0.05
"""What holds weights to 0: correlations differ by tenths."""
NEAR_PX = 4.0
"""A finding is the base whose middle is so near in the photo: no dot beside it, ..."""
FAR_PX = 25.0
"""... and none where no middle is nearer than this."""
OTHER_FORMS = tuple(form for form in FORMS if form not in FORMS_OF_CELLS)
CELLS_MM = (22.0, 64.0)
"""Widths of the cells of dots and rings."""
CELLS_OF_A_PHOTO = 60
"""Of so many cells of a photo, at most, a finding counts."""
BASES_OF_A_PHOTO = 4
"""So many bases of a photo get a grid each."""
CELL_RATIOS = (1.0, 1.05, 1.2, 1.35)
"""Widths of its cells, in widths of the base."""
SEEN_RIM = 0.3
"""Least share of a base's rim that the photo shows."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_photo_options(__doc__, arguments)
    rows, photos = rows_of_photos(options, _rows)
    is_bare, features = rows[:, 0], rows[:, 1:]
    weights = ridge_regression(features, is_bare, RIDGE)
    weights[0] -= CAUTION
    told = features @ weights > 0
    print(
        f"told: {(told & (is_bare > 0)).sum()} of {(is_bare > 0).sum()} findings that are no base, "
        f"{(told & (is_bare == 0)).sum()} of {(is_bare == 0).sum()} bases"
    )
    data = f"logistic regression on findings in {photos} rendered photos, lowered by {CAUTION:g}"
    program = "fit_printed_grid.py TABLES --write"
    text = weights_text(FEATURES, weights, data, program)
    print(text, end="")
    if options.write:
        (WEIGHTS / f"{NAME}.json").write_text(text, encoding="utf-8")


def _rows(seed: int, numbered: tuple[int, Path]) -> list[list[float]]:
    """A row a finding in a photo: whether it is none, and what the print says of it."""
    number, path = numbered
    truth, camera, photo = read_truth(path)
    rng = np.random.default_rng([seed, number])
    try:
        seen = _see(photo, path, truth)
        if seen.grid is not None:
            return _rows_of_findings(seen, truth, rng)
        form, cell_mm = OTHER_FORMS[number % len(OTHER_FORMS)], float(rng.uniform(*CELLS_MM))
        printed = lay_grid(photo, camera, truth, form, cell_mm, rng)
        rows = _rows_of_findings(_see(printed, path, truth), truth, rng)
    except CannotMeasure:
        return []
    return [*rows, *_rows_of_bases_in_cells(photo, camera, truth, rng)]


class _Seen(NamedTuple):
    """A photo, its calibration, and the grid on its mat."""

    frame: Frame
    calibration: Calibration
    grid: PrintedGrid | None


def _see(photo: Picture, path: Path, truth: Truth) -> _Seen:
    frame = Frame(photo, path.stem)
    calibration = Referee(board_of(path, truth)).look(frame).calibration
    view = rectify_board(frame, calibration)
    return _Seen(frame, calibration, PrintedGrid.of(view, calibration.board_mm))


def _rows_of_findings(seen: _Seen, truth: Truth, rng: Rng) -> list[list[float]]:
    """A row each; of cells of a photo just some, since dots are hundreds."""
    frame, calibration, grid = seen
    if grid is None:
        return []
    rows: tuple[list[list[float]], list[list[float]]] = ([], [])
    for one in detect(frame, calibration, catalogue(), cards_of(truth)):
        said = [grid.features(cells, one.base, one.xy_mm, one.turn_rad) for cells in grid.cells]
        known = [some for some in said if some is not None]
        at_px = calibration.camera.project(np.array([*one.xy_mm, 0.0]))
        nearest_px = float(apart_px(truth, at_px[None]).min())
        if known and not NEAR_PX < nearest_px < FAR_PX:
            likest = max(known, key=lambda some: float(some[1]))
            is_none = nearest_px > FAR_PX
            rows[is_none].append([float(is_none), *likest.tolist()])
    bases, cells = rows
    return [*bases, *(cells[k] for k in rng.permutation(len(cells))[:CELLS_OF_A_PHOTO])]


def _rows_of_bases_in_cells(
    photo: Picture, camera: Camera, truth: Truth, rng: Rng
) -> Iterator[list[float]]:
    """A row a base that stands in the midst of a cell about as wide as it is."""
    standing = [one for one in truth["pieces"] if not one["z_mm"] and one["visible_rim"] > SEEN_RIM]
    for k in rng.permutation(len(standing))[:BASES_OF_A_PHOTO].tolist():
        x, y, length, width, turn = lengthwise(on_board(camera, standing[k]))
        make = Base.rectangle if standing[k]["shape"]["type"] == "rectangle" else Base.oval
        form, cell_mm = str(rng.choice(FORMS_OF_CELLS)), width * float(rng.choice(CELL_RATIOS))
        at = np.array([x, y])
        printed = lay_grid(photo, camera, truth, form, cell_mm, rng, at)
        board_mm = truth["board"]["width_mm"], truth["board"]["height_mm"]
        view = traced_view(printed, camera, truth, OVERVIEW_MM_PER_PX)
        grid = PrintedGrid.of(view, board_mm)
        if grid is None:
            continue
        nearest = min(grid.cells, key=lambda cells: abs(cells.width_mm - cell_mm))
        features = grid.features(nearest, make(width, length), at, turn)
        if features is not None:
            yield [0.0, *features.tolist()]


if __name__ == "__main__":
    main()
