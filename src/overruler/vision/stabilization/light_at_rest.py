"""How bright a picture is beside one at rest: told by the markers' black and by points of the table."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.stabilization.light_bands import Cells, GreyImage, LightBands, cell_means

Pixels = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Rows and columns of pixels."""
MAX_LIGHT_RATIO = 1.6
"""Largest ratio of the markers' brightness to that at rest: pieces look alike up to here."""
KNOWN_LIGHT_RATIO = 1.02
"""Ratio up to which trackers see the light as it is; beyond, they see the picture darker or brighter.

Else a plain base's old place, once brighter, looks as the base did. And where all of the table is
brighter by a tenth, what moved is taken for a part of it in another light."""
MAX_CLIPPED_LIGHT_RATIO = 1.12
"""The same where a base has become as white as the picture can be: its look is lost soon after."""
MIN_CLIPPED_LEVELS = 10
"""By how much such a base is darker than the light says, at least, in grey levels."""
MID_LEVELS = (20, 140)
"""By how much points that tell the light are brighter at rest than ink, in grey levels.

Darker ones tell little, and brighter ones may turn white."""
INK_AND_CARD_PERCENTILES = (10, 90)
"""Percentiles of the brightness at markers that are ink's and card's."""
MIN_MID_SHARE = 0.05
"""Least share of such points in a picture: else the cards tell the light."""
SAMPLE_STEP_PX = 16
"""Of every so many rows and columns, a pixel tells the light."""


@dataclass(frozen=True, slots=True, eq=False)
class EvenLight:
    """How bright a picture without markers is at rest: only light that is uneven since then is told."""

    cells: Cells
    """The means of the picture's cells."""

    def as_at_rest(self, grey: GreyImage) -> GreyImage:
        """The picture without bands of light; the very same where there are none."""
        bands = LightBands.between(self.cells, cell_means(grey))
        return grey if bands is None else bands.without(grey, _nearly_one(bands.level))

    def has_changed(self, grey: GreyImage) -> bool:
        """Never: without ink it is not known how dark black is."""
        return False


@dataclass(frozen=True, slots=True, eq=False)
class LightAtRest:
    """How bright ink, and some other points of a picture, are at rest: so the light can be told.

    Medians are not changed by a hand over a few of them."""

    ink_px: Pixels
    """The markers' black."""
    card_px: Pixels
    """The markers' white."""
    mid_px: Pixels
    """Points between the two."""
    contrast: Array
    """(M,): by how much these are brighter than ink."""
    base_contrast: float
    """By how much the brightest base is."""
    even: EvenLight
    """Tells bands of light."""

    @classmethod
    def of(cls, grey: GreyImage, points_px: Pixels, base_level: float) -> "LightAtRest":
        """Of a picture with markers at some points, and whose brightest base is known."""
        rows, columns = points_px
        values = grey[points_px]
        is_ink = values <= np.percentile(values, INK_AND_CARD_PERCENTILES).mean()
        ink_level = float(np.median(values[is_ink]))
        sample = grey[::SAMPLE_STEP_PX, ::SAMPLE_STEP_PX] - ink_level
        is_mid = (sample >= MID_LEVELS[0]) & (sample <= MID_LEVELS[1])
        mid_rows, mid_columns = np.nonzero(is_mid)
        mid_px = SAMPLE_STEP_PX * mid_rows, SAMPLE_STEP_PX * mid_columns
        ink_px = rows[is_ink], columns[is_ink]
        card_px = rows[~is_ink], columns[~is_ink]
        if is_mid.mean() < MIN_MID_SHARE:
            mid_px = card_px
        contrast = np.maximum(grey[mid_px] - ink_level, 1.0)
        base_contrast = base_level - ink_level
        return cls(ink_px, card_px, mid_px, contrast, base_contrast, EvenLight(cell_means(grey)))

    def ratio_of(self, grey: GreyImage) -> float:
        """By what factor a picture of the same size is brighter."""
        ink_level = float(np.median(grey[self.ink_px]))
        return float(np.median((grey[self.mid_px] - ink_level) / self.contrast))

    def as_at_rest(self, grey: GreyImage) -> GreyImage:
        """The picture in nearly the light at rest: within `KNOWN_LIGHT_RATIO` of it, without bands."""
        without_bands = self.even.as_at_rest(grey)
        if without_bands is not grey:
            return without_bands
        ratio = self.ratio_of(grey)
        wanted = _nearly_one(ratio)
        if wanted == ratio or ratio <= 0:
            return grey
        levels = np.rint(np.arange(256) * (wanted / ratio)).clip(0, 255).astype(np.uint8)
        return np.asarray(cv2.LUT(grey, levels), np.uint8)

    def has_changed(self, grey: GreyImage) -> bool:
        """Whether a picture of the same size is far brighter or darker."""
        ink_level = float(np.median(grey[self.ink_px]))
        ratio = self.ratio_of(grey)
        white_level = float(np.median(grey[self.card_px]))
        base_level = ink_level + ratio * self.base_contrast
        is_clipped = base_level > white_level + MIN_CLIPPED_LEVELS or self._is_mid_white(grey)
        most = MAX_CLIPPED_LIGHT_RATIO if is_clipped else MAX_LIGHT_RATIO
        return not 1 / MAX_LIGHT_RATIO <= ratio <= most

    def _is_mid_white(self, grey: GreyImage) -> bool:
        """Whether points between ink and card are as white as card: then they tell too little light."""
        if self.mid_px is self.card_px:
            return False
        levels = (float(np.median(grey[at])) for at in (self.mid_px, self.card_px))
        mid_level, white_level = levels
        return mid_level > white_level - MIN_CLIPPED_LEVELS


def _nearly_one(ratio: float) -> float:
    """The ratio that trackers see in place of a ratio of light."""
    return float(np.clip(ratio, 1 / KNOWN_LIGHT_RATIO, KNOWN_LIGHT_RATIO))
