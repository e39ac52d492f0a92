"""A round base of known size, measured once more: by several learned looks at its rim, then in the picture's pixels.

Where bases are only looked for, the size is open, and a rim that is seen better on one side draws the place along with
it. Once the size is known only the place is left; and what one look gets wrong by where it was cut out of the picture,
looks from a little beside get wrong otherwise. The same piece is measured in the same way wherever it stands, so that
what its profile and the light have wrong is mostly the same at both ends of a move.
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
"""How far beside the base the looks are, in radii: they forgive a third, and more than `CROSS_OFFSETS` tell no more."""
CENTRE_SIGMA, FREE_RADIUS_SIGMA, FIXED_RADIUS_SIGMA = 0.2, 0.15, 0.005
"""1 σ of the circle about each look's, in radii: of its place, of a size that is open and of one that is known."""
MAX_RADIUS_ERROR_SHARE = 0.035
"""In radii: a rim that comes out so much larger or smaller, its size left open, is no rim of this size."""
MAX_SHIFT_RADII = 0.15
"""In radii: who comes out farther from where it was found has seen something else."""
SHARED_ERROR_CORRELATION = 0.5
"""How much of the doubt (correlation) a piece has in common at two places: counted on films, ends against lengths."""


def remeasure_base(frame: Frame, calibration: Calibration, one: Detection) -> Detection | None:
    """A round base on the board that was found in about the same picture; None where its known size is not seen."""
    if not _can_remeasure(one):
        return None
    camera, radius = calibration.camera, one.base.width_mm / 2
    traced = _trace_centre(frame, camera, one.xy_mm, radius)
    fit = fit_base(frame.pixels, camera, *traced, radius, 0.0) if traced is not None else None
    if fit is None or np.hypot(*(fit.xy_mm - one.xy_mm)) > MAX_SHIFT_RADII * radius:
        return None
    return apply_fit(camera, replace(one, measured_on_lit_side=False), fit)


def shared_error_variance_mm2(
    calibration: Calibration, one: Detection, other: Detection, along: Array
) -> float:
    """By how much (mm²) what two places of a piece have wrong alike lessens the variance of how far they lie apart, in
    the direction `along` (2,).
    """
    if not (_can_remeasure(one) and _can_remeasure(other)):
        return 0.0
    own = [
        place.covariance_mm2 + shade_covariance_mm2(calibration, place) for place in (one, other)
    ]
    variances = [float(along @ covariance @ along) for covariance in own]
    return 2 * SHARED_ERROR_CORRELATION * float(np.sqrt(variances[0] * variances[1]))


def _can_remeasure(one: Detection) -> bool:
    return one.base.shape == "circle" and not one.z_mm and not one.alternative_bases


def _trace_centre(
    frame: Frame, camera: Camera, xy_mm: Array, radius_mm: float
) -> tuple[Array, float] | None:
    """The middle (2,) of the rim by all looks, and 1 σ of it by one: they share the picture. None where it is a rim of
    another size after all."""
    places = xy_mm + PATCH_OFFSET_RADII * radius_mm * CROSS_OFFSETS
    circles = np.column_stack([places, np.full(len(places), radius_mm)])
    reach, own = predict_rim_radii(photo_pyramid(frame), camera, circles)
    if (
        abs(float(np.mean(_fit_circles(reach, own, FREE_RADIUS_SIGMA)[0][:, 2])) - 1)
        > MAX_RADIUS_ERROR_SHARE
    ):
        return None
    rim, sigma = _fit_circles(reach, own, FIXED_RADIUS_SIGMA)
    middles = places + offsets_on_board_mm(camera, circles, rim[:, :2])
    return np.asarray(middles.mean(0)), float(radius_mm * sigma[:, 0].mean())


def _fit_circles(reach: Array, own: Array, size: float) -> tuple[Array, Array]:
    """Circles through rims (N, 48) as `rims.circles_through` has them, the size being open or known."""
    return fit_circles(reach, own, np.tile([CENTRE_SIGMA, CENTRE_SIGMA, size], (len(reach), 1)))
