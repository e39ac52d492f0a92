"""A stinger: a short film with alpha that covers the screen, under which a stream changes its scene."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from overruler.picture import svg
from overruler.picture.films.film_encoding import encode_webm
from overruler.picture.raster import render_png
from overruler.picture.text_layout import fit_text

SIZE_PX = (1920, 1080)
"""Width and height of the film; OBS scales it to its canvas."""
FRAMES_PER_S = 60
"""Frame rate: what moves so fast stutters at 30."""
SWEEP_S = 0.45
"""How long the plates take to cover the screen, and to leave it, in s."""
HOLD_S = 0.5
"""How long the screen is covered, in s: the words are read, and a slow computer has changed."""
CUT_S = SWEEP_S + HOLD_S / 2
"""When the scene changes, in s from the beginning."""
LENGTH_S = 2 * SWEEP_S + HOLD_S
"""How long the film is, in s."""
SLANT_PX = 260.0
"""How far a plate's edge leans from the foot to the head of the screen, in pixels."""
STRIPE_PX = 130.0
"""Width of a stripe of colour at a plate's edges, in pixels."""
WORDS_SIZE_PX = 150.0
"""Font size of the words, in pixels."""
WORDS_ROOM_PX = 1500.0
"""Widest that the words may be, in pixels."""
LOGO_HIGH_PX = 300.0
"""Height of a logo, in pixels."""
WORDS_RISE_PX = 40.0
"""How far the words rise while they come, in pixels."""


@dataclass(frozen=True, slots=True)
class StingerLook:
    """What a stinger shows."""

    words: str
    plate: str
    """Colour of the plate."""
    ink: str
    """Colour of the words."""
    stripes: tuple[str, ...]
    """Colours of the stripes before and behind the plate."""
    logo: str = ""
    """A picture as a `data:` address; empty for none."""


def encode_stinger(look: StingerLook) -> bytes:
    """Return the film as WebM with alpha; needs PyAV (`MissingExtra`)."""
    return encode_webm(_render_frames(look), SIZE_PX, FRAMES_PER_S)


def _render_frames(look: StingerLook) -> Iterator[NDArray[np.uint8]]:
    render = lru_cache(maxsize=2)(_render_rgba)
    for number in range(round(LENGTH_S * FRAMES_PER_S)):
        yield render(draw_moment(look, number / FRAMES_PER_S))


def _render_rgba(document: str) -> NDArray[np.uint8]:
    from PIL import Image

    picture = Image.open(io.BytesIO(render_png(document, SIZE_PX[0])))
    return np.asarray(picture.convert("RGBA"), np.uint8)


def draw_moment(look: StingerLook, time_s: float) -> str:
    """The SVG document of a moment of the film."""
    width, height = SIZE_PX
    stripes_px = STRIPE_PX * len(look.stripes)
    way = width + 2 * SLANT_PX + stripes_px
    head = way * _ease(time_s / SWEEP_S) - SLANT_PX
    foot = way * _ease((time_s - SWEEP_S - HOLD_S) / SWEEP_S) - SLANT_PX
    parts = []
    for number, colour in enumerate(look.stripes):  # the outermost first
        reach = stripes_px - number * STRIPE_PX
        parts.append(_slanted(foot - reach, head, colour))
    parts.append(_slanted(foot, head - stripes_px, look.plate))
    parts.append(_draw_words(look, _words_share(time_s)))
    return svg.element(
        "svg",
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        width=width,
        height=height,
        viewBox=f"0 0 {width} {height}",
    )


def _ease(share: float) -> float:
    """A motion that starts and ends slowly: a cubic from 0 to 1."""
    inside = min(max(share, 0.0), 1.0)
    return inside * inside * (3 - 2 * inside)


def _words_share(time_s: float) -> float:
    """How visible the words are: they come as the plate arrives, and go as it leaves."""
    coming = (time_s - 0.6 * SWEEP_S) / (0.4 * SWEEP_S)
    going = (LENGTH_S - 0.6 * SWEEP_S - time_s) / (0.4 * SWEEP_S)
    return _ease(min(coming, going))


def _slanted(left: float, right: float, colour: str) -> str:
    """A plate over the whole height between two slanted edges, given at half height."""
    if right <= left:
        return ""
    lean, height = SLANT_PX / 2, SIZE_PX[1]
    corners = ((left + lean, 0), (right + lean, 0), (right - lean, height), (left - lean, height))
    points = " ".join(f"{x:.1f},{y}" for x, y in corners)
    return svg.element("polygon", points=points, fill=colour)


def _draw_words(look: StingerLook, share: float) -> str:
    """The words in the middle, the logo above them."""
    if share <= 0:
        return ""
    width, height = SIZE_PX
    rise = WORDS_RISE_PX * (1 - share)
    text, size = fit_text(look.words, WORDS_SIZE_PX, WORDS_ROOM_PX)
    middle = height / 2 + (LOGO_HIGH_PX / 2 if look.logo else 0.0)
    words = svg.text_line(text, width / 2, middle + 0.36 * size, size, fill=look.ink)
    parts = [words]
    if look.logo:
        box = {"x": (width - WORDS_ROOM_PX) / 2, "width": WORDS_ROOM_PX, "height": LOGO_HIGH_PX}
        parts.append(svg.element("image", href=look.logo, y=middle - 1.5 * LOGO_HIGH_PX, **box))
    return svg.group(parts, opacity=share, transform=f"translate(0 {rise:.1f})")
