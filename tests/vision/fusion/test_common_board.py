"""One board frame for markers that lie anywhere, by the photos that share enough of them."""

from collections.abc import Sequence

import numpy as np
import pytest

from evaluate.drawn.markers import camera_over, seen_markers
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.vision.fusion import common_board
from overruler.vision.fusion.common_board import map_free_markers
from overruler.vision.markers.marker import Marker
from tests.vision.sight import ANYWHERE, FREE, blank


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[Marker]]:
    """The markers of three photos."""
    random = np.random.default_rng(4)
    found: list[Sequence[Marker]] = [
        seen_markers(camera_over(30.0, turn_deg=turn), ANYWHERE, random) for turn in (0, 120, 240)
    ]
    monkeypatch.setattr(common_board, "find_markers", lambda frame, board: found[frame.index])
    return found


def frames(count: int) -> list[Frame]:
    like = blank(1250.0)
    return [
        Frame(like.pixels, f"photo{k}.jpg", like.focal_px, like.focal_share, index=k)
        for k in range(count)
    ]


def test_a_photo_that_shows_one_marker_spoils_no_others(seen: list[Sequence[Marker]]) -> None:
    seen[2] = seen[2][:1]
    board = map_free_markers(frames(3), FREE)
    assert set(board.corners_mm or {}) == set(ANYWHERE)
    seen[1] = seen[1][:1]
    with pytest.raises(CannotMeasure, match=r"photo1\.jpg shares 1 marker with .*, 3 are needed"):
        map_free_markers(frames(2), FREE)


def test_the_scale_of_a_map_is_less_sure_than_the_print(seen: list[Sequence[Marker]]) -> None:
    """By so much more as pixels may show all markers too large alike."""
    board = map_free_markers(frames(3), FREE)
    assert 1.05e-3 < (board.scale_share or 0) < 4e-3


def test_a_map_of_raised_markers_has_them_over_the_mat(seen: list[Sequence[Marker]]) -> None:
    flat = map_free_markers(frames(3), FREE).corners_mm or {}
    thick = map_free_markers(frames(3), FREE.raised_by(3.0)).corners_mm or {}
    assert all((thick[n] - flat[n] == [0, 0, 3]).all() for n in ANYWHERE)
