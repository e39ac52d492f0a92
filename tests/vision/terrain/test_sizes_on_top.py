"""Sizes on raised ground: a base looks larger up there than it is, and is given the size that it has."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.bases import ROUND_DIAMETERS_MM, Base
from overruler.detections import Detection, RaisedArea
from overruler.geometry.pose import Array
from overruler.geometry.relief import reproject_to_height
from overruler.vision.contours.rare_events import RARE_WITHIN_SIGMAS
from overruler.vision.rounds.uncertainty import misfit_covariances
from overruler.vision.terrain.sizes_on_top import _with_size, reassess_sizes
from overruler.vision.terrain.standing_on import raise_pieces
from synthetic.flat_table import Plinth
from tests.tables import camera_over, exact, photo

CAMERA = camera_over(24.0)
EYE_MM = float(CAMERA.center_mm[2])
RADII = np.array(ROUND_DIAMETERS_MM) / 2
HILL = RaisedArea(
    "h1", np.array([[400.0, 200.0], [800.0, 200.0], [800.0, 600.0], [400.0, 600.0]]), 36.0, 3.0
)
SIGMA_MM = 0.2
BARE = photo(CAMERA, [])
"""No fit finds anything there: the look alone tells."""


def seen(
    at: tuple[float, float], true_mm: float, taken_mm: float, z_mm: float = 0.0, score: float = 1.0
) -> Detection:
    """A base that stands at z, as found on the board and taken for one of `taken_mm`."""
    looks = true_mm / 2 * EYE_MM / (EYE_MM - z_mm), SIGMA_MM
    place = reproject_to_height(CAMERA, np.array(at), z_mm, 0.0)
    doubt = np.eye(2) * 0.04
    return Detection(
        Base.circle(taken_mm),
        place,
        0.0,
        0.0,
        doubt,
        np.zeros((2, 15)),
        score,
        1.0,
        learned_radius_mm=looks,
    )


def unsurely(one: Detection, beyond_mm2: float) -> Detection:
    """The same with as much more doubt, either way, that no fit knows."""
    more = beyond_mm2 * np.eye(2)
    return replace(
        one, covariance_mm2=one.covariance_mm2 + more, unmodelled_mm2=one.unmodelled_mm2 + more
    )


def board(size_mm: float, count: int = 5) -> list[Detection]:
    """Bases beside the hill."""
    return [seen((100.0 + 50 * k, 100.0), size_mm, size_mm) for k in range(count)]


def by(found: tuple[Detection, ...]) -> list[float]:
    return [one.base.width_mm for one in found]


@given(
    size=st.sampled_from([float(mm) for mm in ROUND_DIAMETERS_MM if 25 <= mm <= 100]),
    z=st.floats(15, 60),
)
def test_a_base_on_a_hill_has_its_own_size_there(size: float, z: float) -> None:
    table = [*board(size), seen((600.0, 400.0), size, size + 2, z)]
    assert by(reassess_sizes(BARE, CAMERA, table, [replace(HILL, top_z_mm=z)], RADII)) == [size] * 6


def test_what_looks_between_two_sizes_is_said_to_be_either_and_is_stated_wider() -> None:
    between = seen((600.0, 400.0), 26.0, 27.0, 36.0)
    *_, found = reassess_sizes(
        BARE, CAMERA, [*board(25.0, 2), *board(27.0, 2), between], [HILL], RADII
    )
    assert {found.base.width_mm, *(base.width_mm for base in found.alternative_bases)} == {
        25.0,
        27.0,
    }
    assert np.trace(found.unmodelled_mm2) > 2 * 0.1


def test_a_stranger_on_a_hill_is_not_taken_for_one_of_the_many_below() -> None:
    clear, near = 28.5, 27.4
    table = [
        *board(27.0, 30),
        seen((600.0, 300.0), clear, 27.0, 36.0),
        seen((600.0, 500.0), near, 28.5, 36.0),
    ]
    *_, stranger, either = reassess_sizes(BARE, CAMERA, table, [HILL], RADII)
    assert stranger.base.width_mm == 28.5
    assert either.base.width_mm == 27.0


def test_a_size_that_is_unlikely_is_within_reach_of_what_rarely_holds() -> None:
    share = np.where(RADII == 13.5, 0.99, np.where(RADII == 14.25, 0.01, 0.0))
    found = _with_size(CAMERA, unsurely(seen((600.0, 400.0), 27.0, 27.0), 4.0), share, RADII)
    assert found.base.width_mm == 27
    usual, rare = misfit_covariances(CAMERA, found)
    assert found.unmodelled_mm2 - usual == pytest.approx(0.01 * 0.75**2 * np.eye(2))
    assert found.unmodelled_mm2 + found.rare_excess_mm2 - rare == pytest.approx(
        (0.75 / RARE_WITHIN_SIGMAS) ** 2 * np.eye(2)
    )


@pytest.mark.parametrize("true", [27.0, 28.5])
def test_of_two_sizes_that_look_alike_it_has_the_one_whose_rims_are_seen_at_its_height(
    true: float,
) -> None:
    frame = photo(CAMERA, [Plinth(600.0, 400.0, true, 36.0)])
    either = seen((600.0, 400.0), 27.75, 27.0, 36.0)
    *_, found = reassess_sizes(
        frame, CAMERA, [*board(27.0, 2), *board(28.5, 2), either], [HILL], RADII
    )
    assert found.base.width_mm == true


def test_the_doubt_of_one_that_is_not_plain_to_see_stays() -> None:
    hidden = seen((600.0, 400.0), 50.0, 50.0, 36.0, score=0.9)
    *_, found = reassess_sizes(BARE, CAMERA, [*board(50.0), hidden], [HILL], RADII)
    usual, rare = misfit_covariances(CAMERA, found)
    assert found.unmodelled_mm2 == pytest.approx(usual)
    assert found.unmodelled_mm2 + found.rare_excess_mm2 == pytest.approx(rare)


@pytest.mark.parametrize("areas", [[], [replace(HILL, probability=0.3)]])
def test_without_ground_that_is_likely_raised_nothing_changes(areas: list[RaisedArea]) -> None:
    table = [*board(25.0), seen((600.0, 400.0), 25.0, 27.0, 36.0)]
    assert reassess_sizes(BARE, CAMERA, table, areas, RADII) == tuple(table)


def test_what_was_looked_for_at_its_own_height_and_what_is_not_round_stay() -> None:
    told = replace(seen((600.0, 400.0), 25.0, 27.0), z_mm=36.0)
    plate = replace(
        seen((500.0, 400.0), 25.0, 25.0, 36.0), base=Base.rectangle(40, 40), learned_radius_mm=None
    )
    table = [*board(25.0), told, plate]
    assert reassess_sizes(BARE, CAMERA, table, [HILL], RADII) == tuple(table)
    assert reassess_sizes(BARE, CAMERA, [], [HILL], RADII) == ()


def test_a_base_raised_keeps_what_no_fit_knows_of_its_doubt(raised: tuple[Array, Array]) -> None:
    plain, unsure = raised
    assert unsure == pytest.approx(plain + np.eye(2))


@pytest.fixture(scope="module")
def raised() -> tuple[Array, Array]:
    """The doubt of a base on the hill, and of the same one with 1 mm² beyond its fit."""
    frame = photo(CAMERA, [Plinth(600.0, 400.0, 40.0, 36.0)])
    one = seen((600.0, 400.0), 40.0, 40.0, 36.0)
    pieces = [one, unsurely(one, 1.0)]
    here, there = raise_pieces(frame, exact(CAMERA), pieces, [HILL])
    return here.covariance_mm2, there.covariance_mm2


def test_the_doubt_of_a_new_size_takes_the_place_of_that_of_the_old_one() -> None:
    lone = replace(
        unsurely(seen((600.0, 400.0), 50.0, 60.0, 36.0), 4.0), rare_excess_mm2=4 * np.eye(2)
    )
    *_, one = reassess_sizes(BARE, CAMERA, [*board(50.0), lone], [HILL], RADII)
    assert one.base.width_mm == 50
    assert one.covariance_mm2 == pytest.approx(
        lone.covariance_mm2 - 4.0 * np.eye(2) + one.unmodelled_mm2
    )
    assert np.trace(one.unmodelled_mm2) < 1.0
    assert np.trace(one.rare_excess_mm2) < 1.0


def test_on_tables_in_play_a_radius_counts_as_it_is_read() -> None:
    """What pulls radii to those of 27 mm is a fault of the other networks."""
    table = [*board(28.5, 3), *(seen((x, 400.0), 28.5, 27.0, 36.0) for x in (600.0, 650.0))]
    unsure = [
        replace(one, learned_radius_mm=(one.learned_radius_mm[0], 0.5), in_play_probability=0.9)
        for one in table
        if one.learned_radius_mm is not None
    ]
    assert by(reassess_sizes(BARE, CAMERA, unsure, [HILL], RADII))[3:] == [28.5, 28.5]
