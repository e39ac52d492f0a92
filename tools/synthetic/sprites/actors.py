"""Puts bodies of the game 0 A.D. together: a mesh in a pose, its texture, and what hangs on it."""

import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from PIL import Image

from synthetic.arrays import Array, Floats, Rng
from synthetic.sprites.read_pmd import BonedMesh, read_mesh, read_pose
from synthetic.sprites.shapes import Shape
from synthetic.sprites.skins import Piece, skinned

_UPRIGHT = np.array([[1.0, 0, 0], [0, 0, 1], [0, 1, 0]])
"""From y upwards and left-handed to z upwards and right-handed."""
ALMOST_STILL = ("idle", "walk", "run")
"""Animations that stand in for one that is missing."""
HEADGEAR, HEAD_SIZE = ("head", "helmet"), 1.25
"""What hangs there is so much larger than on people: miniatures have large heads."""
HELD, HELD_SIZE = ("weapon_R", "weapon_L", "weapon_bow", "shield", "shield_arm"), 1.2
"""What hangs there is in a hand, and so much larger: miniatures have thick weapons."""
ALIKE = {"attack_melee": ("attack_ranged",), "attack_ranged": ("attack_melee",)}
"""What stands in for an animation first."""
NEVER = ("projectile", "decal", "garrisoned")
"""What hangs there is not seen."""


@dataclass
class _Look:
    """What the chosen variants of an actor say together."""

    mesh: str = ""
    textures: dict[str, str] = field(default_factory=dict)
    colour: Floats | None = None
    hung: dict[str, list[str]] = field(default_factory=dict)
    poses: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """Animations by name: each one's id and file."""


@dataclass(frozen=True)
class Pose:
    """What a body is doing: the name of an animation, which of its kinds, and the moment, 0 to 1."""

    name: str
    kind: int
    moment: float


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """Where something is in a body, and what the body is doing."""

    pose: Pose
    matrix: Array
    """(4, 4)."""
    stout: float
    hand: Array | None = None
    """(3,): where the hand is that holds it; None: it is worn."""

    def hung(self, hook: str, at: Array) -> "_Place":
        """The place of what hangs on a hook at `at` (4, 4)."""
        size = HEAD_SIZE if hook in HEADGEAR else HELD_SIZE if hook in HELD else 1.0
        matrix = self.matrix @ at @ np.diag([size, size, size, 1.0])
        hand = matrix[:3, 3] if self.hand is None and hook in HELD else self.hand
        return replace(self, matrix=matrix, hand=hand)

    def upright(self, points: Array) -> Array:
        """Points (N, 3) of it, z upwards: the body is stouter, but what it holds is not."""
        moved = points @ self.matrix[:3, :3].T + self.matrix[:3, 3]
        wide = np.array([self.stout, 1.0, self.stout])
        moved = moved * wide if self.hand is None else moved + self.hand * (wide - 1)
        return np.asarray(moved @ _UPRIGHT.T)


class Actors:
    """The actors in the game's archive."""

    def __init__(self, archive: Path) -> None:
        self._zip = zipfile.ZipFile(archive)

    def body(self, actor: str, pose: Pose, side_px: float, stout: float, rng: Rng) -> Shape:
        """An actor in a pose, for pictures whose longest side is `side_px`; which of its variants chance says.

        It is so much stouter than in the game.
        """
        player = np.asarray(rng.dirichlet(np.full(3, 0.5)) * 1.5, np.float32).clip(0, 1)
        pieces = [*self._pieces(actor, _Place(pose, np.eye(4), stout), set(), player, rng)]
        return skinned(pieces, side_px, rng)

    def _pieces(
        self, actor: str, place: "_Place", chosen: set[str], player: Floats, rng: Rng
    ) -> Iterator[Piece]:
        """The meshes of an actor at a place, of its own variants those of the names `chosen`."""
        root = self._xml(f"art/actors/{actor}")
        look, chosen = self._look(root, chosen, rng)
        mesh, bones = None, None
        if look.mesh:
            mesh = read_mesh(self._zip.read(f"art/meshes/{_cached(look.mesh, '.pmd')}"))
            bones = self._bones(mesh, look, place.pose)
            texture = self._texture(look, root.findtext("material") or "", player)
            if texture is not None:
                points = place.upright(mesh.posed(bones))[mesh.corners]
                yield Piece(points, mesh.uv[mesh.corners], texture, place.hand is not None)
        for hook, names in look.hung.items():
            at = _hook(mesh, hook, bones)
            for name in names:
                if at is not None and self._has(f"art/actors/{name}"):
                    yield from self._pieces(name, place.hung(hook, at), chosen, player, rng)

    def _look(
        self, root: ElementTree.Element, chosen: set[str], rng: Rng
    ) -> tuple[_Look, set[str]]:
        look, chosen = _Look(), {*chosen}
        for group in root.iter("group"):
            variants = group.findall("variant")
            named = [one for one in variants if one.get("name", "").lower() in chosen]
            usual = [one for one in variants if self._frequency(one) > 0]
            pool = named or usual or variants[:1]
            if pool:
                one = pool[0] if named else pool[int(rng.integers(len(pool)))]
                chosen.add(one.get("name", "").lower())
                self._add(look, one)
        return look, chosen - {"", "base", "idle"}

    def _frequency(self, variant: ElementTree.Element) -> float:
        """How often a variant is chosen: as it says, or as its file does."""
        own, file = variant.get("frequency"), variant.get("file")
        if own is None and file:
            own = self._xml(f"art/variants/{file}").get("frequency")
        return float(own or 0)

    def _add(self, look: _Look, variant: ElementTree.Element) -> None:
        if variant.get("file"):
            self._add(look, self._xml(f"art/variants/{variant.get('file')}"))
        look.mesh = (variant.findtext("mesh") or look.mesh).strip()
        colour = variant.findtext("color")
        if colour:
            look.colour = np.asarray([int(one) / 255 for one in colour.split()], np.float32)
        for one in variant.iterfind("textures/texture"):
            look.textures[one.get("name", "")] = one.get("file", "")
        hung: dict[str, list[str]] = {}
        for one in variant.iterfind("props/prop"):
            hung.setdefault(one.get("attachpoint", ""), []).append(one.get("actor", ""))
        look.hung.update(hung)
        poses: dict[str, list[tuple[str, str]]] = {}
        for one in variant.iterfind("animations/animation"):
            entry = (one.get("id", ""), one.get("file", ""))
            poses.setdefault(one.get("name", "").lower(), []).append(entry)
        look.poses.update(poses)

    def _bones(self, mesh: BonedMesh, look: _Look, pose: Pose) -> Array | None:
        for name in (pose.name, *ALIKE.get(pose.name, ()), *ALMOST_STILL):
            known = [file for _, file in look.poses.get(name, []) if file]
            if known and len(mesh.bind):
                path = f"art/animation/{_cached(known[pose.kind % len(known)], '.psa')}"
                return read_pose(self._zip.read(path), pose.moment)
        return None

    def _texture(self, look: _Look, material: str, player: Floats) -> Floats | None:
        """Its texture in the player's colours, with its holes."""
        path = f"art/textures/skins/{look.textures.get('baseTex', '')}"
        path = next((p for p in (f"{path}.cached.dds", path) if self._has(p)), "")
        if not path:
            return None
        with Image.open(io.BytesIO(self._zip.read(path))) as picture:
            texture = np.asarray(picture.convert("RGBA"), np.float32) / 255
        cover = texture[..., 3:]
        tint = look.colour if material.startswith("objectcolor") else player
        if tint is not None and material.startswith(("player", "objectcolor")):
            texture = texture * (np.append(tint, 1) * (1 - cover) + cover)
        texture[..., 3] = cover[..., 0] if material.startswith("basic_trans") else 1
        return np.asarray(texture, np.float32)

    def _xml(self, path: str) -> ElementTree.Element:
        return ElementTree.fromstring(self._zip.read(path))

    def _has(self, path: str) -> bool:
        return path in self._zip.NameToInfo


def _hook(mesh: BonedMesh | None, name: str, bones: Array | None) -> Array | None:
    """Where something hangs (4, 4)."""
    if name.startswith(NEVER):
        return None
    return np.eye(4) if mesh is None or name == "root" else mesh.hook(name, bones)


def _cached(name: str, ending: str) -> str:
    return f"{name}.cached{ending}"
