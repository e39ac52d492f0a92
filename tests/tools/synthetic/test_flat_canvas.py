"""The canvas of flat colours gives the light that a canvas of light would: each sample by itself, then their mean."""

import cv2
import numpy as np
import pytest
from skimage.draw import polygon

from overruler.geometry.pose import Array
from synthetic.flat_canvas import OVERSAMPLE, Colour, FlatCanvas, samples_inside

SIZE_PX = (57, 41)
COLOURS: list[Colour] = [
    (0.15, 0.3, 0.4),
    (0.85, 0.85, 0.85),
    (0.03, 0.03, 0.03),
    (0.1, 0.25, 0.12),
]


def outlines(seed: int) -> list[Array]:
    """Stars of many corners and bowed squares, some of them partly, one wholly, beside the picture."""
    random, found = np.random.default_rng(seed), []
    for count in (3, 5, 24, 180):
        angle = np.sort(random.uniform(0, 2 * np.pi, count))
        reach = random.uniform(4, 25) * random.uniform(0.4, 1, count)
        middle = random.uniform((-5, -5), np.array(SIZE_PX) + 5)
        found.append(middle + np.column_stack([np.cos(angle), np.sin(angle)]) * reach[:, None])
    return [*found, found[0] + 500.0]


@pytest.mark.parametrize("seed", range(20))
def test_samples_inside_are_those_of_scikit_image(seed: int) -> None:
    for outline in outlines(seed):
        x, y = outline.T
        expected = np.zeros(SIZE_PX[::-1], bool)
        rows, columns = polygon(y, x, expected.shape)  # type: ignore[no-untyped-call]
        expected[rows, columns] = True
        assert (samples_inside(x, y, expected.shape) == expected).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_light_is_that_of_all_samples_averaged(seed: int) -> None:
    width, height = SIZE_PX
    canvas = FlatCanvas(SIZE_PX, COLOURS[0])
    samples = np.full((height * OVERSAMPLE, width * OVERSAMPLE, 3), COLOURS[0], np.float32)
    for outline, colour in zip(outlines(seed), [*COLOURS[1:], *COLOURS[1:]], strict=False):
        canvas.fill(outline, colour)
        x, y = ((outline + 0.5) * OVERSAMPLE - 0.5).T
        rows, columns = polygon(y, x, samples.shape[:2])  # type: ignore[no-untyped-call]
        samples[rows, columns] = colour
    assert len(np.unique(samples.reshape(-1, 3), axis=0)) > 2
    expected = cv2.resize(samples, SIZE_PX, interpolation=cv2.INTER_AREA)
    assert (canvas.light() == expected).all()
