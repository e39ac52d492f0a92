"""From where another photo would help: the doubt of a distance that it would leave.

The photo is imagined: a camera like the report's own, as far away and as tilted, on another side of
the table, or close by on the same side. It sees both bases, and fits them as well as this photo does.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from overruler.calibration import Advice, Calibration
from overruler.detections import Detection
from overruler.geometry.pose import Array
from overruler.geometry.relief import relief_displacement_per_mm
from overruler.records import MovedRecord
from overruler.report import Report
from overruler.units import SIGMAS_95
from overruler.verdict import CERTAIN, Verdict
from overruler.vision.contours.shading import common_shade_mm
from overruler.vision.fusion.joint_errors import FLAGS_OF_TABLE
from overruler.vision.fusion.table_errors import shared_covariance_mm2
from overruler.vision.hanging.ground_fit import GROUND_HEIGHT_SIGMA_MM
from overruler.vision.next_photo.close_up import aim_camera, imagine_close_up
from overruler.vision.pairing.sighting import SeenPhoto, Sighting

SIDES = (
    *((90, "the near side"), (135, "the near right"), (180, "the right"), (225, "the far right")),
    *((270, "the far side"), (315, "the far left"), (0, "the left"), (45, "the near left")),
)
"""Headings in which cameras look over the board, in degrees counter-clockwise from +x, and the sides
of the board on which they stand."""
CLOSE_BY = "close by"
"""The place of a close-up of both bases."""
MAX_REMAINING_SHARE = 0.7
"""A photo is advised if at most this share of the doubt remains."""
MIN_GAIN_MM = 0.1
"""A photo is advised if the half-width of the 95 % interval shrinks by at least so much, in mm: the last
digit of a distance that people read."""
LEAST_TILT_DEG = 20.0
"""A camera that looks straight down sees no more from another side: it is tilted by so much."""
FIT_SIGMA_PX = 0.3
"""Least 1 σ of a fit in the photo that is not there yet, in px."""


def advise_photo(report: Report, verdicts: Sequence[Verdict]) -> Advice | None:
    """The best side for another photo, for the first ruling that is not certain; None if none helps.

    No photo helps where a piece moved between several: it cannot tell which place holds.
    """
    open_ones = [one for one in verdicts if one.pair and one.sigma_mm and one.call != CERTAIN]
    moved = {one.id for one in MovedRecord.all_in(report.scene.extra)}
    pieces = enumerate(report.scene.pieces)
    indices = {piece.id: k for k, piece in pieces if piece.id not in moved}
    for verdict in open_ones:
        assert verdict.pair is not None
        if set(verdict.pair) <= set(indices) and verdict.pair[0] != verdict.pair[1]:
            first, second = (indices[name] for name in verdict.pair)
            advice = _advise_for(report, first, second)
            # Whoever reads the ruling beside it finds its own doubt again.
            before_mm = verdict.sigma_mm or 0.0
            if advice is None or SIGMAS_95 * (before_mm - advice.after_mm) < MIN_GAIN_MM:
                return None
            return replace(advice, before_mm=before_mm)
    return None


def _advise_for(report: Report, first: int, second: int) -> Advice | None:
    if report.scene.covariance is None:
        return None
    ends = [report.detections[first], report.detections[second]]
    along = ends[1].xy_mm - ends[0].xy_mm
    along = along / max(float(np.hypot(*along)), 1e-9)
    gradient = np.concatenate([-along, along])
    before = _block(report.scene.covariance.array, first, second)
    flags = {problem.flag for problem in report.calibration.problems}
    is_sound = not flags & FLAGS_OF_TABLE  # what is wrong with the table is wrong in every photo
    table = shared_covariance_mm2(
        report.calibration.as_specified if is_sound else report.calibration,
        np.stack([end.xy_mm for end in ends]),
        [end.base for end in ends],
    )
    shared = table + _shade_of_both(report.calibration, ends)
    options = [
        (_sigma(gradient, _joined(before, shared, _from_side(report, ends, heading_deg))), place)
        for heading_deg, place in SIDES
    ]
    close = _from_close_by(report, ends)
    if close is not None:
        as_here = shared + _camera_covariance(report.calibration, _imagined(report, ends))
        options.append((_sigma(gradient, _joined(before, as_here, close)), CLOSE_BY))
    best_mm, place = min(options)
    before_mm = _sigma(gradient, before)
    if best_mm > MAX_REMAINING_SHARE * before_mm:
        return None
    names = [report.scene.pieces[k].id for k in (first, second)]
    photo = "a close-up of both" if place == CLOSE_BY else f"a photo from {place}"
    text = f"{photo} would reduce the doubt between {names[0]} and {names[1]}"
    return Advice(text, before_mm, best_mm, place)


def _joined(before: Array, shared: Array, added: Array) -> Array:
    """(4, 4): covariance by this photo and another one, which `shared` of the errors leave alike."""
    own = _positive(before - shared)
    return np.asarray(np.linalg.inv(np.linalg.inv(own) + np.linalg.inv(added)) + shared)


def _shade_of_both(calibration: Calibration, ends: Sequence[Detection]) -> Array:
    """(4, 4): covariance by the shade of one lamp, which photos from all sides share."""
    covariance = np.zeros((4, 4))
    for k, end in enumerate(ends):
        shift = common_shade_mm(calibration, end)
        two = slice(2 * k, 2 * k + 2)
        covariance[two, two] = np.outer(shift, shift)
    return covariance


def _block(covariance: Array, first: int, second: int) -> Array:
    at = [2 * first, 2 * first + 1, 2 * second, 2 * second + 1]
    return np.asarray(covariance[np.ix_(at, at)])


def _positive(matrix: Array) -> Array:
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, 1e-4)) @ vectors.T)


def _sigma(gradient: Array, covariance: Array) -> float:
    variance = float(gradient @ covariance @ gradient)
    return float(np.sqrt(max(variance, 0.0)))


def _seen_from(calibration: Calibration, heading_deg: float) -> Calibration:
    """The calibration of a like photo taken while looking in a heading over the board."""
    camera = calibration.camera
    middle = np.array([*np.array(calibration.board_mm) / 2, 0.0])
    arm = camera.center_mm - middle
    height_mm = float(arm[2])
    least_mm = height_mm * float(np.tan(np.radians(LEAST_TILT_DEG)))
    away_mm = max(float(np.hypot(arm[0], arm[1])), least_mm)
    x, y = np.cos(np.radians(heading_deg)), np.sin(np.radians(heading_deg))
    eye = middle + np.array([-away_mm * x, -away_mm * y, height_mm])
    return replace(calibration, camera=aim_camera(camera, eye, middle))


def _from_side(report: Report, ends: Sequence[Detection], heading_deg: float) -> Array:
    """(4, 4): covariance of both bases in a like photo taken while looking in a heading."""
    calibration = _seen_from(report.calibration, heading_deg)
    sightings = _imagined(replace(report, calibration=calibration), ends)
    return _camera_covariance(calibration, sightings) + _own_covariance(sightings)


def _from_close_by(report: Report, ends: Sequence[Detection]) -> Array | None:
    """(4, 4): what a close-up adds to the errors of this photo's camera; None where none helps."""
    places = np.array([[*end.xy_mm, end.z_mm] for end in ends])
    calibration = imagine_close_up(report.calibration, report.frame, places)
    if calibration is None:
        return None
    sightings = _imagined(replace(report, calibration=calibration), ends)
    relief = [
        relief_displacement_per_mm(report.calibration.camera, end.xy_mm, end.z_mm) for end in ends
    ]
    by_height = GROUND_HEIGHT_SIGMA_MM * np.concatenate(relief)
    added = _camera_covariance(calibration, sightings) + _own_covariance(sightings)
    return np.asarray(added + np.outer(by_height, by_height))


def _imagined(report: Report, ends: Sequence[Detection]) -> list[Sighting]:
    """Two bases as a photo that is not there yet shows them."""
    photo = SeenPhoto(0, report.frame, report.calibration, ())
    sightings = []
    for end in ends:
        place = np.array([*end.xy_mm, end.z_mm])
        sigma_mm = FIT_SIGMA_PX * float(report.calibration.camera.mm_per_px(place))
        jacobian = report.calibration.camera.board_point_jacobian(place)
        fit = replace(
            end,
            covariance_mm2=np.eye(2) * sigma_mm**2,
            unmodelled_mm2=np.zeros((2, 2)),
            d_xy_d_camera=jacobian,
        )
        sightings.append(Sighting(photo, fit))
    return sightings


def _camera_covariance(calibration: Calibration, sightings: Sequence[Sighting]) -> Array:
    """(4, 4): covariance of two bases by the camera alone."""
    jacobian = np.concatenate([one.jacobian_at(one.detection.z_mm) for one in sightings])
    return np.asarray(jacobian @ calibration.covariances.usual @ jacobian.T)


def _own_covariance(sightings: Sequence[Sighting]) -> Array:
    """(4, 4): covariance of two bases by their fits alone."""
    covariance = np.zeros((4, 4))
    for k, one in enumerate(sightings):
        two = slice(2 * k, 2 * k + 2)
        covariance[two, two] = one.own_covariance_mm2(rare=False)
    return covariance
