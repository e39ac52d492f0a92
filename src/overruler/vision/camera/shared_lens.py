"""Several photos through one lens: each says a little about it, and all of them together what no single one can."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from overruler.board import Board
from overruler.calibration import Calibration
from overruler.errors import BadInput, CannotMeasure
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.lens import Lens
from overruler.vision.camera.bundle_adjustment import LensPrior
from overruler.vision.camera.calibrate import calibrate_from_markers
from overruler.vision.camera.lens_prior import lens_prior
from overruler.vision.camera.schur_solver import invert_information
from overruler.vision.markers.detect import find_markers
from overruler.vision.markers.marker import Marker

FOCAL_WANDER_SHARE, PRINCIPAL_POINT_WANDER_SHARE = 2e-3, 1e-3
"""1 σ between two photos: of the focal length as a share of it, by focusing; of the middle as a share of the picture's
longer side, where the lens is held steady against a shaking hand."""
OUTER_ITERATIONS = 2
"""The second time each photo is solved about the common lens, where what it says of the lens is truer."""


@dataclass(frozen=True, slots=True, eq=False)
class LensInformation:
    """What one photo says about the lens beside what was known before."""

    information: Array
    """(9, 9)."""
    vector: Array
    """(9,): the information times the lens that it speaks for."""


def calibrate_many(
    frames: Sequence[Frame], board: Board, lens: Lens | None = None, elsewhere: Collection[int] = ()
) -> tuple[Calibration, ...]:
    """The cameras of several photos that one camera took of one table, without zooming between them.

    Each photo is calibrated with what the others say about the lens as a prior; focus may differ a little. Markers
    whose ids are `elsewhere` do not lie on the board. Raises `BadInput` where the pictures' sizes differ,
    `CannotMeasure` with the picture's name where one of them cannot be measured.
    """
    sizes = {frame.size_px for frame in frames}
    if len(sizes) > 1:
        raise BadInput(
            f"photos of {len(sizes)} sizes do not share a lens: give photos of one camera, held one way, uncut"
        )
    board = board.without_markers(elsewhere)
    seen = [
        [marker for marker in find_markers(frame, board) if marker.id not in elsewhere]
        for frame in frames
    ]
    return calibrate_many_from_markers(frames, board, seen, lens)


def calibrate_many_from_markers(
    frames: Sequence[Frame],
    board: Board,
    seen: Sequence[Sequence[Marker]],
    lens: Lens | None = None,
) -> tuple[Calibration, ...]:
    """The same once the markers of each photo are found."""
    before = [lens_prior(frame, lens) for frame in frames]
    priors = list(before)
    for _ in range(OUTER_ITERATIONS):
        found = _calibrate_each(frames, board, seen, priors, lens)
        words = [information_added_by(one, prior) for one, prior in zip(found, priors, strict=True)]
        priors = [
            fuse_lens_information(before[k], [word for j, word in enumerate(words) if j != k])
            for k in range(len(frames))
        ]
    return tuple(_calibrate_each(frames, board, seen, priors, lens))


def _calibrate_each(
    frames: Sequence[Frame],
    board: Board,
    seen: Sequence[Sequence[Marker]],
    priors: Sequence[LensPrior],
    lens: Lens | None,
) -> list[Calibration]:
    return [
        _calibrate_one(frame, board, markers, prior, lens is not None)
        for frame, markers, prior in zip(frames, seen, priors, strict=True)
    ]


def _calibrate_one(
    frame: Frame, board: Board, seen: Sequence[Marker], prior: LensPrior, lens: bool
) -> Calibration:
    try:
        return calibrate_from_markers(frame, board, seen, (), prior, lens)
    except CannotMeasure as error:
        raise CannotMeasure(f"{frame.name}: {error}") from None


def information_added_by(found: Calibration, prior: LensPrior) -> LensInformation:
    """What the photo added to its prior: the information after less that before, in a lens steadied by focus."""
    camera = found.camera
    mean = np.concatenate([camera.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], camera.distortion])
    after, before = (
        invert_information(found.covariance[:9, :9]),
        invert_information(prior.covariance),
    )
    information, vector = after - before, after @ mean - before @ prior.mean
    scale = np.sqrt(np.diag(found.covariance)[:9])
    values, vectors = np.linalg.eigh(information * np.outer(scale, scale))
    kept = values > 1e-6  # rounding, and directions in which the photo says nothing
    basis = (vectors[:, kept] * values[kept] ** -0.5) * scale[:, None]
    spread = basis @ basis.T  # its own covariance, in the directions that it speaks of
    speaks = (vectors[:, kept] / scale[:, None]).T
    value = (vectors[:, kept] * scale[:, None]).T @ vector / values[kept]
    noise = speaks @ (spread + between_photo_covariance(found)) @ speaks.T
    return LensInformation(
        speaks.T @ np.linalg.solve(noise, speaks), speaks.T @ np.linalg.solve(noise, value)
    )


def between_photo_covariance(found: Calibration) -> Array:
    """(9, 9): how a lens differs from photo to photo, one σ squared."""
    focal, longer = found.camera.matrix[0, 0], max(found.size_px)
    covariance = np.diag(
        np.square(
            [0, 0, *[PRINCIPAL_POINT_WANDER_SHARE * longer] * 2, *[1e-4] * 2, *[1e-5] * 2, 1e-4]
        )
    )
    covariance[:2, :2] += (FOCAL_WANDER_SHARE * focal) ** 2
    return covariance


def fuse_lens_information(prior: LensPrior, words: Sequence[LensInformation]) -> LensPrior:
    """The prior with what other photos say."""
    information = invert_information(prior.covariance)
    vector = information @ prior.mean
    for word in words:
        information, vector = information + word.information, vector + word.vector
    covariance = invert_information(information)
    return LensPrior(covariance @ vector, covariance)
