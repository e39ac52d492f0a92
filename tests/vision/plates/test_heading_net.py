"""Which way plates face: what is told, and of ships whose heading is known."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.bases import Base
from overruler.board import Board
from overruler.geometry.pose import Array
from overruler.referee import Referee
from overruler.report import Report
from overruler.rules import ask
from overruler.sources.photo import load_photo
from overruler.vision.assembly.pointed_at import set_heading
from overruler.vision.plates import heading_net
from overruler.vision.plates.heading_net import (
    MIN_HEADING_PROBABILITY,
    NEGLIGIBLE_PROBABILITY,
    Heading,
    decide_heading,
    find_heading,
)
from tests.reports import report
from tests.vision.plate_table import SHIPS, SIZE_PX, Ship, table_camera, table_with

SAMPLE = Path(__file__).parents[3] / "sample_images" / "xwing_space.jpg"


def apart_deg(heading: Heading, other_deg: float) -> float:
    """By how much two headings differ, but for the turns that the first is open by."""
    half = heading.modulo_deg / 2
    return float((np.degrees(heading.turn_rad) - other_deg + half) % heading.modulo_deg - half)


likelihoods = st.lists(st.floats(-9.0, 0.0), min_size=4, max_size=4).map(
    lambda some: np.exp(some) / np.exp(some).sum()
)
"""Some nearly sure, some open."""


@given(likelihoods, st.floats(-4.0, 4.0), st.integers(0, 3))
def test_headings_do_not_hang_on_the_side_that_is_counted_from(
    likely: Array, turn: float, quarters: int
) -> None:
    one, other = (
        decide_heading(turn, likely),
        decide_heading(turn + quarters * np.pi / 2, np.roll(likely, -quarters)),
    )
    assert other.modulo_deg == one.modulo_deg
    assert apart_deg(one, float(np.degrees(other.turn_rad))) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("likely", "turned_deg", "modulo_deg"),
    [
        ((1.0, 0.0, 0.0, 0.0), 0, 360),
        ((0.0, 0.0, 0.0, 1.0), 270, 360),
        ((0.3, 0.0, 0.7, 0.0), 180, 180),
        ((0.005, 0.6, 0.005, 0.39), 90, 180),
        ((0.4, 0.3, 0.2, 0.1), 0, 90),
        ((MIN_HEADING_PROBABILITY - 0.001, 0.001, 0.0, 0.02), 0, 90),
    ],
)
def test_no_more_is_told_than_is_sure(
    likely: tuple[float, ...], turned_deg: float, modulo_deg: float
) -> None:
    heading = decide_heading(0.0, np.array(likely))
    assert np.degrees(heading.turn_rad) == pytest.approx(turned_deg)
    assert heading.modulo_deg == modulo_deg


@given(likelihoods)
def test_what_is_told_has_all_of_the_doubt_with_it(likely: Array) -> None:
    heading = decide_heading(0.5, likely)
    others = dict(heading.others)
    assert bool(others) <= (heading.modulo_deg == 360)
    assert heading.turn_rad not in others
    if heading.modulo_deg == 360:
        assert likely.max() + sum(others.values()) == pytest.approx(
            1, abs=3 * NEGLIGIBLE_PROBABILITY
        )


@pytest.mark.parametrize(
    "ship", SHIPS, ids=lambda ship: f"{ship.side_mm:g} at {ship.heading_deg:g}"
)
def test_a_plate_faces_one_way_whichever_side_it_was_laid_by(ship: Ship) -> None:
    camera = table_camera(20.0)
    frame, xy = table_with(camera, SHIPS, SIZE_PX), np.array([ship.x_mm, ship.y_mm])
    found = [
        find_heading(
            frame.pixels, camera, xy, np.radians(ship.heading_deg) + k * np.pi / 2, ship.side_mm
        )
        for k in range(4)
    ]
    assert len({one.modulo_deg for one in found}) == 1
    assert all(apart_deg(one, ship.heading_deg) == pytest.approx(0, abs=1e-6) for one in found)


def test_upside_down_things_lean_the_other_way_up() -> None:
    picture = np.random.default_rng(1).normal(size=(5, 6, 6)).astype(np.float32)
    mirrored = heading_net._mirror_picture(picture)
    assert np.array_equal(mirrored[:4], picture[:4, ::-1])  # colours, and the lean to the right
    assert np.array_equal(mirrored[4], -picture[4, ::-1])


def test_what_a_person_says_of_a_heading_is_no_longer_open() -> None:
    seen = report()
    open_ = replace(
        seen.detections[0], base=Base.rectangle(40, 40), other_headings=((180.0, 0.015),)
    )
    told_ = set_heading(seen, open_, 370.0)
    assert (told_.heading_deg, told_.heading_modulo_deg, told_.other_headings) == (10.0, 360.0, ())


# --- a traced table of ships ---


@pytest.fixture(scope="module")
def looked() -> Report:
    return Referee(Board.load(SAMPLE.with_suffix(".toml")), game="xwing").look(load_photo(SAMPLE))


@pytest.fixture(scope="module")
def off_deg(looked: Report) -> dict[str, float]:
    """By how much the headings are off that are told, by the pieces' names."""
    truth = json.loads(SAMPLE.with_suffix(".json").read_text())["pieces"]
    off = {}
    for piece in looked.scene.pieces:
        true = min(
            truth,
            key=lambda one: float(np.hypot(piece.x_mm - one["x_mm"], piece.y_mm - one["y_mm"])),
        )
        if "heading_modulo_deg" not in piece.extra:
            off[piece.id] = (piece.heading_deg - true["heading_deg"] + 180) % 360 - 180
    return off


def test_headings_that_are_told_are_right(off_deg: dict[str, float]) -> None:
    assert len(off_deg) >= 8  # of 16
    assert max(map(abs, off_deg.values())) < 2


def test_arcs_are_ruled_on_where_the_heading_is_told(
    looked: Report, off_deg: dict[str, float]
) -> None:
    attacker, defender, *_ = off_deg
    question = {
        "question": "attack_range",
        "attacker": attacker,
        "defender": defender,
        "arc": "full_front",
    }
    ahead = ask(looked.scene, question).to_json()
    behind = ask(looked.scene, question | {"arc": "full_rear"}).to_json()
    assert ahead["in_arc"] or behind["in_arc"]
