"""Short films of the moves, to share: each shows the way there, its length, and the ruling after it."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from overruler.apps.analyze.merge import Data, FilmResults
from overruler.apps.analyze.overlay import Overlay
from overruler.apps.analyze.video import draw_overlays, film_size
from overruler.errors import BadInput
from overruler.frame import Shot
from overruler.picture.films import check_film_ending
from overruler.picture.films.film_encoding import encode_opaque_webm
from overruler.picture.films.gif import encode_gif
from overruler.picture.raster import Pixels
from overruler.sources.video import Film
from overruler.writing import write_atomically

LEAD_S = 1.0
"""How long before a move its clip begins, in s."""
READ_S = 3.0
"""How long a clip shows the ruling after the move, in s."""
MAX_RULING_DELAY_S = 3.0
"""Longest wait for the rest after a move, at which the ruling is drawn, in s."""
MAX_MOVE_S = 12.0
"""Longest part of a move that a clip shows, in s: its end. A GIF of more is too large for a chat."""
PICTURES_PER_S = 10.0
"""Pictures in a second of a clip."""
MAX_WIDTH_PX = {".gif": 720, ".webm": 1280}
"""Width of a clip by the ending of its name."""
MAGNIFICATION = {".gif": 1.7, ".webm": 1.2}
"""How much larger than over the whole recording letters are: at least 10 pixels high."""


def check_clips(videos: list[Path], kind: str) -> None:
    """Raise `BadInput` or `MissingExtra` if no clips of a kind can be made of `videos`."""
    folder = next((video for video in videos if video.is_dir()), None)
    if folder is not None:
        raise BadInput(f"--clips: {folder}: is a folder of photos; clips are made of films")
    check_film_ending(Path(f".{kind}"))


def write_clips(video: Path, film: FilmResults, folder: Path, kind: str) -> tuple[str, ...]:
    """Write a clip of each move into a folder; return their names, in the order of the moves."""
    names = []
    for number, move in enumerate(film.moves, 1):
        name = f"{number:03}.{kind}"
        start_s, end_s = _stretch_s(film, move)
        data = _encode_clip(video, film, start_s, end_s, f".{kind}")
        if data is not None:
            write_atomically(folder / name, data)
        names.append(name if data is not None else "")
    return tuple(names)


def _stretch_s(film: FilmResults, move: Data) -> tuple[float, float]:
    """When the clip of a move begins and ends."""
    rests = (rest["time_s"] for rest in film.rests)
    rest_s = min((time for time in rests if time >= move["end_s"]), default=move["end_s"])
    read_from_s = min(rest_s, move["end_s"] + MAX_RULING_DELAY_S)
    start_s = max(move["start_s"], move["end_s"] - MAX_MOVE_S)
    return max(0.0, start_s - LEAD_S), read_from_s + READ_S


def _encode_clip(
    video: Path, film: FilmResults, start_s: float, end_s: float, ending: str
) -> bytes | None:
    """The film from `start_s` to `end_s`, drawn on; None if it has no picture there."""
    with Film(video, looks_per_s=PICTURES_PER_S, from_s=start_s, to_s=end_s) as recording:
        shots = iter(recording)
        first = next(shots, None)
        if first is None:
            return None
        size = film_size(first.size_px, MAX_WIDTH_PX[ending])
        overlay = Overlay(film, size, MAGNIFICATION[ending])
        pictures = _from_zero(draw_overlays(chain([first], shots), overlay), first)
        if ending == ".gif":
            return encode_gif(pictures, end_s - first.time_s)
        return encode_opaque_webm(pictures, size, PICTURES_PER_S)


def _from_zero(
    pictures: Iterator[tuple[float, Pixels]], first: Shot
) -> Iterator[tuple[float, Pixels]]:
    """The pictures with times that begin at 0."""
    for time_s, pixels in pictures:
        yield time_s - first.time_s, pixels
