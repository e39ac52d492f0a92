"""Pictures as an animated GIF, which any chat plays by itself."""

import io
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from overruler.picture.films.film_encoding import TimedPictures
from overruler.picture.raster import Pixels

if TYPE_CHECKING:
    from PIL.Image import Image

COLOURS = 255
"""Colours of a GIF; one of the 256 is left to tell what has not changed."""
MIN_SHOWN_MS = 20
"""Shortest time of a picture in ms: browsers show shorter ones more slowly."""
PALETTE_PICTURES = 8
"""Pictures of a film, beside its last, whose colours are looked at."""
STILL_LEVELS = 14
"""Greatest change of a colour, in levels, that counts as noise and is left out of the next picture.

Noise would make each picture of a film as large as the first. Twenty pictures of a sample table with
noise of 3 levels take 0.33 MB, and 5.3 MB without this.
"""


def encode_gif(pictures: TimedPictures, length_s: float) -> bytes:
    """Encode pictures as a GIF that repeats for ever; the last is shown until `length_s`."""
    times, frames = zip(*pictures, strict=True)
    coloured = _quantize(list(_without_noise(frames)))
    shown_ms = [round(1000 * (end - start)) for start, end in pairwise((*times, length_s))]
    out = io.BytesIO()
    coloured[0].save(
        out,
        "GIF",
        save_all=True,
        append_images=coloured[1:],
        duration=[max(MIN_SHOWN_MS, time) for time in shown_ms],
        loop=0,
        optimize=True,  # what has not changed is left out
    )
    return out.getvalue()


def _without_noise(frames: Iterable[Pixels]) -> Iterable[Pixels]:
    """Keep of each picture only what differs from the one before it by more than noise."""
    shown: Pixels | None = None
    for pixels in frames:
        if shown is None:
            shown = pixels
        else:
            change = np.abs(pixels.astype(np.int16) - shown).max(-1)
            shown = np.where((change > STILL_LEVELS)[..., None], pixels, shown)
        yield shown


def _quantize(frames: list[Pixels]) -> "list[Image]":
    """Reduce pictures to common colours."""
    from PIL import Image

    sample = Image.fromarray(np.ascontiguousarray(_sample_colours(frames)[None, :, ::-1]))
    palette = sample.quantize(COLOURS, method=Image.Quantize.MEDIANCUT)
    images = [Image.fromarray(np.ascontiguousarray(pixels[..., ::-1])) for pixels in frames]
    return [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]


def _sample_colours(frames: list[Pixels]) -> Pixels:
    """Colours (N, 3) that stand for a film's: half of the first picture, half of what comes later.

    Lines and words are a small part of a picture: by their area they would get no colours.
    """
    step = max(1, len(frames) // PALETTE_PICTURES)
    first = frames[0][::2, ::2].reshape(-1, 3)
    later = [pixels[::2, ::2].reshape(-1, 3) for pixels in (*frames[::step], frames[-1])]
    changes = [np.abs(pixels.astype(np.int16) - first).max(-1) for pixels in later]
    new = [one[change > STILL_LEVELS] for one, change in zip(later, changes, strict=True)]
    drawn = np.concatenate(new)
    if not len(drawn):
        return first
    return np.concatenate([first, np.resize(drawn, first.shape)])
