"""From where the light falls, as the shadows tell that all pieces cast, and what a base's own shade does to its place.

Under a low lamp the side of a base that faces away from it is dark, and so is the mat beside: the rim lies somewhere
between the two, and whoever looks for it, learned or fitted, is drawn away from the lamp. Most where the shade lies on
the camera's side, where nothing but shade is seen. The figures' shadows are long and lie the same way: from all of them
the lamp is found to some degrees, where no single one could be told from what else is dark beside a base.
"""

from collections.abc import Sequence

import cv2
import numpy as np

from overruler.calibration import Calibration, Light, Problem
from overruler.detections import Detection
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.geometry.relief import relief_displacement_per_mm, reproject_to_height
from overruler.vision.imaging.orthophoto import Orthophoto

MIN_PIECES = 4
"""Of fewer pieces nothing is told: what lies beside one may be dark for any reason."""
DIRECTION_COUNT, SAMPLE_DISTANCES_MM = 48, np.arange(1.0, 24.0)
"""In how many directions from a base, and how far outside of its rim, the mat is looked at."""
MAX_DARKENING = 0.3
"""What is darker than usual by more than this share counts as if it were by this."""
LAMP_AZIMUTHS_RAD, LAMP_DISTANCES_M = np.radians(np.arange(0, 360, 5)), (0.9, 1.4, 2.2, 100.0)
"""Where a lamp may stand: in which direction from the board's middle, and how far off, in m."""
HARMLESS_DARKENING, FULL_DARKENING = 0.05, 0.15
"""How much darker than around, as a share, it is behind the pieces where their shade misleads nobody, and where it does
so fully: ceiling lights reach 0.05, a window 0.16, a low lamp 0.17 to 0.25."""
SHADE_SIGMA_PX, TOWARDS_CAMERA_SIGMA_PX, SHADE_SIGMA_RADII = 0.5, 2.5, 0.016
"""1 σ of a base's place along its shade in the light of a low lamp: in pixels of the photo whatever the view, and for
each unit (the tangent of the view's angle) by which the shade falls towards the camera; and as a share of its radius.
Counted on 47 rendered tables, clean, blurred and coded to death."""
WARNING_SIGMA_MM = 0.6
"""1 σ along the shade that is worth a word where the places of half of the pieces are no surer."""


def estimate_light(
    view: Orthophoto, camera: Camera, board_mm: tuple[float, float], found: Sequence[Detection]
) -> Light | None:
    """The lamp that explains the shadows of the pieces best; None where there are too few of them.

    `view` is the table from above, at most some mm a pixel.
    """
    standing = [one for one in found if one.base.shape == "circle"]
    if len(standing) < MIN_PIECES:
        return None
    seen_mm = np.array([reproject_to_height(camera, one.xy_mm, one.z_mm, 0.0) for one in standing])
    eye_mm = camera.center_mm[2]
    dark = _darkness_by_direction(
        view,
        seen_mm,
        np.array([one.base.width_mm / 2 * eye_mm / (eye_mm - one.z_mm) for one in standing]),
    )
    lamps = (
        np.array([(np.cos(turn), np.sin(turn)) for turn in LAMP_AZIMUTHS_RAD])[:, None]
        * 1000
        * np.array(LAMP_DISTANCES_M)[:, None]
    )
    places = (np.array(board_mm) / 2 + lamps).reshape(-1, 2)
    behind = [_mean_darkness_towards(dark, seen_mm - place) for place in places]
    best = int(np.argmax(behind))
    return Light(
        places[best],
        float(
            np.clip(
                (behind[best] - HARMLESS_DARKENING) / (FULL_DARKENING - HARMLESS_DARKENING), 0, 1
            )
        ),
    )


def _darkness_by_direction(view: Orthophoto, xy_mm: Array, radii_mm: Array) -> Array:
    """How dark the mat is beside each base (N,) in each direction, against what is usual there (N, DIRECTIONS)."""
    turn = np.arange(DIRECTION_COUNT) * (2 * np.pi / DIRECTION_COUNT)
    rays = np.stack([np.cos(turn), np.sin(turn)], -1)
    reach = radii_mm[:, None] + SAMPLE_DISTANCES_MM
    at = view.to_px(xy_mm[:, None, None] + reach[:, None, :, None] * rays[:, None]).astype(
        np.float32
    )
    u, v = (at[..., axis].reshape(len(at), -1) for axis in (0, 1))
    tones = cv2.cvtColor(view.pixels, cv2.COLOR_BGR2LAB)[..., 0]
    bright = cv2.remap(tones, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    usual = np.maximum(np.median(bright, axis=1), 1.0)
    darker = (
        np.clip(1 - bright / usual[:, None], -MAX_DARKENING, MAX_DARKENING)
        .reshape(at.shape[:3])
        .mean(2)
    )
    return np.asarray(darker - darker.mean(1, keepdims=True))


def _mean_darkness_towards(dark: Array, ways: Array) -> float:
    """The mean of how dark it is beside each base in one direction (N, 2)."""
    turn = np.arctan2(ways[:, 1], ways[:, 0]) * (DIRECTION_COUNT / (2 * np.pi))
    before, part = np.floor(turn).astype(int), turn % 1
    each = np.arange(len(dark))
    return float(
        np.mean(
            dark[each, before % DIRECTION_COUNT] * (1 - part)
            + dark[each, (before + 1) % DIRECTION_COUNT] * part
        )
    )


def direction_to_lamp(light: Light, one: Detection) -> Array:
    """The direction (2,) from a piece to the lamp: a unit vector, shorter only right below it."""
    way = light.lamp_mm - one.xy_mm
    return np.asarray(way / max(float(np.hypot(*way)), 1.0))


def shade_covariance_mm2(calibration: Calibration, one: Detection) -> Array:
    """What a base's own shade adds to the doubt (2, 2) of its place: along the shade alone."""
    light, camera = calibration.light, calibration.camera
    if light is None or one.measured_on_lit_side or one.base.shape == "rectangle":
        return np.zeros((2, 2))
    lamp = direction_to_lamp(light, one)
    towards = max(0.0, -float(lamp @ relief_displacement_per_mm(camera, one.xy_mm, one.z_mm)))
    scale = float(camera.mm_per_px(np.array([*one.xy_mm, one.z_mm])))
    parts_mm = (
        scale * SHADE_SIGMA_PX,
        scale * TOWARDS_CAMERA_SIGMA_PX * towards,
        SHADE_SIGMA_RADII * one.base.width_mm / 2,
    )
    return np.asarray((light.strength * np.linalg.norm(parts_mm)) ** 2 * np.outer(lamp, lamp))


def check_low_light(calibration: Calibration, found: Sequence[Detection]) -> tuple[Problem, ...]:
    """A problem where their own shade makes the pieces' places unsure."""
    sigma = (
        float(
            np.median([np.sqrt(np.trace(shade_covariance_mm2(calibration, one))) for one in found])
        )
        if found
        else 0.0
    )
    if sigma < WARNING_SIGMA_MM:
        return ()
    text = f"the light falls from low: along the shadows places are unsure by {sigma:.1f} mm; light the table from above"
    return (Problem("low_light", text),)
