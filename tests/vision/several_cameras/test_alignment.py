"""How much later a film began is found by what moves, and not guessed where that does not tell."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.frame import Frame, Shot
from overruler.geometry.pose import Array
from overruler.vision.several_cameras.alignment import SAMPLES_PER_S, align, motion_of


def game(seed: int, long_s: float = 60.0, share: float = 0.05) -> Array:
    """The motion of a game: moves of some seconds at any time, as one camera sees their size."""
    rng = np.random.default_rng(seed)
    motion = np.zeros(round(long_s * SAMPLES_PER_S))
    start = 0
    while start < len(motion):
        start += int(rng.uniform(15, 60))
        end = start + int(rng.uniform(8, 30))
        motion[start:end] = share
        start = end
    return motion


def seen(motion: Array, seed: int, share: float) -> Array:
    """The same by another camera: other sizes, some of it hidden."""
    rng = np.random.default_rng(seed)
    size = np.repeat(rng.uniform(0.5, 2.0, len(motion) // 10 + 1), 10)[: len(motion)]
    return np.asarray(motion * size * share + rng.uniform(0, 1e-3, len(motion)))


@settings(max_examples=15)
@given(st.integers(0, 50), st.integers(-150, 150))
def test_the_offset_is_found_however_large_the_motion_looks(seed: int, late: int) -> None:
    whole = game(seed, 90.0)
    begin = max(0, -late)
    reference, other = seen(whole[begin:], 1, 1.0), seen(whole[begin + late :], 2, 0.3)
    found = align(other, reference)
    assert found is not None
    assert found.is_sure
    assert found.offset_s == pytest.approx(late / SAMPLES_PER_S, abs=0.1)


def test_two_games_have_no_offset() -> None:
    found = [align(game(2 * k), game(2 * k + 1)) for k in range(10)]
    assert [one.is_sure for one in found if one is not None] == [False] * 10


def test_what_moves_again_and_again_tells_no_offset() -> None:
    motion = np.tile([0.05] * 10 + [0.0] * 20, 20)
    found = align(motion, motion)
    assert found is not None
    assert not found.is_sure


def test_a_still_film_tells_nothing() -> None:
    assert align(np.zeros(300), game(1)) is None


def test_motion_is_counted_where_it_is() -> None:
    still = np.full((64, 64, 3), 90, np.uint8)
    moved = still.copy()
    moved[:, :32] = 160
    pictures = [still, still, moved, moved, still]
    shots = [Shot.of(Frame(one, "film", time_s=k / 10)) for k, one in enumerate(pictures)]
    assert (motion_of(shots) > 0).tolist() == [False, False, True, False, True]
