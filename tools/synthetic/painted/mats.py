"""What lies under the bases: tiles of mat, 512 pixels of half a millimetre, that repeat."""

from collections.abc import Callable, Sequence
from functools import cache

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float32]
Picture = NDArray[np.uint8]
Rng = np.random.Generator

SIDE = 512
TILE_MM = 256.0
COUNT = 120
"""Tiles in the library."""

_PALETTES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("grass", ("3c501e", "6e8232", "96963c", "5a412d")),
    ("grass", ("28461e", "466432", "648246", "3c5a28")),
    ("grass", ("8c8232", "5a6428", "b4a046", "6e5032")),
    ("cracked", ("c8a064", "aa7846", "785032", "d2b478")),
    ("cracked", ("b48c5a", "966e46", "c8a578", "5a4632")),
    ("sand", ("d2b482", "c8a573", "b4966e", "e1c896")),
    ("bricks", ("8c8778", "6e6964", "a09682", "50504b")),
    ("bricks", ("967d5f", "78644b", "aa9678", "5a5046")),
    ("asphalt", ("3c3c3f", "505052", "2d2d30", "46464b")),
    ("space", ("08080f", "141428", "1e143c", "0a1e32")),
    ("planks", ("8c5a37", "a06e46", "b4825a", "6e4628")),
    ("planks", ("d2aa78", "be9664", "e1be91", "aa8250")),
    ("planks", ("3c2319", "50321e", "462d23", "2d1c14")),
    ("deck", ("6e5f73", "82738a", "5a5064", "8c7864")),
    ("deck", ("78828c", "646e78", "8c969b", "50555a")),
    ("felt", ("285032", "1e3c64", "78786e", "32323a")),
    ("felt", ("ebe6dc", "d7d2c8", "f5f0eb", "c8c3b9")),
    ("sand", ("e6ebf0", "d2dce6", "f5f5fa", "b4bec8")),
    ("grass", ("5a4632", "46372a", "6e5a46", "3c4628")),
    ("felt", ("1e1e1e", "2d2d2d", "141414", "3c3c3c")),
)


def colour(code: str) -> Floats:
    """`rrggbb` as amounts of light, blue green red."""
    red, green, blue = (int(code[i : i + 2], 16) / 255 for i in (0, 2, 4))
    return np.array([blue, green, red], np.float32) ** 2.2


@cache
def grain(kind: int) -> Floats:
    """One of twelve noises (512, 512) of mean 0 and spread 1 that repeat: fine to cloudy, some stretched along x."""
    rng = np.random.default_rng(kind)
    slope = (0.5, 0.9, 1.3, 1.8)[kind % 4]
    stretch = (1.0, 1.0, 14.0)[kind // 4]
    fy, fx = np.meshgrid(np.fft.fftfreq(SIDE), np.fft.rfftfreq(SIDE), indexing="ij")
    frequency = np.hypot(fx * stretch, fy)
    frequency[0, 0] = np.inf
    noise = np.fft.irfft2(
        np.fft.rfft2(rng.normal(size=(SIDE, SIDE))) * frequency**-slope, s=(SIDE, SIDE)
    )
    return np.asarray(noise / noise.std(), np.float32)


def shuffled_grain(rng: Rng, kind: int) -> Floats:
    """A noise shifted and flipped at random."""
    down, right = rng.integers(0, SIDE, 2).tolist()
    noise: Floats = np.roll(grain(kind), (down, right), (0, 1))
    return noise[:: rng.choice([-1, 1]), :: rng.choice([-1, 1])]


def ramp(t: Floats, colours: ArrayLike) -> Floats:
    """Colours (..., 3) along a row of colours (K, 3), `t` 0 to 1."""
    table = np.asarray(colours, np.float32)
    stops = np.linspace(0, 1, len(table))
    return np.stack([np.interp(t, stops, table[:, c]) for c in range(3)], -1).astype(np.float32)


def _mottled(rng: Rng, colours: Floats, cloud: float, fine: float) -> Floats:
    t = 0.5 + cloud * 0.22 * shuffled_grain(rng, 3) + 0.1 * shuffled_grain(rng, 2)
    tile = ramp(np.clip(t, 0, 1), colours)
    tile *= np.exp(fine * shuffled_grain(rng, int(rng.integers(0, 2))))[..., None]
    return tile


def _grass(rng: Rng, colours: Floats) -> Floats:
    tile = _mottled(rng, colours[:3], 1.2, rng.uniform(0.2, 0.45))
    dirt = np.clip((shuffled_grain(rng, 2) - rng.uniform(0.3, 1.5)) * 4, 0, 1)[..., None]
    tile += dirt * (colours[3] * np.exp(0.2 * shuffled_grain(rng, 0))[..., None] - tile)
    return tile


def _sand(rng: Rng, colours: Floats) -> Floats:
    tile = _mottled(rng, colours, 0.8, rng.uniform(0.05, 0.25))
    return _speckled(rng, tile, int(rng.integers(0, 120)))


def _speckled(rng: Rng, tile: Floats, count: int) -> Floats:
    """With small stones and their dark sides."""
    for x, y in rng.uniform(0, SIDE, (count, 2)):
        size, shade = rng.uniform(0.5, 3), rng.uniform(0.15, 1.3)
        value = tile[int(y), int(x)] * shade
        cv2.ellipse(
            tile,
            ((x, y), (2 * size, 2 * size * rng.uniform(0.5, 1)), rng.uniform(0, 180)),
            value.tolist(),
            -1,
        )
    return tile


def _cracked(rng: Rng, colours: Floats) -> Floats:
    tile = _sand(rng, colours)
    lines = _cells(rng, int(np.exp(rng.uniform(3.2, 6))), int(rng.integers(1, 4)))
    where = np.clip(shuffled_grain(rng, 2) + rng.uniform(-0.3, 1.5), 0, 1)
    tile *= (1 - rng.uniform(0.4, 0.9) * lines * where)[..., None]
    return tile


def _cells(rng: Rng, count: int, width: int) -> Floats:
    """The borders of random cells, wobbling, 1 on a border (512, 512)."""
    division = cv2.Subdiv2D((0, 0, SIDE, SIDE))
    for x, y in rng.uniform(1, SIDE - 1, (count, 2)):
        division.insert((float(x), float(y)))
    facets, _ = division.getVoronoiFacetList([])
    picture = np.zeros((SIDE, SIDE), np.uint8)
    cv2.polylines(
        picture,
        [np.round(facet).astype(np.int32) for facet in facets],
        True,
        255,
        width,
        cv2.LINE_AA,
    )
    return _wobbled(rng, np.asarray(picture / 255, np.float32), 4)


def _wobbled(rng: Rng, picture: Floats, px: float) -> Floats:
    y, x = np.mgrid[:SIDE, :SIDE].astype(np.float32)
    at = x + px * shuffled_grain(rng, 2), y + px * shuffled_grain(rng, 2)
    return np.asarray(
        cv2.remap(picture, *at, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP), np.float32
    )


def _bricks(rng: Rng, colours: Floats) -> Floats:
    tile = _mottled(rng, colours[:3], 0.6, 0.15)
    height, width = int(rng.choice([16, 26, 32, 42, 56])), int(rng.choice([32, 43, 64, 80]))
    joints = np.ones((SIDE, SIDE), np.float32)
    for row, y in enumerate(range(0, SIDE, height)):
        for x in range(-(row % 2) * width // 2, SIDE, width):
            jitter = rng.integers(-2, 3, 2)
            low, high = (x + 2 + jitter[0], y + 2), (x + width - 2 + jitter[1], y + height - 2)
            joints[max(low[1], 0) : high[1], max(low[0], 0) : high[0]] = 0
            tile[max(low[1], 0) : high[1], max(low[0], 0) : high[0]] *= rng.uniform(0.7, 1.25)
    tile *= (1 - rng.uniform(0.3, 0.8) * _wobbled(rng, joints, 1.5))[..., None]
    return tile


def _asphalt(rng: Rng, colours: Floats) -> Floats:
    tile = _mottled(rng, colours, 0.7, rng.uniform(0.05, 0.2))
    if rng.random() < 0.6:
        y, paint = int(rng.integers(0, SIDE)), float(rng.uniform(0.3, 0.7))
        for x in range(0, SIDE, 100):
            cv2.line(
                tile,
                (x, y),
                (x + 55, y),
                (paint, paint, paint),
                int(rng.integers(4, 12)),
                cv2.LINE_AA,
            )
    return tile


def _space(rng: Rng, colours: Floats) -> Floats:
    tile = ramp(np.clip(0.4 + 0.3 * shuffled_grain(rng, 3), 0, 1), colours) * rng.uniform(0.5, 2)
    for x, y in rng.uniform(0, SIDE, (int(rng.integers(50, 400)), 2)):
        bright = float(rng.uniform(0.05, 1) ** 2)
        cv2.circle(
            tile,
            (int(x), int(y)),
            int(rng.random() < 0.1),
            (bright, bright, bright * 0.9),
            -1,
            cv2.LINE_AA,
        )
    return tile


def _planks(rng: Rng, colours: Floats) -> Floats:
    t = np.clip(0.5 + 0.3 * shuffled_grain(rng, 9 + int(rng.integers(0, 3))), 0, 1)
    tile = ramp(t, colours) * np.exp(0.08 * shuffled_grain(rng, 8))[..., None]
    for y in range(0, SIDE, int(rng.choice([120, 170, 256]))):
        tile[y : y + 2] *= 0.4
        tile[y : y + 120] *= rng.uniform(0.85, 1.15)
    return np.ascontiguousarray(tile if rng.random() < 0.5 else tile.swapaxes(0, 1))


def _deck(rng: Rng, colours: Floats) -> Floats:
    tile = _mottled(rng, colours[:3], 0.8, 0.1)
    pitch = int(rng.choice([128, 171, 256]))
    tile[::pitch] *= 0.3
    tile[1::pitch] *= 0.4
    tile[:, ::pitch] *= 0.3
    rust = np.clip((shuffled_grain(rng, 2) - 1.2) * 4, 0, 1)[..., None]
    tile += rust * (colours[3] - tile)
    if rng.random() < 0.4:
        x = int(rng.integers(0, SIDE - 60))
        stripes = ((np.arange(SIDE)[:, None] + np.arange(50)) // 20 % 2)[..., None]
        tile[:, x : x + 50] = np.where(stripes, colour("c8a51e"), colour("282828"))
    return tile


def _felt(rng: Rng, colours: Floats) -> Floats:
    return _mottled(
        rng, colours[rng.integers(0, 4)][None].repeat(2, 0), 0.2, rng.uniform(0.01, 0.15)
    )


_RECIPES: dict[str, Callable[[Rng, Floats], Floats]] = {
    "grass": _grass,
    "sand": _sand,
    "cracked": _cracked,
    "bricks": _bricks,
    "asphalt": _asphalt,
    "space": _space,
    "planks": _planks,
    "deck": _deck,
    "felt": _felt,
}


def _hexes(rng: Rng, tile: Floats) -> Floats:
    """With the lines of a hex grid."""
    size, width = rng.uniform(26, 110), int(rng.integers(1, 4))
    ink = np.full(3, rng.choice([0.02, 0.6]), np.float32)
    places = [(q, r) for r in range(-1, 14) for q in range(-8, 14)]
    for q, r in places:
        middle = size * np.array([np.sqrt(3) * (q + r / 2), 1.5 * r])
        if (np.abs(middle - SIDE / 2) < SIDE / 2 + size).all():
            turn = np.pi / 6 + np.arange(6) * np.pi / 3
            points = middle + size * np.stack([np.cos(turn), np.sin(turn)], -1)
            cv2.polylines(
                tile,
                [np.round(points * 16).astype(np.int32)],
                True,
                ink.tolist(),
                width,
                cv2.LINE_AA,
                4,
            )
    return tile


def make_tile(rng: Rng) -> Picture:
    """A mat (512, 512, 3) as a picture file would hold it."""
    kind, codes = _PALETTES[int(rng.integers(0, len(_PALETTES)))]
    colours = np.stack([colour(code) for code in codes])[rng.permutation(4)]
    colours = colours * rng.uniform(0.6, 1.5) * rng.uniform(0.85, 1.15, 3).astype(np.float32)
    if rng.random() < 0.12:
        colours = rng.uniform(0.02, 0.7, (4, 3)).astype(np.float32) ** 1.5
    tile = np.ascontiguousarray(_RECIPES[kind](rng, colours.astype(np.float32)), np.float32)
    if rng.random() < 0.15:
        tile = _hexes(rng, tile)
    return encode(tile)


def encode(light: Floats) -> Picture:
    """Amounts of light as picture values."""
    return np.asarray(np.clip(light, 0, 1) ** (1 / 2.2) * 255 + 0.5, np.uint8)


def library(seed: int, count: int = COUNT) -> Sequence[Picture]:
    """The tiles that all scenes choose from."""
    return [make_tile(np.random.default_rng([seed, 77, i])) for i in range(count)]
