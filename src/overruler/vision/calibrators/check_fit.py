"""Whether the fit of a lens says anything of the lens; a file that says nothing spoils all that is measured."""

import numpy as np

from overruler.errors import CannotMeasure
from overruler.units import SIGMAS_95
from overruler.vision.calibrators.left_out import join_reasons
from overruler.vision.calibrators.lens_fit import LensFit, PhotoFit
from overruler.vision.camera.lens_prior import DEFAULT_FOCAL_SIGMA

MAX_RMS_SQUARES = 0.02
"""Largest root mean square residual, in squares: half a millimetre on squares of 25 mm.

Paper that lies flat to a millimetre stays below; a sheet with other counts of squares leaves 0.08."""


def check_fit(fit: LensFit, found: int, square_mm: float) -> None:
    """Raise `CannotMeasure` for a fit that says nothing of the lens.

    `found` photos showed the sheet, whose squares measure `square_mm`. The message names the photos that
    the fit has left out.
    """
    reasons = join_reasons(fit.left_out)
    if 2 * len(fit.photos) <= found:
        raise CannotMeasure(
            f"no lens fits more than {len(fit.photos)} of the {found} photos: "
            f"use one camera, one zoom and one flat sheet, as printed{reasons}"
        )
    squares = float(np.median([_rms_squares(photo, square_mm) for photo in fit.photos]))
    if squares > MAX_RMS_SQUARES:
        raise CannotMeasure(
            f"no lens fits the photos, corners lie {fit.rms_px:.1f} px off ({100 * squares:.0f} % of a square): "
            f"is it the sheet that was named, and flat?{reasons}"
        )
    share = float(np.sqrt(fit.lens.covariance[0, 0])) / fit.lens.matrix[0, 0]
    if share > DEFAULT_FOCAL_SIGMA:
        raise CannotMeasure(
            f"the photos tell the focal length to ± {100 * SIGMAS_95 * share:.0f} % alone, "
            f"less than is known of any camera: add photos of the sheet leaning to every side{reasons}"
        )


def _rms_squares(photo: PhotoFit, square_mm: float) -> float:
    """The residual of a photo as a share of a square's side, as that is seen on average."""
    corners = photo.corners
    px_per_mm = np.linalg.norm(corners.xy_px.std(0)) / np.linalg.norm(corners.xyz_mm.std(0))
    return float(photo.rms_px / px_per_mm / square_mm)
