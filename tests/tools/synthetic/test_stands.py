"""Painted stands of small scales: as large as told, with small figures on them; and scenery that is no base."""

from dataclasses import replace

import numpy as np
import pytest

from synthetic.camera import patch_view
from synthetic.from_above.regiments import STANDS_MM, regiment_photo
from synthetic.painted.plates import any_base, spun
from synthetic.painted.stands import TALL_MM, any_strip, flocked, gabled, small_figures
from synthetic.things.figures import palette
from synthetic.tiles import library

HALF_MM = np.array([25.0, 16.0])
TILES = library(3, 3)


@pytest.mark.parametrize("seed", range(12))
def test_a_stand_is_as_large_as_told_and_its_men_are_small(seed: int) -> None:
    rng = np.random.default_rng(seed)
    stand = flocked(rng, any_base(rng, 0, TILES), HALF_MM, 0, TILES)
    assert np.abs(stand.outline_mm).max(0) == pytest.approx(HALF_MM)
    assert not stand.is_base
    turned = replace(stand, center_mm=np.array([40.0, -30.0]), turn_rad=0.7)
    points = np.concatenate(
        [one.points_mm for one in small_figures(rng, turned, HALF_MM, palette(rng))]
    )
    middles = spun(points[:, :2] - turned.center_mm, -turned.turn_rad)
    assert (np.abs(np.median(middles, 0)) < HALF_MM).all()
    assert turned.top_mm < points[:, 2].max() < turned.top_mm + 3 * max(TALL_MM)


def test_roads_and_roofs_are_no_bases() -> None:
    rng = np.random.default_rng(4)
    strips = [one for _ in range(5) for one in any_strip(rng, any_base(rng, 0, TILES), 90, TILES)]
    assert {(one.is_base, one.is_clutter) for one in strips} == {(False, True)}
    roof = gabled(rng, replace(strips[0], turn_rad=0.4), HALF_MM)
    assert roof.glyph is not None
    ridge = spun(roof.glyph[0], -0.4)
    assert (ridge.min(0).tolist(), ridge.max(0).tolist()) == (
        pytest.approx([-25.0, 0.0]),
        pytest.approx([25.0, 16.0]),
    )


def test_painted_rows_say_where_the_stands_lie() -> None:
    for seed in range(3):
        rng = np.random.default_rng([seed, 8])
        _, rows = regiment_photo(rng, patch_view(rng, 90.0, 1.2), TILES, 90.0, 1)
        assert (np.abs(rows[:, :2]) < 90).all()
        assert (rows[:, 2] >= rows[:, 3]).all()
        assert ((rows[:, 6] >= 0) & (rows[:, 6] <= 1)).all()
    assert min(STANDS_MM) > 20
