"""The error field's amplitude and the markers' contrast, recovered from residuals that are drawn."""

import numpy as np
import pytest

from overruler.geometry.pose import Array
from overruler.vision.misfit.error_field import (
    FieldEstimate,
    MarkerBlock,
    estimate_field,
    field_covariance,
)

LENGTH_MM = 400.0
SIDE_MM = 60.0
SIGMA_MM = 0.05
CENTRES = np.array(
    [(50, 50), (600, 40), (1150, 50), (1150, 450), (1150, 850), (600, 850), (50, 850), (50, 450.0)]
)


def edge_points() -> tuple[Array, Array]:
    """Points (K, 2) round a marker's centre, and the directions (K, 2) in which they are seen."""
    along = np.linspace(-0.45, 0.45, 10) * SIDE_MM
    half = np.full(10, SIDE_MM / 2)
    points = np.concatenate(
        [np.column_stack([side * half, along]) for side in (-1, 1)]
        + [np.column_stack([along, side * half]) for side in (-1, 1)]
    )
    normals = np.repeat(np.eye(2), 20, axis=0)
    return points, normals


def blocks(shift: Array, slope: Array, rng: np.random.Generator) -> list[MarkerBlock]:
    """Markers displaced by `shift` (G, 2) and strained by `slope` (G, 2, 2), seen from straight above.

    The fit's parameters are the four of a similarity.
    """
    points, normals = edge_points()
    found = []
    for k, centre in enumerate(CENTRES):
        moved = shift[k] + points @ slope[k].T
        xy = centre + points
        x, y = (xy - CENTRES.mean(0)).T
        one, zero = np.ones_like(x), np.zeros_like(x)
        by_fit = np.stack([np.stack([one, zero, x, -y], -1), np.stack([zero, one, y, x], -1)], 1)
        seen = (moved * normals).sum(1) + rng.normal(0, SIGMA_MM, len(points))
        found.append(
            MarkerBlock(
                residual=seen / SIGMA_MM,
                jacobian=-(normals[:, :, None] * by_fit).sum(1) / SIGMA_MM,
                by_place=normals,
                whitener=np.eye(len(points)) / SIGMA_MM,
                xy_mm=xy,
            )
        )
    return found


def estimate(found: list[MarkerBlock], with_contrast: bool = True) -> FieldEstimate:
    weak = np.diag([1e-4, 1e-4, 1.0, 1.0])
    return estimate_field(found, weak, np.zeros(4), LENGTH_MM, with_contrast)


def drawn_field(amplitude_mm: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """The values (G, 2) and slopes (G, 2, 2) of a random field at the markers."""
    root = np.linalg.cholesky(field_covariance(CENTRES, LENGTH_MM))
    drawn = amplitude_mm * (root @ rng.normal(size=len(root))).reshape(-1, 3, 2)
    return drawn[:, 0], drawn[:, 1:].transpose(0, 2, 1)


def test_slopes_are_the_derivatives_of_values() -> None:
    step = 1e-3
    places = np.array([(0, 0), (step, 0), (0, step), (250.0, 130.0)])
    covariance = field_covariance(places, LENGTH_MM).reshape(4, 3, 2, 4, 3, 2)
    value = covariance[:, 0, 0, 3, 0, 0]
    slope = covariance[0, 1:, 0, 3, 0, 0]
    assert (value[1:3] - value[0]) / step == pytest.approx(slope, rel=1e-3)
    mixed = covariance[:, 0, 0, 3, 1:, 0]
    assert (mixed[1:3] - mixed[0]) / step == pytest.approx(
        covariance[0, 1:, 0, 3, 1:, 0], rel=1e-2, abs=1e-10
    )


@pytest.mark.parametrize("amplitude_mm", [0.5, 2.0, 8.0])
def test_a_drawn_field_s_amplitude_is_found(amplitude_mm: float) -> None:
    rng = np.random.default_rng(4)
    ratios = []
    for _ in range(12):
        found = estimate(blocks(*drawn_field(amplitude_mm, rng), rng))
        assert found.least_mm < 1.3 * amplitude_mm
        assert found.most_mm > 0.8 * amplitude_mm
        ratios.append(found.amplitude_mm / amplitude_mm)
    assert 0.8 < np.median(ratios) < 1.3


def test_a_flat_picture_has_no_field() -> None:
    none = np.zeros((len(CENTRES), 2))
    found = estimate(blocks(none, np.zeros((len(CENTRES), 2, 2)), np.random.default_rng(5)))
    assert found.amplitude_mm < 0.1
    assert found.least_mm < 0.03


def test_what_the_fit_can_take_up_is_no_field() -> None:
    turned = 0.01 * np.array([[1.0, -1.0], [1.0, 1.0]])
    slope = np.tile(turned, (len(CENTRES), 1, 1))
    found = estimate(blocks((CENTRES - 300) @ turned.T, slope, np.random.default_rng(6)))
    assert found.amplitude_mm < 0.1
    assert found.contrast is not None
    assert found.contrast.strain == pytest.approx(np.zeros(3), abs=1e-3)


@pytest.mark.parametrize("share", [-0.016, 0.003, 0.012])
def test_the_markers_size_against_their_spacing_is_found(share: float) -> None:
    none = np.zeros((len(CENTRES), 2))
    slope = np.tile(share * np.eye(2), (len(CENTRES), 1, 1))
    found = estimate(blocks(none, slope, np.random.default_rng(7)))
    assert found.contrast is not None
    sigma = np.sqrt(np.diag(found.contrast.covariance))
    assert found.contrast.strain[:2] == pytest.approx([share, share], abs=3 * sigma.max())
    assert sigma.max() < 1e-3
    assert found.amplitude_mm < 0.1


def test_markers_that_lie_anywhere_have_no_contrast() -> None:
    none = np.zeros((len(CENTRES), 2))
    found = blocks(none, np.zeros((len(CENTRES), 2, 2)), np.random.default_rng(8))
    assert estimate(found, with_contrast=False).contrast is None


def test_one_marker_that_lies_elsewhere_is_a_field() -> None:
    shift = np.zeros((len(CENTRES), 2))
    shift[2, 0] = 5.0
    found = estimate(blocks(shift, np.zeros((len(CENTRES), 2, 2)), np.random.default_rng(9)))
    assert found.least_mm > 0.5
