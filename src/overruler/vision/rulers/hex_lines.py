"""Whether the picture has lines where a hex grid has its sides."""

from itertools import pairwise

import numpy as np

from overruler.geometry.pose import Array
from overruler.scene import Grid
from overruler.vision.imaging.orthophoto import Orthophoto

MIN_CONTRAST_RATIO = 2.5
"""Least ratio of the sides' contrast to that inside the hexes, where triangles have lines."""
MIN_DRAWN_SHARE = 0.6
"""Least share of the hexes whose sides have a third of the usual contrast."""
MIN_SIDE_RATIO = 0.7
"""Least ratio of the faintest of the three sides to the strongest: paving has two kinds of joints."""
SIDE_SAMPLE_SHARES = np.linspace(0.2, 0.8, 5)[:, None]
"""Where a side is sampled, as shares of its length."""


def basis_vectors(size_mm: float, orientation: str, rotation_deg: float) -> Array:
    """From a hex's centre to those of its neighbours (1, 0) and (0, 1), in mm (2, 2)."""
    grid = Grid(orientation, size_mm, (0.0, 0.0))
    neighbours = np.array([grid.hex_center(1, 0), grid.hex_center(0, 1)])
    return np.asarray(neighbours @ _rotation_matrix(rotation_deg))


def _rotation_matrix(angle_deg: float) -> Array:
    angle = np.radians(angle_deg)
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s], [-s, c]])


def hexes_within(reach: float) -> Array:
    """Axial coordinates (N, 2) of the hexes within `reach` steps on either axis."""
    steps = np.arange(-int(reach), int(reach) + 1)
    return np.stack(np.meshgrid(steps, steps), -1).reshape(-1, 2).astype(float)


def side_samples(basis: Array) -> Array:
    """Points (3, 5, 2) on three sides of a hex, relative to its centre."""
    corner = (basis[0] + basis[1]) / 3
    corners = [corner @ _rotation_matrix(60.0 * k) for k in range(4)]
    sides = [a + SIDE_SAMPLE_SHARES * (b - a) for a, b in pairwise(corners)]
    return np.stack(sides)


def inner_samples(basis: Array) -> Array:
    """Points (6, 5, 2) within a hex: towards three corners, and half way to three sides."""
    corner = (basis[0] + basis[1]) / 3
    spokes = [SIDE_SAMPLE_SHARES * (corner @ _rotation_matrix(60.0 * k)) for k in range(3)]
    return np.concatenate([np.stack(spokes), side_samples(basis) / 2])


def mean_contrasts(
    lines: Array, view: Orthophoto, center: Array, basis: Array, hexes: Array, samples: Array
) -> Array:
    """Mean contrasts (N, K) at `samples` (K, 5, 2) of those of the hexes that are wholly visible."""
    places = (center + hexes @ basis)[:, None] + samples.reshape(-1, 2)
    at = np.rint(view.to_px(places)).astype(np.int32)
    within = (at >= 0) & (at < np.array(lines.shape[::-1]))
    visible = at[within.all((1, 2))]
    values = lines[visible[..., 1], visible[..., 0]].reshape(-1, *samples.shape[:2])
    on_board = (values != 0).any((1, 2))
    return np.asarray(values[on_board].mean(2), float)


def side_contrast(contrasts: Array) -> float:
    """Mean contrast of the faintest of three sides of hexes (N, 3), or (N, 9) with places within.

    0 where the sides differ, where too many hexes have no lines, or where there are lines within
    the hexes as well: also such of the other way, light ones within dark sides.
    """
    if not len(contrasts):
        return 0.0
    signed = contrasts * np.sign(contrasts[:, :3].mean())
    sides = signed[:, :3].mean(0)
    inner = signed[:, 3:].mean(0)
    within = float(inner.max(initial=0.0))
    is_drawn = signed[:, :3].mean(1) > sides.mean() / 3
    if np.mean(is_drawn) <= MIN_DRAWN_SHARE:
        return 0.0
    faintest = sides.min()
    alike = faintest > max(
        MIN_SIDE_RATIO * sides.max(), MIN_CONTRAST_RATIO * within, -inner.min(initial=0.0)
    )
    return float(faintest) if alike else 0.0
