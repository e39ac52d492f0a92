"""What the network of cards is taught: plates made square, bases of traced tables, and printed squares among them."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from synthetic.painted.plates import any_base
from synthetic.tiles import library

pytest.importorskip("torch", reason="needs the group `train`: uv sync --group train")
SAMPLES = Path(__file__).parents[3] / "sample_images"


def test_a_plate_made_square_is_as_far_across_and_has_four_corners() -> None:
    from training.lessons.rims.cards import _circle, squared

    rng, tiles = np.random.default_rng(2), library(1, 2)
    for _ in range(20):
        base = any_base(rng, 0, tiles)
        plate = squared(rng, base)
        corners = cv2.minAreaRect(plate.outline_mm.astype(np.float32))
        length, width = sorted(corners[1], reverse=True)
        assert 0.9 * base.radius_mm < plate.radius_mm < 1.001 * base.radius_mm
        assert 0.39 < width / length <= 1.001
        area = cv2.contourArea(plate.outline_mm.astype(np.float32))
        assert area > 0.95 * length * width
        assert np.pi * _circle(plate)[2] ** 2 == pytest.approx(area, rel=1e-6)


@pytest.mark.parametrize(("sample", "bases"), [("xwing_space", 10), ("legion_grass", 0)])
def test_a_traced_table_teaches_its_bases_and_the_squares_that_are_printed_on_it(
    sample: str, bases: int
) -> None:
    from training.lessons.rims.cards import OFF, traced_cards

    taught = traced_cards(SAMPLES / f"{sample}.json")
    is_base, count = taught["truth"][:, 0], len(taught["patches"])
    assert len(is_base) == len(taught["side"]) == count
    assert (is_base == 1).sum() >= bases * len(OFF)
    assert (is_base == 0).sum() >= 3 * len(OFF)
    if not bases:
        assert not is_base.any()
