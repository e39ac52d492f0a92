"""Photos that read a size differently are weighed together, at the height of the base."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.views import BOARD_MM, Truth, camera_from, see
from overruler.bases import Base
from overruler.vision.pairing.association import associate
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.sizes import weigh_sizes

RADII_MM = np.array([25, 27, 28.5, 30, 32]) / 2
OTHERS: list[Truth] = [(200.0 + 90 * k, 150.0, 0.0, 27.0) for k in range(4)]


def sizes_of(z_mm: float, readings: list[tuple[float, float]]) -> dict[Base, float]:
    """The sizes of a 27 mm base that photos read with these diameters and σ of the radius."""
    bases = [(450.0, 350.0, z_mm, 27.0), *OTHERS]
    photos = []
    for k, (diameter, sigma) in enumerate(readings):
        photo = see(k, camera_from(120.0 * k), bases)
        eye = float(photo.calibration.camera.center_mm[2])
        seen = diameter / 2 * eye / (eye - z_mm)
        first, *rest = photo.detections
        nearest = min(RADII_MM, key=lambda radius: abs(float(radius) - seen))
        one = replace(first, base=Base.circle(2 * float(nearest)), learned_radius_mm=(seen, sigma))
        photos.append(replace(photo, detections=(one, *rest)))
    findings = [Decided.of(each, ()) for each in associate(photos, BOARD_MM)]
    shares = weigh_sizes(findings, RADII_MM)
    return next(
        dict(share)
        for finding, share in zip(findings, shares, strict=True)
        if np.hypot(*(finding.xyz_mm[:2] - [450, 350])) < 5
    )


@pytest.mark.parametrize("z_mm", [0.0, 60.0])
def test_a_photo_that_misreads_a_size_is_outvoted_by_sharper_ones(z_mm: float) -> None:
    shares = sizes_of(z_mm, [(27.0, 0.1), (28.4, 0.5), (27.1, 0.1)])
    assert next(iter(shares)) == Base.circle(27)
    assert sum(shares.values()) == pytest.approx(1)


def test_an_even_reading_leaves_the_size_open() -> None:
    shares = sizes_of(0.0, [(27.7, 0.3), (27.8, 0.3)])
    assert 0.01 < shares[Base.circle(28.5)] < 0.99
