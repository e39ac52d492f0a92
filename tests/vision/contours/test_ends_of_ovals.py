"""Round bases in the ends of ovals: which of those that claim one place stands."""

import numpy as np
import pytest

from overruler.bases import Base
from overruler.vision.contours.ends_of_ovals import OVAL_PREFERENCE, oval_preferences
from overruler.vision.contours.outlines import in_half_sizes, placed_outline
from overruler.vision.contours.overlap_choice import bases_overlap
from tests.vision.contours.test_overlap_choice import Stand

OVAL = Base.oval(35, 60)
PREFERRED, PLAIN = OVAL_PREFERENCE, 1.0


@pytest.mark.parametrize(
    ("places", "probabilities", "expected"),
    [
        ([(OVAL, 0), (Base.circle(25), 17)], [0.7, 0.95], [PREFERRED, PLAIN]),  # an end
        ([(OVAL, 0), (Base.circle(50), 12)], [0.9, 0.97], [PLAIN, PLAIN]),  # wider, and surer
        ([(OVAL, 0), (Base.circle(50), 12)], [0.97, 0.9], [PREFERRED, PLAIN]),
        ([(OVAL, 0), (Base.circle(50), 60)], [0.9, 0.97], [PREFERRED, PLAIN]),  # apart
        (
            [(OVAL, 0), (Base.circle(25), 32)],
            [0.7, 0.95],
            [PLAIN, PLAIN],
        ),  # half of it lies outside
        ([(OVAL, 0), (Base.circle(25), 32)], [0.95, 0.7], [PREFERRED, PLAIN]),
        ([(Base.stadium(25, 70), 0), (Base.circle(25), 20)], [0.7, 0.9], [PREFERRED, PLAIN]),
        ([(Base.rectangle(35, 60), 0), (Base.circle(25), 10)], [0.7, 0.9], [PLAIN, PLAIN]),
        ([(Base.stadium(25, 70), 0), (Base.rectangle(30, 30), 15)], [0.98, 0.99], [PLAIN, PLAIN]),
        ([(Base.stadium(25, 70), 0), (Base.rectangle(30, 30), 15)], [0.9, 0.8], [PREFERRED, PLAIN]),
        (
            [(Base.stadium(25, 70), 0), (Base.rectangle(30, 30), 90)],
            [0.9, 0.99],
            [PREFERRED, PLAIN],
        ),
    ],
)
def test_an_oval_stands_against_what_fits_into_its_end(
    places: list[tuple[Base, float]], probabilities: list[float], expected: list[float]
) -> None:
    stands = [Stand(base, np.array([x, 0.0])) for base, x in places]
    told = oval_preferences(
        stands,
        probabilities,
        lambda i, j: bases_overlap(stands[i], stands[j]),
    )
    assert told == expected


@pytest.mark.parametrize("base", [OVAL, Base.circle(32)])
@pytest.mark.parametrize("turn_rad", [0.0, 0.7, -2.0])
def test_the_edge_of_a_round_or_oval_base_is_one_half_size_away(
    base: Base, turn_rad: float
) -> None:
    middle = np.array([410.0, -35.0])
    edge = placed_outline(base, middle, turn_rad)
    inside = in_half_sizes(base, edge - middle, turn_rad)
    assert np.linalg.norm(inside, axis=1) == pytest.approx(1)
    end = np.array([np.cos(turn_rad), np.sin(turn_rad)]) * base.length_mm / 2
    assert in_half_sizes(base, end, turn_rad) == pytest.approx([1, 0])
