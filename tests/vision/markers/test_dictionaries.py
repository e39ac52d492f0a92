"""Which family of markers lies in a picture, and which of two markers that read alike is the board's."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluate.drawn.markers import FOUR, camera_over, known_board, marker_mm, seen_markers
from overruler.board import DICTIONARIES, Board
from overruler.geometry.pose import Array
from overruler.vision.markers.detect import (
    _COMMON_DICTIONARIES,
    _UNCOMMON_DICTIONARIES,
    find_markers,
)
from overruler.vision.markers.dictionaries import (
    GreyPicture,
    count_markers_by_dictionary,
    load_dictionary,
)
from overruler.vision.markers.duplicates import resolve_duplicates
from overruler.vision.markers.marker import Marker
from tests.vision.sight import corners_of
from tests.vision.table import shoot

NAMES = (*_COMMON_DICTIONARIES, *_UNCOMMON_DICTIONARIES)
SIDE = 120


def picture(name: str, number: int, turns: int) -> tuple[GreyPicture, Array]:
    """A marker on a white card, turned, and its corners in the picture."""
    family = load_dictionary(name)
    drawn = np.rot90(family.generateImageMarker(number, SIDE), turns)
    grey = np.full((200, 200), 230, np.uint8)
    grey[40 : 40 + SIDE, 40 : 40 + SIDE] = np.clip(drawn, 30, 230)
    return grey, np.array([(40, 40), (160, 40), (160, 160), (40, 160)], float) - 0.5


@settings(max_examples=30)
@given(st.sampled_from(NAMES), st.integers(0, 10**6), st.integers(0, 3))
def test_a_family_reads_its_own_markers_turned_any_way(name: str, number: int, turns: int) -> None:
    grey, quad = picture(name, number % len(load_dictionary(name).bytesList), turns)
    assert count_markers_by_dictionary(grey, [quad], NAMES, 0.3)[name] == 1


def test_other_families_hardly_read_them() -> None:
    """A 4 × 4 code of 250 turned four ways is one code in sixty-five; larger grids are safer."""
    for name in ("DICT_5X5_250", "DICT_7X7_250", "DICT_APRILTAG_36h11"):
        grey, quad = picture(name, 3, 0)
        counts = count_markers_by_dictionary(grey, [quad], _COMMON_DICTIONARIES, 0.3)
        assert [other for other, count in counts.items() if count] == [name]


def test_the_same_marker_twice_counts_once_and_no_frame_counts_nothing() -> None:
    grey, quad = picture("DICT_6X6_250", 17, 1)
    assert count_markers_by_dictionary(grey, [quad, quad + 0.3], ["DICT_6X6_250"], 0.3) == {
        "DICT_6X6_250": 1
    }
    grey[40:52, 40:160] = 230  # the frame's upper side
    grey[148:160, 40:160] = 230
    grey[40:160, 40:52] = 230
    assert count_markers_by_dictionary(grey, [quad], ["DICT_6X6_250"], 0.3) == {"DICT_6X6_250": 0}


@pytest.mark.parametrize("name", ["DICT_5X5_250", "DICT_6X6_1000", "DICT_APRILTAG_16h5"])
def test_the_dictionary_is_found_where_none_is_told(name: str) -> None:
    numbers = (2, 7, 11, 26) if name != "DICT_6X6_1000" else (2, 700, 811, 926)
    camera = camera_over(20, size_px=(800, 600), focal_px=625.0)
    there = {
        number: marker_mm(*at, side_mm=90)
        for number, at in zip(numbers, FOUR.values(), strict=True)
    }
    frame = shoot(camera, there, size_px=(800, 600), dictionary=name)
    found = find_markers(frame, Board.free(90.0))
    assert [marker.id for marker in found] == sorted(numbers)
    assert {marker.dictionary for marker in found} == {name}
    assert name in DICTIONARIES


# --- twins ---


def twins(score: float) -> list[Marker]:
    """Four markers, and a copy of the first one elsewhere on the table, which scores better by so much."""
    camera = camera_over(25)
    seen = seen_markers(camera, corners_of(known_board(FOUR)), np.random.default_rng(0))
    (copy,) = seen_markers(camera, {0: marker_mm(500, 300)}, np.random.default_rng(1))
    return [*(replace(m, score=0.9) for m in seen), replace(copy, score=0.9 + score)]


@pytest.mark.parametrize("score", [-0.1, 0.05])
def test_of_two_markers_alike_the_one_in_its_place_is_the_board_s(score: float) -> None:
    some = twins(score)
    kept = resolve_duplicates(some, corners_of(known_board(FOUR)))
    assert [marker.id for marker in kept] == [0, 1, 2, 3]
    assert kept[0] is some[0]


def test_where_no_place_is_known_the_better_score_decides() -> None:
    some = twins(0.05)
    assert resolve_duplicates(some, None)[0] is some[-1]
    assert (
        resolve_duplicates(some[:1] + some[-1:], corners_of(known_board(FOUR)))[0] is some[-1]
    )  # nobody to ask
    assert resolve_duplicates(twins(-0.5), None)[0].score == 0.9
