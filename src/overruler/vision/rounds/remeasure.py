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
from overruler.vision.contours.reproject import fitted
from overruler.vision.contours.shading import shade_doubt
from overruler.vision.learned.patches import AROUND, levels_of
from overruler.vision.learned.rim_net import circles_through, on_board, rim_of

BESIDE = 0.1
"""How far beside the base the looks are, in radii: they forgive a third, and more than `AROUND` tell no more."""
PLACE, OPEN, KNOWN = 0.2, 0.15, 0.005
"""1 σ of the circle about each look's, in radii: of its place, of a size that is open and of one that is known."""
OTHER_SIZE = 0.035
"""In radii: a rim that comes out so much larger or smaller, its size left open, is no rim of this size."""
FARTHEST = 0.15
"""In radii: who comes out farther from where it was found has seen something else."""
SHARED = 0.5
"""How much of the doubt (correlation) a piece has in common at two places: counted on films, ends against lengths."""


def placed(frame: Frame, calibration: Calibration, one: Detection) -> Detection | None:
    """A round base on the board that was found in about the same picture; None where its known size is not seen."""
    if not _placeable(one):
        return None
    camera, radius = calibration.camera, one.base.width_mm / 2
    traced = _traced(frame, camera, one.xy_mm, radius)
    fit = fit_base(frame.pixels, camera, *traced, radius, 0.0) if traced is not None else None
    if fit is None or np.hypot(*(fit.xy_mm - one.xy_mm)) > FARTHEST * radius:
        return None
    return fitted(camera, replace(one, lit=False), fit)


def in_common(calibration: Calibration, one: Detection, other: Detection, along: Array) -> float:
    """By how much (mm²) what two places of a piece have wrong alike lessens the variance of how far they lie apart, in
    the direction `along` (2,).
    """
    if not (_placeable(one) and _placeable(other)):
        return 0.0
    own = [place.covariance_mm2 + shade_doubt(calibration, place) for place in (one, other)]
    variances = [float(along @ covariance @ along) for covariance in own]
    return 2 * SHARED * float(np.sqrt(variances[0] * variances[1]))


def _placeable(one: Detection) -> bool:
    return one.base.shape == "circle" and not one.z_mm and not one.also


def _traced(frame: Frame, camera: Camera, xy_mm: Array, radius_mm: float) -> tuple[Array, float] | None:
    """The middle (2,) of the rim by all looks, and 1 σ of it by one: they share the picture. None where it is a rim of
    another size after all."""
    places = xy_mm + BESIDE * radius_mm * AROUND
    circles = np.column_stack([places, np.full(len(places), radius_mm)])
    reach, own = rim_of(levels_of(frame), camera, circles)
    if abs(float(np.mean(_circles(reach, own, OPEN)[0][:, 2])) - 1) > OTHER_SIZE:
        return None
    rim, sigma = _circles(reach, own, KNOWN)
    middles = places + on_board(camera, circles, rim[:, :2])
    return np.asarray(middles.mean(0)), float(radius_mm * sigma[:, 0].mean())


def _circles(reach: Array, own: Array, size: float) -> tuple[Array, Array]:
    """Circles through rims (N, 48) as `rims.circles_through` has them, the size being open or known."""
    return circles_through(reach, own, np.tile([PLACE, PLACE, size], (len(reach), 1)))
