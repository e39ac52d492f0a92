"""How pieces err together after somebody placed some of them anew, each in one of several photos.

Such a piece errs as its photo's camera does, and as the table does for all pieces. Left out, these
errors would make some distances look surer than they are: they have opposite signs on the two sides
of a board.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.calibration import CAMERA_SIZE, JOINT_SIZE, Calibration, Covariances
from overruler.detections import Detection
from overruler.geometry.plane_doubt import NO_DOUBT
from overruler.geometry.pose import Array
from overruler.report import JointErrors
from overruler.vision.assembly.to_scene import place_jacobian, position_covariance, table_covariance


@dataclass(frozen=True, slots=True, eq=False)
class PlacedPiece:
    """A piece after corrections."""

    detection: Detection
    """On the bowed table."""
    before: int | None
    """Its number in the scene before; None where somebody placed it anew."""
    photo: int = 0
    """Number of the photo in which it was placed anew."""


def errors_after(
    errors: JointErrors, calibrations: Sequence[Calibration], pieces: Sequence[PlacedPiece]
) -> JointErrors:
    """The joint errors of pieces of which some were placed anew, in photos with `calibrations`."""
    usual, rare = (_covariance(errors, calibrations, pieces, rare) for rare in (False, True))
    return replace(errors, usual=usual, rare=rare)


def _covariance(
    errors: JointErrors,
    calibrations: Sequence[Calibration],
    pieces: Sequence[PlacedPiece],
    rare: bool,
) -> Array:
    """The covariance of all places, cameras and the map, as `JointErrors` has it."""
    by_before = _follow_errors_before(errors, calibrations, pieces, rare)
    after = by_before @ (errors.rare if rare else errors.usual) @ by_before.T
    count = 2 * len(pieces)
    after[:count, :count] += _table_errors(calibrations[0], pieces, rare)
    for photo, calibration in enumerate(calibrations):
        _add_own_errors(after, calibration, pieces, photo, rare)
    return np.asarray(after)


def _follow_errors_before(
    errors: JointErrors,
    calibrations: Sequence[Calibration],
    pieces: Sequence[PlacedPiece],
    rare: bool,
) -> Array:
    """How the errors of all places, cameras and the map follow those before."""
    cameras = JOINT_SIZE * (len(calibrations) + 1)
    first = len(errors.usual) - cameras
    follow = np.zeros((2 * len(pieces) + cameras, len(errors.usual)))
    follow[2 * len(pieces) :, first:] = np.eye(cameras)
    for k, piece in enumerate(pieces):
        two = follow[2 * k : 2 * k + 2]
        if piece.before is not None:
            two[:, 2 * piece.before : 2 * piece.before + 2] = np.eye(2)
            continue
        by_camera = place_jacobian(calibrations[piece.photo], piece.detection)
        at = first + JOINT_SIZE * piece.photo
        two[:, at : at + JOINT_SIZE] = by_camera
        if errors.map_cameras is not None:
            place = np.array([*piece.detection.xy_mm, piece.detection.z_mm])
            by_map = errors.map_cameras[rare].board_point_jacobian(place)
            two[:, -JOINT_SIZE : CAMERA_SIZE - JOINT_SIZE] = by_map
    return follow


def _table_errors(calibration: Calibration, pieces: Sequence[PlacedPiece], rare: bool) -> Array:
    """(2 N, 2 N) in mm²: of the table, with pieces placed anew; the errors before have the rest."""
    assumed = calibration if rare else calibration.as_specified
    xy = np.reshape([one.detection.xy_mm for one in pieces], (-1, 2))
    covariance = table_covariance(assumed, xy)
    stays = np.repeat([one.before is not None for one in pieces], 2)
    covariance[np.ix_(stays, stays)] = 0
    return covariance


def _add_own_errors(
    errors: Array, calibration: Calibration, pieces: Sequence[PlacedPiece], photo: int, rare: bool
) -> None:
    """Add the errors of the pieces placed anew in a photo that no other piece shares."""
    numbers = [k for k, one in enumerate(pieces) if one.before is None and one.photo == photo]
    exact = _without_shared_errors(calibration)
    own = position_covariance(exact, [pieces[k].detection for k in numbers])
    if rare and own.rare_alternative is not None:
        own = own.rare_alternative.covariance
    rows = (2 * np.array(numbers, int)[:, None] + [0, 1]).ravel()
    errors[np.ix_(rows, rows)] += own.array


def _without_shared_errors(calibration: Calibration) -> Calibration:
    """The calibration without the errors of camera, bow, scale and strain."""
    budget = replace(calibration.budget, scale_share=0.0, specified_scale_share=0.0)
    exact = Covariances.same(np.zeros((JOINT_SIZE, JOINT_SIZE)))
    return replace(calibration, covariances=exact, budget=budget, doubt=NO_DOUBT)
