"""What one photo takes for a base, and others for a bare cell of the mat's grid, is judged by all of them."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from evaluate.drawn.views import BOARD_MM, camera_from
from overruler.bases import Base
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.ground.bare_cells import with_prints, without_bare_findings
from overruler.vision.pairing.sighting import SeenPhoto
from synthetic.flat_table import Plinth
from synthetic.printed_grids import lay_grid
from tests.vision.pairing.moves.test_moved import HERE, photo_of

SIDES_DEG = (0.0, 120.0, 240.0)
CELL_MM = 30.0
PLAIN: Any = {
    "board": {"width_mm": BOARD_MM[0], "height_mm": BOARD_MM[1]},
    "pieces": [],
    "markers": {"items": []},
}
"""A table of which nothing hides the mat."""


def finding(x_mm: float, z_mm: float = 0.0) -> Decided:
    xyz_mm = np.array([x_mm, 300.0, z_mm])
    return Decided((), Base.circle(25), xyz_mm, 1.0, 0.0, None, z_mm > 0, told_heading_deg=0.0)


def told(odds: dict[float, float]) -> Any:
    """A grid that gives findings their log odds by their x; NaN where it shows no print."""
    return SimpleNamespace(
        log_odds=lambda placed: np.array([odds.get(xy[0], np.nan) for _, xy, _ in placed])
    )


@pytest.mark.parametrize(
    ("odds", "is_kept"),
    [
        ([-0.5, 3.0, 2.0], False),  # one photo hardly took it for a base
        ([-3.0, 0.5, -4.0], True),  # one photo hardly took it for a cell
        ([-1.0, 4.0, None], False),  # one shows no print there
        ([-1.9, 3.2, None], True),  # it moved before the second one, and left a bare cell
        ([None, None, None], True),
    ],
)
def test_photos_judge_a_finding_together(odds: list[float | None], is_kept: bool) -> None:
    photos = [photo_of(k, camera_from(side)) for k, side in enumerate(SIDES_DEG)]
    photos = [
        replace(photo, printed=told({} if one is None else {100.0: one}))
        for photo, one in zip(photos, odds, strict=True)
    ]
    one, other = finding(100.0), finding(200.0)
    assert without_bare_findings([one, other], photos) == ([one] if is_kept else []) + [other]
    assert without_bare_findings([], photos) == []
    raised = finding(100.0, 60.0)
    assert without_bare_findings([raised], photos) == [raised]
    unprinted = [replace(photo, printed=None) for photo in photos]
    assert without_bare_findings([one], unprinted) == [one]


def printed_photo(index: int, *bases: Plinth) -> SeenPhoto:
    """A photo of a mat of dots."""
    camera = camera_from(SIDES_DEG[index])
    photo = photo_of(index, camera, *bases)
    own = photo.calibration.camera
    dots = lay_grid(photo.frame.pixels, own, PLAIN, "dots", CELL_MM, np.random.default_rng(4))
    return replace(photo, frame=replace(photo.frame, pixels=dots))


def test_a_photo_that_shows_no_grid_has_that_of_the_others() -> None:
    photos = [printed_photo(0), printed_photo(1), photo_of(2, camera_from(240.0))]
    seen = with_prints(photos)
    for one in seen:
        assert one.printed is not None
        assert round(one.printed.cells[0].width_mm) == CELL_MM
    assert all(one.printed is None for one in with_prints(photos[2:]))


def test_a_dot_that_a_photo_found_is_no_base() -> None:
    photos = with_prints([printed_photo(k) for k in range(3)])
    assert photos[0].printed is not None
    cells = photos[0].printed.cells[0]
    places = np.array([*HERE]) + cells.nearest_steps(30)
    found = [
        Decided(
            (), Base.circle(25), np.array([*xy, 0.0]), 1.0, 0.0, None, False, told_heading_deg=0.0
        )
        for xy in places
    ]
    assert len(without_bare_findings(found, photos)) <= 1
