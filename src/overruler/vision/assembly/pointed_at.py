"""Detections from what a person points at in a photo and says of it.

Each function returns the detection. Its `is_seen` says whether the photo confirms its place.
"""

from dataclasses import replace

import numpy as np

from overruler.bases import Base
from overruler.declared_terrain import HEIGHT_SIGMA_MM
from overruler.detections import Detection, RaisedArea
from overruler.errors import BadInput
from overruler.fixes import CLICK_SIGMA_PX, Fix
from overruler.geometry.pose import Array
from overruler.geometry.relief import relief_displacement_per_mm, reproject_to_height
from overruler.records import TerrainRecord
from overruler.report import Report
from overruler.scene import Terrain
from overruler.vision.camera.table_bow import correct_for_bow_mm
from overruler.vision.contours.reproject import reproject_outline
from overruler.vision.detection.near_point import (
    SEARCH_RADIUS_SIGMA,
    find_near_point,
    place_by_hand,
)
from overruler.vision.terrain.declared import MAX_HEIGHT_SHARE
from overruler.vision.terrain.standing_on import probability_on, raise_pieces

POINT_BASE = Base.circle(1.0)
"""Stands for the piece while the ground below it is sought."""


def detect_at_point(
    report: Report, fix: Fix, name: str, base: Base, heading_deg: float
) -> Detection:
    """A base where a fix points, on the ground there or at the height that it gives."""
    area = _highest_ground_at(report, fix) if fix.z_mm is None else None
    z_mm = area.top_z_mm if area is not None else _checked_height(report, fix)
    xy = _pointed_place(report, fix, z_mm)
    _check_in_photo(report, fix, xy, z_mm)
    found = _fit_or_trust_person(report, base, xy, z_mm, fix.sigma_px, heading_deg)
    if fix.heading_deg is not None:
        found = set_heading(report, found, fix.heading_deg)
    if area is None and fix.z_mm is None and not fix.xy_mm:
        # ground that may be raised enters its covariance, as it does for any piece
        (found,) = raise_pieces(report.frame, report.calibration, [found], report.areas)
        return found
    if area is not None:
        return _with_height_sigma(report, found, area.id, area.sigma_mm, area.id)
    sigma_mm = fix.sigma_mm if fix.z_mm else 0.0
    return _with_height_sigma(report, found, None, sigma_mm, f"height of {name}")


def resize_detection(
    report: Report, old: Detection, base: Base, heading_deg: float | None
) -> Detection:
    """A base of another size, near where the one of the wrong size was found."""
    camera = report.calibration.camera
    scale = float(camera.mm_per_px(np.array([*old.xy_mm, old.z_mm])))
    aside_px = abs(base.length_mm - old.base.length_mm) / 2 / SEARCH_RADIUS_SIGMA / scale
    sigma_px = max(CLICK_SIGMA_PX, aside_px)
    heading = old.heading_deg if heading_deg is None else heading_deg
    found = _fit_or_trust_person(report, base, old.xy_mm, old.z_mm, sigma_px, heading)
    found = replace(
        found,
        standing_on=old.standing_on,
        sigma_z_mm=old.sigma_z_mm,
        shared_shifts_mm=old.shared_shifts_mm,
        rare_shifts_mm=old.rare_shifts_mm,
    )
    if heading_deg is not None:
        found = set_heading(report, found, heading)
    return found


def raise_detection(report: Report, fix: Fix, name: str, old: Detection) -> Detection:
    """A base at the height that a fix gives, seen at the same place in the photo."""
    z_mm = _checked_height(report, fix)
    xy = reproject_to_height(report.calibration.camera, old.xy_mm, old.z_mm, z_mm)
    found = _fit_or_trust_person(report, old.base, xy, z_mm, CLICK_SIGMA_PX, old.heading_deg)
    found = replace(found, alternative_bases=old.alternative_bases)
    return _with_height_sigma(report, found, None, fix.sigma_mm, f"height of {name}")


def set_heading(report: Report, detection: Detection, heading_deg: float) -> Detection:
    """The detection with a known heading."""
    known = replace(
        detection, heading_deg=heading_deg % 360, heading_modulo_deg=360.0, other_headings=()
    )
    return reproject_outline(report.calibration.camera, known)


def _fit_or_trust_person(
    report: Report, base: Base, xy_mm: Array, z_mm: float, sigma_px: float, heading_deg: float
) -> Detection:
    """A base fitted to the photo near a place, or else put there."""
    found = find_near_point(report.frame, report.calibration, base, xy_mm, z_mm, sigma_px)
    if found is None:
        camera = report.calibration.camera
        return place_by_hand(camera, base, xy_mm, z_mm, sigma_px, heading_deg)
    if base.shape == "circle":
        found = replace(found, heading_deg=heading_deg % 360)
    return found


def _with_height_sigma(
    report: Report, detection: Detection, area_id: str | None, sigma_mm: float, cause: str
) -> Detection:
    """The detection with an uncertain height; detections with the same cause share that error."""
    if not sigma_mm:
        return detection
    camera = report.calibration.camera
    per_mm = relief_displacement_per_mm(camera, detection.xy_mm, detection.z_mm)
    shifts = {cause: per_mm * sigma_mm}
    return replace(detection, standing_on=area_id, sigma_z_mm=sigma_mm, shared_shifts_mm=shifts)


def _pointed_place(report: Report, fix: Fix, z_mm: float) -> Array:
    """The place (2,) on the plane at a height that a fix points at, in the photo or on the board."""
    if fix.xy_mm:
        # on the real table; all pieces are corrected for the bow at the end, so undo that here
        place = np.array(fix.xy_mm)
        return 2 * place - correct_for_bow_mm(report.calibration, place, z_mm)
    place = report.calibration.camera.unproject(np.array(fix.xy_px), z_mm)
    if not np.isfinite(place).all():
        fix.fail("points above the horizon: point at the table")
    return place


def _check_in_photo(report: Report, fix: Fix, xy_mm: Array, z_mm: float) -> None:
    pixel = report.calibration.camera.project(np.array([*xy_mm, z_mm]))
    size = report.frame.size_px
    highest = np.array(size) - 0.5
    inside = (pixel >= -0.5).all() and (pixel <= highest).all()
    if not (np.isfinite(pixel).all() and inside):
        fix.fail(f"points outside the photo of {size[0]} × {size[1]} pixels")


def _highest_ground_at(report: Report, fix: Fix) -> RaisedArea | None:
    """The highest raised area that a fix points at, each at its own height; None for the board."""
    camera, found = report.calibration.camera, []
    for area in map(_to_raised, report.scene.terrain):
        xy = _pointed_place(report, fix, area.top_z_mm)
        point = place_by_hand(camera, POINT_BASE, xy, area.top_z_mm, fix.sigma_px, 0.0)
        if probability_on(camera, point, area) > 0.5:
            found.append(area)
    return max(found, key=lambda area: area.top_z_mm, default=None)


def _to_raised(terrain: Terrain) -> RaisedArea:
    """The raised area of a scene's terrain."""
    recorded = TerrainRecord.from_json(terrain.extra).sigma_mm
    sigma_mm = HEIGHT_SIGMA_MM if recorded is None else recorded
    return RaisedArea(terrain.id, np.array(terrain.footprint_mm), terrain.top_z_mm, sigma_mm)


def _checked_height(report: Report, fix: Fix) -> float:
    """The height that a fix gives, or the board's; it must lie below the camera."""
    z_mm = fix.z_mm or 0.0
    eye_mm = float(report.calibration.camera.center_mm[2])
    if z_mm >= MAX_HEIGHT_SHARE * eye_mm:
        what = f"{fix.location}: z_mm: {z_mm:g} is too high"
        raise BadInput(what, in_mm=f", the camera is {eye_mm:.0f} mm up")
    return z_mm
