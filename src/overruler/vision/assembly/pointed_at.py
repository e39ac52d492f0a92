"""What a person points at in a photo, and says of it, becomes a detection with its doubt.

Each function gives the detection, and whether the photo says where it stands or only the person.
"""

from dataclasses import replace

import numpy as np

from overruler.bases import Base
from overruler.declared_terrain import HEIGHT_SIGMA_MM
from overruler.detections import Detection, RaisedArea
from overruler.fixes import CLICK_SIGMA_PX, Fix
from overruler.geometry.pose import Array
from overruler.geometry.relief import relief_displacement_per_mm, reproject_to_height
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
"""What stands where a person points, before it is known what that is."""
MaybeFitted = tuple[Detection, bool]


def detect_at_point(
    report: Report, fix: Fix, name: str, base: Base, heading_deg: float
) -> MaybeFitted:
    """A base at the place pointed at, on the ground that lies there or at the height told."""
    area = _highest_ground_at(report, fix) if fix.z_mm is None else None
    z_mm = area.top_z_mm if area is not None else _checked_height(report, fix)
    xy = _pointed_place(report, fix, z_mm)
    _check_in_photo(report, fix, xy, z_mm)
    found, fitted = _fit_or_trust_person(report, base, xy, z_mm, fix.sigma_px, heading_deg)
    if fix.heading_deg is not None:
        found = set_heading(report, found, fix.heading_deg)
    if (
        area is None and fix.z_mm is None and not fix.xy_mm
    ):  # ground that may be raised is in its doubt, as in others'
        return raise_pieces(report.frame, report.calibration, [found], report.areas)[0], fitted
    sigma_mm = area.sigma_mm if area is not None else fix.sigma_mm if fix.z_mm else 0.0
    return _with_height_sigma(report, found, area, sigma_mm, name), fitted


def resize_detection(
    report: Report, old: Detection, base: Base, heading_deg: float | None
) -> MaybeFitted:
    """A base of another size, about where the one of the wrong size was seen."""
    scale = float(report.calibration.camera.mm_per_px(np.array([*old.xy_mm, old.z_mm])))
    aside_px = abs(base.length_mm - old.base.length_mm) / 2 / SEARCH_RADIUS_SIGMA / scale
    heading = old.heading_deg if heading_deg is None else heading_deg
    found, fitted = _fit_or_trust_person(
        report, base, old.xy_mm, old.z_mm, max(CLICK_SIGMA_PX, aside_px), heading
    )
    found = replace(
        found,
        standing_on=old.standing_on,
        sigma_z_mm=old.sigma_z_mm,
        shared_shifts_mm=old.shared_shifts_mm,
        rare_shifts_mm=old.rare_shifts_mm,
    )
    return (found if heading_deg is None else set_heading(report, found, heading)), fitted


def raise_detection(report: Report, fix: Fix, name: str, old: Detection) -> MaybeFitted:
    """A base at the height told, seen where it was seen."""
    z_mm = _checked_height(report, fix)
    xy = reproject_to_height(report.calibration.camera, old.xy_mm, old.z_mm, z_mm)
    found, fitted = _fit_or_trust_person(
        report, old.base, xy, z_mm, CLICK_SIGMA_PX, old.heading_deg
    )
    return _with_height_sigma(
        report, replace(found, alternative_bases=old.alternative_bases), None, fix.sigma_mm, name
    ), fitted


def set_heading(report: Report, detection: Detection, heading_deg: float) -> Detection:
    """The detection with the heading told."""
    known = replace(
        detection, heading_deg=heading_deg % 360, heading_modulo_deg=360.0, other_headings=()
    )
    return reproject_outline(report.calibration.camera, known)


def _fit_or_trust_person(
    report: Report, base: Base, xy_mm: Array, z_mm: float, sigma_px: float, heading_deg: float
) -> MaybeFitted:
    """What the photo shows of a base at a place, or the person's word."""
    seen = find_near_point(report.frame, report.calibration, base, xy_mm, z_mm, sigma_px)
    if seen is None:
        return place_by_hand(
            report.calibration.camera, base, xy_mm, z_mm, sigma_px, heading_deg
        ), False
    return (replace(seen, heading_deg=heading_deg % 360) if base.shape == "circle" else seen), True


def _with_height_sigma(
    report: Report, detection: Detection, area: RaisedArea | None, sigma_mm: float, name: str
) -> Detection:
    """The detection with the doubt of its height, which it shares with what stands on the same area."""
    if not sigma_mm:
        return detection
    moved = (
        relief_displacement_per_mm(report.calibration.camera, detection.xy_mm, detection.z_mm)
        * sigma_mm
    )
    cause = area.id if area is not None else f"{name}, told"
    on = area.id if area is not None else None
    return replace(detection, standing_on=on, sigma_z_mm=sigma_mm, shared_shifts_mm={cause: moved})


def _pointed_place(report: Report, fix: Fix, z_mm: float) -> Array:
    """The place (2,) on the plane at a height that a person pointed at, in the photo or on the board."""
    if fix.xy_mm:  # on the table as it is; until the end places are reckoned as if it were flat
        place = np.array(fix.xy_mm)
        return 2 * place - correct_for_bow_mm(report.calibration, place, z_mm)
    place = report.calibration.camera.unproject(np.array(fix.xy_px), z_mm)
    return (
        place
        if np.isfinite(place).all()
        else fix.fail("points above the horizon: point at the table")
    )


def _check_in_photo(report: Report, fix: Fix, xy_mm: Array, z_mm: float) -> None:
    pixel, size = report.calibration.camera.project(np.array([*xy_mm, z_mm])), report.frame.size_px
    if not (
        np.isfinite(pixel).all() and (pixel >= -0.5).all() and (pixel <= np.array(size) - 0.5).all()
    ):
        fix.fail(f"points outside the photo of {size[0]} × {size[1]} pixels")


def _highest_ground_at(report: Report, fix: Fix) -> RaisedArea | None:
    """The highest raised area that holds the place pointed at, at its own height."""
    camera, found = report.calibration.camera, []
    for area in map(_to_raised, report.scene.terrain):
        there = place_by_hand(
            camera,
            POINT_BASE,
            _pointed_place(report, fix, area.top_z_mm),
            area.top_z_mm,
            fix.sigma_px,
            0.0,
        )
        if probability_on(camera, there, area) > 0.5:
            found.append(area)
    return max(found, key=lambda area: area.top_z_mm, default=None)


def _to_raised(terrain: Terrain) -> RaisedArea:
    """Terrain as something to stand on."""
    sigma_mm = float(terrain.extra.get("sigma_mm", HEIGHT_SIGMA_MM))
    return RaisedArea(terrain.id, np.array(terrain.footprint_mm), terrain.top_z_mm, sigma_mm)


def _checked_height(report: Report, fix: Fix) -> float:
    """The height told, the board's where none is; the camera looks down on it."""
    z_mm, eye_mm = fix.z_mm or 0.0, float(report.calibration.camera.center_mm[2])
    return (
        z_mm
        if z_mm < MAX_HEIGHT_SHARE * eye_mm
        else fix.fail(f"z_mm: {z_mm:g} is too high, the camera is {eye_mm:.0f} mm up")
    )
