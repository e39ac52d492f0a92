"""How the cameras of all photos of a table err together.

Photos by one camera share its lens's error. A photo that hangs on others by the ground follows their
errors, and has an error of its own beside them. The ground's height is off alike for all that hang.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from overruler.calibration import JOINT_SIZE, Case
from overruler.geometry.pose import Array
from overruler.vision.fusion.common_lens import common_covariances
from overruler.vision.pairing.sighting import SeenPhoto


def joint_camera_covariances(
    photos: Sequence[SeenPhoto], case: Case
) -> dict[tuple[int, int], Array]:
    """Covariances (17, 17) of cameras and bows, within each photo and between two, by their numbers.

    Of two photos only one order is there; pairs that are not there do not correlate.
    """
    own = {photo.index: photo.camera_covariance(case) for photo in photos}
    found = {(k, k): covariance for k, covariance in own.items()}
    calibrations = {photo.index: photo.calibration for photo in photos}
    found |= common_covariances(calibrations, own)
    numbers = {id(photo.frame): photo.index for photo in photos}
    follows = {
        photo.index: {
            numbers[id(lean.frame)]: lean.by_camera
            for lean in photo.leans
            if id(lean.frame) in numbers
        }
        for photo in photos
    }
    hanging = {k: some for k, some in follows.items() if some}
    heights = {
        photo.index: np.sum([lean.by_height for lean in photo.leans], axis=0)
        for photo in photos
        if photo.index in hanging
    }
    return _with_hanging(found, hanging, heights, set(own)) if hanging else found


def _with_hanging(
    found: Mapping[tuple[int, int], Array],
    hanging: Mapping[int, Mapping[int, Array]],
    heights: Mapping[int, Array],
    numbers: set[int],
) -> dict[tuple[int, int], Array]:
    """The covariances where photos hang on others, by what they follow of these and of the ground's height.

    `heights` (17,) are what each follows of that, by 1 σ of it.
    """
    standing = sorted(numbers - set(hanging))
    joint = {pair: found[pair] for pair in found if not set(pair) & set(hanging)}

    def between(i: int, j: int) -> Array:
        if (i, j) in joint:
            return joint[i, j]
        return joint[j, i].T if (j, i) in joint else np.zeros_like(found[i, i])

    nothing = np.zeros((JOINT_SIZE, JOINT_SIZE))
    followed: dict[tuple[int, int], Array] = {}
    for k, some in hanging.items():
        for j in standing:
            followed[k, j] = sum((by @ between(r, j) for r, by in some.items()), nothing)
    both: dict[tuple[int, int], Array] = {}
    order = sorted(hanging)
    for n, k in enumerate(order):
        for m in order[n:]:
            by_others = (followed[k, r] @ by.T for r, by in hanging[m].items())
            both[k, m] = sum(by_others, np.outer(heights[k], heights[m]))
    for k in order:
        both[k, k] = both[k, k] + _positive_part(found[k, k] - both[k, k])
    return joint | followed | both


def _positive_part(matrix: Array) -> Array:
    """A symmetric matrix without its negative eigenvalues, in units of its diagonal."""
    scale = np.sqrt(np.maximum(np.abs(np.diag(matrix)), 1e-30))
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2 / np.outer(scale, scale))
    root = vectors * np.sqrt(np.maximum(values, 0.0)) * scale[:, None]
    return np.asarray(root @ root.T)
