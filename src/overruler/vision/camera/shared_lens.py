"""Calibration of several photos through one lens: each photo's information helps the others."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from overruler.board import Board
from overruler.calibration import Calibration
from overruler.errors import BadInput, CannotMeasure
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.lens import Lens, pack_lens
from overruler.vision.camera.calibrate import calibrate_from_markers
from overruler.vision.camera.lens_prior import LensPrior, lens_prior
from overruler.vision.least_squares.schur_solver import invert_information
from overruler.vision.markers.detect import find_markers
from overruler.vision.markers.marker import Marker

FOCAL_WANDER_SHARE = 2e-3
"""1 σ of the focal length between two photos, as a share of it, by focusing."""
PRINCIPAL_POINT_WANDER_SHARE = 1e-3
"""1 σ of the principal point by image stabilization, as a share of the longer side."""
RADIAL_WANDER = 1e-4
"""1 σ of k1, k2 and k3 between two photos."""
TANGENTIAL_WANDER = 1e-5
"""1 σ of p1 and p2 between two photos."""
OUTER_ITERATIONS = 2
"""Rounds; the second one linearizes each photo about the common lens."""
MIN_EIGENVALUE = 1e-6
"""Smallest eigenvalue of the added information, in units of the information after, that is kept.
Smaller ones are rounding, or directions in which the photo says nothing."""

_Fit = tuple[Calibration, bool]
"""A photo's calibration, and whether it used the given prior: else it is cropped or stretched."""


@dataclass(frozen=True, slots=True, eq=False)
class LensInformation:
    """Information about the lens's nine parameters in canonical form."""

    information: Array
    """(9, 9): information matrix."""
    vector: Array
    """(9,): information vector, the information matrix times the mean."""


def calibrate_many(
    frames: Sequence[Frame], board: Board, lens: Lens | None = None, elsewhere: Collection[int] = ()
) -> tuple[Calibration, ...]:
    """Calibrate several photos that one camera took of one table without zooming.

    Each photo's prior is the fused information of the others; focus may differ a little. Markers
    with ids in `elsewhere` do not lie on the board. `BadInput` if the pictures differ in size,
    `CannotMeasure` with the picture's name if one of them cannot be measured.
    """
    sizes = {frame.size_px for frame in frames}
    if len(sizes) > 1:
        remedy = "give photos of one camera, held one way, uncut"
        raise BadInput(f"photos of {len(sizes)} sizes do not share a lens: {remedy}")
    board = board.without_markers(elsewhere)
    markers = [
        [marker for marker in find_markers(frame, board) if marker.id not in elsewhere]
        for frame in frames
    ]
    return calibrate_many_from_markers(frames, board, markers, lens)


def calibrate_many_from_markers(
    frames: Sequence[Frame],
    board: Board,
    seen: Sequence[Sequence[Marker]],
    lens: Lens | None = None,
) -> tuple[Calibration, ...]:
    """Calibrate several photos from the markers found in each."""
    first_priors = [lens_prior(frame, lens) for frame in frames]
    priors = list(first_priors)
    for _ in range(OUTER_ITERATIONS):
        fits = _calibrate_each(frames, board, seen, priors)
        # A cropped or stretched photo tells nothing: its lens is too open for a linear covariance.
        added = {
            k: information_added_by(calibration, priors[k])
            for k, (calibration, is_whole) in enumerate(fits)
            if is_whole
        }
        priors = [
            fuse_lens_information(prior, [other for j, other in added.items() if j != k])
            for k, prior in enumerate(first_priors)
        ]
    fits = _calibrate_each(frames, board, seen, priors)
    return tuple(calibration for calibration, _ in fits)


def _calibrate_each(
    frames: Sequence[Frame],
    board: Board,
    seen: Sequence[Sequence[Marker]],
    priors: Sequence[LensPrior],
) -> list[_Fit]:
    return [
        _calibrate_one(frame, board, markers, prior)
        for frame, markers, prior in zip(frames, seen, priors, strict=True)
    ]


def _calibrate_one(frame: Frame, board: Board, markers: Sequence[Marker], prior: LensPrior) -> _Fit:
    try:
        found, used = calibrate_from_markers(frame, board, markers, (), prior)
    except CannotMeasure as error:
        raise error.about(frame.name) from None
    return found, used is prior


def information_added_by(calibration: Calibration, prior: LensPrior) -> LensInformation:
    """What a photo added to its prior: the posterior's information minus the prior's.

    The lens differs from photo to photo, so the result has the noise `between_photo_covariance`.
    """
    mean = pack_lens(calibration.camera.matrix, calibration.camera.distortion)
    covariance = calibration.covariance[:9, :9]
    return information_between(prior, mean, covariance, between_photo_covariance(calibration))


def information_between(
    prior: LensPrior, mean: Array, covariance: Array, wander: Array
) -> LensInformation:
    """What lies between a prior and a posterior of the lens, with `wander` (9, 9) as noise."""
    after = invert_information(covariance)
    before = invert_information(prior.covariance)
    information = after - before
    vector = after @ mean - before @ prior.mean
    scale = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(information * np.outer(scale, scale))
    kept = values > MIN_EIGENVALUE
    values, vectors = values[kept], vectors[:, kept]
    root = (vectors * values**-0.5) * scale[:, None]
    photo_covariance = root @ root.T  # in the directions of which the photo says something
    directions = (vectors / scale[:, None]).T
    value = (vectors * scale[:, None]).T @ vector / values
    spread = photo_covariance + wander
    noise = directions @ spread @ directions.T
    return LensInformation(
        information=directions.T @ np.linalg.solve(noise, directions),
        vector=directions.T @ np.linalg.solve(noise, value),
    )


def between_photo_covariance(calibration: Calibration) -> Array:
    """(9, 9): covariance of the lens's parameters between photos of one camera."""
    return wander_covariance(float(calibration.camera.matrix[0, 0]), calibration.size_px)


def wander_covariance(focal: float, size_px: tuple[int, int]) -> Array:
    """The same (9, 9) for a lens of a focal length in px."""
    centre = PRINCIPAL_POINT_WANDER_SHARE * max(size_px)
    distortion = [RADIAL_WANDER] * 2 + [TANGENTIAL_WANDER] * 2 + [RADIAL_WANDER]
    covariance = np.diag(np.square([0, 0, centre, centre, *distortion]))
    covariance[:2, :2] += (FOCAL_WANDER_SHARE * focal) ** 2
    return covariance


def fuse_lens_information(prior: LensPrior, added: Sequence[LensInformation]) -> LensPrior:
    """The prior updated by other photos' information: in canonical form, information adds up."""
    information = invert_information(prior.covariance)
    vector = information @ prior.mean
    for other in added:
        information = information + other.information
        vector = vector + other.vector
    covariance = invert_information(information)
    rare = prior.rare
    if rare is not None:  # the mean follows the prior's where the others say little
        kept = covariance @ invert_information(prior.covariance)
        rare = kept @ rare @ kept.T
    return LensPrior(covariance @ vector, covariance, is_from_file=prior.is_from_file, rare=rare)
