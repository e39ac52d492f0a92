"""What a photo says about the sides of a rim: a circle has none, a hexagon six.

Two measurements of one rim are made, both about the fit of a round base. The edges on rays across the
rim are compared with many circles and many hexagons. And the colours around the rim tell how much its
radius varies six times in a turn: to first order a rim of radius r (1 + a cos 6 (θ - φ)) changes the
colours C(r, θ) by -C'(r) r a cos 6 (θ - φ), so `a` follows from their sixth Fourier coefficients by
least squares.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.bases import HEXAGON_MEAN_RATIO
from overruler.detections import Detection
from overruler.geometry.batched.vectors import unit_vectors
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.radial_edges import (
    OCCLUSION_WEIGHT,
    LabPatch,
    find_radial_edges,
)
from overruler.vision.contours.silhouette import USUAL_PROFILE

SIDES = 6
RAY_COUNT = 72
"""Rays across a rim."""
RADII = np.linspace(0.7, 1.34, 97)
"""Places on a ray, in radii of the round base."""
EVERY_PX = 0.35
"""Spacing of the samples that edges are found in, in px."""
EDGE_SIGMA_PX, LEAST_EDGE_SIGMA = 0.6, 0.018
"""1 σ of an edge's distance from the rim, in px, and the least in radii."""
RIM_SIGMA = 0.11
"""The colours so near to the rim count, in radii: 1 σ of a Gaussian."""
COLOUR_RADII = RADII[:91:3]
"""Radii of the samples of colours."""
SHARES = np.linspace(0.88, 1.12, 9)
"""Sizes that are tried, by the size of the round base."""
SHIFTS = np.array([-0.06, 0.0, 0.06])
"""Shifts to the right and up that are tried, in radii."""
HEADINGS = np.linspace(0, 2 * np.pi / SIDES, 10, endpoint=False)
"""Headings of a hexagon that are tried, in rad."""
_ANGLES = np.linspace(0, 2 * np.pi, RAY_COUNT, endpoint=False)
_UNIT = unit_vectors(_ANGLES)


class RimEvidence(NamedTuple):
    """What the photo says about one rim."""

    circle: float
    """Log likelihood of the likeliest circle by the edges, in nats."""
    hexagon: float
    """The same of the likeliest hexagon."""
    heading_rad: float
    """Direction of a corner of that hexagon, from 0 to a sixth of a turn."""
    share: float
    """Its mean radius by that of the round base."""
    sixth: float
    """How much the radius varies six times in a turn, by the colours: 1 as much as a hexagon's."""
    radius_px: float
    """Radius of the round base in the photo."""


def see_rim(pixels: NDArray[np.uint8], camera: Camera, round_base: Detection) -> RimEvidence | None:
    """Return what the photo says about the rim of a round base; None where the photo does not show it."""
    radius_mm, z_mm = round_base.base.width_mm / 2, round_base.z_mm
    view = LabPatch.crop_around(pixels, camera, round_base.xy_mm, RADII[-1] * radius_mm, z_mm)
    if view is None:
        return None
    upper = _UpperRim.of(camera, round_base)
    edges = _edge_nats(view, round_base.xy_mm, radius_mm)
    circle = _log_likelihoods(edges, upper, np.ones((1, RAY_COUNT)))
    hexagon = _log_likelihoods(edges, upper, _HEXAGONS)
    best = np.unravel_index(hexagon.argmax(), hexagon.shape)
    lower_waves = _waves(view, round_base.xy_mm, radius_mm)
    cast_mm = radius_mm * upper.growth * (1 - upper.taper)
    upper_waves = _waves(view, round_base.xy_mm + radius_mm * upper.lean, cast_mm)
    return RimEvidence(
        circle=float(circle.max()),
        hexagon=float(hexagon[best]),
        heading_rad=float(HEADINGS[best[1]]),
        share=float(SHARES[best[0]]),
        sixth=float(abs(lower_waves + upper_waves) / 2) / _HEXAGON_WAVE,
        radius_px=radius_mm / view.mm_per_px,
    )


def hexagon_reach(angles: Array) -> Array:
    """Return how far a hexagon's rim lies from its middle at angles in rad from a corner; its mean is 1."""
    side = 2 * np.pi / SIDES
    return np.asarray(1 / np.cos(angles % side - side / 2) / HEXAGON_MEAN_RATIO)


_HEXAGONS = hexagon_reach(_ANGLES - HEADINGS[:, None])
"""(10, RAY_COUNT): the rims of hexagons at the headings that are tried."""
_HEXAGON_WAVE = float(2 * np.mean(hexagon_reach(_ANGLES) * np.cos(SIDES * _ANGLES)))
"""How much a hexagon's radius varies six times in a turn, by its mean radius."""


class _UpperRim(NamedTuple):
    """Where the upper rim of a base is seen, cast onto the plane of the lower one."""

    lean: Array
    """(2,): its shift away from the camera, in radii."""
    growth: float
    """How much larger it looks for being nearer to the camera."""
    taper: float
    """How much smaller it is, in radii."""

    @classmethod
    def of(cls, camera: Camera, round_base: Detection) -> "_UpperRim":
        eye, radius_mm = camera.center_mm, round_base.base.width_mm / 2
        height = eye[2] - round_base.z_mm
        growth = float(height / (height - USUAL_PROFILE.height_mm))
        lean = (round_base.xy_mm - eye[:2]) * (growth - 1) / radius_mm
        return cls(lean, growth, USUAL_PROFILE.taper_mm / radius_mm)


def _edge_nats(view: LabPatch, xy_mm: Array, radius_mm: float) -> Array:
    """Return the log likelihood (RAY_COUNT, R) of a rim at each of `RADII` by the edges on a ray.

    Without an edge there the rim counts as hidden.
    """
    inner, outer = (np.full(RAY_COUNT, share * radius_mm) for share in RADII[[0, -1]])
    edges = find_radial_edges(view, xy_mm, _UNIT, inner, outer, EVERY_PX)
    sigma = max(EDGE_SIGMA_PX * view.mm_per_px / radius_mm, LEAST_EDGE_SIGMA)
    off = (RADII - edges.radius_mm[:, None] / radius_mm) / sigma
    each = edges.strength[:, None] * np.exp(-0.5 * off**2)
    strength = np.zeros((RAY_COUNT, len(RADII)))
    first = np.flatnonzero(np.diff(edges.ray, prepend=-1))  # edges come ray by ray
    if len(first):
        strength[edges.ray[first]] = np.maximum.reduceat(each, first)
    return np.asarray(np.log((OCCLUSION_WEIGHT + strength) / (OCCLUSION_WEIGHT + 1)))


def _log_likelihoods(edges: Array, upper: _UpperRim, rims: Array) -> Array:
    """Return the log likelihoods (S, K, X, Y) of `rims` (K, RAY_COUNT) of all sizes and shifts.

    An edge on the lower rim or on the upper one explains a ray.
    """
    size = SHARES[:, None, None, None, None]
    across = SHIFTS[:, None, None] * _UNIT[:, 0] + SHIFTS[:, None] * _UNIT[:, 1]
    rims = rims[:, None, None]
    lower = size * rims + across
    cast = (size - upper.taper) * upper.growth * rims + across + _UNIT @ upper.lean
    return np.asarray(np.maximum(_at(edges, lower), _at(edges, cast)).sum(-1))


def _at(values: Array, reach: Array) -> Array:
    """Return values (RAY_COUNT, R) on the rays at distances (..., RAY_COUNT), in radii."""
    step = RADII[1] - RADII[0]
    index = np.rint((reach - RADII[0]) / step).clip(0, len(RADII) - 1).astype(np.intp)
    index += len(RADII) * np.arange(RAY_COUNT)
    return np.asarray(values.ravel()[index])


def _waves(view: LabPatch, xy_mm: Array, radius_mm: float) -> complex:
    """Return how much a rim's radius varies six times in a turn, and where, by the colours around it.

    The result is a exp(-6 i φ), with `a` in radii and φ the direction of a largest radius.
    """
    at_mm = xy_mm + radius_mm * COLOUR_RADII[:, None, None] * _UNIT
    colours, _ = view.sample_board(at_mm)
    spectrum = np.fft.rfft(colours, axis=1)[:, [0, SIDES]] / RAY_COUNT
    slope = np.gradient(spectrum[:, 0].real, COLOUR_RADII, axis=0)
    weight = np.exp(-0.5 * ((COLOUR_RADII - 1) / RIM_SIGMA) ** 2)[:, None] * slope
    return complex(-2 * (weight * spectrum[:, 1]).sum() / max((weight * slope).sum(), 1e-9))
