"""Pieces at the height they stand at: what lies on a raised area is seen displaced away from the camera.

A point z above the board is seen on the board's plane D / (D − z) times as far from the point below the camera, the
camera's height being D. Which pieces stand on what is decided at each area's own height, never on the plane z = 0.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import erf, sqrt

import cv2
import numpy as np

from overruler.calibration import Calibration
from overruler.detections import Detection, RaisedArea
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.geometry.relief import relief_displacement_per_mm, reproject_to_height
from overruler.vision.contours.cone_fit import fit_base
from overruler.vision.contours.rare_events import NEGLIGIBLE_PROBABILITY, RARE_WITHIN_SIGMAS
from overruler.vision.contours.reproject import apply_fit, reproject_outline

EXTRA_HEIGHT_SIGMAS = 2.0
"""Where it rather stands beside raised ground, that may be higher by so many of its σ."""
REFIT_START_SIGMA_MM = 1.5
"""1 σ of where the fit at the true height starts: wide, for the start was seen in the same pixels."""


def raise_pieces(
    frame: Frame,
    calibration: Calibration,
    detections: Sequence[Detection],
    areas: Sequence[RaisedArea],
) -> tuple[Detection, ...]:
    """The detections, those that stand on one of the areas fitted again at its height, in the same order.

    A detection may come at any height. Where it is unsure whether a piece stands on an area, the likelier place is
    taken and the other one is in its doubt. Pieces nowhere near an area are returned as they are.
    """
    return tuple(
        _raise_piece(frame, calibration.camera, detection, areas) for detection in detections
    )


def area_under(
    camera: Camera, detection: Detection, areas: Sequence[RaisedArea]
) -> RaisedArea | None:
    """The area that a piece is likelier to stand on than not, the highest of those that are as likely."""
    chance, area = _likeliest_area(camera, detection, areas)
    return area if chance > 0.5 else None


def _likeliest_area(
    camera: Camera, detection: Detection, areas: Sequence[RaisedArea]
) -> tuple[float, RaisedArea | None]:
    """The area that a piece most likely stands on, the highest of those that are as likely, and how likely that is."""
    chances = [(probability_on(camera, detection, area), area) for area in areas]
    return max(chances, key=lambda pair: (pair[0], pair[1].top_z_mm), default=(0.0, None))


def probability_on(camera: Camera, detection: Detection, area: RaisedArea) -> float:
    """The probability that a piece stands on an area: that its middle lies within the outline, at the area's height."""
    place = reproject_to_height(camera, detection.xy_mm, detection.z_mm, area.top_z_mm)
    outline = np.asarray(area.footprint_mm, np.float32).reshape(-1, 1, 2)
    inside_mm = cv2.pointPolygonTest(outline, (float(place[0]), float(place[1])), True)
    across = np.hypot(
        area.edge_mm,
        area.sigma_mm
        * float(np.linalg.norm(relief_displacement_per_mm(camera, place, area.top_z_mm))),
    )
    return area.probability * (1 + erf(inside_mm / max(float(across), 1e-6) / sqrt(2))) / 2


def _raise_piece(
    frame: Frame, camera: Camera, detection: Detection, areas: Sequence[RaisedArea]
) -> Detection:
    """The detection at the likeliest of the heights that it may stand at."""
    chance, area = _likeliest_area(camera, detection, areas)
    if area is None or chance < NEGLIGIBLE_PROBABILITY:
        return detection
    flat = detection_at_height(camera, detection, area.base_z_mm)
    if chance < 0.5:
        flat = detection if detection.z_mm == area.base_z_mm else flat
        other = reproject_to_height(camera, flat.xy_mm, flat.z_mm, area.top_z_mm)
        unsure = area.sigma_mm / (area.top_z_mm - area.base_z_mm)  # how high it is, if it is one
        apart = other - flat.xy_mm
        return _add_alternative(
            flat,
            area,
            chance,
            apart * float(np.hypot(1.0, unsure)),
            apart * (1 + EXTRA_HEIGHT_SIGMAS * unsure),
        )
    raised = _refit_at_height(frame, camera, detection, area.top_z_mm)
    moved = relief_displacement_per_mm(camera, raised.xy_mm, area.top_z_mm) * area.sigma_mm
    usually, rarely = {area.id: area.usual_sigma_share * moved}, {area.id: moved}
    raised = replace(
        raised,
        standing_on=area.id,
        sigma_z_mm=area.sigma_mm,
        shared_shifts_mm=usually,
        rare_shifts_mm=rarely,
    )
    apart = flat.xy_mm - raised.xy_mm
    return _add_alternative(raised, area, 1 - chance, apart, apart)


def _add_alternative(
    detection: Detection, area: RaisedArea, chance: float, apart_mm: Array, at_most_mm: Array
) -> Detection:
    """The detection with the doubt that it may, with that chance, lie `apart_mm` (2,) away, or up to `at_most_mm`."""
    if chance < NEGLIGIBLE_PROBABILITY:
        return detection
    usual, rare = sqrt(chance), max(sqrt(chance), 1 / RARE_WITHIN_SIGMAS)
    height = float(np.hypot(detection.sigma_z_mm, area.top_z_mm * rare))
    if 1 - area.probability < chance * 0.5:  # at the area's edge: no other piece shares it
        apart, at_most = np.outer(apart_mm, apart_mm), np.outer(at_most_mm, at_most_mm)
        return replace(
            detection.with_added_covariance(usual**2 * apart, rare**2 * at_most), sigma_z_mm=height
        )
    cause = f"{area.id}, raised at all"
    shared = {**detection.shared_shifts_mm, cause: usual * apart_mm}
    rarely = {**detection.rare_shifts_mm, cause: rare * at_most_mm}
    return replace(detection, shared_shifts_mm=shared, rare_shifts_mm=rarely, sigma_z_mm=height)


def detection_at_height(camera: Camera, detection: Detection, z_mm: float) -> Detection:
    """The detection at another height, seen where it was: its place, its doubt and its outline."""
    share = (camera.center_mm[2] - z_mm) / (camera.center_mm[2] - detection.z_mm)
    xy = reproject_to_height(camera, detection.xy_mm, detection.z_mm, z_mm)
    fits = detection.covariance_mm2 - detection.unmodelled_mm2
    return replace(
        detection,
        xy_mm=xy,
        z_mm=z_mm,
        covariance_mm2=fits * share**2 + detection.unmodelled_mm2,
        d_xy_d_camera=camera.board_point_jacobian([*xy, z_mm]),
    )


def _refit_at_height(frame: Frame, camera: Camera, seen: Detection, z_mm: float) -> Detection:
    """A detection at another height, a round base fitted again there: on the board it would be larger than it is."""
    found = detection_at_height(camera, seen, z_mm)
    if found.base.shape == "circle":
        fit = fit_base(
            frame.pixels, camera, found.xy_mm, REFIT_START_SIGMA_MM, found.base.width_mm / 2, z_mm
        )
        if fit is not None:
            return apply_fit(camera, found, fit)
    return reproject_outline(camera, found)
