"""A second look: each photo is asked for the bases that others see in it and it did not find.

The place, the height and the size are known by then. A round base is scored and fitted as any other,
on the plane that it stands on, and kept where it is the same base. So is one that the photo had
measured at another height. Ovals, stadiums and ships' plates are fitted about their place and heading.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.bases import Base
from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.detection.raised_plane import RaisedPlane
from overruler.vision.detection.sizes import is_plate
from overruler.vision.learned.logits import EVEN_SCORE
from overruler.vision.learned.rim_net import estimate_rims
from overruler.vision.learned.shape_net import ShapeCandidate
from overruler.vision.pairing.levels import SAME_LEVEL_MM
from overruler.vision.pairing.sighting import SeenPhoto, Sighting
from overruler.vision.plates.find import find_plate_at
from overruler.vision.rounds.find_ovals import find_ovals_at
from overruler.vision.rounds.find_stadiums import find_stadiums_at
from overruler.vision.rounds.fit_rounds import fit_rounds

REACH_SHARE = 0.25
"""Largest distance of a base from where it is expected, as a share of its radius."""
REACH_SIGMAS = 4.0
"""The same in σ of the expected place; the larger counts."""
MIN_SCORE = 0.05
"""Least score of a base at a second look: others have seen it."""
MIN_PLATE_SCORE = 0.1
"""The same of a plate."""


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """A base that a photo should show."""

    key: int
    """Its number among the bases."""
    base: Base
    xyz_mm: Array
    """(3,): its place by the other photos."""
    sigma_mm: float
    """1 σ of the place along the board."""
    heading_deg: float


def look_again(photo: SeenPhoto, expected: Sequence[Expected]) -> dict[int, Sighting]:
    """The expected round bases, ovals, stadiums and plates that a photo shows, by their keys."""
    found = _look_for_plates(photo, [one for one in expected if is_plate(one.base)])
    for base in {one.base: None for one in expected if one.base.shape in LOOKS}:
        of_size = [one for one in expected if one.base == base]
        for level in split_levels([float(one.xyz_mm[2]) for one in of_size]):
            found |= _look_on_level(photo, base, [of_size[k] for k in level])
    return found


def _look_for_plates(photo: SeenPhoto, expected: Sequence[Expected]) -> dict[int, Sighting]:
    found: dict[int, Sighting] = {}
    for one in expected:
        turn, side_mm = float(np.radians(one.heading_deg)), one.base.width_mm
        guess = ShapeCandidate(one.xyz_mm[:2], side_mm, side_mm, turn, 1.0, EVEN_SCORE)
        plate = find_plate_at(photo.frame, photo.calibration.camera, guess)
        if plate is None or plate.score < MIN_PLATE_SCORE:
            continue
        if _is_same(one, plate.xy_mm, plate.base):
            found[one.key] = Sighting(photo, plate, again=True)
    return found


def split_levels(heights_mm: Sequence[float]) -> list[list[int]]:
    """Numbers of the bases at about one height, the lowest first."""
    levels: list[list[int]] = []
    for k in sorted(range(len(heights_mm)), key=lambda k: heights_mm[k]):
        if levels and heights_mm[k] - heights_mm[levels[-1][0]] < SAME_LEVEL_MM:
            levels[-1].append(k)
        else:
            levels.append([k])
    return levels


def _look_on_level(photo: SeenPhoto, base: Base, level: Sequence[Expected]) -> dict[int, Sighting]:
    z_mm = float(np.mean([one.xyz_mm[2] for one in level]))
    z_mm = 0.0 if abs(z_mm) < SAME_LEVEL_MM else z_mm
    calibration = photo.calibration
    plane = RaisedPlane.of(calibration, np.array([0.0, 0.0, z_mm]), calibration.board_mm)
    detections = LOOKS[base.shape](photo.frame, plane.calibration, base, level)
    seen = [plane.to_board_frame(detection) for detection in detections]
    found: dict[int, Sighting] = {}
    for one in level:
        near = [each for each in seen if _is_same(one, each.xy_mm, each.base)]
        if near:
            best = max(near, key=lambda each: each.score)
            if z_mm:
                best = replace(best, standing_on="", sigma_z_mm=0.0)
            found[one.key] = Sighting(photo, best, again=True)
    return found


def _look_for_rounds(
    frame: Frame, calibration: Calibration, base: Base, expected: Sequence[Expected]
) -> Sequence[Detection]:
    radius_mm = base.width_mm / 2
    circles = np.array([[*one.xyz_mm[:2], radius_mm] for one in expected])
    guesses = estimate_rims(frame, calibration.camera, circles)
    return fit_rounds(frame, calibration, guesses, np.array([radius_mm]), MIN_SCORE)


def _look_for_ovals(
    frame: Frame, calibration: Calibration, base: Base, expected: Sequence[Expected]
) -> Sequence[Detection]:
    is_played = not calibration.is_prepared
    return find_ovals_at(frame, calibration.camera, base, _places(expected), is_played, MIN_SCORE)


def _look_for_stadiums(
    frame: Frame, calibration: Calibration, base: Base, expected: Sequence[Expected]
) -> Sequence[Detection]:
    return find_stadiums_at(frame, calibration.camera, base, _places(expected), MIN_SCORE)


def _places(expected: Sequence[Expected]) -> Array:
    """Places (N, 3): x and y in mm, and heading in rad."""
    return np.array([[*one.xyz_mm[:2], np.radians(one.heading_deg)] for one in expected])


LOOKS = {"circle": _look_for_rounds, "oval": _look_for_ovals, "stadium": _look_for_stadiums}
"""What looks for bases of each shape on the plane that they stand on."""


def _is_same(one: Expected, xy_mm: Array, base: Base) -> bool:
    reach_mm = max(REACH_SHARE * one.base.width_mm / 2, REACH_SIGMAS * one.sigma_mm)
    apart_mm = float(np.hypot(*(xy_mm - one.xyz_mm[:2])))
    return base == one.base and apart_mm < reach_mm
