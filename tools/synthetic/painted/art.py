"""Pictures that are printed on tokens, cards, boards and mats: of anything, in any colours, no two alike."""

from collections.abc import Callable

import cv2
import numpy as np

from synthetic.arrays import Array, Floats, Rng
from synthetic.noise import clouds
from synthetic.things.figures import any_colour

SIDE = 96
"""Pixels of a picture's side."""
LETTERS = "ABCDEFGHIKLMNOPRSTUVWXYZ0123456789+!?"
"""What words are set of."""


def any_art(rng: Rng, side: int = SIDE) -> Floats:
    """A picture (side, side, 3): amounts of light, blue green red."""
    picture = _ground(rng, side)
    for _ in range(int(rng.integers(0, 9))):
        maker = _MARKS[int(rng.integers(len(_MARKS)))]
        maker(rng, picture)
    return np.asarray(picture.clip(0.003, 0.9), np.float32)


def round_art(rng: Rng) -> Floats:
    """The print of a round thing (side, side, 4): a picture, often with a border, a ring or a sign in its middle."""
    picture, middle = any_art(rng), SIDE // 2
    for _ in range(int(rng.integers(0, 4))):
        radius = int(middle * rng.uniform(0.35, 0.97))
        cv2.circle(
            picture, (middle, middle), radius, ink(rng), int(rng.integers(1, 8)), cv2.LINE_AA
        )
    if rng.random() < 0.5:
        points = middle + _star(rng) * middle * rng.uniform(0.3, 0.8)
        cv2.fillPoly(picture, [points.astype(np.int32)], ink(rng), cv2.LINE_AA)
    if rng.random() < 0.4:
        _word(rng, picture, (middle - 24, middle + 14), 1.6)
    cover = np.zeros((SIDE, SIDE), np.float32)
    cv2.circle(cover, (middle, middle), middle, 1.0, -1, cv2.LINE_AA)
    return np.dstack([picture * cover[..., None], cover]).astype(np.float32)


def square_art(rng: Rng) -> Floats:
    """The print of an angular thing (side, side, 4), to its very edge."""
    return np.dstack([any_art(rng), np.ones((SIDE, SIDE), np.float32)]).astype(np.float32)


def ink(rng: Rng) -> tuple[float, ...]:
    """A printed colour: bright, black or white."""
    if rng.random() < 0.35:
        return (float(rng.choice([0.01, 0.05, 0.4, 0.8])),) * 3
    hue = rng.permutation([rng.uniform(0.3, 0.9), rng.uniform(0.02, 0.8), rng.uniform(0, 0.3)])
    return tuple(float(value) for value in hue)


def _ground(rng: Rng, side: int) -> Floats:
    """Plain, shaded from one colour to another, or clouds of the two."""
    first, second = np.array(ink(rng)), any_colour(rng).astype(float)
    kind = rng.random()
    if kind < 0.25:
        cover = np.zeros((side, side), np.float32)
    elif kind < 0.5:
        turn, step = rng.uniform(0, 6.3), np.linspace(-0.5, 0.5, side)
        cover = np.asarray(0.5 + np.cos(turn) * step + np.sin(turn) * step[:, None], np.float32)
    else:
        cover = 0.5 + 0.35 * clouds((side, side), float(rng.uniform(6, 90)), rng)
    mixed = first + (second - first) * cover.clip(0, 1)[..., None]
    return np.ascontiguousarray(mixed, np.float32)


def _star(rng: Rng) -> Array:
    """A star, a polygon or a blob of radius 1 (n, 2)."""
    count, inner = int(rng.integers(3, 10)), rng.uniform(0.3, 1.0)
    turn = np.arange(2 * count) * np.pi / count + rng.uniform(0, 6.3)
    reach = np.where(np.arange(2 * count) % 2, inner, 1.0)
    return np.asarray(reach[:, None] * np.stack([np.cos(turn), np.sin(turn)], -1))


def _spot(rng: Rng, picture: Floats) -> tuple[int, int]:
    x, y = rng.integers(0, picture.shape[0], 2)
    return int(x), int(y)


def _disc(rng: Rng, picture: Floats) -> None:
    """A disc or a ring, round or as seen from aside."""
    reach = int(rng.uniform(0.05, 0.4) * picture.shape[0])
    axes = reach, max(int(reach * rng.choice([1.0, rng.uniform(0.4, 1)])), 1)
    wide = int(rng.integers(1, 5)) if rng.random() < 0.5 else -1
    angle = float(rng.uniform(0, 180))
    cv2.ellipse(picture, _spot(rng, picture), axes, angle, 0, 360, ink(rng), wide, cv2.LINE_AA)


def _shape(rng: Rng, picture: Floats) -> None:
    points = np.array(_spot(rng, picture)) + _star(rng) * rng.uniform(4, 0.4 * len(picture))
    cv2.fillPoly(picture, [points.astype(np.int32)], ink(rng), cv2.LINE_AA)


def _stripe(rng: Rng, picture: Floats) -> None:
    ends = _spot(rng, picture), _spot(rng, picture)
    cv2.line(picture, *ends, ink(rng), int(rng.integers(1, 6)), cv2.LINE_AA)


def _grid(rng: Rng, picture: Floats) -> None:
    """Lines as tiles and squares have."""
    step, colour = int(rng.integers(8, 40)), ink(rng)
    for at in range(int(rng.integers(step)), len(picture), step):
        cv2.line(picture, (at, 0), (at, len(picture)), colour, 1)
        cv2.line(picture, (0, at), (len(picture), at), colour, 1)


def _text(rng: Rng, picture: Floats) -> None:
    """Some lines of words."""
    x, y = _spot(rng, picture)
    size = float(rng.uniform(0.25, 0.8))
    for row in range(int(rng.integers(1, 6))):
        _word(rng, picture, (x - 30, y + int(26 * size * row)), size)


def _word(rng: Rng, picture: Floats, at: tuple[int, int], size: float) -> None:
    count = int(rng.integers(1, 3 if size > 1 else 12))
    word = "".join(LETTERS[int(rng.integers(len(LETTERS)))] for _ in range(count))
    font = int(rng.integers(0, 5))
    cover = np.zeros(picture.shape[:2], np.uint8)
    cv2.putText(cover, word, at, font, size, 255, 1 + int(size > 1), cv2.LINE_AA)
    share = np.divide(cover, 255, dtype=np.float32)[..., None]
    picture += share * (np.array(ink(rng), np.float32) - picture)


def _pictured_figure(rng: Rng, picture: Floats) -> None:
    """A photo of a figure on its base, as rulebooks and cards show: a base seen from aside, and a body over it."""
    (x, y), reach = _spot(rng, picture), int(rng.uniform(5, 22))
    flat = max(int(reach * rng.uniform(0.25, 0.6)), 1)
    dark = tuple(0.2 * value for value in ink(rng))
    cv2.ellipse(picture, (x, y), (reach, flat), 0, 0, 360, dark, -1, cv2.LINE_AA)
    for rise in (0.4, 1.0, 1.6):
        middle = x + int(rng.normal(0, 0.2 * reach)), y - int(rise * reach)
        axes = max(int(reach * rng.uniform(0.2, 0.7)), 1), max(int(reach * 0.6), 1)
        cv2.ellipse(picture, middle, axes, 0, 0, 360, ink(rng), -1, cv2.LINE_AA)


_MARKS: tuple[Callable[[Rng, Floats], None], ...] = (
    _disc, _disc, _shape, _shape, _stripe, _grid, _text, _pictured_figure,
)  # fmt: skip
