"""Pieces at the height they stand at: a raised piece is seen displaced away from the camera.

A point z above the board appears on the board's plane D / (D − z) times as far from the point below
the camera, with D the camera's height. Whether a piece stands on an area is decided at the area's
own height, never on the plane z = 0.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import erf, sqrt

import numpy as np

from overruler.calibration import Calibration
from overruler.detections import Detection, RaisedArea
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.geometry.relief import relief_displacement_per_mm, reproject_to_height
from overruler.vision.contours.cone_fit import fit_base
from overruler.vision.contours.outlines import depth_inside_mm
from overruler.vision.contours.rare_events import NEGLIGIBLE_PROBABILITY, RARE_WITHIN_SIGMAS
from overruler.vision.contours.reproject import apply_fit, reproject_outline

EXTRA_HEIGHT_SIGMAS = 2.0
"""σ by which raised ground may be higher, for a piece that likely stands beside it."""
REFIT_START_SIGMA_MM = 1.5
"""1 σ of the start of a fit at the true height: wide, for the start comes from the same pixels."""


def raise_pieces(
    frame: Frame,
    calibration: Calibration,
    detections: Sequence[Detection],
    areas: Sequence[RaisedArea],
) -> tuple[Detection, ...]:
    """Return the detections in order, those on one of the areas fitted again at its height.

    Detections may be at any height. Where it is unsure whether a piece stands on an area, the
    likelier place is taken and the other one widens its covariance.
    """
    camera = calibration.camera
    return tuple(_raise_piece(frame, camera, detection, areas) for detection in detections)


def area_under(
    camera: Camera, detection: Detection, areas: Sequence[RaisedArea]
) -> RaisedArea | None:
    """Return the area that a piece probably stands on, the highest of equally likely ones."""
    chance, area = _likeliest_area(camera, detection, areas)
    return area if chance > 0.5 else None


def _likeliest_area(
    camera: Camera, detection: Detection, areas: Sequence[RaisedArea]
) -> tuple[float, RaisedArea | None]:
    """Return the likeliest area, the highest of equally likely ones, after its probability.

    Of a building's storeys the upper one hides the lower, so what is likely on the upper is not below.
    """
    chances = [(probability_on(camera, detection, area), area) for area in areas]
    likely = [area for chance, area in chances if chance > 0.5]
    seen = [pair for pair in chances if not any(_bears(pair[1], upper) for upper in likely)]
    return max(seen, key=lambda pair: (pair[0], pair[1].top_z_mm), default=(0.0, None))


def probability_on(camera: Camera, detection: Detection, area: RaisedArea) -> float:
    """Return the probability that a piece's centre lies within an area, at the area's height."""
    place = reproject_to_height(camera, detection.xy_mm, detection.z_mm, area.top_z_mm)
    inside_mm = depth_inside_mm(area.footprint_mm, place)
    displacement = relief_displacement_per_mm(camera, place, area.top_z_mm)
    height_error_mm = area.sigma_mm * float(np.linalg.norm(displacement))
    sigma_mm = max(float(np.hypot(area.edge_mm, height_error_mm)), 1e-6)
    return area.probability * (1 + erf(inside_mm / sigma_mm / sqrt(2))) / 2


def _raise_piece(
    frame: Frame, camera: Camera, detection: Detection, areas: Sequence[RaisedArea]
) -> Detection:
    """Return the detection at the likelier of the heights it may stand at."""
    chance, area = _likeliest_area(camera, detection, areas)
    if area is None or chance < NEGLIGIBLE_PROBABILITY:
        return detection
    beside = _place_beside(frame, camera, detection, area, areas)
    if chance < 0.5:
        return _stay_beside(camera, beside, area, chance)
    raised = _stand_on(frame, camera, detection, area)
    offset = beside.xy_mm - raised.xy_mm
    return _add_alternative(raised, area, 1 - chance, offset, offset, beside.z_mm)


def _place_beside(
    frame: Frame,
    camera: Camera,
    detection: Detection,
    area: RaisedArea,
    areas: Sequence[RaisedArea],
) -> Detection:
    """Return a piece where it stands if not on an area: on what bears the area, or beside that, too."""
    others = [other for other in areas if other is not area]
    if any(_bears(other, area) for other in others):
        return _raise_piece(frame, camera, detection, others)
    if detection.z_mm == area.base_z_mm:
        return detection
    return detection_at_height(camera, detection, area.base_z_mm)


def _bears(lower: RaisedArea, upper: RaisedArea) -> bool:
    """Tell whether raised ground stands on other ground, as the upper storey of a building does."""
    is_lower = lower.top_z_mm < upper.top_z_mm and upper.base_z_mm != 0
    return is_lower and depth_inside_mm(lower.footprint_mm, upper.footprint_mm.mean(0)) > 0


def _stay_beside(camera: Camera, beside: Detection, area: RaisedArea, chance: float) -> Detection:
    """Return a piece beside an area, with the chance that it stands on it in its covariance."""
    by_height = relief_displacement_per_mm(camera, beside.xy_mm, beside.z_mm)
    rise_mm = area.top_z_mm - beside.z_mm
    usual = by_height * np.hypot(rise_mm, area.sigma_mm)
    at_most = by_height * (rise_mm + np.copysign(EXTRA_HEIGHT_SIGMAS * area.sigma_mm, rise_mm))
    return _add_alternative(beside, area, chance, usual, at_most, area.top_z_mm)


def _stand_on(frame: Frame, camera: Camera, detection: Detection, area: RaisedArea) -> Detection:
    """Return a piece fitted on top of an area; all its pieces share the error of its height."""
    raised = _refit_at_height(frame, camera, detection, area.top_z_mm)
    displacement = relief_displacement_per_mm(camera, raised.xy_mm, area.top_z_mm)
    shift = displacement * area.sigma_mm
    return replace(
        raised,
        standing_on=area.id,
        sigma_z_mm=area.sigma_mm,
        shared_shifts_mm={area.id: area.usual_sigma_share * shift},
        rare_shifts_mm={area.id: shift},
    )


def _add_alternative(
    detection: Detection,
    area: RaisedArea,
    chance: float,
    apart_mm: Array,
    at_most_mm: Array,
    z_mm: float,
) -> Detection:
    """Add the chance that a piece lies `apart_mm` (2,) away at `z_mm`, or up to `at_most_mm`."""
    if chance < NEGLIGIBLE_PROBABILITY:
        return detection
    usual = sqrt(chance)
    rare = max(usual, 1 / RARE_WITHIN_SIGMAS)
    sigma_z = float(np.hypot(detection.sigma_z_mm, (z_mm - detection.z_mm) * rare))
    is_at_edge = 1 - area.probability < chance * 0.5
    if is_at_edge:  # no other piece shares the error
        usual_mm2 = usual**2 * np.outer(apart_mm, apart_mm)
        rare_mm2 = rare**2 * np.outer(at_most_mm, at_most_mm)
        widened = detection.with_added_covariance(usual_mm2, rare_mm2)
        return replace(widened, sigma_z_mm=sigma_z)
    cause = f"{area.id}, raised at all"
    return replace(
        detection,
        shared_shifts_mm={**detection.shared_shifts_mm, cause: usual * apart_mm},
        rare_shifts_mm={**detection.rare_shifts_mm, cause: rare * at_most_mm},
        sigma_z_mm=sigma_z,
    )


def detection_at_height(camera: Camera, detection: Detection, z_mm: float) -> Detection:
    """Return a detection at another height, seen in the same pixels."""
    eye_mm = camera.center_mm[2]
    scale = (eye_mm - z_mm) / (eye_mm - detection.z_mm)
    xy = reproject_to_height(camera, detection.xy_mm, detection.z_mm, z_mm)
    fit_covariance = detection.covariance_mm2 - detection.unmodelled_mm2
    return replace(
        detection,
        xy_mm=xy,
        z_mm=z_mm,
        covariance_mm2=fit_covariance * scale**2 + detection.unmodelled_mm2,
        d_xy_d_camera=camera.board_point_jacobian([*xy, z_mm]),
    )


def _refit_at_height(frame: Frame, camera: Camera, seen: Detection, z_mm: float) -> Detection:
    """Return a detection at another height, with round bases fitted again there."""
    moved = detection_at_height(camera, seen, z_mm)
    if moved.base.shape == "circle":
        radius, sigma = moved.base.width_mm / 2, REFIT_START_SIGMA_MM
        fit = fit_base(frame.pixels, camera, moved.xy_mm, sigma, radius, z_mm)
        if fit is not None:
            return apply_fit(camera, moved, fit)
    return reproject_outline(camera, moved)
