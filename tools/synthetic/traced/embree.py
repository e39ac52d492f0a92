"""Rays against triangles, by Intel's Embree."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from embreex.mesh_construction import TriangleMesh
from embreex.rtcore_scene import EmbreeScene
from numpy.typing import ArrayLike, NDArray

from synthetic.arrays import Floats, Ints
from synthetic.things.materials import Part


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """Where N rays meet their first triangle."""

    triangle: Ints
    """(N,); -1 where there is none."""
    u: Floats
    """(N, 1): the second corner's share."""
    v: Floats
    """(N, 1): the third corner's."""
    reach: Floats
    """(N, 1): in lengths of the ray's direction."""
    face: Floats
    """(N, 3): the triangle's own normal, of any length."""

    def __getitem__(self, mask: NDArray[np.bool_]) -> "Hits":
        return Hits(
            self.triangle[mask], self.u[mask], self.v[mask], self.reach[mask], self.face[mask]
        )


class Solid:
    """The triangles of some parts, in the order of the parts."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._scene = EmbreeScene()
        TriangleMesh(
            self._scene, np.concatenate([p.mesh.points_mm for p in parts]).astype(np.float32)
        )

    def meet(self, origins_mm: Floats, rays: Floats) -> Hits:
        """What rays (N, 3) from (N, 3) meet first."""
        found = self._scene.run(origins_mm, rays, output=1)
        u, v, reach = (found[key][:, None] for key in ("u", "v", "tfar"))
        return Hits(found["primID"].astype(np.intp), u, v, reach, found["Ng"])

    def nearest(self, origins_mm: Floats, rays: Floats, reach: Floats) -> Ints:
        """The triangle (N,) met within `reach` (N,) lengths of the ray; -1 where there is none."""
        return np.asarray(self._scene.run(origins_mm, rays, dists=reach), np.intp)

    def shades(self, origins_mm: Floats, rays: Floats) -> NDArray[np.bool_]:
        """Which rays (N,) meet anything."""
        return np.asarray(self._scene.run(origins_mm, rays, query="OCCLUDED") >= 0)

    def hides(self, points_mm: ArrayLike, eye_mm: ArrayLike) -> NDArray[np.bool_]:
        """Which points (N, 3) cannot be seen from the eye (3,)."""
        points = np.asarray(points_mm, np.float32)
        return self.shades(points, np.asarray(eye_mm, np.float32) - points)
