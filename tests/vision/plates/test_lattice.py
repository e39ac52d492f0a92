"""Members of a unit tell each other's places: nearer to the truth, and as sure as they may be."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overruler.geometry.pose import Array
from overruler.vision.plates.lattice import find_units, settle_places, settle_turns
from overruler.vision.plates.neighbours import Places
from tests.vision.plates.test_neighbours import block, joined

SIDES, SIGMA_MM = (25.0, 25.0), 0.4
TURNS = st.floats(-3, 3)


def covariances(count: int) -> Array:
    return np.tile(np.eye(2) * SIGMA_MM**2, (count, 1, 1))


def measured(true: Places, seed: int) -> Places:
    noise = np.random.default_rng(seed).normal(0, SIGMA_MM, (len(true), 2))
    return Places(true.xy_mm + noise, true.turn_rad, true.size_mm)


def test_places_in_rank_and_file_are_settled_nearer_to_the_truth_within_their_doubt() -> None:
    own, together, chi2 = [], [], []
    for seed in range(40):
        true = block(5, 3, SIDES, seed / 7)
        some = measured(true, seed)
        xy, doubt = settle_places(some, covariances(len(true)))
        own.append(((some.xy_mm - true.xy_mm) ** 2).sum(1))
        off = xy - true.xy_mm
        together.append((off**2).sum(1))
        chi2.append(np.einsum("ki,kij,kj->k", off, np.linalg.inv(doubt), off))
    assert np.mean(together) < 0.5 * np.mean(own)
    assert np.mean(np.array(chi2) < 5.99) > 0.93


@given(st.integers(0, 99), TURNS, st.floats(-500, 500))
def test_a_table_that_is_turned_and_shifted_settles_alike(
    seed: int, turn: float, shift: float
) -> None:
    some = measured(block(3, 3, SIDES), seed)
    c, s = np.cos(turn), np.sin(turn)
    spin = np.array([[c, s], [-s, c]])
    moved = Places(some.xy_mm @ spin + shift, some.turn_rad + turn, some.size_mm)
    xy, _ = settle_places(some, covariances(9))
    turned, _ = settle_places(moved, covariances(9))
    assert np.allclose(turned, xy @ spin + shift, atol=1e-6)


def test_who_stands_alone_stays_and_headings_a_quarter_apart_are_one_unit() -> None:
    unit, lone = block(4, 1, SIDES), block(1, 1, (50.0, 25.0))
    far = Places(lone.xy_mm + 300, lone.turn_rad, lone.size_mm)
    quarters = np.arange(4) * np.pi / 2
    places = joined(Places(unit.xy_mm, quarters, unit.size_mm), far)
    sizes = sorted(len(one.members) for one in find_units(places))
    assert sizes == [1, 4]
    row = max(find_units(places), key=lambda one: len(one.members))
    assert np.allclose(np.diff(row.cells[np.argsort(row.members)], axis=0), [1, 0])
    xy, doubt = settle_places(places, covariances(5))
    assert np.array_equal(xy[4], far.xy_mm[0])
    assert np.array_equal(doubt[4], covariances(1)[0])


@given(st.integers(0, 99), TURNS)
def test_a_unit_has_one_heading_unless_its_members_are_turned(seed: int, turn: float) -> None:
    true = block(4, 2, SIDES, turn)
    noise = np.random.default_rng(seed).normal(0, 1, 8)
    for sigma_deg, least, most in ((0.5, 0.0, 0.5), (1.5, 0.7, 1.0)):
        off = np.radians(sigma_deg) * (noise - noise.mean()) / noise.std()
        turned = Places(true.xy_mm, true.turn_rad + off, true.size_mm)
        if len(find_units(turned)) == 1:
            rest = settle_turns(turned) - turn
            assert np.isclose(rest.mean(), 0, atol=1e-9)
            assert least * off.std() <= rest.std() < most * off.std()
