"""What looks at a table at several resolutions say together."""

import numpy as np
import pytest

from overruler.geometry.pose import Array
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.learned.inference import OUTPUT_STRIDE_PX, OVERVIEW_MM_PER_PX
from overruler.vision.learned.shape_net import (
    OUTPUT_CHANNELS,
    RECTANGLE_CHANNEL,
    REFERENCE_SIZE_MM,
)
from overruler.vision.plates.regiment_net import FINE_MM_PER_PX, MM_PER_PX, Look, SeenCells

SIDE_MM = 240.0
PLACES_MM = np.array([(60.0, 60.0), (120.0, 60.0), (60.0, 180.0)])
SURELY_NOT = -9.0


def look(mm_per_px: float, logits: list[float]) -> Look:
    """A look at a table with so likely middles at `PLACES_MM`, of squares of the size of reference."""
    side = round(SIDE_MM / mm_per_px)
    pixels = np.zeros((side, side, 3), np.uint8)
    view = Orthophoto(pixels, np.ones((side, side), bool), 0.0, SIDE_MM, mm_per_px)
    cells = side // OUTPUT_STRIDE_PX
    said = np.zeros((OUTPUT_CHANNELS, cells, cells), np.float32)
    said[RECTANGLE_CHANNEL] = SURELY_NOT
    for (row, column), logit in zip(cells_of(view), logits, strict=True):
        said[RECTANGLE_CHANNEL, row, column] = logit
    return Look.of(view, said, ())


def cells_of(view: Orthophoto) -> list[tuple[int, int]]:
    pixels = view.to_px(PLACES_MM)
    return [
        (int(row) // OUTPUT_STRIDE_PX, int(column) // OUTPUT_STRIDE_PX) for column, row in pixels
    ]


def nearest(xy_mm: Array) -> int:
    return int(np.argmin(np.linalg.norm(PLACES_MM - xy_mm, axis=1)))


def test_what_one_look_misses_another_sees() -> None:
    seen = SeenCells.of(
        look(MM_PER_PX, [2.0, SURELY_NOT, 0.5]), look(FINE_MM_PER_PX, [1.0, 1.5, 3.0])
    )
    assert [nearest(one.xy_mm) for one in seen.guesses] == [2, 0, 1]
    assert [one.score for one in seen.guesses] == pytest.approx([0.953, 0.881, 0.818], abs=1e-3)


def test_near_a_place_the_surer_look_counts() -> None:
    seen = SeenCells.of(
        look(MM_PER_PX, [2.0, SURELY_NOT, 0.5]), look(FINE_MM_PER_PX, [1.0, 1.5, 3.0])
    )
    scores = [seen.guess_near(place).score for place in PLACES_MM]
    assert scores == pytest.approx([0.881, 0.818, 0.953], abs=1e-3)


@pytest.mark.parametrize("mm_per_px", [MM_PER_PX, FINE_MM_PER_PX])
def test_a_base_that_is_seen_larger_is_no_larger(mm_per_px: float) -> None:
    """The network tells sizes by pixels."""
    guess = SeenCells.of(look(mm_per_px, [2.0, 1.0, 1.0])).guesses[0]
    expected = REFERENCE_SIZE_MM / OVERVIEW_MM_PER_PX * mm_per_px
    assert (guess.length_mm, guess.width_mm) == pytest.approx((expected, expected))
