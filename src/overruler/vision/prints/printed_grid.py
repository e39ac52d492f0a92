"""Whether a base stands at a place, or just a cell of the grid that is printed on the mat.

Networks take printed squares and hexes for bases: a score of 0.99 says nothing there. But a cell looks
like the cells around it, and a base covers its cell.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.vision.contours.outlines import is_in_outline
from overruler.vision.imaging.line_profiles import Floats, log_colours
from overruler.vision.imaging.orthophoto import Orthophoto, resample_orthophoto
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.logits import EVEN_SCORE, MAX_LOGIT
from overruler.vision.prints.cells import Cells, find_cells
from overruler.vision.rounds.lookalike_share import probabilities_among

MM_PER_PX = 2.0
"""Resolution at which cells are compared; a coarser photo's own."""
FINE_MM, AROUND_MM = 6.0, 40.0
"""Lightness counts against its surroundings of the first size, by the contrast in those of the second."""
MOST_SIGMAS = 2.0
"""Contrast at which it is clipped: no figure outweighs the lines."""
DARK = 8.0
"""Lightness, of 255, that is added before the logarithm: the noise of dark pictures."""
NEIGHBOURS = 80
"""So many cells about a place tell how the print looks: no unit covers half of them. Farther ones tell less
where the mat has folds."""
SAMPLES, REACH = 18, 1.15
"""Samples along and across a base, and how far they reach, in half lengths."""
NEAREST = 18
"""So many say what colour the mat has about a place."""
INSIDE = 0.72
"""Reach of a base's inside, in half lengths."""
INSIDE_QUANTILE = 0.8
"""Share of the inside that has to look like the mat."""
MOST_CONTRAST = 1.0
"""Contrasts are clipped to this logarithm of a ratio of brightnesses."""
MIN_NEIGHBOURS = 20
"""So many of them must be seen, at least."""
MIN_PRINT = 0.2
"""Least standard deviation of the print: what does not repeat has less."""
USUAL_SHARE = 0.5
"""Share of bare cells among what is found on a table that is not seen yet."""
WEIGHTS = np.array(list(load_coefficients("printed_grid").values()))
"""Weights of the log odds of a bare cell; the file names the features."""


T = TypeVar("T")
PlacedBase = tuple[Base, Array, float]
"""A base, its middle (2,) in mm, and its turn in rad."""


@dataclass(frozen=True, slots=True, eq=False)
class PrintedGrid:
    """The grids of cells that are printed on the mat."""

    view: Orthophoto
    """The mat from above."""
    relief: Floats
    """(H, W): its lightness against the surroundings, NaN where the photo does not show it."""
    colours: Floats
    """(H, W, 3): logarithms of its colours, NaN where the photo does not show it."""
    cells: tuple[Cells, ...]
    """Those of each grid."""

    @classmethod
    def of(cls, view: Orthophoto) -> "PrintedGrid | None":
        """Find the grid on a mat that is seen from above; None where there is none."""
        coarse = view if view.mm_per_px >= MM_PER_PX else resample_orthophoto(view, MM_PER_PX)
        relief = _relief(coarse)
        cells = find_cells(relief, coarse.seen, coarse.mm_per_px)
        if not cells:
            return None
        colours = log_colours(coarse.pixels)
        relief[~coarse.seen], colours[~coarse.seen] = np.nan, np.nan
        return cls(coarse, relief, colours, tuple(cells))

    def are_bare_cells(self, placed: Sequence[PlacedBase]) -> NDArray[np.bool_]:
        """Tell which places (N,) show the print as other cells do, and no base.

        Where many do, one that is hard to tell likely does, too: angular ones and others count apart.
        """
        odds = np.array([self._log_odds(*one) for one in placed])
        are_angular = np.array([base.shape == "rectangle" for base, _, _ in placed], bool)
        are_bare = np.zeros(len(placed), bool)
        for alike in (are_angular, ~are_angular):
            are_bare[alike] = probabilities_among(-odds[alike], USUAL_SHARE) < EVEN_SCORE
        return are_bare

    def _log_odds(self, base: Base, xy_mm: Array, turn_rad: float) -> float:
        """Return the log odds of a bare cell of either grid."""
        said = (self.features(cells, base, xy_mm, turn_rad) for cells in self.cells)
        return max((float(some @ WEIGHTS) for some in said if some is not None), default=-MAX_LOGIT)

    def features(self, cells: Cells, base: Base, xy_mm: Array, turn_rad: float) -> Array | None:
        """Return what tells a bare cell of a grid from a base (5,); None where no print is seen.

        1, the correlation with the usual cell, the logarithm of how much it differs from that, against how much
        other cells do, that of how much larger or smaller the base is than one cell or two, and the contrast of
        most of its inside with the cells around it.
        """
        corners = base.shape == "rectangle"
        half_mm = np.hypot(base.length_mm, base.width_mm if corners else 0.0) / 2
        steps = half_mm * np.linspace(-REACH, REACH, SAMPLES)
        offsets = np.stack(np.meshgrid(steps, steps), -1).reshape(-1, 2)
        around = cells.nearest_steps(NEIGHBOURS)[:, None]
        places = xy_mm + offsets[is_in_outline(base, offsets, turn_rad, REACH)]
        own = self._looks(self.relief, places[None])[0]
        others = self._looks(self.relief, around + places)
        others = others[np.isfinite(others).all(1)]
        if len(others) < MIN_NEIGHBOURS or not np.isfinite(own).all():
            return None
        others = _likest_half(others)
        usual = np.median(others, 0)
        if usual.std() < MIN_PRINT:
            return None
        correlation = float(np.corrcoef(own, usual)[0, 1])
        differences = np.sqrt(np.mean((others - usual) ** 2, 1))
        difference = np.sqrt(np.mean((own - usual) ** 2)) / np.median(differences)
        sides = np.log([base.length_mm, base.width_mm]) - np.log(cells.width_mm)
        misfit = np.abs(sides[:, None] - np.log([1, 2])).min(1).max()
        inside = xy_mm + offsets[is_in_outline(base, offsets, turn_rad, INSIDE)]
        contrast = self._contrast(inside, around[:NEAREST])
        return np.array([1.0, correlation, np.log(difference), misfit, contrast])

    def _contrast(self, places_mm: Array, around: Array) -> float:
        """Return the contrast of most places (K, 2) with those after steps (N, 1, 2), by any colour."""
        ground = self._looks(self.colours, around + places_mm).reshape(-1, 3)
        usual = np.nanmedian(ground, 0)
        contrasts = np.abs(self._looks(self.colours, places_mm[None])[0] - usual).max(-1)
        return float(min(np.quantile(contrasts, INSIDE_QUANTILE), MOST_CONTRAST))

    def _looks(self, picture: Floats, xy_mm: Array) -> Floats:
        """Return how places (N, K, 2) look (N, K, ...) in a picture; NaN where the photo does not show them."""
        x, y = np.moveaxis(self.view.to_px(xy_mm).astype(np.float32), -1, 0)
        beside = (np.nan,) * 3
        looks = cv2.remap(picture, x, y, cv2.INTER_LINEAR, None, cv2.BORDER_CONSTANT, beside)
        return np.asarray(looks, np.float32)


def _likest_half(looks: Floats) -> Floats:
    """Return the half of the looks (N, K) that are most like all: bases, and what lies beside the mat, are not."""
    usual = np.median(looks, 0)
    alike = (looks - looks.mean(1, keepdims=True)) @ (usual - usual.mean()) / looks.std(1)
    return np.asarray(looks[np.argsort(-alike)[: (len(looks) + 1) // 2]])


PrintOnMat = Callable[[], PrintedGrid | None]
"""Tells what grid is printed on the mat, once somebody asks."""


def nothing_printed() -> None:
    """Tell that the mat has no grid."""


def without_bare_cells(
    grid: PrintedGrid | None, things: Sequence[T], placed: Callable[[T], PlacedBase]
) -> list[T]:
    """Return the things but those that are just bare cells of the grid, if there is one."""
    if grid is None:
        return [*things]
    bare = grid.are_bare_cells([placed(one) for one in things])
    return [one for one, is_bare in zip(things, bare, strict=True) if not is_bare]


def _relief(view: Orthophoto) -> Floats:
    """Return the lightness (H, W) of a mat against its surroundings, 0 where the photo does not show it."""
    grey = cv2.cvtColor(view.pixels, cv2.COLOR_BGR2GRAY).astype(np.float32)
    light = np.log(grey + DARK)
    fine = light - cv2.GaussianBlur(light, (0, 0), FINE_MM / view.mm_per_px)
    contrast = np.sqrt(cv2.GaussianBlur(fine * fine, (0, 0), AROUND_MM / view.mm_per_px)) + 1e-3
    clipped = np.clip(fine / contrast, -MOST_SIGMAS, MOST_SIGMAS)
    return np.asarray(np.where(view.seen, clipped, 0.0), np.float32)
