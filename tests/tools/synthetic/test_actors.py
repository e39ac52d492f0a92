"""Bodies of 0 A.D. come out of its files: posed, with their textures and what hangs on them."""

import io
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from synthetic.arrays import Array, Picture
from synthetic.painted.wardrobe import NEUTRAL
from synthetic.sprites.actors import Actors, Pose
from synthetic.sprites.read_pmd import WITHOUT_BONE, read_mesh, read_pose
from synthetic.sprites.shapes import Shape, stood

QUARTER = (0.0, np.sin(np.pi / 4), 0.0, np.cos(np.pi / 4))
"""A quarter turn about y, as a quaternion."""
STILL = (0.0, 0.0, 0.0, 1.0)
POINTS = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [1, 2, 0]], float)


def _mesh(bones: int, hooks: dict[str, tuple[int, tuple[float, ...]]]) -> bytes:
    """A sheet of two triangles, all on bone 0 where there is one; it is 2 high."""
    body = struct.pack("<II", len(POINTS), 1)
    for x, y, z in POINTS.tolist():
        which = [0 if bones else WITHOUT_BONE, *[WITHOUT_BONE] * 3]
        body += struct.pack("<3f3f2f4B4f", x, y, z, 0, 0, 1, x, y / 2, *which, bones and 1, 0, 0, 0)
    body += struct.pack("<I6H", 2, 0, 1, 2, 1, 3, 2)
    body += struct.pack("<I", bones) + bones * struct.pack("<7f", 0, 0, 0, *STILL)
    body += struct.pack("<I", len(hooks))
    for name, (bone, state) in hooks.items():
        body += struct.pack("<I", len(name)) + name.encode() + struct.pack("<7fB", *state, bone)
    return b"PSMD" + struct.pack("<II", 4, len(body)) + body


def _animation() -> bytes:
    """One bone that is still at first, and then turned and raised by 3."""
    states = struct.pack("<14f", 0, 0, 0, *STILL, 0, 3, 0, *QUARTER)
    body = struct.pack("<I", 4) + b"turn" + struct.pack("<fII", 33.3, 1, 2) + states
    return b"PSSA" + struct.pack("<II", 1, len(body)) + body


def _texture(values: Array) -> bytes:
    """A column of pixels (red, green, blue, cover), from the top."""
    file = io.BytesIO()
    Image.fromarray(np.asarray(values, np.uint8)[:, None]).save(file, "png")
    return file.getvalue()


def _actor(body: str, material: str = "default.xml") -> str:
    return f"<actor><group><variant>{body}</variant></group><material>{material}</material></actor>"


def _variant(mesh: str, texture: str) -> str:
    skin = f'<textures><texture file="{texture}.png" name="baseTex"/></textures>'
    return f"<mesh>{mesh}.dae</mesh>{skin}"


def _archive(folder: Path) -> Path:
    """A man who holds a spear, and a leaf with a hole."""
    held = '<props><prop actor="spear.xml" attachpoint="weapon_R"/></props>'
    moves = '<animations><animation file="turn.dae" name="Walk"/></animations>'
    files: dict[str, str | bytes] = {
        "art/actors/man.xml": _actor(_variant("man", "two") + held + moves),
        "art/actors/spear.xml": _actor(_variant("plain", "two")),
        "art/actors/leaf.xml": _actor(_variant("plain", "hole"), "basic_trans.xml"),
        "art/meshes/man.dae.cached.pmd": _mesh(1, {"weapon_R": (0, (5.0, 0, 0, *STILL))}),
        "art/meshes/plain.dae.cached.pmd": _mesh(0, {}),
        "art/animation/turn.dae.cached.psa": _animation(),
        "art/textures/skins/two.png": _texture(np.array([[200, 60, 60, 255], [40, 90, 40, 255]])),
        "art/textures/skins/hole.png": _texture(np.array([[60, 200, 60, 255], [60, 200, 60, 0]])),
    }
    with zipfile.ZipFile(folder / "public.zip", "w") as file:
        for name, data in files.items():
            file.writestr(name, data)
    return folder / "public.zip"


def _body(folder: Path, name: str, moment: float) -> Shape:
    rng = np.random.default_rng(1)
    return Actors(_archive(folder)).body(f"{name}.xml", Pose("walk", 0, moment), 40, 1.5, rng)


def test_a_mesh_follows_its_bones() -> None:
    mesh = read_mesh(_mesh(1, {"hand": (0, (1.0, 0, 0, *STILL))}))
    bones = read_pose(_animation(), 0.9)
    assert mesh.posed(None) == pytest.approx(POINTS)
    turned = np.column_stack([POINTS[:, 2], POINTS[:, 1] + 3, -POINTS[:, 0]])
    assert mesh.posed(bones) == pytest.approx(turned, abs=1e-6)
    hand = mesh.hook("hand", bones)
    assert hand is not None
    assert hand[:3, 3] == pytest.approx([0, 3, -1], abs=1e-6)
    assert mesh.hook("foot", bones) is None
    assert mesh.uv[:, 1] == pytest.approx([1, 1, 0, 0])


@pytest.mark.parametrize("data", [b"PSSA" + bytes(40), b"solid" + bytes(40)])
def test_other_files_are_no_meshes(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a mesh"):
        read_mesh(data)


def test_what_is_held_hangs_on_the_hand_and_is_no_part_of_the_size(tmp_path: Path) -> None:
    body = _body(tmp_path, "man", 0.0)
    assert body.held is not None
    assert body.held.tolist() == [False, False, True, True]
    assert body.bulk[..., 0].max() == pytest.approx(1.5)  # as stout as is asked
    assert body.triangles[body.held][..., 0].min() == pytest.approx(7.5)  # in the hand, at 5
    assert np.ptp(body.triangles[body.held][..., 0]) == pytest.approx(1.2)  # thicker, not stouter
    assert stood(body, 32.0).bulk[..., 2].max() == pytest.approx(32)


def test_textures_say_what_is_painted_alike(tmp_path: Path) -> None:
    skin = _body(tmp_path, "man", 0.0).skin
    assert skin is not None
    upper, lower = skin.at(np.array([1, 0]), np.array([[0.1, 0.8, 0.1], [0.9, 0.05, 0.05]]))
    assert upper[0] != lower[0]
    red, green = skin.paints[upper[0]], skin.paints[lower[0]]
    assert red == pytest.approx((np.array([60, 60, 200]) / 255) ** 2.2, rel=0.01)
    assert green[1] > max(green[0], green[2])


def _drawn(folder: Path, name: str) -> Picture:
    """The body from the side at which it is broad."""
    pytest.importorskip("embreex")
    from synthetic.sprites.draw_views import draw_views

    shape = stood(_body(folder, name, 0.0), 30.0)
    views = [one for tilt, _, one in draw_views(shape, 1.0, np.random.default_rng(2)) if tilt > 1]
    return max((picture for picture, _ in views), key=lambda one: int((one[..., 0] > 0).sum()))


def test_light_places_of_a_texture_have_more_grain(tmp_path: Path) -> None:
    picture = _drawn(tmp_path, "man")
    of_part = [picture[picture[..., 0] == part, 4] for part in np.unique(picture[..., 0])[1:]]
    means = [float(grain.mean()) for grain in of_part]
    assert min(means) < NEUTRAL - 4
    assert max(means) > NEUTRAL + 4


def test_rays_go_through_holes(tmp_path: Path) -> None:
    picture = _drawn(tmp_path, "leaf")
    rows = np.flatnonzero((picture[..., 0] > 0).any(1))
    assert rows.max() < 0.6 * len(picture)
