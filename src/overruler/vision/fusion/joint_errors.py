"""How all pieces of a table err together with the cameras of its photos.

A piece that somebody places anew in one photo errs as its camera does, and so do all pieces that the
photos placed. Without the cameras' rows its distances could not be told.
"""

from collections.abc import Sequence

import numpy as np

from overruler.calibration import CAMERA_SIZE, JOINT_SIZE, Calibration, Case
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.report import JointErrors
from overruler.vision.assembly.flag_doubts import SURE, rare_probability
from overruler.vision.fusion.fuse import FusedTable
from overruler.vision.fusion.joint_cameras import joint_camera_covariances
from overruler.vision.fusion.table_errors import map_error, shared_covariance_mm2
from overruler.vision.pairing.sighting import SeenPhoto

FLAGS_OF_TABLE = frozenset({"scale_disagrees", "marker_size", "ruler_disagrees"})
"""Problems of the table or its print, which no other photo of it can lack."""


def joint_errors(
    fused: FusedTable, order: Sequence[int], photos: Sequence[SeenPhoto], on_map: bool
) -> JointErrors:
    """The errors of all pieces in order and of all photos' cameras.

    `on_map` says that the markers' places were measured in photos.
    """
    calibration = photos[0].calibration
    both, cameras = [], []
    for rare in (False, True):
        assumed = calibration if rare else calibration.as_specified
        errors = _errors_by_cameras(fused, order, photos, rare)
        _add_table_errors(errors, fused, order, assumed)
        if on_map:
            xyz = np.column_stack([fused.fit.xy_mm[order], fused.fit.z_mm[order]])
            camera, covariance = map_error([one.calibration for one in photos], xyz, rare)
            _add_map_error(errors, camera, covariance, xyz)
            cameras.append(camera)
        both.append(errors)
    usual, rare_ones = both
    return JointErrors(
        usual, rare_ones, _probability_of_rare(photos), (cameras[0], cameras[1]) if on_map else None
    )


def _probability_of_rare(photos: Sequence[SeenPhoto]) -> float:
    """The probability that the rare covariance holds; photos that are off say nothing of others."""
    flags = {problem.flag for photo in photos for problem in photo.calibration.problems}
    sound = [photo for photo in photos if not photo.is_off]
    if not sound or flags & FLAGS_OF_TABLE:
        return SURE
    return max(rare_probability(photo.calibration.problems) for photo in sound)


def _errors_by_cameras(
    fused: FusedTable, order: Sequence[int], photos: Sequence[SeenPhoto], rare: bool
) -> Array:
    """(2 N + 17 P + 17, 2 N + 17 P + 17): the fit's places, and the cameras that they follow.

    Where photos contradict each other, the cameras may err more than stated, as the places do.
    """
    rows = (2 * np.array(order, int)[:, None] + [0, 1]).ravel()
    between = _cameras_together(photos, "strange" if rare else "usual")
    cross = fused.fit.place_gain[rows] @ _measurements_by_cameras(fused, photos, between)
    places = (fused.fit.rare_mm2 if rare else fused.fit.usual_mm2)[np.ix_(rows, rows)]
    count, cameras = len(rows), len(rows) + len(between)
    errors = np.zeros((cameras + JOINT_SIZE, cameras + JOINT_SIZE))
    errors[:count, :count] = places
    errors[:count, count:cameras] = fused.excess * cross
    errors[count:cameras, :count] = errors[:count, count:cameras].T
    errors[count:cameras, count:cameras] = fused.excess * between
    return errors


def _cameras_together(photos: Sequence[SeenPhoto], case: Case) -> Array:
    """(17 P, 17 P): the covariance of all cameras and bows."""
    place = {photo.index: _rows_of(k) for k, photo in enumerate(photos)}
    together = np.zeros((JOINT_SIZE * len(photos), JOINT_SIZE * len(photos)))
    for (i, j), covariance in joint_camera_covariances(photos, case).items():
        together[place[i], place[j]] = covariance
        together[place[j], place[i]] = covariance.T
    return together


def _measurements_by_cameras(
    fused: FusedTable, photos: Sequence[SeenPhoto], between: Array
) -> Array:
    """(R, 17 P): covariance of the fit's measurements and priors with all cameras and bows."""
    place = {photo.index: _rows_of(k) for k, photo in enumerate(photos)}
    together = np.zeros((fused.fit.place_gain.shape[1], len(between)))
    m = 0
    for base, placed in zip(fused.bases, fused.placed, strict=True):
        for one in base.sightings:
            by_camera = one.jacobian_at(placed.z_mm)
            together[2 * m : 2 * m + 2] = by_camera @ between[place[one.photo.index]]
            m += 1
    return together


def _rows_of(photo: int) -> slice:
    return slice(JOINT_SIZE * photo, JOINT_SIZE * (photo + 1))


def _add_table_errors(
    errors: Array, fused: FusedTable, order: Sequence[int], assumed: Calibration
) -> None:
    bases = [fused.bases[k].base for k in order]
    count = 2 * len(order)
    errors[:count, :count] += shared_covariance_mm2(assumed, fused.fit.xy_mm[order], bases)


def _add_map_error(errors: Array, camera: Camera, covariance: Array, xyz_mm: Array) -> None:
    """Add the map's error (17, 17) in the last rows, and how it moves places (N, 3)."""
    count = 2 * len(xyz_mm)
    moved = np.zeros((len(errors), JOINT_SIZE))
    moved[:count, :CAMERA_SIZE] = camera.board_point_jacobian(xyz_mm).reshape(-1, CAMERA_SIZE)
    moved[-JOINT_SIZE:] = np.eye(JOINT_SIZE)
    errors += moved @ covariance @ moved.T
