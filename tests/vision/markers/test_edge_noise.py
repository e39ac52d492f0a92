"""What edges of a marker share grows with the light: by how far white spreads, and by how small the cells are."""

import numpy as np
import pytest

from evaluate.drawn.markers import camera_over, marker_mm, seen_markers
from overruler.geometry.pose import Array
from overruler.vision.markers.edge_noise import shape_noise_columns_px

MARKER = seen_markers(camera_over(10), {3: marker_mm(450, 450)}, np.random.default_rng(1))[0]


def sigmas(shift_px: float, cell_px: float) -> tuple[float, float, float]:
    """1 σ in px of the marker's stretch at its corner, of its own shift, and of its outer edges' extra shift."""
    edges = MARKER.square.edges
    columns = shape_noise_columns_px(edges, shift_px, cell_px)
    outer = columns[:, 5]
    assert not outer[~edges.is_outer].any()
    return float(np.abs(columns[:, :4]).max()), float(columns[0, 4]), float(outer.max())


@pytest.mark.parametrize("cell_px", [4.0, 8.0, 20.0])
def test_in_good_light_all_is_as_print_and_paper_are(cell_px: float) -> None:
    assert sigmas(0.0, cell_px) == pytest.approx((0.025, 0.025, 0.03), rel=0.02)


def test_white_that_spreads_makes_what_it_moves_unsure() -> None:
    """Of 721 markers on rendered photos: their own shifts, and outer edges', at a shift of 1 px."""
    stretch, own, outer = sigmas(1.0, 20.0)
    assert stretch < 0.03
    assert own == pytest.approx(0.3, rel=0.05)
    assert outer == pytest.approx(0.2, rel=0.05)


def test_small_cells_lose_their_shape() -> None:
    """Of those with cells of 4 px the sizes scattered by 0.25 px at a shift of 0.85, with 8 px by none of it."""
    stretch, _, outer = sigmas(0.85, 4.0)
    assert 0.2 < stretch < 0.27
    assert 0.3 < outer < 0.42
    assert sigmas(0.85, 8.0)[0] < 0.03


def test_every_edge_has_its_noise() -> None:
    columns: Array = shape_noise_columns_px(MARKER.square.edges, 0.5, 6.0)
    assert columns.shape == (len(MARKER.square.edges.place), 6)
    assert (columns[:, 4] > 0).all()
