"""Printed mats and wooden tables, painted from noise."""

from collections.abc import Callable

import cv2
import numpy as np

from synthetic.arrays import Floats, Picture, Rng, Shape
from synthetic.noise import clouds, mix, rise, speckle

Draw = Callable[[Shape, float, Rng], Floats]
"""The print (H, W, 3) as values from 0 to 1, its pixels so many millimetres large."""


def mat(name: str, width_mm: float, height_mm: float, texel_mm: float, rng: Rng) -> Picture:
    """A mat's print (H, W, 3), red green blue, upper row first."""
    shape = (round(height_mm / texel_mm), round(width_mm / texel_mm))
    return as_bytes(MATS[name](shape, texel_mm, rng))


def as_bytes(values: Floats) -> Picture:
    return np.asarray((values.clip(0, 1) * 255 + 0.5).astype(np.uint8))


def _over(picture: Floats, cover: Floats, colour: Floats | tuple[float, ...]) -> Floats:
    """A colour, or another picture, laid over a picture with its cover (H, W) from 0 to 1."""
    return np.asarray(
        picture + (np.asarray(colour, np.float32) - picture) * cover[..., None], np.float32
    )


def _grid(shape: Shape, texel: float) -> tuple[Floats, Floats]:
    """x and y in mm of each pixel."""
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float32) * np.float32(texel)
    return x, y


def _desert(shape: Shape, texel: float, rng: Rng) -> Floats:
    big, mid = clouds(shape, 260 / texel, rng), clouds(shape, 40 / texel, rng)
    pale, dark = rise(big, -0.2, 1.6), 0.75 * rise(-big + 0.4 * mid, 0.5, 2)
    picture = mix("#c79a5e", ("#d9b57c", pale), ("#8a6238", dark))
    fine = clouds(shape, 7 / texel, rng, 4)
    picture *= (1 + 0.05 * mid + 0.045 * fine + 0.06 * speckle(shape, rng, 0.4 / texel))[..., None]
    return _pebbles(_cracks(picture, texel, rng), texel, rng, 0.35)


def _cracks(picture: Floats, texel: float, rng: Rng) -> Floats:
    """Dried mud: the borders of random cells, here and there."""
    height, width = shape = picture.shape[:2]
    count = max(int(width * height * (texel / 26) ** 2), 8)
    seeds = np.ones(shape, np.uint8)
    seeds[rng.integers(0, height, count), rng.integers(0, width, count)] = 0
    label = cv2.DIST_LABEL_PIXEL
    _, cells = cv2.distanceTransformWithLabels(seeds, cv2.DIST_L2, 5, labelType=label)
    bend = [(1.5 / texel) * clouds(shape, 12 / texel, rng) for _ in range(2)]
    x, y = _grid(shape, 1)
    at, border = (x + bend[0], y + bend[1]), cv2.BORDER_REPLICATE
    bent = cv2.remap(cells.astype(np.float32), *at, cv2.INTER_NEAREST, borderMode=border)
    square = np.ones((max(2, round(1.1 / texel)),) * 2, np.uint8)
    lines = (cv2.dilate(bent, square) != cv2.erode(bent, square)).astype(np.float32)
    where = rise(clouds(shape, 180 / texel, rng, 3), 0.5, 1.1)
    cover = cv2.GaussianBlur(lines, (0, 0), 0.6) * where * 0.75
    return _over(picture, np.asarray(cover), (0.2, 0.13, 0.07))


def _pebbles(picture: Floats, texel: float, rng: Rng, per_dm2: float) -> Floats:
    """Small printed stones, each with a dark lower side."""
    height, width = picture.shape[:2]
    for _ in range(int(width * height * (texel / 100) ** 2 * per_dm2)):
        x, y = int(rng.integers(0, width)), int(rng.integers(0, height))
        r = max(1, round(rng.gamma(2, 0.6) / texel))
        tone = rng.uniform(0.3, 0.6)
        axes, turn = (r, max(1, round(r * rng.uniform(0.6, 1)))), float(rng.uniform(0, 180))
        stone, shade = (tone, tone * 0.92, tone * 0.82), (0.12, 0.09, 0.06)
        for down, colour in ((max(1, r // 3), shade), (0, stone)):
            cv2.ellipse(picture, (x, y + down), axes, turn, 0, 360, colour, -1, cv2.LINE_AA)
    return picture


def _craters(shape: Shape, texel: float, rng: Rng) -> Floats:
    picture = _desert(shape, texel, rng) * np.array([0.93, 0.92, 0.95], np.float32)
    x, y = _grid(shape, 1)
    wobble = 0.12 * clouds(shape, 30 / texel, rng)
    for _ in range(int(shape[0] * shape[1] * texel**2 / 70_000)):
        r = rng.uniform(14, 45) / texel
        cx, cy = rng.uniform(0, shape[1]), rng.uniform(0, shape[0])
        edges = (int(max(0, v)) for v in (cy - 2 * r, cx - 2 * r, cy + 2 * r, cx + 2 * r))
        top, left, low, right = edges
        box = np.s_[top:low, left:right]
        d = np.hypot(x[box] - cx, y[box] - cy) / r + wobble[box]
        rim = 0.1 * np.exp(-(((d - 1.08) / 0.12) ** 2))
        lit = 0.18 * (1 - rise(d, 0, 0.9)) * (y[box] - cy) / r
        picture[box] *= (1 - 0.45 * (1 - rise(d, 0.55, 1)) + rim + lit)[..., None]
    return np.asarray(picture, np.float32)


def _grass(shape: Shape, texel: float, rng: Rng) -> Floats:
    return _meadow(shape, texel, rng, ("#4b5e2a", "#6a7a3a", "#2f4220", "#75593c"), 1.1)


def _drygrass(shape: Shape, texel: float, rng: Rng) -> Floats:
    return _meadow(shape, texel, rng, ("#6b6a2a", "#b39a45", "#37471c", "#6f4c30"), 0.5)


def _meadow(
    shape: Shape, texel: float, rng: Rng, colors: tuple[str, str, str, str], bare: float
) -> Floats:
    base, light, dark, soil = colors
    big, mid, fine = (clouds(shape, size / texel, rng) for size in (220, 45, 6))
    lit, shade = rise(big + 0.4 * mid, 0.1, 1.5), 0.8 * rise(-big + 0.5 * mid, 0.4, 1.6)
    earth = rise(clouds(shape, 150 / texel, rng) + 0.25 * fine, bare, bare + 0.25)
    ground = mix(soil, ("#4a3624", rise(mid, 0, 2)))
    picture = _over(mix(base, (light, lit), (dark, shade)), earth, ground)
    picture *= (1 + 0.08 * fine + 0.1 * speckle(shape, rng, 0.5 / texel))[..., None]
    return _pebbles(picture, texel, rng, 0.15)


def _snow(shape: Shape, texel: float, rng: Rng) -> Floats:
    big, mid = clouds(shape, 240 / texel, rng), clouds(shape, 50 / texel, rng)
    lit, shade = rise(big, -0.3, 1), 0.6 * rise(-big + 0.3 * mid, 0.6, 2)
    picture = mix("#d9dfe6", ("#f2f4f6", lit), ("#a9b7c6", shade))
    rocks = rise(clouds(shape, 90 / texel, rng) + 0.2 * mid, 1.7, 1.9)
    picture = _over(picture, rocks, mix("#6f6a66", ("#4b4744", rise(mid, 0, 1))))
    return picture * (1 + 0.02 * speckle(shape, rng, 0.6 / texel))[..., None]


def _city(shape: Shape, texel: float, rng: Rng) -> Floats:
    """Two streets that cross, between paved ground."""
    picture = _paving(shape, texel, rng)
    x, y = _grid(shape, texel)
    middle_x = shape[1] * texel * rng.uniform(0.3, 0.7)
    middle_y = shape[0] * texel * rng.uniform(0.35, 0.65)
    aside = np.stack([np.abs(x - middle_x), np.abs(y - middle_y)])
    off, along, half = aside.min(0), aside.max(0), 85
    road = mix("#3b3c3f", ("#2b2c2f", rise(clouds(shape, 80 / texel, rng), 0, 1.5)))
    road *= (1 + 0.07 * speckle(shape, rng, 0.5 / texel))[..., None]
    dash = ((x + y) % 60 < 30) & (off < 2.2) & (along > half)
    road[dash] = (0.75, 0.74, 0.7)
    road[off > half - 5] = (0.55, 0.55, 0.54)
    return np.where((off < half)[..., None], road, picture)


def _blocks(
    x: Floats, y: Floats, wide: float, high: float, tones: tuple[float, float], rng: Rng
) -> tuple[Floats, Floats]:
    """The tone of each of rows of blocks, and how far a pixel is from its block's edge, in mm."""
    number = (np.floor(y / high) * 57 + np.floor(x / wide) * 131) % 997
    tone = rng.uniform(*tones, 997).astype(np.float32)[number.astype(int)]
    gap_x, gap_y = (np.minimum(v % size, size - v % size) for v, size in ((x, wide), (y, high)))
    return tone[..., None], np.minimum(gap_x, gap_y)


def _paving(shape: Shape, texel: float, rng: Rng) -> Floats:
    x, y = _grid(shape, texel)
    x = x + 1.2 * clouds(shape, 40 / texel, rng, 3)
    y = y + 1.2 * clouds(shape, 40 / texel, rng, 3)
    tone, gap = _blocks(x + 23 * (np.floor(y / 24) % 2), y, 46, 24, (0.75, 1.1), rng)
    picture = mix("#7d7468", ("#5e574e", rise(clouds(shape, 120 / texel, rng), 0, 1.5))) * tone
    picture *= (1 + 0.06 * speckle(shape, rng, 0.5 / texel))[..., None]
    return picture * (0.35 + 0.65 * rise(gap, 0.4, 1.4))[..., None]


def _space(shape: Shape, texel: float, rng: Rng) -> Floats:
    big, other = clouds(shape, 300 / texel, rng, 7), clouds(shape, 260 / texel, rng, 7)
    hues = rng.permutation(["#4a2f8f", "#7a2f6e", "#1f4f8a", "#2a6d6a"])
    near, far = 0.8 * rise(big, 0.3, 2.2), 0.7 * rise(other, 0.5, 2.4)
    bright = 0.5 * rise(big + other, 2.4, 4.5)
    picture = mix("#07070b", (hues[0], near), (hues[1], far), ("#c0b6e8", bright))
    stars = np.zeros(shape, np.float32)
    count = int(shape[0] * shape[1] * texel**2 / 90)
    at = rng.integers(0, shape[0], count), rng.integers(0, shape[1], count)
    stars[at] = rng.pareto(2.2, count) * 0.25
    seen = cv2.GaussianBlur(stars.clip(0, 6), (0, 0), max(0.5, 0.35 / texel))
    return _planet(picture + (2 * seen.clip(0, 0.45))[..., None], texel, rng)


def _planet(picture: Floats, texel: float, rng: Rng) -> Floats:
    height, width = shape = picture.shape[:2]
    r = rng.uniform(45, 110) / texel
    cx, cy = rng.uniform(0.1, 0.9) * width, rng.uniform(0.1, 0.9) * height
    x, y = _grid(shape, 1)
    dx, dy = (x - cx) / r, (y - cy) / r
    d2 = dx * dx + dy * dy
    facing = 0.5 * dx - 0.5 * dy + 0.7 * np.sqrt((1 - d2).clip(0))
    ground = mix("#8a6f4a", ("#b55a3a", rise(clouds(shape, r / 2, rng), -0.3, 1)))
    lit = ground * (0.1 + 0.9 * facing.clip(0, 1))[..., None]
    return _over(picture, rise(-np.sqrt(d2), -1.01, -0.99), lit)


def _deck(shape: Shape, texel: float, rng: Rng) -> Floats:
    """Steel plates with rivets and a striped edge."""
    x, y = _grid(shape, texel)
    tone, gap = _blocks(x, y, 114, 76, (0.8, 1.15), rng)
    picture = mix("#5b6066", ("#44484d", rise(clouds(shape, 200 / texel, rng), 0, 1.6))) * tone
    rivet = np.hypot(x % 38 - 19, np.minimum(y % 76, 76 - y % 76) - 6) < 1.6
    picture[((x + y) % 30 < 15) & (np.abs(y - y.max() * 0.5) < 9)] = (0.78, 0.62, 0.12)
    picture[rivet] *= 0.6
    picture *= (0.3 + 0.7 * rise(gap, 0.5, 1.6))[..., None]
    worn = 0.1 * rise(clouds(shape, 30 / texel, rng), 1.2, 2)
    return picture * (1 + 0.03 * speckle(shape, rng, 0.5 / texel) - worn)[..., None]


def hexes(
    picture: Floats, texel: float, size_mm: float, origin_mm: tuple[float, float], flat: bool
) -> Floats:
    """A printed hex grid, drawn where two hex centres are equally near."""
    height, width = picture.shape[:2]
    x = (np.arange(width, dtype=np.float32)[None] + 0.5) * texel - origin_mm[0]
    y = (height - 0.5 - np.arange(height, dtype=np.float32)[:, None]) * texel - origin_mm[1]
    if flat:  # pointy hexes have rows along x; flat ones are the same turned about the diagonal
        x, y = y, x
    line = rise(-to_hex_borders(x, y, size_mm), -0.9, -0.5)
    return _over(picture, 0.8 * line, (0.1, 0.09, 0.07))


def to_hex_borders(x: Floats, y: Floats, size_mm: float) -> Floats:
    """Distances to the nearest border of hexes with rows along x: half the lead of the nearest middle."""
    nearest = np.full((2, *np.broadcast_shapes(x.shape, y.shape)), np.inf, np.float32)
    across, up = np.sqrt(3) * size_mm, 3 * size_mm
    for dx, dy in ((0.0, 0.0), (across / 2, up / 2)):
        for sx, sy in ((0.0, 0.0), (0.0, up), (across, 0.0), (across, up)):
            d = np.hypot((x - dx) % across - sx, (y - dy) % up - sy).astype(np.float32)
            nearest[1] = np.minimum(nearest[1], np.maximum(nearest[0], d))
            nearest[0] = np.minimum(nearest[0], d)
    return np.asarray((nearest[1] - nearest[0]) / 2, np.float32)


def _hex(shape: Shape, texel: float, rng: Rng) -> Floats:
    big, mid = clouds(shape, 160 / texel, rng), clouds(shape, 20 / texel, rng)
    picture = mix("#a59a63", ("#7f8f4d", rise(big, 0, 1)), ("#c4b585", rise(-big, 0.4, 1.4)))
    return picture * (1 + 0.05 * mid + 0.03 * speckle(shape, rng))[..., None]


MATS: dict[str, Draw] = {
    "desert": _desert,
    "craters": _craters,
    "grass": _grass,
    "drygrass": _drygrass,
    "snow": _snow,
    "city": _city,
    "space": _space,
    "deck": _deck,
    "hex": _hex,
}
WOODS = {
    "walnut": ("#8a5a33", "#5e3a1f"),
    "oak": ("#b98d5a", "#94673b"),
    "wenge": ("#4a2f20", "#2e1c13"),
    "ash": ("#c9b08a", "#a98c63"),
}


def planks(wood: str, shape: Shape, texel_mm: float, rng: Rng) -> Floats:
    """A wooden table's top."""

    def along(shrink: int, size_mm: float, octaves: int) -> Floats:
        short = shape[0], max(shape[1] // shrink, 8)
        some = clouds(short, size_mm / texel_mm, rng, octaves)
        return np.asarray(cv2.resize(some, shape[::-1], interpolation=cv2.INTER_CUBIC), np.float32)

    fibre, rings = along(24, 5, 4), along(20, 16, 3)
    y = np.arange(shape[0], dtype=np.float32) * texel_mm
    board = rng.uniform(0.85, 1.12, 97).astype(np.float32)[np.floor(y / 95).astype(int) % 97]
    tone = board[:, None] + 0.03 * rings + 0.04 * fibre
    seam = rise(np.minimum(y % 95, 95 - y % 95), 0.3, 1.0)[:, None]
    color, dark = WOODS[wood]
    picture = mix(color, (dark, 0.45 * rise(np.sin(2.2 * rings + 0.8 * fibre), -0.3, 1.2)))
    return np.asarray(picture * (tone * (0.5 + 0.5 * seam))[..., None], np.float32)
