"""One move out of what several cameras saw of it."""

from dataclasses import replace

import numpy as np
import pytest

from overruler.track import Move
from overruler.vision.several_cameras.joint_move import PlaceChange, chain_moves, join_moves

FROM_MM, TO_MM, CORNER_MM = (100.0, 100.0), (200.0, 100.0), (150.0, 160.0)
WAY_MM = 2 * float(np.hypot(50, 60))
SEEN = Move("own", 1.0, 2.0, FROM_MM, TO_MM, 100.0, 0.4, WAY_MM, 0.5, (FROM_MM, CORNER_MM, TO_MM))


def change(to_mm: tuple[float, float] = TO_MM, same_cameras: bool = True) -> PlaceChange:
    ends = np.array(FROM_MM), np.array(to_mm)
    return PlaceChange("p07", *ends, (0.3, 0.4), (0.5, 3.0), same_cameras)


def test_cameras_that_agree_are_surer_than_one() -> None:
    joined = join_moves(change(), [SEEN, SEEN])
    assert joined is not None
    assert joined.piece == "p07"
    assert joined.sigma_mm == pytest.approx(0.4 / np.sqrt(2))
    assert joined.path_mm == pytest.approx(WAY_MM)
    assert joined.path_sigma_mm == pytest.approx(0.5 / np.sqrt(2))


def test_cameras_that_disagree_on_the_way_are_doubted() -> None:
    longer = replace(SEEN, path_mm=WAY_MM + 6)
    joined = join_moves(change(), [SEEN, longer])
    assert joined is not None
    assert joined.path_mm == pytest.approx(WAY_MM + 3)
    assert joined.path_sigma_mm > 2.5


def test_a_camera_that_did_not_see_the_way_does_not_count_for_it() -> None:
    straight = replace(
        SEEN, path_mm=100.0, path_sigma_mm=0.4, way_mm=(FROM_MM, TO_MM), way_seen=False
    )
    joined = join_moves(change(), [straight, SEEN])
    assert joined is not None
    assert joined.way_seen
    assert joined.path_mm == pytest.approx(WAY_MM)


def test_the_way_ends_where_all_cameras_see_the_piece() -> None:
    joined = join_moves(change((201.0, 102.0)), [SEEN])
    assert joined is not None
    assert joined.way_mm[0] == FROM_MM
    assert joined.way_mm[-1] == (201.0, 102.0)
    assert joined.way_mm[1] == pytest.approx((150.5, 161.0))


def test_places_by_other_cameras_err_by_themselves() -> None:
    joined = join_moves(change(same_cameras=False), [SEEN])
    assert joined is not None
    assert joined.sigma_mm == pytest.approx(0.5)


def test_a_move_that_no_camera_saw_must_be_larger() -> None:
    assert join_moves(change((103.0, 100.0)), []) is None
    joined = join_moves(change(), [])
    assert joined is not None
    assert not joined.way_seen
    assert (joined.start_s, joined.end_s) == (0.5, 3.0)


def test_moves_one_after_another_are_one() -> None:
    back = replace(
        SEEN,
        start_s=2.5,
        end_s=3.5,
        from_mm=TO_MM,
        to_mm=FROM_MM,
        way_mm=(TO_MM, FROM_MM),
        path_mm=100.0,
    )
    chained = chain_moves([SEEN, back])
    assert (chained.start_s, chained.end_s) == (1.0, 3.5)
    assert chained.path_mm == pytest.approx(WAY_MM + 100)
    assert chained.distance_mm == 0
