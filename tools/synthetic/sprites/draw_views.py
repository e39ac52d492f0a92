"""Draws a body from several sides: which part is seen, how it faces, how open it lies to the sky."""

from collections.abc import Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

from synthetic.arrays import Array, Floats, Ints, Picture, Rng
from synthetic.painted.wardrobe import NEUTRAL, view_frame
from synthetic.sprites.shapes import Shape
from synthetic.things.materials import Material, Part
from synthetic.things.mesh import Mesh
from synthetic.traced.embree import Solid

TILTS_DEG = (0.0, 13.0, 26.0, 38.0, 50.0, 63.0)
"""From straight above: photos are taken so."""
TURNS = 6
"""Headings from which a body is drawn; from straight above one is enough."""
SIDE_PX = (76, 108, 76)
"""The longest side of a picture, for each kind of body: large ones are shown large."""
WEAPONS = 1.8
"""How much longer a picture may be for what a body holds."""
SKY_RAYS = 24
"""Ways in which a point looks for the sky; more change a picture by less than the sensor's noise."""
GROUND_LIGHT = 0.35
"""What the ground sends back of the sky's light."""
BEHIND_MM = 0.02
"""Rays go on so far before and behind what they met."""
STEPS = (1, 16, 8, 8, 8)
"""To what multiples layers are rounded in the file: finer ones are as large as their noise, and fill it."""
HOLES = 6
"""So many holes of textures a ray goes through."""
AROUND_PX = 5.0
"""How wide the surroundings are against which a texture is light or dark (1 σ): a limb's width."""
Sprite = tuple[Picture, Array]
"""Parts, openness, facing and grain (h, w, 5), and the foot point's place (2,): x and y in pixels."""


def draw_views(shape: Shape, px_per_mm: float, rng: Rng) -> Iterator[tuple[float, float, Sprite]]:
    """Yield tilt and turn in radians, and the picture."""
    solid, dense = _solid(shape.triangles), _solid(shape.triangles[_dense(shape)])
    for tilt_deg in TILTS_DEG:
        for k in range(TURNS if tilt_deg else 1):
            tilt, turn = float(np.radians(tilt_deg)), 2 * np.pi * k / TURNS
            yield tilt, turn, _draw(solid, dense, shape, view_frame(tilt, turn), px_per_mm, rng)


def _solid(triangles: Array) -> Solid:
    mesh = Mesh(triangles, np.zeros_like(triangles), np.zeros((*triangles.shape[:2], 2)))
    return Solid([Part(mesh, Material((1, 1, 1)))])


def _dense(shape: Shape) -> NDArray[np.bool_]:
    """The triangles (T,) without holes; all, where each has some."""
    if shape.skin is None:
        return np.ones(len(shape.triangles), bool)
    dense = np.array([bool(sheet[..., 2].all()) for sheet in shape.skin.sheets])[shape.skin.sheet]
    return np.asarray(dense if dense.any() else ~dense)


def scale_for(shape: Shape, kind: int) -> float:
    """Pixels per mm by which the longest side of a body of a kind fills a picture, and long weapons not too much."""
    body, everything = _longest(shape.bulk), _longest(shape.triangles)
    return min(SIDE_PX[kind] / body, WEAPONS * SIDE_PX[kind] / everything)


def _longest(triangles: Array) -> float:
    """The longest side in a picture from any side."""
    points = triangles.reshape(-1, 3)
    tall, wide = float(points[:, 2].max()), 2 * float(np.linalg.norm(points[:, :2], axis=1).max())
    return max(tall, wide)


def _draw(
    solid: Solid, dense: Solid, shape: Shape, frame: Array, px_per_mm: float, rng: Rng
) -> Sprite:
    right, up, towards = frame
    across, along = (shape.triangles.reshape(-1, 3) @ way for way in (right, up))
    low = np.floor(np.array([across.min(), along.min()]) * px_per_mm) - 1
    size = (np.ceil(np.array([across.max(), along.max()]) * px_per_mm) + 2 - low).astype(int)
    x, y = np.meshgrid(np.arange(size[0]) + low[0], np.arange(size[1]) + low[1])
    place = (x.ravel()[:, None] * right + y.ravel()[:, None] * up) / px_per_mm
    start = np.asarray(place + 500 * towards, np.float32)
    skin, spots, facing = _met(solid, shape, start, towards)
    seen = skin[:, 0] > 0
    picture = np.zeros((len(start), 5), np.uint8)
    picture[:, 0] = skin[:, 0]
    picture[seen, 1] = 255 * _openness(dense, spots[seen], facing[seen], rng)
    picture[seen, 2] = 127.5 + 127 * (facing[seen] @ right)
    picture[seen, 3] = 127.5 + 127 * (facing[seen] @ up)
    upright = picture.reshape(size[1], size[0], 5)
    upright[..., 4] = _grain(skin.reshape(size[1], size[0], 3))
    return np.ascontiguousarray(upright[::-1]), np.array([-low[0], size[1] - 1 + low[1]])


def _met(solid: Solid, shape: Shape, start: Floats, towards: Array) -> tuple[Picture, Array, Array]:
    """What rays from (N, 3) meet: part (0: nothing), lightness and cover; the place just before it; how it faces."""
    skin, spots, facing = np.zeros((len(start), 3), np.uint8), start.copy(), np.zeros(start.shape)
    rest = np.arange(len(start))
    for _ in range(HOLES):
        hits = solid.meet(spots[rest], np.tile(np.asarray(-towards, np.float32), (len(rest), 1)))
        met = hits.triangle >= 0
        rest, hits = rest[met], hits[met]
        normal = hits.face / np.maximum(np.linalg.norm(hits.face, axis=1, keepdims=True), 1e-12)
        facing[rest] = normal * np.where(normal @ towards < 0, -1, 1)[:, None]
        spots[rest] -= (hits.reach * towards).astype(np.float32)
        shares = np.hstack([1 - hits.u - hits.v, hits.u, hits.v])
        found = _skin_at(shape, hits.triangle, shares)
        whole = found[:, 2] > 0
        skin[rest[whole]] = found[whole]
        rest = rest[~whole]
        spots[rest] -= (BEHIND_MM * towards).astype(np.float32)
    return skin, spots + BEHIND_MM * facing, facing


def _skin_at(shape: Shape, triangle: Ints, shares: Array) -> Picture:
    if shape.skin is not None:
        return shape.skin.at(triangle, shares)
    plain = np.full((len(triangle), 3), NEUTRAL, np.uint8)
    plain[:, 0] = shape.parts[triangle]
    return plain


def _grain(skin: Picture) -> Picture:
    """How light textures are (h, w) against their surroundings, as `Wardrobe` has it."""
    seen = (skin[..., 0] > 0).astype(np.float32)
    light = np.maximum(skin[..., 1].astype(np.float32), 1) * seen
    total, count = (cv2.GaussianBlur(layer, (0, 0), AROUND_PX) for layer in (light, seen))
    around = total / np.maximum(count, 1e-6)
    ratio = np.where(seen > 0, light / np.maximum(around, 1), 1)
    return np.asarray((NEUTRAL * ratio).round().clip(1, 255), np.uint8)


def _openness(solid: Solid, spots: Array, facing: Array, rng: Rng) -> Floats:
    """The share of the sky's light (N,) that reaches points (N, 3)."""
    light = np.zeros(len(spots), np.float32)
    for _ in range(SKY_RAYS):
        ways = rng.normal(size=spots.shape)
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        rays = facing + 0.999 * ways  # their density is as Lambert's cosine
        free = ~solid.shades(spots.astype(np.float32), np.asarray(60 * rays, np.float32))
        light += free * np.where(rays[:, 2] > 0, 1, GROUND_LIGHT)
    return np.asarray(light / SKY_RAYS, np.float32)


def packed(sprites: list[Sprite]) -> tuple[Picture, Ints, Array]:
    """All pixels in a row (N, 4), each picture's height and width (K, 2), and feet (K, 2)."""
    pixels = np.concatenate([picture.reshape(-1, picture.shape[-1]) for picture, _ in sprites])
    seen = pixels[:, 0] > 0
    for layer, step in enumerate(STEPS):
        rounded = (pixels[seen, layer].astype(int) + step // 2) // step * step
        pixels[seen, layer] = np.minimum(rounded, 255)
    sizes = np.array([picture.shape[:2] for picture, _ in sprites])
    return pixels, sizes, np.array([foot for _, foot in sprites])
