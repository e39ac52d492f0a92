"""Lens files: the intrinsics and distortion of a lens calibrated once, with their covariance."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from overruler.errors import BadInput
from overruler.geometry.pose import Array
from overruler.reading import Node
from overruler.reading.fields import file_path
from overruler.writing import write_atomically

SCHEMA = "overruler/lens/1"
"""Value of the key `schema` of a lens file."""
DEFAULT_SIGMAS = (1e-3, 1e-3, 2.0, 2.0, 2e-3, 2e-3, 2e-4, 2e-4, 1e-3)
"""1 σ for a lens file without covariance: fx, fy as shares; cx, cy in px; then k1 k2 p1 p2 k3."""
LENS_SIZE = 9
"""Number of a lens's parameters, the first ones of a camera: fx fy cx cy k1 k2 p1 p2 k3."""
MAX_SIZE_MISMATCH_PX = 1.0
"""Largest mismatch of a scaled copy's width or height: sizes are rounded to pixels."""
PSD_TOLERANCE = 1e-6
"""Asymmetry and negative eigenvalues, relative to the σ, that a covariance in a file may have."""
MAX_SIDE_PX = 100_000
"""Longest side of a picture, in px: ten times a large camera's."""
MIN_FOCAL_SHARE = 0.1
"""Shortest focal length over the longer side; a fisheye's is 0.3."""
MAX_FOCAL_SHARE = 50.0
"""Longest focal length over the longer side; a 600 mm telephoto lens has 17."""
MAX_ASPECT = 2.5
"""Largest ratio of fx to fy; anamorphic pictures have 2 at most."""
MAX_DISTORTION = 1000.0
"""Largest coefficient. Fits of long lenses, which bend next to nothing, reach some tens."""
MIN_REACH_SHARE = 0.5
"""A lens's model holds to here at least, as a share of the way to the picture's farthest corner.

Fits of wide lenses fold over beyond what they were fitted to, but not in the middle of pictures."""
MAX_SIGMA_SHARES = (1.0, 1.0, 1.0, 1.0, 100.0, 100.0, 100.0, 100.0, 100.0)
"""Largest σ of fx and fy as shares of them, of cx and cy as shares of the longer side, and of the
distortion. What is less sure is no knowledge of a lens."""
MAX_COVARIANCE = 1e18
"""Largest number in a covariance, in px²: far beyond the doubt of any lens, and far from overflow."""
COEFFICIENTS_BY_AXIS = (7, 6)
"""Index of the coefficient that mirroring along u or v negates: p2 goes with u, p1 with v."""


@dataclass(frozen=True, slots=True, eq=False)
class Lens:
    """A lens in the pixels of one picture size."""

    size_px: tuple[int, int]
    """Width and height of the pictures."""
    matrix: Array
    """(3, 3): intrinsic matrix."""
    distortion: Array
    """(5,): k1 k2 p1 p2 k3."""
    covariance: Array = field(repr=False)
    """(9, 9) over fx fy cx cy k1 k2 p1 p2 k3."""

    @classmethod
    def load(cls, path: str | Path) -> "Lens":
        """Read a lens file (TOML); `BadInput` names what is wrong in it."""
        node = Node.of_toml(file_path(path, "Lens.load"))
        node["schema"].choice((SCHEMA,))
        node.reject_misspelt_keys(("schema", "size_px", "matrix", "distortion", "covariance"))
        size_px = _read_size(node["size_px"])
        matrix = _read_intrinsic_matrix(node["matrix"])
        _check_possible(matrix, size_px, node["matrix"])
        covariance = node.get("covariance", _read_covariance, _default_covariance(matrix))
        _check_sigmas(covariance, matrix, size_px, node)
        distortion = _read_distortion(node["distortion"])
        _check_reach(distortion, matrix, size_px, node["distortion"])
        return cls(size_px, matrix, distortion, covariance)

    def to_toml(self) -> str:
        """The lens file's text; every number is written in full."""
        rows = ",\n".join(f"  {json.dumps(row)}" for row in self.covariance.tolist())
        return (
            f'schema = "{SCHEMA}"\n'
            f"size_px = {json.dumps(list(self.size_px))}\n"
            f"matrix = {json.dumps(self.matrix.tolist())}\n"
            f"distortion = {json.dumps(self.distortion.tolist())}  # k1 k2 p1 p2 k3\n"
            f"covariance = [  # over fx fy cx cy k1 k2 p1 p2 k3\n{rows},\n]\n"
        )

    def save(self, path: str | Path) -> None:
        """Write the lens file, whole or not at all."""
        write_atomically(path, self.to_toml())

    def for_picture(self, size_px: tuple[int, int], orientation: int = 1) -> "Lens":
        """The lens in the pixels of an upright picture of `size_px` with an EXIF orientation (1 to 8).

        The picture may be a scaled copy. `BadInput` for any other: cropping moves the principal
        point.
        """
        oriented = self._apply_orientation(orientation)
        lens = oriented if _scale_between(oriented.size_px, size_px) else self
        ratio = _scale_between(lens.size_px, size_px)
        if ratio is None:
            raise BadInput(
                f"the lens file is for {self.size_px[0]} × {self.size_px[1]} pixels, the photo has "
                f"{size_px[0]} × {size_px[1]}: make one from photos of that shape, or leave --lens away"
            )
        scaling = np.diag([ratio] * 4 + [1.0] * 5)
        shift = np.zeros(LENS_SIZE)
        shift[2:4] = (ratio - 1) / 2
        return lens._apply_linear_map(scaling, shift, size_px)

    def _apply_linear_map(self, linear: Array, shift: Array, size_px: tuple[int, int]) -> "Lens":
        """Transform the nine parameters by a matrix (9, 9) and a shift (9,)."""
        values = linear @ pack_lens(self.matrix, self.distortion) + shift
        covariance = linear @ self.covariance @ linear.T
        return Lens(size_px, intrinsic_matrix(values), values[4:], covariance)

    def _apply_orientation(self, orientation: int) -> "Lens":
        """Transpose (orientations 5 to 8), then mirror left to right, then upside down."""
        lens = self
        if orientation >= 5:
            lens = lens._transposed()
        if orientation in (2, 3, 6, 7):
            lens = lens._mirrored(0)
        if orientation in (3, 4, 7, 8):
            lens = lens._mirrored(1)
        return lens

    def _transposed(self) -> "Lens":
        width, height = self.size_px
        permutation = np.eye(LENS_SIZE)[[1, 0, 3, 2, 4, 5, 7, 6, 8]]
        return self._apply_linear_map(permutation, np.zeros(LENS_SIZE), (height, width))

    def _mirrored(self, axis: int) -> "Lens":
        signs, shift = np.ones(LENS_SIZE), np.zeros(LENS_SIZE)
        signs[[2 + axis, COEFFICIENTS_BY_AXIS[axis]]] = -1
        shift[2 + axis] = self.size_px[axis] - 1
        return self._apply_linear_map(np.diag(signs), shift, self.size_px)


def _scale_between(size_px: tuple[int, int], wanted_px: tuple[int, int]) -> float | None:
    """The scale from one picture size to another; None if their shapes differ by more than rounding."""
    horizontal, vertical = wanted_px[0] / size_px[0], wanted_px[1] / size_px[1]
    ratio = float(np.sqrt(horizontal * vertical))
    mismatch_px = max(abs(horizontal - ratio) * size_px[0], abs(vertical - ratio) * size_px[1])
    return ratio if mismatch_px <= MAX_SIZE_MISMATCH_PX else None


def _read_size(node: Node) -> tuple[int, int]:
    node.vector(2)
    width, height = (item.integer() for item in node.items())
    if not 1 <= min(width, height) <= max(width, height) <= MAX_SIDE_PX:
        node.fail(f"a picture's sides have 1 to {MAX_SIDE_PX} pixels")
    return width, height


def _read_distortion(node: Node) -> Array:
    distortion = np.array(node.vector(5))
    if np.abs(distortion).max() > MAX_DISTORTION:
        node.fail(f"no camera has a coefficient above {MAX_DISTORTION:g}")
    return distortion


def _check_possible(matrix: Array, size_px: tuple[int, int], node: Node) -> None:
    """Refuse a focal length or a principal point that no camera has."""
    fx, fy, cx, cy = (float(value) for value in matrix[[0, 1, 0, 1], [0, 1, 2, 2]])
    longer_px = max(size_px)
    remedy = "make it anew (overruler calibrate lens)"
    for focal_px in (fx, fy):
        if not MIN_FOCAL_SHARE * longer_px <= focal_px <= MAX_FOCAL_SHARE * longer_px:
            problem = f"a focal length of {focal_px:g} pixels is that of no camera"
            node.fail(f"{problem} with pictures of {size_px[0]} × {size_px[1]}: {remedy}")
    if not 1 / MAX_ASPECT <= fx / fy <= MAX_ASPECT:
        node.fail(f"fx {fx:g} and fy {fy:g} differ more than any camera's: {remedy}")
    if not (0 <= cx <= size_px[0] and 0 <= cy <= size_px[1]):
        node.fail(f"the principal point ({cx:g}, {cy:g}) lies outside the picture: {remedy}")


def _check_reach(distortion: Array, matrix: Array, size_px: tuple[int, int], node: Node) -> None:
    """Refuse a distortion that folds the picture over between its middle and its corners."""
    far_px = np.maximum(matrix[:2, 2], np.array(size_px) - matrix[:2, 2])
    corner = float(np.linalg.norm(far_px / matrix[[0, 1], [0, 1]]))
    square = (np.linspace(0, MIN_REACH_SHARE * corner, 50)) ** 2
    k1, k2, _, _, k3 = distortion
    slope = 1 + square * (3 * k1 + square * (5 * k2 + square * 7 * k3))
    if slope.min() <= 0:
        node.fail("bends the picture over at its middle: make it anew (overruler calibrate lens)")


def _check_sigmas(covariance: Array, matrix: Array, size_px: tuple[int, int], node: Node) -> None:
    """Refuse a covariance so large that the file says nothing of its lens."""
    longer_px = max(size_px)
    units = np.array([matrix[0, 0], matrix[1, 1], longer_px, longer_px, 1, 1, 1, 1, 1])
    if np.any(np.diag(covariance) > (units * MAX_SIGMA_SHARES) ** 2):
        node["covariance"].fail("says nothing of the lens, so large it is: leave --lens out")


def _read_intrinsic_matrix(node: Node) -> Array:
    matrix = np.array(node.matrix(3, 3))
    fixed = matrix[[0, 1, 2, 2, 2], [1, 0, 0, 1, 2]]
    if min(matrix[0, 0], matrix[1, 1]) <= 0 or np.any(fixed != [0, 0, 0, 0, 1]):
        node.fail("expected [[fx, 0, cx], [0, fy, cy], [0, 0, 1]]")
    return matrix


def _read_covariance(node: Node) -> Array:
    covariance = np.array(node.matrix(LENS_SIZE, LENS_SIZE))
    if np.abs(covariance).max() > MAX_COVARIANCE:
        node.fail("says nothing of the lens, so large it is: leave --lens out")
    variances = np.diag(covariance)
    scale = np.sqrt(np.abs(np.outer(variances, variances))) + 1e-30
    asymmetry = np.abs((covariance - covariance.T) / scale).max()
    if asymmetry > PSD_TOLERANCE or np.linalg.eigvalsh(covariance / scale).min() < -PSD_TOLERANCE:
        remedy = "make it anew (overruler calibrate lens)"
        node.fail(f"is not symmetric and positive semi-definite: {remedy}")
    return covariance


def _default_covariance(matrix: Array) -> Array:
    return np.diag(default_sigmas(matrix) ** 2)


def default_sigmas(matrix: Array) -> Array:
    """1 σ (9,) of a lens with this intrinsic matrix whose file has no covariance."""
    sigmas = np.array(DEFAULT_SIGMAS)
    sigmas[:2] *= matrix[[0, 1], [0, 1]]
    return sigmas


def pack_lens(matrix: Array, distortion: Array) -> Array:
    """The nine parameters fx fy cx cy k1 k2 p1 p2 k3 of a lens, as a vector (9,)."""
    return np.concatenate([matrix[[0, 1, 0, 1], [0, 1, 2, 2]], distortion])


def intrinsic_matrix(lens: Array) -> Array:
    """The intrinsic matrix (3, 3) of the parameters (9,) that `pack_lens` gives."""
    fx, fy, cx, cy = lens[:4]
    return np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]])
