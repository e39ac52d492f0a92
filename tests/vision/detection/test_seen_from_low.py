"""Prepared tables that are seen from low down: two kinds of networks look for bases."""

from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.bases import Base, catalogue
from overruler.board import Board
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.referee import Referee
from overruler.vision.contours.overlap_choice import bases_overlap
from overruler.vision.detection import finders
from overruler.vision.detection.detect import detect
from overruler.vision.detection.seen_in_play import join_looks
from synthetic.flat_table import Plinth, render_table
from tests.tables import BOARD_MM, SIZE_PX, camera_over, eight_markers, exact, photo

PLACES_MM = [(150.0 + 90 * i, 120.0 + 80 * j) for i in range(4) for j in range(3)]
SIZES_MM = [size for size in (25.0, 32.0, 40.0, 28.5) for _ in range(3)]


def base_at(x_mm: float, y_mm: float, size_mm: float = 27.0, score: float = 0.9) -> Detection:
    zeros = np.zeros((2, 2))
    place = np.array([x_mm, y_mm])
    return Detection(Base.circle(size_mm), place, 0.0, 0.0, zeros, np.zeros((2, 15)), score, 1.0)


bases = st.lists(
    st.builds(base_at, st.floats(0, 150), st.floats(0, 150), st.sampled_from([25.0, 40.0])),
    max_size=6,
)


@given(bases, bases)
def test_of_two_looks_each_base_is_told_once(
    first: list[Detection], others: list[Detection]
) -> None:
    joined = join_looks(first, others)
    assert [one.base for one in joined[: len(first)]] == [one.base for one in first]
    assert all(bases_overlap(one, it) for one, it in zip(first, joined, strict=False))
    apart = joined[len(first) :]
    for one in others:
        overlaps = any(bases_overlap(one, it) for it in first)
        assert any(one is it for it in apart) != overlaps


def test_where_two_looks_agree_the_surer_counts_and_else_the_first() -> None:
    first = [base_at(0, 0, score=0.8), base_at(200, 0, score=0.8), base_at(400, 0, score=0.8)]
    others = [base_at(1, 0, score=0.95), base_at(201, 0, 32.0, 0.95), base_at(401, 0, score=0.7)]
    assert join_looks(first, others) == [others[0], first[1], first[2]]


def test_plain_bases_seen_from_low_down_are_found_once_each_in_their_sizes() -> None:
    """The networks in play take plain discs for counters; the others do not."""
    camera = camera_over(56.0, height_mm=700.0, focal_px=900.0)
    plinths = [Plinth(*at, size) for at, size in zip(PLACES_MM, SIZES_MM, strict=True)]
    pixels = render_table(camera, SIZE_PX, BOARD_MM, plinths, eight_markers(), noise=2.0, seed=1)
    board = Board("test", 45.0, "DICT_4X4_50", *BOARD_MM, eight_markers())
    found = Referee(board).look(Frame(pixels, "low")).detections
    assert sorted(one.base.width_mm for one in found) == sorted(SIZES_MM)


def test_bases_of_both_kinds_of_networks_count_and_those_in_play_tell_the_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    in_play = [base_at(100, 100, 32.0, 0.8), base_at(300, 100)]
    usual = [base_at(101, 100, 28.5, 0.99), base_at(200, 300)]

    def fit(search: Any, known: Any, seen: Any, rings: bool) -> list[Detection]:
        return usual if seen is None else in_play

    monkeypatch.setattr(finders, "_fit_candidates", fit)
    monkeypatch.setattr(finders, "_fit_ovals", lambda *_: [])
    low = camera_over(50.0)
    laid = replace(exact(low), markers=(0, 1, 2, 3))
    found = detect(photo(low, []), laid, catalogue("legion"))
    assert {(*one.xy_mm, one.base.width_mm) for one in found} == {
        (100, 100, 32.0),
        (300, 100, 27.0),
        (200, 300, 27.0),
    }
    above = camera_over(20.0)
    from_above = replace(exact(above), markers=(0, 1, 2, 3))
    assert len(detect(photo(above, []), from_above, catalogue("legion"))) == len(usual)


def test_where_only_rectangles_are_sought_the_networks_in_play_do_not_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    look = Mock()
    monkeypatch.setattr(finders, "visible_in_play", look)
    low = camera_over(50.0)
    laid = replace(exact(low), markers=(0, 1, 2, 3))
    detect(photo(low, []), laid, [Base.rectangle(25.0, 50.0)])
    assert not look.called
