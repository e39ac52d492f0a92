"""Bare ground refutes a base, unless the base has the ground's colours itself."""

import numpy as np

from evaluate.drawn.views import camera_from
from overruler.bases import Base
from overruler.vision.pairing.ground.bare_ground import bare_share, is_bare, is_bare_instead
from overruler.vision.pairing.sighting import SeenPhoto
from synthetic.flat_table import Plinth
from tests.vision.pairing.moves.test_moved import HERE, photo_of

WIDE, LONG = Base.circle(100), Base.oval(60, 120)
PLACE = np.array([*HERE, 0.0])
REACH_MM = 150.0


def spots(seed: int, least_mm: float, most_mm: float) -> list[Plinth]:
    """Spots of many shades on flat ground, so far from the place."""
    random = np.random.default_rng(seed)
    found: list[Plinth] = []
    while len(found) < 160:
        step = random.uniform(-REACH_MM, REACH_MM, 2)
        if least_mm <= np.hypot(*step) <= most_mm:
            blue, green, red = np.array([0.5, 1.0, 1.33]) * random.choice(
                [0.2, 0.26, 0.32, 0.38, 0.44, 0.5]
            )
            colour = (blue, green, red)
            x_mm, y_mm = HERE + step
            found.append(Plinth(x_mm, y_mm, 16.0, 0.0, 0.05, 0.0, colour, colour))
    return found


def seen_from(index: int, *plinths: Plinth) -> SeenPhoto:
    """A photo from its own side of the same ground, with what lies on it."""
    return photo_of(index, camera_from(120.0 * index), *spots(1, 0.0, REACH_MM), *plinths)


def test_a_base_with_the_grounds_colours_is_not_refuted_by_what_looks_otherwise_there() -> None:
    """The second photo shows other marks there than the first: a rider, say, from its other side."""
    ground, rider, side = seen_from(0), spots(2, 0.0, 52.0), spots(3, 0.0, 52.0)
    base, turned = seen_from(1, *rider), seen_from(2, *side)
    assert is_bare(turned, WIDE, PLACE, base)
    assert not is_bare_instead(turned, WIDE, PLACE, base)
    assert is_bare_instead(ground, WIDE, PLACE, seen_from(2))  # the same marks in both


def test_a_base_of_another_colour_is_refuted_by_bare_ground() -> None:
    base = seen_from(1, Plinth(*HERE, 100.0, rim=(0.02,) * 3, top=(0.9,) * 3))
    assert is_bare_instead(seen_from(0), WIDE, PLACE, base)
    assert not is_bare_instead(base, WIDE, PLACE, seen_from(0))


def test_only_the_place_of_the_base_itself_need_be_bare() -> None:
    """White things lie beside a long base; turned by a quarter it would lie under them."""
    white = [
        Plinth(HERE[0], HERE[1] + side * 48, 34.0, 0.0, 0.05, 0.0, (0.9,) * 3, (0.9,) * 3)
        for side in (-1, 1)
    ]
    ground, beside = seen_from(0, *white), seen_from(1, *white)
    along = bare_share(ground, LONG, PLACE, beside)
    across = bare_share(ground, LONG, PLACE, beside, turn_rad=np.pi / 2)
    assert along is not None
    assert across is not None
    assert along > 0.85 > 0.7 > across


def test_only_bases_that_reach_the_ground_around_a_place_cover_it() -> None:
    ground, beside = seen_from(0), seen_from(1)
    x_mm, y_mm = HERE
    far = np.array([[x_mm + step, y_mm + 400.0, 100.0] for step in np.linspace(-2000, 2000, 500)])
    wide = np.array([[x_mm, y_mm + 400.0, 600.0]])  # its middle lies as far, but it covers all
    share = bare_share(ground, WIDE, PLACE, beside)
    assert share is not None
    assert bare_share(ground, WIDE, PLACE, beside, others_mm=far) == share
    assert bare_share(ground, WIDE, PLACE, beside, others_mm=wide) is None
