"""Reads triangles out of STL and OBJ files."""

import re
from pathlib import Path

import numpy as np

from synthetic.arrays import Array

_NUMBERS = re.compile(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)")
_HEAD_BYTES = 84
"""Of a binary STL file: 80 of remarks and 4 of the count."""


def read_triangles(path: Path) -> Array:
    """The triangles (T, 3, 3) of a mesh file."""
    return _read_obj(path) if path.suffix.lower() == ".obj" else _read_stl(path)


def _read_stl(path: Path) -> Array:
    data = path.read_bytes()
    count = int.from_bytes(data[80:_HEAD_BYTES], "little")
    if len(data) == _HEAD_BYTES + 50 * count:
        kind = np.dtype([("floats", "<f4", 12), ("rest", "<u2")])
        rows = np.frombuffer(data, kind, offset=_HEAD_BYTES)
        return np.asarray(rows["floats"][:, 3:].reshape(-1, 3, 3), float)
    return np.array(_NUMBERS.findall(data)).astype(float).reshape(-1, 3, 3)


def _read_obj(path: Path) -> Array:
    """Faces with more than three corners become fans."""
    corners, faces = [], []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("v "):
            corners.append([float(word) for word in line.split()[1:4]])
        elif line.startswith("f "):
            ring = [int(word.split("/")[0]) for word in line.split()[1:]]
            ring = [k - 1 if k > 0 else len(corners) + k for k in ring]
            faces += [[ring[0], ring[k], ring[k + 1]] for k in range(1, len(ring) - 1)]
    return np.asarray(np.array(corners, float)[np.array(faces)], float)
