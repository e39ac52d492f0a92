"""A lens measured once: its matrix, its distortion, and how sure they are."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from overruler.errors import BadInput
from overruler.geometry.pose import Array
from overruler.reading import Node
from overruler.writing import write_atomically

SCHEMA = "overruler/lens/1"
DEFAULT_SIGMAS = (1e-3, 1e-3, 2.0, 2.0, 2e-3, 2e-3, 2e-4, 2e-4, 1e-3)
"""1 σ of a lens file without covariance: fx and fy as shares, cx and cy in px, then k1 k2 p1 p2 k3."""


@dataclass(frozen=True, slots=True, eq=False)
class Lens:
    """A lens in the pixels of one picture size."""

    size_px: tuple[int, int]
    matrix: Array
    """(3, 3)."""
    distortion: Array
    """(5,): k1 k2 p1 p2 k3."""
    covariance: Array
    """(9, 9) over fx fy cx cy k1 k2 p1 p2 k3."""

    @classmethod
    def load(cls, path: str | Path) -> "Lens":
        """Read a lens file (TOML); `BadInput` names what is wrong in it."""
        node = Node.of_toml(Path(path))
        node["schema"].choice((SCHEMA,))
        width, height = node["size_px"].vector(2)
        if min(width, height) < 1:
            node["size_px"].fail("a picture has at least one pixel")
        matrix = np.array(node["matrix"].matrix(3, 3))
        if min(matrix[0, 0], matrix[1, 1]) <= 0 or np.any(
            matrix[[0, 1, 2, 2, 2], [1, 0, 0, 1, 2]] != [0, 0, 0, 0, 1]
        ):
            node["matrix"].fail("expected [[fx, 0, cx], [0, fy, cy], [0, 0, 1]]")
        covariance = node.get("covariance", _read_covariance, _default_covariance(matrix))
        return cls(
            (int(width), int(height)), matrix, np.array(node["distortion"].vector(5)), covariance
        )

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
        """The lens in the pixels of a picture of `size_px` as seen, turned by an EXIF orientation (1 to 8).

        The picture may be a smaller or larger copy. `BadInput` where it is not: a cut picture has another middle.
        """
        turned = self._apply_orientation(orientation)
        lens = turned if _scale_between(turned.size_px, size_px) else self
        ratio = _scale_between(lens.size_px, size_px)
        if ratio is None:
            sizes = f"{self.size_px[0]} × {self.size_px[1]} pixels, the photo has {size_px[0]} × {size_px[1]}"
            raise BadInput(
                f"the lens file is for {sizes}: make one from photos of that shape, or leave --lens away"
            )
        return lens._apply_linear_map(
            np.diag([ratio] * 4 + [1.0] * 5),
            np.array([0, 0, *[(ratio - 1) / 2] * 2, *[0] * 5]),
            size_px,
        )

    def _apply_linear_map(self, turn: Array, shift: Array, size_px: tuple[int, int]) -> "Lens":
        """The nine numbers after a linear map (9, 9) and a shift (9,)."""
        values = (
            turn @ np.concatenate([self.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], self.distortion])
            + shift
        )
        matrix = np.array([[values[0], 0, values[2]], [0, values[1], values[3]], [0, 0, 1]])
        return Lens(size_px, matrix, values[4:], turn @ self.covariance @ turn.T)

    def _apply_orientation(self, orientation: int) -> "Lens":
        """The lens after the picture was transposed (5 to 8), then mirrored left to right, then upside down."""
        lens = self
        if orientation >= 5:
            lens = lens._apply_linear_map(
                np.eye(9)[[1, 0, 3, 2, 4, 5, 7, 6, 8]],
                np.zeros(9),
                (lens.size_px[1], lens.size_px[0]),
            )
        for axis, mirrored in enumerate((orientation in (2, 3, 6, 7), orientation in (3, 4, 7, 8))):
            if mirrored:
                turn, shift = np.eye(9), np.zeros(9)
                turn[2 + axis, 2 + axis] = turn[
                    7 - axis, 7 - axis
                ] = -1  # p2 goes with x, p1 with y
                shift[2 + axis] = lens.size_px[axis] - 1
                lens = lens._apply_linear_map(turn, shift, lens.size_px)
        return lens


def _scale_between(size_px: tuple[int, int], wanted_px: tuple[int, int]) -> float | None:
    """How many times larger the wanted picture is; None where its shape differs by more than rounding to pixels."""
    across, down = wanted_px[0] / size_px[0], wanted_px[1] / size_px[1]
    ratio = float(np.sqrt(across * down))
    off_px = max(abs(across - ratio) * size_px[0], abs(down - ratio) * size_px[1])
    return ratio if off_px <= 1.0 else None


def _read_covariance(node: Node) -> Array:
    covariance = np.array(node.matrix(9, 9))
    scale = np.sqrt(np.abs(np.outer(np.diag(covariance), np.diag(covariance)))) + 1e-30
    if (
        np.abs((covariance - covariance.T) / scale).max() > 1e-6
        or np.linalg.eigvalsh(covariance / scale).min() < -1e-6
    ):
        node.fail(
            "is not symmetric and positive semi-definite: make it anew (overruler calibrate lens)"
        )
    return covariance


def _default_covariance(matrix: Array) -> Array:
    sigma = np.array(DEFAULT_SIGMAS)
    sigma[:2] *= matrix[[0, 1], [0, 1]]
    return np.diag(sigma**2)
