"""A hundred thousand gaps against shapely, which knows nothing of how they are found.

Shapely measures between polygons with their corners on the shapes' rims. Such a polygon lies inside its shape and falls
short of it by its sagitta at most, so shapely's distance is never less than the gap and more by both sagittas at most.
The polygons have 4096 corners. Shapely alone finds, on polygons of 128, where each pair is closest; there it compares
the fine ones.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import shapely
from numpy.typing import NDArray

from overruler.geometry.batched.all_pairs import gap_matrix
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Ellipse, Shape, gap, rectangle
from tests.geometry.test_shapes import outline

COARSE, FINE = 128, 4096
REACH = FINE // COARSE
"""Sides of a fine polygon to either side of the closest point: one of a coarse one's. Too few could only find more."""
COUNT = 450
"""Shapes; 101 025 pairs."""
ROUNDED_MM = 1e-9


def crowd(seed: int) -> list[Shape]:
    """Mixed shapes of many sizes: tight heaps, rows in exact contact, and far apart ones."""
    draw = np.random.default_rng(seed)
    found: list[Shape] = []
    heaps = draw.uniform(0, 1800, (12, 2))
    for k in range(COUNT):
        x, y = (
            heaps[k % 12] + draw.normal(0, 60, 2) if k % 2 else draw.uniform(0, 1800, 2)
        ).tolist()
        length, width = draw.uniform(3, 130, 2).tolist()
        heading = float(draw.choice([0.0, 90.0, draw.uniform(-180, 180)]))
        kind = (
            Disc((x, y), width / 2),
            Ellipse((x, y), length, width, heading),
            rectangle((x, y), length, width, heading),
        )
        found.append(kind[k % 3])
    row = [100.0 * k for k in range(3)]
    return [
        *(Disc((x, 0.0), 50.0) for x in row),
        *(rectangle((x + 370, 0.0), 100.0, 60.0) for x in row),
        *found[6:],
    ]


def polygons(shapes: Sequence[Shape], corners: int) -> tuple[NDArray[np.object_], Array]:
    """The inscribed polygons, and the sagitta of each."""
    found = [outline(shape, corners) for shape in shapes]
    several = np.array([polygon for polygon, _ in found])
    shapely.prepare(several)
    return several, np.array([short for _, short in found])


@pytest.fixture(scope="module", params=[1])
def measured(request: pytest.FixtureRequest) -> tuple[list[Shape], Array]:
    shapes = crowd(request.param)
    return shapes, gap_matrix(shapes)


def test_all_pairs_agree_within_the_sagittas_of_4096_gons(
    measured: tuple[list[Shape], Array],
) -> None:
    shapes, gaps = measured
    coarse, _ = polygons(shapes, COARSE)
    fine, short = polygons(shapes, FINE)
    i, j = np.triu_indices(COUNT, 1)
    over = shapely.intersects(coarse[i], coarse[j])
    assert over.mean() > 0.01
    assert (gaps[i[over], j[over]] == 0).all()
    i, j = i[~over], j[~over]
    closest = shapely.get_coordinates(shapely.shortest_line(coarse[i], coarse[j])).reshape(-1, 2, 2)
    off = (
        shapely.distance(arcs(shapes, fine, i, closest[:, 0]), arcs(shapes, fine, j, closest[:, 1]))
        - gaps[i, j]
    )
    assert short.max() < 4e-5
    assert off.min() >= -ROUNDED_MM
    assert (off - short[i] - short[j]).max() <= ROUNDED_MM


def turned(points: Array, start: Array) -> Array:
    """How far round from `start` points lie, counter-clockwise."""
    return np.asarray(
        (np.arctan2(points[:, 1], points[:, 0]) - np.arctan2(start[1], start[0])) % (2 * np.pi)
    )


def arcs(
    shapes: Sequence[Shape], fine: NDArray[np.object_], which: NDArray[np.intp], near: Array
) -> Any:
    """The sides of fine polygons about a point of each, as lines; of a rectangle all of them."""
    rings = np.array([polygon.exterior for polygon in fine])
    lines = rings[which]
    rims = {
        k: shapely.get_coordinates(rings[k])[:-1]
        for k, shape in enumerate(shapes)
        if len(rings[k].coords) > FINE
    }
    steps = np.arange(-REACH, REACH + 1)
    for k, rim in rims.items():
        rows = np.flatnonzero(which == k)
        center = shapes[k].center
        middle = np.searchsorted(
            turned(rim - center, rim[0] - center), turned(near[rows] - center, rim[0] - center)
        )
        lines[rows] = shapely.linestrings(rim[(middle[:, None] + steps) % FINE])
    return lines


def test_one_by_one_they_are_the_same(measured: tuple[list[Shape], Array]) -> None:
    shapes, gaps = measured
    draw = np.random.default_rng(4)
    for i, j in draw.integers(0, COUNT, (4000, 2)).tolist():
        if i != j:
            assert gap(shapes[i], shapes[j]).distance_mm == pytest.approx(
                gaps[i, j], abs=ROUNDED_MM
            )


def test_the_rows_in_contact_touch(measured: tuple[list[Shape], Array]) -> None:
    _, gaps = measured
    assert gaps[[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]] == pytest.approx([0, 0, 70, 0, 0], abs=ROUNDED_MM)
