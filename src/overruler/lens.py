"""A lens measured once: its matrix, its distortion, and how sure they are."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from overruler.geometry.pose import Array
from overruler.reading import Node

SCHEMA = "overruler/lens/1"
ASSUMED_SIGMA = (1e-3, 1e-3, 2.0, 2.0, 2e-3, 2e-3, 2e-4, 2e-4, 1e-3)
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
        if min(matrix[0, 0], matrix[1, 1]) <= 0 or np.any(matrix[[0, 1, 2, 2, 2], [1, 0, 0, 1, 2]] != [0, 0, 0, 0, 1]):
            node["matrix"].fail("expected [[fx, 0, cx], [0, fy, cy], [0, 0, 1]]")
        covariance = node.get("covariance", _covariance, _assumed(matrix))
        return cls((int(width), int(height)), matrix, np.array(node["distortion"].vector(5)), covariance)


def _covariance(node: Node) -> Array:
    covariance = np.array(node.matrix(9, 9))
    scale = np.sqrt(np.abs(np.outer(np.diag(covariance), np.diag(covariance)))) + 1e-30
    if np.abs((covariance - covariance.T) / scale).max() > 1e-6 or np.linalg.eigvalsh(covariance / scale).min() < -1e-6:
        node.fail("is not symmetric and positive semi-definite")
    return covariance


def _assumed(matrix: Array) -> Array:
    sigma = np.array(ASSUMED_SIGMA)
    sigma[:2] *= matrix[[0, 1], [0, 1]]
    return np.diag(sigma**2)
