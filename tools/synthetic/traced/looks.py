"""Materials as arrays: the colour of many points at once."""

from collections.abc import Sequence

import numpy as np

from synthetic.arrays import Floats, Ints, Picture
from synthetic.develop import LIGHT
from synthetic.noise import TILE
from synthetic.things.materials import Material, grains

REFLECTANCE = 0.012 + 0.84 * LIGHT
"""Of a print's 256 values."""


class Looks:
    """The parts' materials."""

    def __init__(self, materials: Sequence[Material]) -> None:
        names = list(grains())
        self._maps = np.stack([grains()[n] for n in names])
        self._color = np.array([m.color for m in materials], np.float32)
        self._second = np.array(
            [m.second or [0.75 * c for c in m.color] for m in materials], np.float32
        )
        self._map = np.array([names.index(m.grain) for m in materials])
        self._per_mm = np.array([TILE / m.grain_mm for m in materials], np.float32)
        self.gloss, self.rough, self.clear = np.array(
            [[m.gloss, m.rough, m.clear] for m in materials], np.float32
        ).T
        self._prints = {
            i: (m.image, m.sharp) for i, m in enumerate(materials) if m.image is not None
        }
        self._printed = np.array([m.image is not None for m in materials])

    def albedo(self, part: Ints, points: Floats, face: Floats, uv: Floats) -> Floats:
        """Reflectances (N, 3) of parts (N,) at points (N, 3) with normals (N, 3), and uv (N, 2) on their prints."""
        result = np.empty_like(points)
        printed = self._printed[part]
        grained = np.flatnonzero(~printed)
        result[grained] = self._grained(part[grained], points[grained], face[grained])
        for i in np.unique(part[printed]).tolist():
            mine = np.flatnonzero(part == i)
            image, sharp = self._prints[i]
            result[mine] = (cell if sharp else smooth)(image, uv[mine])
        return result

    def _grained(self, part: Ints, points: Floats, face: Floats) -> Floats:
        """Two colours mixed by a grain map, laid on from the side that the surface faces most."""
        steep = np.abs(face)
        side = steep[:, 2] < np.maximum(steep[:, 0], steep[:, 1])
        across = np.where(side & (steep[:, 0] > steep[:, 1]), points[:, 1], points[:, 0])
        along = np.where(side, points[:, 2], points[:, 1])
        scale = self._per_mm[part]
        columns, rows = (
            (across * scale).astype(np.intp) % TILE,
            (along * scale).astype(np.intp) % TILE,
        )
        share = self._maps[self._map[part], rows, columns][:, None]
        return np.asarray(self._color[part] * (1 - share) + self._second[part] * share)


def cell(image: Picture, uv: Floats) -> Floats:
    """A print's own cells (N, 3), with hard edges."""
    rows, columns = image.shape[:2]
    row, column = ((1 - uv[:, 1]) * rows).astype(np.intp), (uv[:, 0] * columns).astype(np.intp)
    return np.asarray(REFLECTANCE[image[row.clip(0, rows - 1), column.clip(0, columns - 1)]])


def smooth(image: Picture, uv: Floats) -> Floats:
    """A print between its pixels (N, 3)."""
    rows, columns = image.shape[:2]
    x = (uv[:, 0] * columns - np.float32(0.5)).clip(0, columns - 1.001)
    y = ((1 - uv[:, 1]) * rows - np.float32(0.5)).clip(0, rows - 1.001)
    column, row = x.astype(np.intp), y.astype(np.intp)
    u, v = (x - np.floor(x))[:, None], (y - np.floor(y))[:, None]
    top, low = (
        REFLECTANCE[image[r, column]] * (1 - u) + REFLECTANCE[image[r, column + 1]] * u
        for r in (row, np.minimum(row + 1, rows - 1))
    )
    return np.asarray(top * (1 - v) + low * v)
