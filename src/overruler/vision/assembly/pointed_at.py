"""What a person points at in a photo, and says of it, becomes a detection with its doubt.

Each function gives the detection, and whether the photo says where it stands or only the person.
"""

from dataclasses import replace

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection, Raised
from overruler.fixes import CLICK_PX, Fix
from overruler.geometry.pose import Array
from overruler.geometry.relief import at_height, lean
from overruler.ground import RULE_MM
from overruler.report import Report
from overruler.scene import Terrain
from overruler.vision.camera.table_bow import levelled_mm
from overruler.vision.contours.reproject import drawn
from overruler.vision.detection.near_point import SIGMAS, by_hand, refit
from overruler.vision.terrain.declared import HIGHEST
from overruler.vision.terrain.standing_on import chance_on, raise_pieces

SPOT = Base.circle(1.0)
"""What stands where a person points, before it is known what that is."""
Seen = tuple[Detection, bool]


def pointed_at(report: Report, fix: Fix, name: str, base: Base, heading_deg: float) -> Seen:
    """A base at the place pointed at, on the ground that lies there or at the height told."""
    area = _ground_at(report, fix) if fix.z_mm is None else None
    z_mm = area.top_z_mm if area is not None else _below(report, fix)
    xy = _place(report, fix, z_mm)
    _check_in_photo(report, fix, xy, z_mm)
    found, fitted = _found(report, base, xy, z_mm, fix.sigma_px, heading_deg)
    if fix.heading_deg is not None:
        found = turned(report, found, fix.heading_deg)
    if area is None and fix.z_mm is None and not fix.xy_mm:  # ground that may be raised is in its doubt, as in others'
        return raise_pieces(report.frame, report.calibration, [found], report.areas)[0], fitted
    sigma_mm = area.sigma_mm if area is not None else fix.sigma_mm if fix.z_mm else 0.0
    return _at(report, found, area, sigma_mm, name), fitted


def resized(report: Report, old: Detection, base: Base, heading_deg: float | None) -> Seen:
    """A base of another size, about where the one of the wrong size was seen."""
    scale = float(report.calibration.camera.mm_per_px(np.array([*old.xy_mm, old.z_mm])))
    aside_px = abs(base.length_mm - old.base.length_mm) / 2 / SIGMAS / scale
    heading = old.heading_deg if heading_deg is None else heading_deg
    found, fitted = _found(report, base, old.xy_mm, old.z_mm, max(CLICK_PX, aside_px), heading)
    found = replace(found, on=old.on, sigma_z_mm=old.sigma_z_mm, shared_mm=old.shared_mm, rarely_mm=old.rarely_mm)
    return (found if heading_deg is None else turned(report, found, heading)), fitted


def raised(report: Report, fix: Fix, name: str, old: Detection) -> Seen:
    """A base at the height told, seen where it was seen."""
    z_mm = _below(report, fix)
    xy = at_height(report.calibration.camera, old.xy_mm, old.z_mm, z_mm)
    found, fitted = _found(report, old.base, xy, z_mm, CLICK_PX, old.heading_deg)
    return _at(report, replace(found, also=old.also), None, fix.sigma_mm, name), fitted


def turned(report: Report, detection: Detection, heading_deg: float) -> Detection:
    """The detection with the heading told."""
    known = replace(detection, heading_deg=heading_deg % 360, heading_modulo_deg=360.0, other_headings=())
    return drawn(report.calibration.camera, known)


def _found(report: Report, base: Base, xy_mm: Array, z_mm: float, sigma_px: float, heading_deg: float) -> Seen:
    """What the photo shows of a base at a place, or the person's word."""
    seen = refit(report.frame, report.calibration, base, xy_mm, z_mm, sigma_px)
    if seen is None:
        return by_hand(report.calibration.camera, base, xy_mm, z_mm, sigma_px, heading_deg), False
    return (replace(seen, heading_deg=heading_deg % 360) if base.shape == "circle" else seen), True


def _at(report: Report, detection: Detection, area: Raised | None, sigma_mm: float, name: str) -> Detection:
    """The detection with the doubt of its height, which it shares with what stands on the same area."""
    if not sigma_mm:
        return detection
    moved = lean(report.calibration.camera, detection.xy_mm, detection.z_mm) * sigma_mm
    cause = area.id if area is not None else f"{name}, told"
    on = area.id if area is not None else None
    return replace(detection, on=on, sigma_z_mm=sigma_mm, shared_mm={cause: moved})


def _place(report: Report, fix: Fix, z_mm: float) -> Array:
    """The place (2,) on the plane at a height that a person pointed at, in the photo or on the board."""
    if fix.xy_mm:  # on the table as it is; until the end places are reckoned as if it were flat
        place = np.array(fix.xy_mm)
        return 2 * place - levelled_mm(report.calibration, place, z_mm)
    place = report.calibration.camera.unproject(np.array(fix.xy_px), z_mm)
    return place if np.isfinite(place).all() else fix.fail("points above the horizon: point at the table")


def _check_in_photo(report: Report, fix: Fix, xy_mm: Array, z_mm: float) -> None:
    pixel, size = report.calibration.camera.project(np.array([*xy_mm, z_mm])), report.frame.size_px
    if not (np.isfinite(pixel).all() and (pixel >= -0.5).all() and (pixel <= np.array(size) - 0.5).all()):
        fix.fail(f"points outside the photo of {size[0]} × {size[1]} pixels")


def _ground_at(report: Report, fix: Fix) -> Raised | None:
    """The highest raised area that holds the place pointed at, at its own height."""
    camera, found = report.calibration.camera, []
    for area in map(_raised, report.scene.terrain):
        there = by_hand(camera, SPOT, _place(report, fix, area.top_z_mm), area.top_z_mm, fix.sigma_px, 0.0)
        if chance_on(camera, there, area) > 0.5:
            found.append(area)
    return max(found, key=lambda area: area.top_z_mm, default=None)


def _raised(terrain: Terrain) -> Raised:
    """Terrain as something to stand on."""
    sigma_mm = float(terrain.extra.get("sigma_mm", RULE_MM))
    return Raised(terrain.id, np.array(terrain.footprint_mm), terrain.top_z_mm, sigma_mm)


def _below(report: Report, fix: Fix) -> float:
    """The height told, the board's where none is; the camera looks down on it."""
    z_mm, eye_mm = fix.z_mm or 0.0, float(report.calibration.camera.center_mm[2])
    return (
        z_mm if z_mm < HIGHEST * eye_mm else fix.fail(f"z_mm: {z_mm:g} is too high, the camera is {eye_mm:.0f} mm up")
    )
