"""Bare cells of the grid on the mat among what several photos find.

One photo may take a cell for a base, and others confirm it: all show the same print. But what one of them
hardly tells from a cell, another one does.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.detection.detect import rectify_board
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.levels import SAME_LEVEL_MM
from overruler.vision.pairing.sighting import PHOTOS_AT_A_TIME, SeenPhoto
from overruler.vision.prints.cells import common_cells
from overruler.vision.prints.printed_grid import MM_PER_PX, PrintedGrid

BARE_NATS = 2.0
"""Log odds by all photos together from which a finding is a bare cell. What deceives one photo may deceive all, and a
base that moved between two photos has a bare cell in one: of eight such pairs one base had log odds of 1.3."""


def with_prints(photos: Sequence[SeenPhoto]) -> list[SeenPhoto]:
    """The photos with the grid on the mat, if there is one: one photo may show clearly what is faint in others."""
    with ThreadPoolExecutor(PHOTOS_AT_A_TIME) as pool:
        prints = list(pool.map(_seen_print, photos))
    cells = tuple(common_cells([one.cells for one in prints]))
    if not cells:
        return [*photos]
    pairs = zip(photos, prints, strict=True)
    return [replace(photo, printed=replace(one, cells=cells)) for photo, one in pairs]


def without_bare_findings(
    findings: Sequence[Decided], photos: Sequence[SeenPhoto]
) -> list[Decided]:
    """Leave out what all photos together take for a bare cell of the grid on the mat."""
    low = [one for one in findings if one.xyz_mm[2] < SAME_LEVEL_MM]
    odds = sum((_log_odds(low, photo.printed) for photo in photos), np.zeros(len(low)))
    bare = {id(one) for one, total in zip(low, odds, strict=True) if total > BARE_NATS}
    return [one for one in findings if id(one) not in bare]


def _seen_print(photo: SeenPhoto) -> PrintedGrid:
    view = rectify_board(photo.frame, photo.calibration, MM_PER_PX)
    return PrintedGrid.seen_on(view, photo.calibration.board_mm)


def _log_odds(findings: Sequence[Decided], grid: PrintedGrid | None) -> Array:
    """Log odds (N,) of bare cells by what one photo shows; 0 where it shows no print."""
    if grid is None or not findings:
        return np.zeros(len(findings))
    return np.nan_to_num(grid.log_odds([(one.base, one.xy_mm, one.turn_rad) for one in findings]))
