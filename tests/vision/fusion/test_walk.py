"""Of a film those pictures are measured that show the table from the most different sides."""

from collections.abc import Sequence

import numpy as np
import pytest

from evaluate.drawn.markers import camera_over, seen_markers
from overruler.board import Board
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.vision.fusion import walk
from overruler.vision.fusion.walk import choose_views
from overruler.vision.markers.marker import Marker
from tests.vision.sight import ANYWHERE, FREE

BLANK = np.zeros((4, 4, 3), np.uint8)


@pytest.fixture
def walked(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[Marker]]:
    """The markers of each picture, which is all that is asked of it."""
    seen: list[Sequence[Marker]] = []
    monkeypatch.setattr(walk, "find_markers", lambda frame, board: seen[frame.index])
    return seen


def film(seen: list[Sequence[Marker]], turns_deg: Sequence[float]) -> list[Frame]:
    random = np.random.default_rng(1)
    seen += [seen_markers(camera_over(30.0, turn_deg=turn), ANYWHERE, random) for turn in turns_deg]
    return [Frame(BLANK, f"film at {k} s", index=k) for k in range(len(seen))]


def chosen(seen: list[Sequence[Marker]], turns_deg: Sequence[float], most: int = 6) -> list[int]:
    return [frame.index for frame in choose_views(film(seen, turns_deg), FREE, most).frames]


def test_views_are_spread_round_the_table(walked: list[Sequence[Marker]]) -> None:
    turns = [15.0 * k for k in range(24)]
    found = np.array(turns)[chosen(walked, turns)]
    assert len(found) == 6
    assert np.diff([*found, found[0] + 360]).min() > 30
    assert np.diff([*found, found[0] + 360]).max() < 95


def test_a_camera_that_stands_still_has_one_view(walked: list[Sequence[Marker]]) -> None:
    assert len(chosen(walked, [40.0] * 5)) == 1
    assert len(chosen(walked, [40.0, 41.0, 90.0])) == 2


def test_pictures_that_show_few_markers_are_passed_over(walked: list[Sequence[Marker]]) -> None:
    pictures = film(walked, [0.0, 90.0, 180.0])
    walked[1] = walked[1][:2]
    assert [frame.index for frame in choose_views(pictures, FREE).frames] == [0, 2]
    walked[:] = [markers[:1] for markers in walked]
    with pytest.raises(CannotMeasure, match="no picture of the film shows 2 markers"):
        choose_views(pictures, Board.free(60.0))


@pytest.mark.parametrize(
    ("turns_deg", "unable", "why"),
    [
        ([40.0], [], "the film is too short to show another side"),
        ([40.0] * 3, [], "the film's other pictures are from the same side and add nothing"),
        (
            [40.0] * 3,
            [1],
            "the film's other pictures are from the same side and add nothing, "
            "and others show too few of its markers, or another table",
        ),
        (
            [40.0, 90.0],
            [1],
            "the film's other pictures show too few of its markers, or another table",
        ),
    ],
)
def test_the_one_picture_that_a_film_gives_is_named(
    walked: list[Sequence[Marker]], turns_deg: list[float], unable: list[int], why: str
) -> None:
    pictures = film(walked, turns_deg)
    for k in unable:
        walked[k] = ()
    views = choose_views(pictures, FREE)
    assert [(one.flag, one.text) for one in views.problems] == [
        ("photo_alone", f"{views.frames[0].name} is measured alone: {why}")
    ]


def test_nothing_is_said_where_several_pictures_are_measured_or_one_is_wanted(
    walked: list[Sequence[Marker]],
) -> None:
    pictures = film(walked, [0.0, 90.0])
    assert not choose_views(pictures, FREE).problems
    assert not choose_views(pictures, FREE, most=1).problems
