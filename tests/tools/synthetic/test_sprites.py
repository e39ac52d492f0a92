"""Bodies out of a wardrobe stand where they are put, hide what is behind them, and throw shadows."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from synthetic.arrays import Array, Picture
from synthetic.camera import View, view_towards
from synthetic.from_above.sheet import visible_share
from synthetic.painted.clutter import any_clutter
from synthetic.painted.cutouts import HIDDEN
from synthetic.painted.dressed import dressed
from synthetic.painted.light import Lamp
from synthetic.painted.paint import paint
from synthetic.painted.plates import Plate, any_base
from synthetic.painted.scene import Scene, make_scene
from synthetic.painted.wardrobe import (
    FIGURE,
    ITEM,
    LARGE,
    NEUTRAL,
    PARTS,
    Cutout,
    Wardrobe,
    view_frame,
    wardrobe_of,
)
from synthetic.sprites.read_meshes import read_triangles
from synthetic.tiles import library

TILES = library(5, 2)
TALL_MM, WIDE_MM, TILT = 24, 5, 0.7
LAMP = Lamp(
    np.array([0.0, 0.6, 0.8]), np.full(3, 0.7, np.float32), np.full(3, 0.3, np.float32), 0.3, 0, 1
)


def _board(width: int, height: int) -> Picture:
    """A flat body of one part that faces the camera."""
    picture = np.full((height, width, 5), 127, np.uint8)
    picture[..., 0], picture[..., 1], picture[..., 4] = 1, 255, NEUTRAL
    return picture


def _wardrobe() -> Wardrobe:
    """Three bodies, each a post of so many mm, seen from above and from each side at one tilt."""
    seen = round(TALL_MM * np.sin(TILT))
    turns = [0.0, 1.57, 3.14, 4.71]
    pictures = [_board(WIDE_MM, WIDE_MM), *(_board(WIDE_MM, seen) for _ in turns)] * 3
    middle = (WIDE_MM - 1) / 2
    feet = [[middle, middle], *([middle, seen - 0.5] for _ in turns)] * 3
    frames = [view_frame(0, 0), *(view_frame(TILT, turn) for turn in turns)] * 3
    rows = [slice(0, 5), slice(5, 10), slice(10, 15)]
    extents = np.tile([float(TALL_MM), WIDE_MM / 2], (3, 1))
    kinds = np.array([FIGURE, LARGE, ITEM], np.int32)
    paints = np.zeros((3, PARTS + 1, 3), np.float32)
    return Wardrobe(
        pictures,
        np.array(feet),
        np.array(frames),
        np.ones(15),
        rows,
        kinds,
        extents,
        extents,
        paints,
    )


WARDROBE = _wardrobe()


def _post(at: Array, tone: float = 0.2, scale: float = 1.0, z_mm: float = 0.0) -> Cutout:
    coats = np.full((PARTS + 1, 3), tone, np.float32)
    return Cutout(WARDROBE, 0, np.array([*at, z_mm]), scale, 0.3, coats, detail=0.1)


def _view() -> View:
    """A camera in the south that looks north."""
    eye = 900 * np.array([0, -np.sin(TILT), np.cos(TILT)])
    return view_towards(eye, np.zeros(3), 0.0, 60.0, 0.5)


def _scene(bodies: list[Cutout], plates: list[Plate]) -> Scene:
    return Scene(0, 0.0, 1.0, np.zeros(2), plates, solids=bodies)


def test_a_body_reaches_from_its_foot_to_its_head() -> None:
    view, at = _view(), np.array([12.0, -7.0])
    _, owners = paint(_scene([_post(at)], []), view, LAMP, TILES)
    seen = np.column_stack(np.nonzero(owners == HIDDEN)[::-1]).astype(float)
    ends = view.camera.project(np.array([[*at, 0.0], [*at, float(TALL_MM)]]))
    along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    way = (seen - ends[0]) @ along
    assert way.min() == pytest.approx(0, abs=2)
    assert way.max() == pytest.approx(np.linalg.norm(ends[1] - ends[0]), abs=2)
    aside = (seen - ends[0]) @ [-along[1], along[0]]
    assert abs(aside.mean()) < 0.7
    assert np.ptp(aside) == pytest.approx(WIDE_MM * view.px_per_mm, abs=2)


def test_the_nearer_body_covers_the_farther() -> None:
    view = _view()
    bodies = [_post(np.array([0.0, 4.0]), tone=0.8), _post(np.array([0.0, -4.0]), tone=0.01)]
    dark = paint(_scene(bodies, []), view, LAMP, TILES)[0]
    reverse = paint(_scene(bodies[::-1], []), view, LAMP, TILES)[0]
    x, y = view.camera.project(np.array([[0.0, -4.0, 12.0]]))[0].astype(int)
    assert dark[y, x].max() < 0.05
    assert np.array_equal(dark, reverse)


def test_a_body_hides_the_rim_behind_it() -> None:
    view = _view()
    base = any_base(np.random.default_rng(1), 0, TILES)
    base = replace(base, center_mm=np.zeros(2))
    bare = paint(_scene([], [base]), view, LAMP, TILES)[1]
    large = _post(np.array([0.0, -base.radius_mm - 2]), scale=4.0)
    owners = paint(_scene([large], [base]), view, LAMP, TILES)[1]
    assert visible_share(0, base, owners, view) < visible_share(0, base, bare, view) - 0.08


def test_a_shadow_falls_away_from_the_lamp() -> None:
    view = _view()
    empty = paint(_scene([], []), view, LAMP, TILES)[0]
    light = paint(_scene([_post(np.zeros(2))], []), view, LAMP, TILES)[0]
    places = view.pixels(np.array([[0.0, -11.0], [0.0, 40.0]]), 0.0).astype(int)
    dark, bright = (light[y, x].mean() / empty[y, x].mean() for x, y in places.tolist())
    assert dark < 0.7
    assert bright == pytest.approx(1, rel=0.02)


def test_grain_shows_as_strongly_as_is_asked() -> None:
    view = _view()
    dark = [picture.copy() for picture in WARDROBE.pictures]
    for picture in dark:
        picture[..., 4] = NEUTRAL // 2
    post = replace(_post(np.zeros(2)), wardrobe=replace(WARDROBE, pictures=dark))
    seen = []
    for relief in (0.0, 0.5, 1.0):
        photo, owners = paint(_scene([replace(post, relief=relief)], []), view, LAMP, TILES)
        seen.append(float(photo[owners == HIDDEN].mean()))
    # a value of half as much is 0.5 ** 2.2 of the light; at the edges the mat shows through
    assert seen[1] / seen[0] == pytest.approx(0.5**1.1, abs=0.1)
    assert seen[2] / seen[0] == pytest.approx(0.5**2.2, abs=0.15)


def test_some_units_have_the_paints_of_their_texture() -> None:
    own = np.tile(np.array([0.1, 0.2, 0.4], np.float32), (3, PARTS + 1, 1))
    wardrobe, base = replace(WARDROBE, paints=own), any_base(np.random.default_rng(1), 0, TILES)
    rng, count = np.random.default_rng(7), 60
    units = [
        dressed(rng, base, rng.random((4, 3), np.float32), wardrobe, False) for _ in range(count)
    ]
    like_it = [np.allclose(one.coats / one.coats[0], 1, atol=1e-4) for one in units]
    assert 0.1 * count < sum(like_it) < 0.6 * count


def test_scenes_have_bodies_only_out_of_a_wardrobe() -> None:
    bodies = [make_scene(np.random.default_rng(k), 90.0, TILES, WARDROBE).solids for k in range(8)]
    assert any(isinstance(body, Cutout) for some in bodies for body in some)
    plain = make_scene(np.random.default_rng(3), 90.0, TILES)
    assert not any(isinstance(body, Cutout) for body in plain.solids)


def test_bodies_without_a_base_are_lures() -> None:
    plain = any_base(np.random.default_rng(2), 0, TILES)
    made = [any_clutter(np.random.default_rng(k), 90.0, plain, TILES, WARDROBE) for k in range(60)]
    loose = [one for one in made if any(isinstance(body, Cutout) for body in one.solids)]
    assert loose
    assert all(len(one.lures) == 2 * len(one.solids) for one in loose)


def test_a_wardrobe_comes_out_of_its_file(tmp_path: Path) -> None:
    sizes = np.array([[5, 3], [2, 4]], np.int32)
    pixels = np.arange(23 * 5).astype(np.uint8).reshape(23, 5)
    np.savez(
        tmp_path / "some.npz", pixels=pixels.T, sizes=sizes, feet=np.ones((2, 2)),
        views=np.array([[0, 0.0, 0.0, 2.0], [1, 0.5, 1.0, 3.0]]), kinds=np.array([0, 2], np.int32),
        extents=np.ones((2, 2)), bulks=np.ones((2, 2)), names=np.array(["a", "b"]),
        paints=np.zeros((2, PARTS + 1, 3), np.float32),
    )  # fmt: skip
    read = wardrobe_of(tmp_path / "some.npz")
    assert read is not None
    assert read.rows == [slice(0, 1), slice(1, 2)]
    assert np.array_equal(read.pictures[1], pixels[15:].reshape(2, 4, 5))
    assert read.nearest(1, np.array([0.0, 0.0, 1.0])) == 1


@pytest.mark.parametrize("kind", ["text", "binary", "obj"])
def test_triangles_come_out_of_each_kind_of_file(kind: str, tmp_path: Path) -> None:
    corners = np.array([[[0, 0, 0], [1, 0, 0], [0, 2, 0]], [[0, 0, 0], [0, 2, 0], [0, 0, 3.0]]])
    path = tmp_path / ("some.obj" if kind == "obj" else "some.stl")
    if kind == "obj":
        path.write_text("v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1/1 2/2 3/3\nf 1 3 -1\n")
    elif kind == "text":
        lines = [f"vertex {x} {y} {z}" for x, y, z in corners.reshape(-1, 3).tolist()]
        path.write_text("solid some\n" + "\n".join(lines) + "\nendsolid\n")
    else:
        rows = np.zeros(2, np.dtype([("floats", "<f4", 12), ("rest", "<u2")]))
        rows["floats"][:, 3:] = corners.reshape(2, 9)
        path.write_bytes(bytes(80) + (2).to_bytes(4, "little") + rows.tobytes())
    assert np.array_equal(read_triangles(path), corners)
