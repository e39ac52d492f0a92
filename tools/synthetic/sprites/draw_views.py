"""Draws a body from several sides: which part is seen, how it faces, how open it lies to the sky."""

from collections.abc import Iterator

import numpy as np

from synthetic.arrays import Array, Floats, Ints, Picture, Rng
from synthetic.painted.wardrobe import view_frame
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
SKY_RAYS = 24
"""Ways in which a point looks for the sky; more change a picture by less than the sensor's noise."""
GROUND_LIGHT = 0.35
"""What the ground sends back of the sky's light."""
Sprite = tuple[Picture, Array]
"""Parts, openness and facing (h, w, 4), and the foot point's place (2,): x and y in pixels."""


def draw_views(shape: Shape, px_per_mm: float, rng: Rng) -> Iterator[tuple[float, float, Sprite]]:
    """Yield tilt and turn in radians, and the picture."""
    points = shape.triangles
    mesh = Mesh(points, np.zeros_like(points), np.zeros((*points.shape[:2], 2)))
    solid = Solid([Part(mesh, Material((1, 1, 1)))])
    for tilt_deg in TILTS_DEG:
        for k in range(TURNS if tilt_deg else 1):
            tilt, turn = float(np.radians(tilt_deg)), 2 * np.pi * k / TURNS
            yield tilt, turn, _draw(solid, shape, view_frame(tilt, turn), px_per_mm, rng)


def scale_for(shape: Shape, kind: int) -> float:
    """Pixels per mm by which the longest side of a body of a kind fills a picture."""
    points = shape.triangles.reshape(-1, 3)
    tall, wide = float(points[:, 2].max()), 2 * float(np.linalg.norm(points[:, :2], axis=1).max())
    return SIDE_PX[kind] / max(tall, wide)


def _draw(solid: Solid, shape: Shape, frame: Array, px_per_mm: float, rng: Rng) -> Sprite:
    right, up, towards = frame
    across, along = (shape.triangles.reshape(-1, 3) @ way for way in (right, up))
    low = np.floor(np.array([across.min(), along.min()]) * px_per_mm) - 1
    size = (np.ceil(np.array([across.max(), along.max()]) * px_per_mm) + 2 - low).astype(int)
    x, y = np.meshgrid(np.arange(size[0]) + low[0], np.arange(size[1]) + low[1])
    place = (x.ravel()[:, None] * right + y.ravel()[:, None] * up) / px_per_mm
    start = np.asarray(place + 500 * towards, np.float32)
    hits = solid.meet(start, np.tile(np.asarray(-towards, np.float32), (len(start), 1)))
    seen = hits.triangle >= 0
    picture = np.zeros((len(start), 4), np.uint8)
    facing = hits.face[seen] / np.maximum(
        np.linalg.norm(hits.face[seen], axis=1, keepdims=True), 1e-12
    )
    facing *= np.where(facing @ towards < 0, -1, 1)[:, None]
    spot = start[seen] - hits.reach[seen] * towards + 0.02 * facing
    picture[seen, 0] = shape.parts[hits.triangle[seen]]
    picture[seen, 1] = 255 * _openness(solid, spot, facing, rng)
    picture[seen, 2] = 127.5 + 127 * (facing @ right)
    picture[seen, 3] = 127.5 + 127 * (facing @ up)
    upright = picture.reshape(size[1], size[0], 4)[::-1]
    return np.ascontiguousarray(upright), np.array([-low[0], size[1] - 1 + low[1]])


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
    pixels = np.concatenate([picture.reshape(-1, 4) for picture, _ in sprites])
    sizes = np.array([picture.shape[:2] for picture, _ in sprites])
    return pixels, sizes, np.array([foot for _, foot in sprites])
