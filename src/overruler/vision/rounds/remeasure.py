"""Measure a round base of known size again: several rim traces, then a fit in the photo's pixels.

While bases are searched their size is open, and a rim seen better on one side draws the centre
along. With the size known only the place is left. Each trace errs by where its patch was cut from
the picture; traces from shifted patches err differently. A piece is measured the same way wherever
it stands, so errors from its profile and the light are mostly equal at both ends of a move.
"""

from dataclasses import replace

import numpy as np

from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.cone_fit import fit_base
from overruler.vision.contours.reproject import apply_fit
from overruler.vision.contours.shading import shade_covariance_mm2
from overruler.vision.learned.patches import CROSS_OFFSETS, photo_pyramid
from overruler.vision.learned.rim_net import fit_circles, offsets_on_board_mm, predict_rim_radii

PATCH_OFFSET_RADII = 0.1
"""Shift of the patches, in radii; the network tolerates a third. More patches add nothing."""
CENTRE_SIGMA = 0.2
"""Prior 1 σ of the centre about the patch's, in radii."""
FREE_RADIUS_SIGMA = 0.15
"""Prior 1 σ of an open radius, in radii."""
FIXED_RADIUS_SIGMA = 0.005
"""Prior 1 σ of a known radius, in radii."""
MAX_RADIUS_ERROR_SHARE = 0.035
"""Largest deviation of the radius, left open, from the known one, in radii."""
MAX_SHIFT_RADII = 0.15
"""Largest distance of the result from the detection, in radii; beyond, it is something else."""
SHARED_ERROR_CORRELATION = 0.5
"""Correlation of a piece's errors at two places: counted on films, ends against lengths."""


def remeasure_base(
    frame: Frame, calibration: Calibration, detection: Detection
) -> Detection | None:
    """Return a round base measured again near its place; None where its size is not seen."""
    if not _can_remeasure(detection):
        return None
    camera, radius = calibration.camera, detection.base.width_mm / 2
    traced = _trace_centre(frame, camera, detection.xy_mm, radius)
    if traced is None:
        return None
    centre_mm, sigma_mm = traced
    fit = fit_base(frame.pixels, camera, centre_mm, sigma_mm, radius, 0.0)
    if fit is None or np.hypot(*(fit.xy_mm - detection.xy_mm)) > MAX_SHIFT_RADII * radius:
        return None
    return apply_fit(camera, replace(detection, measured_on_lit_side=False), fit)


def shared_error_variance_mm2(
    calibration: Calibration, detection: Detection, other: Detection, along: Array
) -> float:
    """Return the variance (mm²) that shared errors take off a distance along `along` (2,)."""
    if not (_can_remeasure(detection) and _can_remeasure(other)):
        return 0.0
    variances = []
    for place in (detection, other):
        covariance = place.covariance_mm2 + shade_covariance_mm2(calibration, place)
        variances.append(float(along @ covariance @ along))
    return 2 * SHARED_ERROR_CORRELATION * float(np.sqrt(variances[0] * variances[1]))


def _can_remeasure(detection: Detection) -> bool:
    is_circle = detection.base.shape == "circle"
    return is_circle and not detection.z_mm and not detection.alternative_bases


def _trace_centre(
    frame: Frame, camera: Camera, xy_mm: Array, radius_mm: float
) -> tuple[Array, float] | None:
    """Return the rim's centre (2,) and one patch's 1 σ of it; None for a rim of another size."""
    places = xy_mm + PATCH_OFFSET_RADII * radius_mm * CROSS_OFFSETS
    circles = np.column_stack([places, np.full(len(places), radius_mm)])
    rim_radii, rim_sigmas = predict_rim_radii(photo_pyramid(frame), camera, circles)
    free, _ = _fit_circles(rim_radii, rim_sigmas, FREE_RADIUS_SIGMA)
    mean_radius = float(np.mean(free[:, 2]))
    if abs(mean_radius - 1) > MAX_RADIUS_ERROR_SHARE:
        return None
    fixed, sigma = _fit_circles(rim_radii, rim_sigmas, FIXED_RADIUS_SIGMA)
    centres = places + offsets_on_board_mm(camera, circles, fixed[:, :2])
    sigma_mm = float(radius_mm * sigma[:, 0].mean())
    return np.asarray(centres.mean(0)), sigma_mm


def _fit_circles(radii: Array, sigmas: Array, radius_sigma: float) -> tuple[Array, Array]:
    """Fit circles through rims (N, 48), with the given prior 1 σ of the radius."""
    prior = np.tile([CENTRE_SIGMA, CENTRE_SIGMA, radius_sigma], (len(radii), 1))
    return fit_circles(radii, sigmas, prior)
