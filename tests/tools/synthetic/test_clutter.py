"""What lies on painted tables beside the bases is never taught as one."""

import numpy as np

from synthetic.arrays import Picture
from synthetic.painted.as_played import ranks
from synthetic.painted.clutter import _MAKERS, Clutter, any_clutter
from synthetic.painted.plates import any_base
from synthetic.painted.scene import make_scene

REACH_MM = 150.0


def tiles() -> list[Picture]:
    return [np.full((512, 512, 3), 90, np.uint8)]


def made(seed: int) -> Clutter:
    rng = np.random.default_rng(seed)
    return any_clutter(rng, REACH_MM, any_base(rng, 0, tiles()), tiles())


def test_clutter_holds_no_base() -> None:
    some = [made(seed) for seed in range(150)]
    plates = [plate for one in some for plate in one.plates]
    assert len(plates) > 50
    assert all(plate.is_clutter and not plate.is_base for plate in plates)
    assert sum(len(one.lures) for one in some) > 50
    assert len(_MAKERS) == len(set(_MAKERS))


def test_nothing_of_the_clutter_stands_on_a_base() -> None:
    for seed in range(12):
        scene = make_scene(np.random.default_rng(seed), REACH_MM, tiles())
        bases = [plate for plate in scene.plates if plate.is_base]
        for other in (plate for plate in scene.plates if plate.is_clutter):
            for base in bases:
                apart = np.linalg.norm(base.center_mm - other.center_mm)
                assert apart >= base.radius_mm + other.radius_mm - 1e-9


def test_bases_in_ranks_do_not_overlap() -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        unit = ranks(rng, any_base(rng, 0, tiles()), 400.0)
        places = np.array([plate.center_mm for plate in unit])
        gaps = np.linalg.norm(places[:, None] - places, axis=-1)[np.triu_indices(len(places), 1)]
        assert (gaps >= 2 * unit[0].radius_mm - 1e-9).all()


def test_bases_of_unmanned_scenes_carry_little() -> None:
    """Tufts and stones at most: what is on a base there is lower than any figure."""
    for seed in range(20):
        scene = make_scene(np.random.default_rng(seed), REACH_MM, tiles(), unmanned=1.0)
        for base in (plate for plate in scene.plates if plate.is_base):
            above = [
                solid.points_mm[:, 2].max() - base.top_mm
                for solid in scene.solids
                if np.hypot(*(solid.points_mm[:, :2].mean(0) - base.center_mm)) < base.radius_mm
            ]
            assert max(above, default=0.0) < 8.0
