"""Raised ground that only the bases on it tell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.bases import Base
from overruler.detections import Detection, RaisedArea
from overruler.geometry.pose import Array
from overruler.geometry.relief import reproject_to_height
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.learned.hill_net import HillMap
from overruler.vision.terrain.by_radii import Looks, suspect_ground, weigh_areas, weigh_heights
from tests.tables import camera_over, exact

CAMERA = camera_over(24.0, height_mm=1500.0)
EYE_MM = float(CAMERA.center_mm[2])
TABLE = exact(CAMERA)
ON_ROOF = np.array([[520.0, 380.0], [560.0, 400.0], [540.0, 440.0]])
BESIDE = np.array([[80.0, 90.0], [180.0, 120.0], [120.0, 300.0], [250.0, 420.0], [330.0, 80.0]])
SIGMA_MM = 0.15


def map_of(top: float) -> HillMap:
    """A map that sees a top as likely everywhere."""
    cells, everywhere = np.zeros((90, 110, 3), np.uint8), np.ones((90, 110), bool)
    view = Orthophoto(cells, everywhere, -40.0, 640.0, 8.0)
    return HillMap(view, np.full((90, 110), top, np.float32))


NO_HINT = map_of(0.004)


def base_at(
    place_mm: Array,
    z_mm: float = 0.0,
    misread_mm: float = 0.0,
    size_mm: float = 32.0,
    others_mm: tuple[float, ...] = (),
) -> Detection:
    """A base as it is found on the board: at the place, and with the radius, that its height gives it there.

    It may have other sizes.
    """
    seems = reproject_to_height(CAMERA, place_mm, z_mm, 0.0)
    radius = size_mm / 2 * EYE_MM / (EYE_MM - z_mm) + misread_mm
    zeros, jacobian = np.zeros((2, 2)), np.zeros((2, 15))
    return Detection(
        Base.circle(size_mm),
        seems,
        0.0,
        0.0,
        zeros,
        jacobian,
        1.0,
        1.0,
        learned_radius_mm=(radius, SIGMA_MM),
        alternative_bases=tuple(Base.circle(other) for other in others_mm),
    )


def table(z_mm: float) -> list[Detection]:
    flat = [base_at(place) for place in BESIDE]
    return flat + [base_at(place, z_mm) for place in ON_ROOF]


@pytest.mark.parametrize("z_mm", [72.0, 84.0, 110.0])
def test_neighbours_that_all_look_too_large_stand_on_something(z_mm: float) -> None:
    (ground,) = suspect_ground(TABLE, table(z_mm), (), NO_HINT)
    assert ground.id == "h1"
    assert ground.probability > 0.9
    assert abs(ground.top_z_mm - z_mm) < 1.5 * ground.sigma_mm
    assert ground.sigma_mm < 25
    middle = ground.footprint_mm.mean(0)
    assert np.linalg.norm(middle - ON_ROOF.mean(0)) < 25


def test_neighbours_that_look_somewhat_too_large_are_in_doubt() -> None:
    (ground,) = suspect_ground(TABLE, table(48.0), (), NO_HINT)
    assert 0.05 < ground.probability < 0.8


@pytest.mark.parametrize("z_mm", [32.0, 40.0])
def test_less_will_do_where_the_map_hints_at_a_top(z_mm: float) -> None:
    (hinted,) = suspect_ground(TABLE, table(z_mm), (), map_of(0.2))
    assert hinted.probability > 0.1
    assert suspect_ground(TABLE, table(z_mm), (), NO_HINT) == ()


def test_bases_that_may_be_as_large_as_they_look_stand_on_the_board() -> None:
    """They are 35 mm, told as 32: no roof of 120 mm is needed."""
    flat = [base_at(place) for place in BESIDE]

    def larger(*others_mm: float) -> list[Detection]:
        return [base_at(place, misread_mm=1.5, others_mm=others_mm) for place in ON_ROOF]

    (roof,) = suspect_ground(TABLE, flat + larger(), (), NO_HINT)
    assert roof.probability > 0.9
    assert suspect_ground(TABLE, flat + larger(35.0), (), NO_HINT) == ()


@pytest.mark.parametrize("hint", [0.004, 0.3])
def test_bases_that_may_be_smaller_are_suspected_where_the_map_hints_at_a_top(hint: float) -> None:
    """They are told as 32 mm on the board, and may be 30 mm on a roof."""
    flat = [base_at(place) for place in BESIDE]
    larger = [base_at(place, others_mm=(30.0,)) for place in ON_ROOF]
    suspected = suspect_ground(TABLE, flat + larger, (), map_of(hint))
    assert bool(suspected) == (hint > 0.03)
    assert all(0.005 < ground.probability < 0.05 for ground in suspected)


def test_unsure_ground_stays_in_doubt_where_another_size_explains_the_look() -> None:
    """Read as 34 mm, they are 32 mm on a roof, or 35 mm on the board."""
    flat = [base_at(place) for place in BESIDE]
    on = [base_at(place, 80.0, others_mm=(34.0,)) for place in ON_ROOF]
    (area,) = weigh_areas(TABLE, flat + on, (unsure(chance=0.3),))
    (sure,) = weigh_areas(TABLE, table(80.0), (unsure(chance=0.3),))
    assert 0.05 < area.probability < 0.8 < sure.probability


def test_a_hint_alone_raises_no_suspicion() -> None:
    assert suspect_ground(TABLE, table(0.0), (), map_of(0.3)) == ()


def test_the_map_s_hint_counts_where_the_base_seems_to_stand() -> None:
    there = map_of(0.004)
    seems = [base_at(place, 40.0).xy_mm for place in ON_ROOF]
    for row, column in zip(*there.cells_at(np.array(seems)), strict=True):
        there.top[row, column] = 0.2
    assert suspect_ground(TABLE, table(40.0), (), there)[0].probability > 0.1


def test_bases_on_the_board_raise_no_suspicion() -> None:
    assert suspect_ground(TABLE, table(0.0), (), NO_HINT) == ()


def test_what_stands_on_known_ground_is_explained() -> None:
    outline = ON_ROOF.mean(0) + 120 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1.0]])
    known = RaisedArea("h1", outline, 60.0, 8.0)
    assert suspect_ground(TABLE, table(60.0), (known,), NO_HINT) == ()


def test_a_name_in_use_is_not_given_again() -> None:
    elsewhere = RaisedArea("h1", np.array([[0, 0], [20, 0], [20, 20.0]]), 30.0, 5.0)
    (ground,) = suspect_ground(TABLE, table(84.0), (elsewhere,), NO_HINT)
    assert ground.id == "h2"


def test_too_few_bases_do_not_tell_how_large_they_look_on_the_board() -> None:
    few = [base_at(place) for place in BESIDE[:2]] + [base_at(ON_ROOF[0], 100.0)]
    assert suspect_ground(TABLE, few, (), NO_HINT) == ()
    assert suspect_ground(TABLE, [*few, base_at(BESIDE[2])], (), NO_HINT) != ()


def test_where_all_bases_look_too_large_none_stands_higher_than_the_others() -> None:
    misread = [base_at(place, misread_mm=0.6) for place in (*BESIDE, *ON_ROOF)]
    assert suspect_ground(TABLE, misread, (), NO_HINT) == ()


def test_a_lone_base_that_looks_too_large_is_doubtful_at_most() -> None:
    bases = [base_at(place) for place in BESIDE] + [base_at(ON_ROOF[0], 90.0)]
    (ground,) = suspect_ground(TABLE, bases, (), NO_HINT)
    assert ground.probability < 0.5


def test_bases_that_look_too_large_far_apart_do_not_speak_for_each_other() -> None:
    bases = [base_at(place) for place in BESIDE[1:]]
    far = [base_at(place, misread_mm=0.8) for place in (BESIDE[0], ON_ROOF[0])]
    near = [base_at(place, misread_mm=0.8) for place in ON_ROOF[:2]]
    assert all(
        ground.probability < 0.5 for ground in suspect_ground(TABLE, bases + far, (), NO_HINT)
    )
    assert suspect_ground(TABLE, bases + near, (), NO_HINT)[0].probability > 0.5


@given(
    st.lists(st.floats(-1, 3), min_size=1, max_size=6),
    st.floats(0.1, 0.6),
    st.floats(10, 40),
    st.floats(120, 3000),
)
def test_the_larger_a_base_looks_the_likelier_it_is_raised(
    sigmas: list[float], sigma_mm: float, radius_mm: float, eye_mm: float
) -> None:
    looked, ones = radius_mm + sigma_mm * np.array(sigmas), np.ones(len(sigmas))
    read = Looks(looked, sigma_mm * ones, radius_mm * ones[:, None])
    larger = read._replace(mm=looked + 0.1 * sigma_mm)
    less, more = (weigh_heights(one, eye_mm, (50.0, 25.0)) for one in (read, larger))
    assert less[0] <= more[0] <= 4 * len(sigmas)
    assert more[1] >= less[1] - 1e-9


def unsure(z_mm: float = 60.0, chance: float = 0.05) -> RaisedArea:
    outline = ON_ROOF.mean(0) + 120 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1.0]])
    return RaisedArea("h1", outline, z_mm, 20.0, chance)


def test_bases_that_look_too_large_make_unsure_ground_likely() -> None:
    (area,) = weigh_areas(TABLE, table(75.0), (unsure(),))
    assert area.probability > 0.8
    assert abs(area.top_z_mm - 75) < 1.5 * area.sigma_mm
    assert suspect_ground(TABLE, table(75.0), (area,), NO_HINT) == ()


def test_a_hill_that_is_likely_keeps_the_height_that_its_sides_tell() -> None:
    (area,) = weigh_areas(TABLE, table(75.0), (unsure(chance=0.9),))
    assert area.probability > 0.9
    assert (area.top_z_mm, area.sigma_mm) == (60.0, 20.0)


def test_bases_that_look_as_large_as_others_make_unsure_ground_unlikely() -> None:
    assert weigh_areas(TABLE, table(0.0), (unsure(chance=0.02),)) == ()
    (area,) = weigh_areas(TABLE, table(0.0), (unsure(chance=0.6),))
    assert area.probability < 0.3


def test_ground_without_bases_on_it_stays_as_likely() -> None:
    (area,) = weigh_areas(TABLE, table(0.0)[: len(BESIDE)], (unsure(chance=0.3),))
    assert area.probability == pytest.approx(0.3)
