"""Shaded ground lies where it is, and its outline shows on any mat."""

from dataclasses import replace

import numpy as np
import pytest

from overruler.picture.raster import composite_pixels, output_size
from overruler.picture.report_drawing import draw_on_photo
from overruler.picture.shades import rings_px
from overruler.picture.view import View
from overruler.report import Report
from overruler.rules import ask
from tests.picture.test_report_drawing import MATS, on
from tests.reports import SIZE_PX, camera

GROUND = {"question": "area", "of": "p03", "within_mm": 100}
CONTRAST = 60.0
"""Least step of brightness, of 255, somewhere across an outline."""


def shaded(mat: str) -> Report:
    bare = on(MATS[mat])
    scene = replace(bare.scene, game="inches")
    return replace(bare, scene=scene, verdicts=(ask(scene, GROUND),))


@pytest.mark.parametrize("mat", MATS)
def test_the_outline_shows_on_any_mat(mat: str) -> None:
    """Across it, somewhere, light meets dark; inside, the mat is tinted, and far outside it is not."""
    report = shaded(mat)
    size_px = output_size(SIZE_PX)
    drawn = composite_pixels(draw_on_photo(report).document(), report.frame.pixels, size_px).astype(
        float
    )
    scale = size_px[0] / SIZE_PX[0]
    view = View(camera(), SIZE_PX)
    [ring] = rings_px(view, report.verdicts[0].shades[0].polygons_mm)
    center = ring.mean(0)
    for place in ring[:: len(ring) // 8]:
        out = (place - center) / np.linalg.norm(place - center)
        across = [place + step * out for step in np.linspace(-4, 4, 33)]
        grey = [drawn[int(y * scale), int(x * scale)].mean() for x, y in across]
        assert np.ptp(grey) > CONTRAST
        inside, outside = (center + share * (place - center) for share in (0.8, 1.2))
        tints = [
            np.abs(drawn[int(y * scale), int(x * scale)] - MATS[mat]).max()
            for x, y in (inside, outside)
        ]
        assert tints[0] > 15
        assert tints[1] < 3


def test_ground_behind_the_camera_and_off_the_picture_is_cut_away() -> None:
    view = View(camera(), SIZE_PX)
    [ring] = rings_px(view, [[[[-9000, -9000], [9000, -9000], [9000, 9000], [-9000, 9000]]]])
    assert np.isfinite(ring).all()
    assert (ring > -0.05 * np.array(SIZE_PX)).all()
    assert (ring < 1.05 * np.array(SIZE_PX)).all()


def test_a_ruling_on_ground_has_a_row_of_the_banner_and_no_line() -> None:
    drawing = draw_on_photo(shaded("grass")).document()
    assert "within 3.94 in of p03" in drawing
