"""Take a veil of light off a picture: haze, a smudged lens, a lamp in view, a window in a glossy mat.

A veil adds light everywhere, so dark things look grey and contrasts fade. Nearly every part of a table
has something dark in it, a shadow or a dark base, and no veil is brighter than that (the dark channel:
He, Sun and Tang, "Single image haze removal using dark channel prior", 2009). Of all smooth lights that are
nowhere brighter than the dark of each part, nor negative, the veil is the brightest.
"""

from dataclasses import replace

import numpy as np

from overruler.calibration import Problem
from overruler.frame import Frame, Picture
from overruler.geometry.pose import Array

PARTS = (8, 12)
"""Rows and columns of parts of a picture, each of which has something dark in it."""
SAMPLED_PX = 600
"""About so many columns of the picture are looked at."""
DARK_PERCENTILE = 0.5
"""Percentile of a part's brightness that is its dark: lone pixels may be noise."""
BRIGHT_PERCENTILE = 98.0
"""Percentile of a picture's brightness that is its bright."""
USUAL_DARK = 0.03
"""What is dark in a clear picture, as a share of the bright, in linear light."""
CLEAR_DARK = 0.08
"""Dark up to this share of the bright is no veil: in 44 clear photos, rendered and real, it is 0.079 at most."""
ONSET = 3.0
"""How fast the veil grows beyond that, until dark things are as dark as usual: nothing jumps at the limit."""
CLEAR_SHARE = 0.25
"""Where so many parts have no veil, the picture has none: no smooth light is zero in so many and not in all."""
LEAST_VEIL = 0.06
"""A veil of less than this share of the bright is left as it is. Of 301 clear photos 11 seem to have one, of at
most 0.042 in the mean."""
DARKEST = 1e-4
"""Least light of what is bright: a channel may be black."""
TOLD_VEIL = 0.1
"""A veil of this share of the bright is told: from there on small contrasts are lost in rounding and noise."""
STRIP_ROWS = 128
"""Rows that are cleared at a time, to bound the memory."""
CODE_STEPS = 4095
"""Steps of linear light in the table that codes it."""


def clear_veil(frame: Frame) -> Frame:
    """Return the picture without its veil; the same frame where it has none, or is cleared already."""
    if frame.taken is not None:
        return frame
    veil = find_veil(frame.pixels)
    if veil is None:
        return frame
    return replace(
        frame,
        pixels=_subtract(frame.pixels, veil, np.zeros(2), frame),
        taken=frame.pixels,
        veil=veil,
    )


def clear_part(part: Frame, whole: Frame, corner_px: Array) -> Frame:
    """Return a part of a later picture without the veil of the whole one; `corner_px` (2,) is its upper left pixel."""
    if whole.veil is None:
        return part
    pixels = _subtract(part.pixels, whole.veil, corner_px, whole)
    return replace(part, pixels=pixels, taken=part.pixels, veil=whole.veil)


def veil_problems(frame: Frame) -> tuple[Problem, ...]:
    """What to say of a picture that was cleared of a strong veil."""
    if frame.taken is None or frame.veil is None:
        return ()
    stride = _stride(frame.taken)
    if _strength(frame.veil, _bright(frame.taken[::stride, ::stride])) < TOLD_VEIL:
        return ()
    text = (
        "light lies over the picture like a veil, and was taken off for measuring; wipe the lens, and"
        " keep lamps and windows out of view"
    )
    return (Problem("veiled", text),)


def find_veil(pixels: Picture) -> Array | None:
    """Return the veil over a picture (H, W, 3) as a quadratic of place (3, 6) in linear light; None where it is clear.

    The terms are those of `_terms`, over x and y that run from -1 to 1 across the picture.
    """
    rows, columns = PARTS
    stride = _stride(pixels)
    sample = pixels[::stride, ::stride]
    height, width = sample.shape[0] // rows, sample.shape[1] // columns
    if not height or not width:
        return None
    parts = sample[: height * rows, : width * columns].reshape(rows, height, columns, width, 3)
    dark = _to_linear(np.percentile(parts, DARK_PERCENTILE, axis=(1, 3), method="lower"))
    bright = _bright(sample)
    most = np.minimum(dark - USUAL_DARK * bright, ONSET * (dark - CLEAR_DARK * bright)).clip(0)
    if (most.mean(-1) == 0).mean() >= CLEAR_SHARE:
        return None
    veil = np.stack([_brightest_below(most[..., channel]) for channel in range(3)])
    return veil if _strength(veil, bright) >= LEAST_VEIL else None


def _bright(sample: Picture) -> Array:
    """What is bright (3,) in a picture, in linear light."""
    return _to_linear(np.percentile(sample, BRIGHT_PERCENTILE, axis=(0, 1), method="lower"))


def _strength(veil: Array, bright: Array) -> float:
    """The mean of a veil over the picture, as a share of what is bright (3,)."""
    mean_terms = np.array([1, 0, 0, 1 / 3, 0, 1 / 3])
    return float((veil @ mean_terms / bright.clip(DARKEST)).mean())


def _brightest_below(most: Array) -> Array:
    """Return the quadratic (6,) that is nowhere above `most` (rows, columns), nor negative, with the largest sum."""
    from scipy.optimize import linprog  # slow to load, and few pictures are veiled

    rows, columns = most.shape
    y, x = np.meshgrid(_middles(rows), _middles(columns), indexing="ij")
    terms = _terms(x.ravel(), y.ravel())
    limits = np.concatenate([most.ravel(), np.zeros(most.size)])
    found = linprog(
        -terms.sum(0), np.vstack([terms, -terms]), limits, bounds=(None, None), method="highs"
    )
    return np.asarray(found.x) if found.success else np.zeros(terms.shape[1])


def _subtract(pixels: Picture, veil: Array, corner_px: Array, whole: Frame) -> Picture:
    """Return pixels (H, W, 3) without the veil of the whole picture, as bright where it is white."""
    size = np.array(whole.size_px)
    x = (corner_px[0] + np.arange(pixels.shape[1]) + 0.5) / size[0] * 2 - 1
    y = (corner_px[1] + np.arange(pixels.shape[0]) + 0.5) / size[1] * 2 - 1
    linear = _to_linear(np.arange(256.0)).astype(np.float32)
    codes = np.rint(_to_code(np.linspace(0, 1, CODE_STEPS + 1))).astype(np.uint8)
    cleared = np.empty_like(pixels)
    for top in range(0, len(pixels), STRIP_ROWS):
        rows = slice(top, top + STRIP_ROWS)
        light = linear[pixels[rows]]
        terms = _terms(*np.broadcast_arrays(x, y[rows, None])).astype(np.float32)
        added = (terms @ veil.T.astype(np.float32)).clip(0, 0.99)
        steps = np.rint((light - added) / (1 - added) * CODE_STEPS).clip(0, CODE_STEPS)
        cleared[rows] = codes[steps.astype(np.intp)]
    cleared.setflags(write=False)
    return cleared


def _terms(x: Array, y: Array) -> Array:
    """The terms (..., 6) of a quadratic at places (...,)."""
    return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], -1)


def _middles(count: int) -> Array:
    """The middles (N,) of equal parts of the range from -1 to 1."""
    return (np.arange(count) + 0.5) / count * 2 - 1


def _stride(pixels: Picture) -> int:
    return max(1, int(pixels.shape[1]) // SAMPLED_PX)


def _to_linear(code: Array) -> Array:
    """Linear light, 0 to 1, of sRGB codes, 0 to 255 (IEC 61966-2-1)."""
    share = code / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def _to_code(light: Array) -> Array:
    """The reverse."""
    return 255 * np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
