"""Printed mats, drawn from noise; and the table and the floor beneath them."""

from collections.abc import Callable

import cv2
import numpy as np

from synthetic.traced.materials import Floats, Picture
from synthetic.traced.noise import Rng, Shape, clouds, full, mix, rise, speckle

Draw = Callable[[Shape, float, Rng], Floats]


def mat(name: str, width_mm: float, height_mm: float, texel_mm: float, rng: Rng) -> Picture:
    """A mat's print (H, W, 3), upper row first."""
    shape = (round(height_mm / texel_mm), round(width_mm / texel_mm))
    return np.asarray((MATS[name](shape, texel_mm, rng).clip(0, 1) * 255 + 0.5).astype(np.uint8))


def _desert(shape: Shape, texel: float, rng: Rng) -> Floats:
    big, mid = clouds(shape, 260 / texel, rng), clouds(shape, 40 / texel, rng)
    picture = mix(
        ("#c79a5e", full(shape)),
        ("#d9b57c", rise(big, -0.2, 1.6)),
        ("#8a6238", 0.75 * rise(-big + 0.4 * mid, 0.5, 2)),
    )
    fine = clouds(shape, 7 / texel, rng, 4)
    picture *= (1 + 0.05 * mid + 0.045 * fine + 0.06 * speckle(shape, rng, 0.4 / texel))[..., None]
    return _pebbles(_cracks(picture, texel, rng), texel, rng, 0.35)


def _cracks(picture: Floats, texel: float, rng: Rng) -> Floats:
    """Dried mud: the borders of random cells, here and there."""
    height, width = picture.shape[:2]
    count = max(int(width * height * (texel / 26) ** 2), 8)
    seeds = np.ones((height, width), np.uint8)
    seeds[rng.integers(0, height, count), rng.integers(0, width, count)] = 0
    _, cells = cv2.distanceTransformWithLabels(
        seeds, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL
    )
    bend = [(1.5 / texel) * clouds((height, width), 12 / texel, rng) for _ in range(2)]
    y, x = np.mgrid[:height, :width].astype(np.float32)
    cells = cv2.remap(
        cells.astype(np.float32),
        x + bend[0],
        y + bend[1],
        cv2.INTER_NEAREST,
        borderMode=cv2.BORDER_REPLICATE,
    )
    square = np.ones((max(2, round(1.1 / texel)),) * 2, np.uint8)
    lines = (cv2.dilate(cells, square) != cv2.erode(cells, square)).astype(np.float32)
    where = rise(clouds((height, width), 180 / texel, rng, 3), 0.5, 1.1)
    cover = cv2.GaussianBlur(lines, (0, 0), 0.6) * where * 0.75
    return np.asarray(
        picture * (1 - cover[..., None])
        + np.array([0.2, 0.13, 0.07], np.float32) * cover[..., None],
        np.float32,
    )


def _pebbles(picture: Floats, texel: float, rng: Rng, per_dm2: float) -> Floats:
    """Small printed stones, each with a dark lower side."""
    height, width = picture.shape[:2]
    for _ in range(int(width * height * (texel / 100) ** 2 * per_dm2)):
        x, y = int(rng.integers(0, width)), int(rng.integers(0, height))
        r = max(1, round(rng.gamma(2, 0.6) / texel))
        tone = rng.uniform(0.3, 0.6)
        axes, turn = (r, max(1, round(r * rng.uniform(0.6, 1)))), float(rng.uniform(0, 180))
        cv2.ellipse(
            picture,
            (x, y + max(1, r // 3)),
            axes,
            turn,
            0,
            360,
            (0.12, 0.09, 0.06),
            -1,
            cv2.LINE_AA,
        )
        cv2.ellipse(
            picture, (x, y), axes, turn, 0, 360, (tone, tone * 0.92, tone * 0.82), -1, cv2.LINE_AA
        )
    return picture


def _craters(shape: Shape, texel: float, rng: Rng) -> Floats:
    picture = _desert(shape, texel, rng) * np.array([0.93, 0.92, 0.95], np.float32)
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float32)
    wobble = 0.12 * clouds(shape, 30 / texel, rng)
    for _ in range(int(shape[0] * shape[1] * texel**2 / 70_000)):
        r = rng.uniform(14, 45) / texel
        cx, cy = rng.uniform(0, shape[1]), rng.uniform(0, shape[0])
        top, left, low, right = (
            int(max(0, v)) for v in (cy - 2 * r, cx - 2 * r, cy + 2 * r, cx + 2 * r)
        )
        box = np.s_[top:low, left:right]
        d = np.hypot(x[box] - cx, y[box] - cy) / r + wobble[box]
        shade = (
            -0.45 * (1 - rise(d, 0.55, 1))
            + 0.1 * np.exp(-(((d - 1.08) / 0.12) ** 2))
            + 0.18 * (1 - rise(d, 0, 0.9)) * (y[box] - cy) / r
        )
        picture[box] *= (1 + shade)[..., None]
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
    picture = mix(
        (base, full(shape)),
        (light, rise(big + 0.4 * mid, 0.1, 1.5)),
        (dark, 0.8 * rise(-big + 0.5 * mid, 0.4, 1.6)),
    )
    earth = rise(clouds(shape, 150 / texel, rng) + 0.25 * fine, bare, bare + 0.25)
    picture = (
        picture * (1 - earth[..., None])
        + mix((soil, full(shape)), ("#4a3624", rise(mid, 0, 2))) * earth[..., None]
    )
    picture *= (1 + 0.08 * fine + 0.1 * speckle(shape, rng, 0.5 / texel))[..., None]
    return _pebbles(np.asarray(picture, np.float32), texel, rng, 0.15)


def _snow(shape: Shape, texel: float, rng: Rng) -> Floats:
    big, mid = clouds(shape, 240 / texel, rng), clouds(shape, 50 / texel, rng)
    picture = mix(
        ("#d9dfe6", full(shape)),
        ("#f2f4f6", rise(big, -0.3, 1)),
        ("#a9b7c6", 0.6 * rise(-big + 0.3 * mid, 0.6, 2)),
    )
    rocks = rise(clouds(shape, 90 / texel, rng) + 0.2 * mid, 1.7, 1.9)
    picture = (
        picture * (1 - rocks[..., None])
        + mix(("#6f6a66", full(shape)), ("#4b4744", rise(mid, 0, 1))) * rocks[..., None]
    )
    return np.asarray(
        picture * (1 + 0.02 * speckle(shape, rng, 0.6 / texel))[..., None], np.float32
    )


def _city(shape: Shape, texel: float, rng: Rng) -> Floats:
    picture = _paving(shape, texel, rng)
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float32)
    half, middle = (
        85 / texel,
        (shape[1] * rng.uniform(0.3, 0.7), shape[0] * rng.uniform(0.35, 0.65)),
    )
    off = np.minimum(np.abs(x - middle[0]), np.abs(y - middle[1]))
    road = mix(("#3b3c3f", full(shape)), ("#2b2c2f", rise(clouds(shape, 80 / texel, rng), 0, 1.5)))
    road *= (1 + 0.07 * speckle(shape, rng, 0.5 / texel))[..., None]
    dash = (
        ((x + y) % (60 / texel) < 30 / texel)
        & (off < 2.2 / texel)
        & (np.maximum(np.abs(x - middle[0]), np.abs(y - middle[1])) > half)
    )
    road = np.where(dash[..., None], np.array([0.75, 0.74, 0.7], np.float32), road)
    kerb = (off > half - 5 / texel)[..., None]
    road = np.where(kerb, np.array([0.55, 0.55, 0.54], np.float32), road)
    return np.asarray(np.where((off < half)[..., None], road, picture), np.float32)


def _paving(shape: Shape, texel: float, rng: Rng) -> Floats:
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float32) * np.float32(texel)
    x, y = x + 1.2 * clouds(shape, 40 / texel, rng, 3), y + 1.2 * clouds(shape, 40 / texel, rng, 3)
    row = np.floor(y / 24)
    x = x + 23 * (row % 2)
    tone = rng.uniform(0.75, 1.1, (997,)).astype(np.float32)[
        ((row * 57 + np.floor(x / 46) * 131) % 997).astype(int)
    ]
    gap = np.minimum(np.minimum(x % 46, 46 - x % 46), np.minimum(y % 24, 24 - y % 24))
    picture = (
        mix(("#7d7468", full(shape)), ("#5e574e", rise(clouds(shape, 120 / texel, rng), 0, 1.5)))
        * tone[..., None]
    )
    picture *= (1 + 0.06 * speckle(shape, rng, 0.5 / texel))[..., None]
    return np.asarray(picture * (0.35 + 0.65 * rise(gap, 0.4, 1.4))[..., None], np.float32)


def _space(shape: Shape, texel: float, rng: Rng) -> Floats:
    big, other = clouds(shape, 300 / texel, rng, 7), clouds(shape, 260 / texel, rng, 7)
    hues = rng.permutation(["#4a2f8f", "#7a2f6e", "#1f4f8a", "#2a6d6a"])
    picture = mix(
        ("#07070b", full(shape)),
        (hues[0], 0.8 * rise(big, 0.3, 2.2)),
        (hues[1], 0.7 * rise(other, 0.5, 2.4)),
        ("#c0b6e8", 0.5 * rise(big + other, 2.4, 4.5)),
    )
    stars = np.zeros(shape, np.float32)
    count = int(shape[0] * shape[1] * texel**2 / 90)
    stars[rng.integers(0, shape[0], count), rng.integers(0, shape[1], count)] = (
        rng.pareto(2.2, count) * 0.25
    )
    stars = np.asarray(
        cv2.GaussianBlur(stars.clip(0, 6), (0, 0), max(0.5, 0.35 / texel)), np.float32
    )
    picture = picture + (2 * stars.clip(0, 0.45))[..., None]
    return _planet(np.asarray(picture, np.float32), texel, rng)


def _planet(picture: Floats, texel: float, rng: Rng) -> Floats:
    height, width = picture.shape[:2]
    r, cx, cy = (
        rng.uniform(45, 110) / texel,
        rng.uniform(0.1, 0.9) * width,
        rng.uniform(0.1, 0.9) * height,
    )
    y, x = np.mgrid[:height, :width].astype(np.float32)
    dx, dy = (x - cx) / r, (y - cy) / r
    d2 = dx * dx + dy * dy
    sun = (0.1 + 0.9 * (0.5 * dx - 0.5 * dy + 0.7 * np.sqrt((1 - d2).clip(0))).clip(0, 1))[
        ..., None
    ]
    ground = mix(
        ("#8a6f4a", full((height, width))),
        ("#b55a3a", rise(clouds((height, width), r / 2, rng), -0.3, 1)),
    )
    inside = rise(-np.sqrt(d2), -1.01, -0.99)[..., None]
    return np.asarray(picture * (1 - inside) + ground * sun * inside, np.float32)


def _deck(shape: Shape, texel: float, rng: Rng) -> Floats:
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float32) * np.float32(texel)
    tone = rng.uniform(0.8, 1.15, (997,)).astype(np.float32)[
        ((np.floor(y / 76) * 57 + np.floor(x / 114) * 131) % 997).astype(int)
    ]
    gap = np.minimum(np.minimum(x % 114, 114 - x % 114), np.minimum(y % 76, 76 - y % 76))
    picture = (
        mix(("#5b6066", full(shape)), ("#44484d", rise(clouds(shape, 200 / texel, rng), 0, 1.6)))
        * tone[..., None]
    )
    rivet = np.hypot(x % 38 - 19, np.minimum(y % 76, 76 - y % 76) - 6) < 1.6
    stripes = ((x + y) % 30 < 15) & (np.abs(y - y.max() * 0.5) < 9)
    picture = np.where(stripes[..., None], np.array([0.78, 0.62, 0.12], np.float32), picture)
    picture = (
        np.where(rivet[..., None], picture * 0.6, picture)
        * (0.3 + 0.7 * rise(gap, 0.5, 1.6))[..., None]
    )
    return np.asarray(
        picture
        * (
            1
            + 0.03 * speckle(shape, rng, 0.5 / texel)
            - 0.1 * rise(clouds(shape, 30 / texel, rng), 1.2, 2)
        )[..., None],
        np.float32,
    )


def hexes(
    picture: Floats, texel: float, size_mm: float, origin_mm: tuple[float, float], flat: bool
) -> Floats:
    """A printed hex grid, drawn where two hex centres are equally near."""
    height, width = picture.shape[:2]
    x = (np.arange(width, dtype=np.float32)[None] + 0.5) * texel - origin_mm[0]
    y = (height - 0.5 - np.arange(height, dtype=np.float32)[:, None]) * texel - origin_mm[1]
    x, y = (
        (y, x) if flat else (x, y)
    )  # pointy hexes have rows along x; flat ones are the same turned about the diagonal
    near = np.full((2, height, width), np.inf, np.float32)
    across, up = np.sqrt(3) * size_mm, 3 * size_mm
    for dx, dy in ((0.0, 0.0), (across / 2, up / 2)):
        for sx in (0.0, across):
            for sy in (0.0, up):
                px, py = (x - dx) % across - sx, (y - dy) % up - sy
                d = np.hypot(px, py).astype(np.float32)
                near = np.sort(
                    np.stack([near[0], near[1], np.broadcast_to(d, (height, width))]), 0
                )[:2]
    line = rise(-(near[1] - near[0]) / 2, -0.9, -0.5)[..., None]
    return np.asarray(
        picture * (1 - 0.8 * line) + np.array([0.1, 0.09, 0.07], np.float32) * 0.8 * line,
        np.float32,
    )


def _hex(shape: Shape, texel: float, rng: Rng) -> Floats:
    big, mid = clouds(shape, 160 / texel, rng), clouds(shape, 20 / texel, rng)
    picture = mix(
        ("#a59a63", full(shape)), ("#7f8f4d", rise(big, 0, 1)), ("#c4b585", rise(-big, 0.4, 1.4))
    )
    return np.asarray(
        picture * (1 + 0.05 * mid + 0.03 * speckle(shape, rng))[..., None], np.float32
    )


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


def planks(wood: str, width_mm: float, height_mm: float, texel_mm: float, rng: Rng) -> Picture:
    """A wooden table's top (H, W, 3)."""
    shape = (round(height_mm / texel_mm), round(width_mm / texel_mm))
    fibre = cv2.resize(
        clouds((shape[0], max(shape[1] // 24, 8)), 5 / texel_mm, rng, 4),
        shape[::-1],
        interpolation=cv2.INTER_CUBIC,
    )
    rings = cv2.resize(
        clouds((shape[0], max(shape[1] // 20, 8)), 16 / texel_mm, rng, 3),
        shape[::-1],
        interpolation=cv2.INTER_CUBIC,
    )
    y = np.arange(shape[0], dtype=np.float32) * texel_mm
    board = np.floor(y / 95).astype(int) % 97
    tone = (
        rng.uniform(0.85, 1.12, 97).astype(np.float32)[board][:, None] + 0.03 * rings + 0.04 * fibre
    )
    seam = rise(np.minimum(y % 95, 95 - y % 95), 0.3, 1.0)[:, None]
    color, dark = WOODS[wood]
    picture = mix(
        (color, full(shape)), (dark, 0.45 * rise(np.sin(2.2 * rings + 0.8 * fibre), -0.3, 1.2))
    )
    return np.asarray(
        ((picture * tone[..., None] * (0.5 + 0.5 * seam)[..., None]).clip(0, 1) * 255).astype(
            np.uint8
        )
    )
