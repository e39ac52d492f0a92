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
from overruler.detections import Detection, Raised
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.geometry.relief import at_height, lean
from overruler.vision.contours.cone_fit import fit_base
from overruler.vision.contours.rare_events import RARE, WITHIN_SIGMAS
from overruler.vision.contours.reproject import drawn, fitted

HIGHER_SIGMAS = 2.0
"""Where it rather stands beside raised ground, that may be higher by so many of its σ."""
NEW_START_MM = 1.5
"""1 σ of where the fit at the true height starts: wide, for the start was seen in the same pixels."""


def raise_pieces(
    frame: Frame, calibration: Calibration, detections: Sequence[Detection], areas: Sequence[Raised]
) -> tuple[Detection, ...]:
    """The detections, those that stand on one of the areas fitted again at its height, in the same order.

    A detection may come at any height. Where it is unsure whether a piece stands on an area, the likelier place is
    taken and the other one is in its doubt. Pieces nowhere near an area are returned as they are.
    """
    return tuple(_placed(frame, calibration.camera, detection, areas) for detection in detections)


def stands_on(camera: Camera, detection: Detection, areas: Sequence[Raised]) -> Raised | None:
    """The area that a piece is likelier to stand on than not, the highest of those that are as likely."""
    chance, area = _likeliest(camera, detection, areas)
    return area if chance > 0.5 else None


def _likeliest(camera: Camera, detection: Detection, areas: Sequence[Raised]) -> tuple[float, Raised | None]:
    """The area that a piece most likely stands on, the highest of those that are as likely, and how likely that is."""
    chances = [(chance_on(camera, detection, area), area) for area in areas]
    return max(chances, key=lambda pair: (pair[0], pair[1].top_z_mm), default=(0.0, None))


def chance_on(camera: Camera, detection: Detection, area: Raised) -> float:
    """The probability that a piece stands on an area: that its middle lies within the outline, at the area's height."""
    place = at_height(camera, detection.xy_mm, detection.z_mm, area.top_z_mm)
    outline = np.asarray(area.footprint_mm, np.float32).reshape(-1, 1, 2)
    inside_mm = cv2.pointPolygonTest(outline, (float(place[0]), float(place[1])), True)
    across = np.hypot(area.edge_mm, area.sigma_mm * float(np.linalg.norm(lean(camera, place, area.top_z_mm))))
    return area.probability * (1 + erf(inside_mm / max(float(across), 1e-6) / sqrt(2))) / 2


def _placed(frame: Frame, camera: Camera, detection: Detection, areas: Sequence[Raised]) -> Detection:
    """The detection at the likeliest of the heights that it may stand at."""
    chance, area = _likeliest(camera, detection, areas)
    if area is None or chance < RARE:
        return detection
    flat = moved_to(camera, detection, area.base_z_mm)
    if chance < 0.5:
        flat = detection if detection.z_mm == area.base_z_mm else flat
        other = at_height(camera, flat.xy_mm, flat.z_mm, area.top_z_mm)
        unsure = area.sigma_mm / (area.top_z_mm - area.base_z_mm)  # how high it is, if it is one
        apart = other - flat.xy_mm
        return _either(flat, area, chance, apart * float(np.hypot(1.0, unsure)), apart * (1 + HIGHER_SIGMAS * unsure))
    raised = _fitted(frame, camera, detection, area.top_z_mm)
    moved = lean(camera, raised.xy_mm, area.top_z_mm) * area.sigma_mm
    usually, rarely = {area.id: area.usual * moved}, {area.id: moved}
    raised = replace(raised, on=area.id, sigma_z_mm=area.sigma_mm, shared_mm=usually, rarely_mm=rarely)
    apart = flat.xy_mm - raised.xy_mm
    return _either(raised, area, 1 - chance, apart, apart)


def _either(detection: Detection, area: Raised, chance: float, apart_mm: Array, at_most_mm: Array) -> Detection:
    """The detection with the doubt that it may, with that chance, lie `apart_mm` (2,) away, or up to `at_most_mm`."""
    if chance < RARE:
        return detection
    usual, rare = sqrt(chance), max(sqrt(chance), 1 / WITHIN_SIGMAS)
    height = float(np.hypot(detection.sigma_z_mm, area.top_z_mm * rare))
    if 1 - area.probability < chance * 0.5:  # at the area's edge: no other piece shares it
        apart, at_most = np.outer(apart_mm, apart_mm), np.outer(at_most_mm, at_most_mm)
        return replace(detection.doubted(usual**2 * apart, rare**2 * at_most), sigma_z_mm=height)
    cause = f"{area.id}, raised at all"
    shared = {**detection.shared_mm, cause: usual * apart_mm}
    rarely = {**detection.rarely_mm, cause: rare * at_most_mm}
    return replace(detection, shared_mm=shared, rarely_mm=rarely, sigma_z_mm=height)


def moved_to(camera: Camera, detection: Detection, z_mm: float) -> Detection:
    """The detection at another height, seen where it was: its place, its doubt and its outline."""
    share = (camera.center_mm[2] - z_mm) / (camera.center_mm[2] - detection.z_mm)
    xy = at_height(camera, detection.xy_mm, detection.z_mm, z_mm)
    fits = detection.covariance_mm2 - detection.beyond_mm2
    return replace(
        detection,
        xy_mm=xy,
        z_mm=z_mm,
        covariance_mm2=fits * share**2 + detection.beyond_mm2,
        d_xy_d_camera=camera.drift([*xy, z_mm]),
    )


def _fitted(frame: Frame, camera: Camera, seen: Detection, z_mm: float) -> Detection:
    """A detection at another height, a round base fitted again there: on the board it would be larger than it is."""
    found = moved_to(camera, seen, z_mm)
    if found.base.shape == "circle":
        fit = fit_base(frame.pixels, camera, found.xy_mm, NEW_START_MM, found.base.width_mm / 2, z_mm)
        if fit is not None:
            return fitted(camera, found, fit)
    return drawn(camera, found)
