"""A hundred thousand gaps against shapely, which knows nothing of how they are found.

Shapely measures between polygons with their corners on the shapes' rims. Such a polygon lies inside its shape and falls
short of it by its sagitta at most, so shapely's distance is never less than the gap and more by both sagittas at most.
All pairs are compared on polygons of 128 corners, some thousands, those near contact among them, on 4096.
"""

from collections.abc import Sequence

import numpy as np
import pytest
import shapely
from numpy.typing import NDArray

from overruler.geometry.pairs import all_gaps
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Ellipse, Shape, gap, rectangle
from tests.geometry.test_shapes import outline

COUNT = 450
"""Shapes; 101 025 pairs."""
ROUNDED_MM = 1e-9


def crowd(seed: int) -> list[Shape]:
    """Mixed shapes of many sizes: tight heaps, rows in exact contact, and far apart ones."""
    draw = np.random.default_rng(seed)
    found: list[Shape] = []
    heaps = draw.uniform(0, 1800, (12, 2))
    for k in range(COUNT):
        x, y = (heaps[k % 12] + draw.normal(0, 60, 2) if k % 2 else draw.uniform(0, 1800, 2)).tolist()
        length, width = draw.uniform(3, 130, 2).tolist()
        heading = float(draw.choice([0.0, 90.0, draw.uniform(-180, 180)]))
        kind = (
            Disc((x, y), width / 2),
            Ellipse((x, y), length, width, heading),
            rectangle((x, y), length, width, heading),
        )
        found.append(kind[k % 3])
    row = [100.0 * k for k in range(3)]
    return [*(Disc((x, 0.0), 50.0) for x in row), *(rectangle((x + 370, 0.0), 100.0, 60.0) for x in row), *found[6:]]


def polygons(shapes: Sequence[Shape], corners: int) -> tuple[NDArray[np.object_], Array]:
    """The inscribed polygons, and the sagitta of each."""
    found = [outline(shape, corners) for shape in shapes]
    several = np.array([polygon for polygon, _ in found])
    shapely.prepare(several)
    return several, np.array([short for _, short in found])


@pytest.fixture(scope="module", params=[1])
def measured(request: pytest.FixtureRequest) -> tuple[list[Shape], Array]:
    shapes = crowd(request.param)
    return shapes, all_gaps(shapes)


def test_all_pairs_agree_within_the_sagittas_of_coarse_polygons(measured: tuple[list[Shape], Array]) -> None:
    shapes, gaps = measured
    rims, short = polygons(shapes, 128)
    i, j = np.triu_indices(COUNT, 1)
    off = shapely.distance(rims[i], rims[j]) - gaps[i, j]
    assert off.min() >= -ROUNDED_MM
    assert (off - short[i] - short[j]).max() <= ROUNDED_MM
    assert (gaps[i, j] == 0).mean() > 0.01  # overlaps are among them


def test_thousands_agree_within_the_sagittas_of_fine_polygons(measured: tuple[list[Shape], Array]) -> None:
    shapes, gaps = measured
    rims, short = polygons(shapes, 4096)
    i, j = np.triu_indices(COUNT, 1)
    draw = np.random.default_rng(3)
    close = np.flatnonzero(gaps[i, j] < 5)
    some = np.concatenate([draw.choice(close, 500, replace=False), draw.choice(len(i), 500, replace=False)])
    i, j = i[some], j[some]
    assert short.max() < 4e-5
    assert shapely.dwithin(rims[i], rims[j], gaps[i, j] + short[i] + short[j] + ROUNDED_MM).all()
    apart = gaps[i, j] > ROUNDED_MM
    assert apart.sum() > 500
    assert not shapely.dwithin(rims[i[apart]], rims[j[apart]], gaps[i[apart], j[apart]] - ROUNDED_MM).any()


def test_one_by_one_they_are_the_same(measured: tuple[list[Shape], Array]) -> None:
    shapes, gaps = measured
    draw = np.random.default_rng(4)
    for i, j in draw.integers(0, COUNT, (4000, 2)).tolist():
        if i != j:
            assert gap(shapes[i], shapes[j]).distance_mm == pytest.approx(gaps[i, j], abs=ROUNDED_MM)


def test_the_rows_in_contact_touch(measured: tuple[list[Shape], Array]) -> None:
    _, gaps = measured
    assert gaps[[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]] == pytest.approx([0, 0, 70, 0, 0], abs=ROUNDED_MM)
