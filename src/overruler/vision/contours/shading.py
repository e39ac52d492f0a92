"""Estimate the lamp from the pieces' shadows, and the error that a base's own shade causes.

Under a low lamp the side of a base away from the lamp is dark, and so is the mat beside it. The rim
lies somewhere between, so both networks and fits are drawn away from the lamp, most of all where
the shade faces the camera. The figures' shadows are long and parallel. All of them together give
the lamp's direction to a few degrees; a single one cannot be told from other dark things beside a
base.
"""

from collections.abc import Sequence

import cv2
import numpy as np

from overruler.calibration import Calibration, Light, Problem
from overruler.detections import Detection
from overruler.geometry.batched.vectors import unit_vectors
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.geometry.relief import relief_displacement_per_mm, reproject_to_height
from overruler.units import SIGMAS_95
from overruler.vision.imaging.orthophoto import Orthophoto

MIN_PIECES = 4
"""Least number of pieces. Whatever lies beside a single one may be dark for any reason."""
DIRECTION_COUNT = 48
"""Number of directions from a base in which the mat is sampled."""
SAMPLE_DISTANCES_MM = np.arange(1.0, 24.0)
"""Distances outside of the rim at which it is sampled, in mm."""
MAX_DARKENING = 0.3
"""Darkening is clipped to ± this share of the usual brightness."""
LAMP_AZIMUTHS_RAD = np.radians(np.arange(0, 360, 5))
"""Tried directions from the board's centre to the lamp, in rad."""
LAMP_DISTANCES_M = (0.9, 1.4, 2.2, 100.0)
"""Tried distances from the board's centre to the lamp, in m."""
HARMLESS_DARKENING = 0.05
"""Darkening behind the pieces, as a share, that misleads nothing. Ceiling lights reach it."""
FULL_DARKENING = 0.15
"""Darkening at the shade's full effect: a window has 0.16, a low lamp 0.17 to 0.25."""
SHADE_SIGMA_PX = 0.5
"""1 σ of a place along its shade under a low lamp, in px of the photo.

This and the next two were counted on 47 rendered tables: clean, blurred and heavily compressed.
"""
TOWARDS_CAMERA_SIGMA_PX = 2.5
"""The same in px for each unit (tangent of the view angle) of shade towards the camera."""
SHADE_SIGMA_RADII = 0.016
"""The same as a share of the radius."""
USUAL_SHADE_SHARE = 0.3
"""Usual 1 σ of the shading error, as a share of that of the worst shade."""
COMMON_SHADE_SIGMA_PX = 0.21
"""1 σ of the part of that error, in px, which a base has in photos from all sides: the rim's dark and
bright sides stay where they are. The likeliest for 463 bases on 18 rendered tables of three photos."""
WARNING_SIGMA_MM = 0.6
"""Median 1 σ along the shade from which the calibration reports a problem, in mm."""


def estimate_light(
    view: Orthophoto, camera: Camera, board_mm: tuple[float, float], found: Sequence[Detection]
) -> Light | None:
    """Estimate the lamp that explains the pieces' shadows best; None with too few pieces.

    `view` is the orthophoto of the table, at a few mm per px or finer.
    """
    standing = [detection for detection in found if detection.base.shape == "circle"]
    if len(standing) < MIN_PIECES:
        return None
    seen_mm = [reproject_to_height(camera, each.xy_mm, each.z_mm, 0.0) for each in standing]
    eye_mm = camera.center_mm[2]
    radii_mm = [each.base.width_mm / 2 * eye_mm / (eye_mm - each.z_mm) for each in standing]
    xy_mm = np.array(seen_mm)
    dark = _darkness_by_direction(view, xy_mm, np.array(radii_mm))
    lamps_mm = _tried_lamps_mm(board_mm)
    behind = [_mean_darkness_towards(dark, xy_mm - lamp) for lamp in lamps_mm]
    best = int(np.argmax(behind))
    excess = behind[best] - HARMLESS_DARKENING
    strength = float(np.clip(excess / (FULL_DARKENING - HARMLESS_DARKENING), 0, 1))
    return Light(lamps_mm[best], strength)


def _tried_lamps_mm(board_mm: tuple[float, float]) -> Array:
    """Return the lamp positions (N, 2) to try."""
    directions = np.array([(np.cos(angle), np.sin(angle)) for angle in LAMP_AZIMUTHS_RAD])
    distances_m = np.array(LAMP_DISTANCES_M)[:, None]
    lamps = directions[:, None] * 1000 * distances_m
    centre = np.array(board_mm) / 2
    return np.asarray((centre + lamps).reshape(-1, 2))


def _darkness_by_direction(view: Orthophoto, xy_mm: Array, radii_mm: Array) -> Array:
    """Measure how dark the mat beside N bases is by direction (N, 48), against each base's mean."""
    angle = np.arange(DIRECTION_COUNT, dtype=float) * (2 * np.pi / DIRECTION_COUNT)
    rays = unit_vectors(angle)
    reach = radii_mm[:, None] + SAMPLE_DISTANCES_MM
    offsets_mm = reach[:, None, :, None] * rays[:, None]
    places_mm = xy_mm[:, None, None] + offsets_mm
    at = view.to_px(places_mm).astype(np.float32)
    u = at[..., 0].reshape(len(at), -1)
    v = at[..., 1].reshape(len(at), -1)
    lightness = cv2.cvtColor(view.pixels, cv2.COLOR_BGR2LAB)[..., 0]
    bright = cv2.remap(lightness, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    usual = np.maximum(np.median(bright, axis=1), 1.0)
    darkening = 1 - bright / usual[:, None]
    darkening = np.clip(darkening, -MAX_DARKENING, MAX_DARKENING)
    by_direction = darkening.reshape(at.shape[:3]).mean(2)
    return np.asarray(by_direction - by_direction.mean(1, keepdims=True))


def _mean_darkness_towards(dark: Array, ways: Array) -> float:
    """Return the mean darkness beside N bases, each in one direction (N, 2), interpolated."""
    angle = np.arctan2(ways[:, 1], ways[:, 0])
    turn = angle * (DIRECTION_COUNT / (2 * np.pi))
    before, part = np.floor(turn).astype(int), turn % 1
    each = np.arange(len(dark))
    lower = dark[each, before % DIRECTION_COUNT]
    upper = dark[each, (before + 1) % DIRECTION_COUNT]
    return float(np.mean(lower * (1 - part) + upper * part))


def direction_to_lamp(light: Light, one: Detection) -> Array:
    """Unit vector (2,) from the piece to the lamp; shorter within 1 mm of the point below it."""
    way = light.lamp_mm - one.xy_mm
    return np.asarray(way / max(float(np.hypot(*way)), 1.0))


def shade_covariance_mm2(calibration: Calibration, one: Detection) -> Array:
    """Return the covariance (2, 2) that a base's own shade adds to its place."""
    light, camera = calibration.light, calibration.camera
    if light is None or one.measured_on_lit_side or one.base.shape == "rectangle":
        return np.zeros((2, 2))
    lamp = direction_to_lamp(light, one)
    lean = relief_displacement_per_mm(camera, one.xy_mm, one.z_mm)
    towards = max(0.0, -float(lamp @ lean))
    place_mm = np.array([*one.xy_mm, one.z_mm])
    scale = float(camera.mm_per_px(place_mm))
    parts_mm = (
        scale * SHADE_SIGMA_PX,
        scale * TOWARDS_CAMERA_SIGMA_PX * towards,
        SHADE_SIGMA_RADII * one.base.width_mm / 2,
    )
    sigma_mm = light.strength * np.linalg.norm(parts_mm)
    return np.asarray(sigma_mm**2 * np.outer(lamp, lamp))


def common_shade_mm(calibration: Calibration, one: Detection) -> Array:
    """Return the shift (2,) by a base's own shade that photos from all sides have in common, 1 σ."""
    light = calibration.light
    if light is None or one.measured_on_lit_side or one.base.shape == "rectangle":
        return np.zeros(2)
    scale = float(calibration.camera.mm_per_px(np.array([*one.xy_mm, one.z_mm])))
    return light.strength * COMMON_SHADE_SIGMA_PX * scale * direction_to_lamp(light, one)


def check_low_light(calibration: Calibration, found: Sequence[Detection]) -> tuple[Problem, ...]:
    """Report a problem where the pieces' own shade makes their places unsure."""
    if not found:
        return ()
    variances = [np.trace(shade_covariance_mm2(calibration, each)) for each in found]
    sigma = float(np.median(np.sqrt(variances)))
    if sigma < WARNING_SIGMA_MM:
        return ()
    text = (
        f"the light falls from low: along the shadows places are unsure by ± {SIGMAS_95 * sigma:.1f} mm (95 %); "
        "light the table from above"
    )
    return (Problem("low_light", text),)
