"""Reads meshes with bones (.pmd) and their animations (.psa), as the game 0 A.D. has them.

Lengths are the game's units, y points up and the axes are left-handed, as in the files.
"""

from dataclasses import dataclass
from io import BytesIO
from struct import unpack

import numpy as np

from synthetic.arrays import Array, Ints

WITHOUT_BONE = 255
"""As a bone's number: the object itself."""
WITH_TEXTURES = 4
"""From this version on a mesh says how many places in textures each point has."""
_STATE = 7
"""Numbers of a bone's place: a shift and a quaternion."""


@dataclass(frozen=True, slots=True, eq=False)
class BonedMesh:
    """A mesh in the pose in which it was bound to its bones."""

    points: Array
    """(N, 3)."""
    uv: Array
    """(N, 2): places in the texture from its upper left, 0 to 1; others repeat it."""
    bones: Ints
    """(N, 4): what moves each point; as many as there are bones stands for the object itself."""
    weights: Array
    """(N, 4): how much."""
    corners: Ints
    """(T, 3)."""
    bind: Array
    """(B, 4, 4): where the bones are."""
    hooks: dict[str, tuple[int, Array]]
    """Where other meshes hang: the bone and the place in it (4, 4)."""

    def posed(self, places: Array | None) -> Array:
        """The points (N, 3) with the bones at other places (B, 4, 4)."""
        if places is None or len(places) != len(self.bind) or not len(self.bind):
            return self.points
        moves = np.concatenate([places @ np.linalg.inv(self.bind), np.eye(4)[None]])
        which = np.minimum(self.bones, len(self.bind))
        points = np.column_stack([self.points, np.ones(len(self.points))])
        moved = np.einsum("nkij,nj->nki", moves[which], points)[..., :3]
        total = np.maximum(self.weights.sum(1), 1e-9)
        return np.asarray(np.einsum("nk,nki->ni", self.weights, moved) / total[:, None])

    def hook(self, name: str, places: Array | None) -> Array | None:
        """Where a hook is (4, 4) with the bones at such places; None where there is none."""
        if name not in self.hooks:
            return None
        bone, place = self.hooks[name]
        if bone == WITHOUT_BONE:
            return place
        bones = places if places is not None and len(places) == len(self.bind) else self.bind
        return np.asarray(bones[bone] @ place)


def read_mesh(data: bytes) -> BonedMesh:
    """The mesh in a .pmd file."""
    file = BytesIO(data)
    magic, version, _, count = unpack("<4sIII", file.read(16))
    if magic != b"PSMD":
        raise ValueError("not a mesh of 0 A.D.")
    sets = _number(file) if version >= WITH_TEXTURES else 1
    kind = np.dtype(
        [("point", "<f4", 3), ("normal", "<f4", 3), ("uv", "<f4", (sets, 2)), ("bones", "u1", 4),
         ("weights", "<f4", 4)]
    )  # fmt: skip
    rows = np.frombuffer(file.read(count * kind.itemsize), kind)
    uv = rows["uv"][:, 0] * [1.0, -1.0] + [0.0, 1.0]  # the file counts from below
    corners = np.frombuffer(file.read(6 * _number(file)), "<u2").reshape(-1, 3)
    bones = np.frombuffer(file.read(4 * _STATE * _number(file)), "<f4").reshape(-1, _STATE)
    hooks = {}
    for _ in range(_number(file)):
        name = file.read(_number(file)).decode()
        state = np.frombuffer(file.read(4 * _STATE), "<f4")
        hooks[name] = (file.read(1)[0], _matrices(state[None])[0])
    return BonedMesh(
        np.asarray(rows["point"], float), uv,
        np.asarray(rows["bones"], np.intp), np.asarray(rows["weights"], float),
        np.asarray(corners, np.intp), _matrices(bones), hooks,
    )  # fmt: skip


def read_pose(data: bytes, moment: float) -> Array:
    """Where the bones are (B, 4, 4) at a moment, 0 to 1, of the animation in a .psa file."""
    file = BytesIO(data)
    magic, _, _, name = unpack("<4sIII", file.read(16))
    if magic != b"PSSA":
        raise ValueError("not an animation of 0 A.D.")
    file.read(name)
    _, bones, frames = unpack("<fII", file.read(12))
    states = np.frombuffer(file.read(4 * _STATE * bones * frames), "<f4")
    return _matrices(states.reshape(frames, bones, _STATE)[min(int(moment * frames), frames - 1)])


def _number(file: BytesIO) -> int:
    return int.from_bytes(file.read(4), "little")


def _matrices(states: Array) -> Array:
    """Shifts and quaternions (B, 7) as maps (B, 4, 4)."""
    x, y, z, w = np.asarray(states[:, 3:], float).T
    found = np.tile(np.eye(4), (len(states), 1, 1))
    turns = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    found[:, :3, :3] = np.moveaxis(np.array(turns), 2, 0)
    found[:, :3, 3] = states[:, :3]
    return found
