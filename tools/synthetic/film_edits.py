"""What lamps, clouds, arms and cameras do to a film without moving a piece in it."""

from collections.abc import Callable, Mapping

import cv2
import numpy as np

from synthetic.arrays import Array, Picture
from synthetic.edits import EDITS, to_light, to_photo, veiled

FilmEdit = Callable[[Picture, float, float], Picture]
"""Turns a picture (H, W, 3), BGR, into an edited one, by its time and the film's length in s."""


def _in_light(light: Callable[[Array, Array, float, float], Array | float]) -> FilmEdit:
    """In light that depends on x, y in widths of the picture, the time and the film's length."""

    def edit(picture: Picture, time_s: float, length_s: float) -> Picture:
        height, width = picture.shape[:2]
        x, y = np.arange(width)[None] / width, np.arange(height)[:, None] / width
        factor = np.broadcast_to(light(x, y, time_s, length_s), (height, width))
        return to_photo(to_light(picture) * factor[..., None].astype(np.float32))

    return edit


def _cloud(x: Array, y: Array, time_s: float, length_s: float) -> Array:
    """A shade that goes over the table from one side to the other."""
    edge = 2 * time_s / length_s - 0.5
    return np.asarray(0.45 + 0.55 / (1 + np.exp(-12 * (x - edge))))


def turned(picture: Picture, turns_rad: tuple[float, float, float], zoom: float = 1.0) -> Picture:
    """As a camera sees it that has turned about its x, y and z axes."""
    height, width = picture.shape[:2]
    matrix = np.array([[width, 0, width / 2], [0, width, height / 2], [0, 0, 1.0]])
    rotation = cv2.Rodrigues(np.array(turns_rad))[0]
    zoomed = matrix * [[zoom, 1, 1], [1, zoom, 1], [1, 1, 1]]
    warp = zoomed @ rotation @ np.linalg.inv(matrix)
    seen = cv2.warpPerspective(
        picture, warp, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(seen, np.uint8)


def _shaking(px: float) -> FilmEdit:
    """On an arm that sways by so many thousandths of the picture's width."""

    def edit(picture: Picture, time_s: float, length_s: float) -> Picture:
        turns = px / 1000 * np.sin(np.array([2.1, 1.7, 1.1]) * time_s)
        return turned(picture, (turns[0], turns[1], turns[2] / 2))

    return edit


def _knocked(picture: Picture, time_s: float, length_s: float) -> Picture:
    """By a camera that somebody knocks in the middle of the film."""
    return turned(picture, (0.002, 0.0015, 0.002)) if time_s > length_s / 2 else picture


def _focusing(picture: Picture, time_s: float, length_s: float) -> Picture:
    """By a lens that seeks its focus in the middle of the film, which zooms and blurs."""
    away = float(np.exp(-(((time_s - length_s / 2) / 0.8) ** 2)))
    zoomed = turned(picture, (0.0, 0.0, 0.0), 1 + 0.01 * away)
    return np.asarray(cv2.GaussianBlur(zoomed, (0, 0), 0.3 + 2 * away), np.uint8)


def _white_balance(picture: Picture, time_s: float, length_s: float) -> Picture:
    """With colours that drift."""
    share = np.clip(3 * time_s / length_s - 1, 0, 1)
    return to_photo(to_light(picture) * np.array([1 - 0.35 * share, 1, 1 + 0.3 * share]))


def _log_profile(picture: Picture, time_s: float, length_s: float) -> Picture:
    """With the flat tones that films are graded from."""
    flat = 0.12 + 0.6 * np.log10(1 + 20 * to_light(picture)) / np.log10(21)
    return np.asarray(np.rint(255 * flat.clip(0, 1)), np.uint8)


def _graphics(picture: Picture, time_s: float, length_s: float) -> Picture:
    """Under a broadcaster's score, which counts, and a logo."""
    drawn, width = picture.copy(), picture.shape[1]
    left, line = width // 30, width // 14
    cv2.rectangle(drawn, (left, left // 2), (left + width // 3, line), (40, 20, 20), -1)
    clock = f"RED 12 : 9 BLUE {int(time_s)}"
    at = (left + line // 8, line - line // 4)
    cv2.putText(drawn, clock, at, cv2.FONT_HERSHEY_SIMPLEX, line / 90, (255, 255, 255), 2)
    return drawn


def _by_photo(name: str) -> FilmEdit:
    """Each picture as a photo that is edited so, with noise of its own."""
    return lambda picture, time_s, length_s: EDITS[name](
        picture, np.random.default_rng(round(100 * time_s))
    )


FILM_EDITS: Mapping[str, FilmEdit] = {
    "as it is": lambda picture, time_s, length_s: picture,
    "trembling": _shaking(0.3),
    "shaking": _shaking(1.0),
    "swaying": _shaking(3.0),
    "knocked": _knocked,
    "focusing": _focusing,
    "weak bands": _in_light(lambda x, y, t, _: 1 + 0.05 * np.sin(30 * y + 19 * t)),
    "bands": _in_light(lambda x, y, t, _: 1 + 0.15 * np.sin(30 * y + 19 * t)),
    "strong bands": _in_light(lambda x, y, t, _: 1 + 0.3 * np.sin(30 * x + 19 * t)),
    "flicker": _in_light(lambda x, y, t, _: 1 + 0.25 * np.sin(46 * t)),
    "dusk": _in_light(lambda x, y, t, length: 2.0 ** (-2.5 * t / length)),
    "cloud": _in_light(_cloud),
    "white balance": _white_balance,
    "log profile": _log_profile,
    "hazy": lambda picture, time_s, length_s: veiled(picture, 0.15 * time_s / length_s),
    "noisy": _by_photo("noisy"),
    "small file": _by_photo("small file"),
    "graphics": _graphics,
}
"""What may happen to a film."""
