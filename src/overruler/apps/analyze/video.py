"""The overlay video: the recording with its results drawn over it."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from overruler.apps.analyze.merge import FilmResults, PackedRests
from overruler.apps.analyze.overlay import Drawing, Overlay
from overruler.errors import BadInput, CannotMeasure
from overruler.frame import Shot
from overruler.picture.films.film_encoding import even_size, write_mp4
from overruler.picture.raster import Pixels, alpha_composite, render_layer, resize_by_area
from overruler.sources.prefetch import prefetch_items
from overruler.sources.video import Film
from overruler.writing import atomic_file, check_writable

MAX_WIDTH_PX = 1280
"""Width of the video made of a wider recording."""
ASSUMED_FRAMES_PER_S = 30.0
"""Frame rate that is written for a film without one; its pictures keep their times all the same."""
CACHED_LAYERS = 4
"""Rendered drawings kept, as most serve for many pictures."""


def check_output(videos: list[Path], out: Path, together: bool = False) -> None:
    """Raise `BadInput` if no overlay video can be made of the first of `videos` at `out`.

    `together` says that all of them show one table.
    """
    if (len(videos) != 1 and not together) or videos[0].is_dir():
        raise BadInput(
            "--video: goes with one film; give the films one by one, a folder of photos makes none"
        )
    if out.suffix.lower() != ".mp4":
        raise BadInput(f"--video: {out}: the name must end in .mp4")
    check_writable(out)
    if out.exists() and any(video.exists() and out.samefile(video) for video in videos):
        raise BadInput(f"--video: {out}: is the recording itself: choose another name")


def write_video(video: Path, film: FilmResults, out: Path) -> str:
    """Write the overlay video, whole or not at all; return a description of it."""
    film = as_seen_in(film, str(video))
    with (
        Film(video, looks_per_s=float("inf")) as recording,
        atomic_file(out) as temporary,
        _progress_bar(recording, out.name) as on_progress,
    ):
        shots = iter(recording)
        first = next(shots, None)
        if first is None:
            raise CannotMeasure(
                f"{video}: holds no picture that can be read; record or export it again"
            )
        size = film_size(first.size_px, MAX_WIDTH_PX)
        drawn = draw_overlays(chain([first], shots), Overlay(film, size), on_progress)
        frames_per_s = recording.frames_per_s or ASSUMED_FRAMES_PER_S
        with prefetch_items(drawn) as pictures:
            count = write_mp4(pictures, size, frames_per_s, temporary)
        sound = "; its sound is left out" if recording.has_sound else ""
    return f"{out}: {count} pictures of {size[0]} × {size[1]}{sound}"


def as_seen_in(film: FilmResults, video: str) -> FilmResults:
    """The film as one of its cameras sees it, where it has several."""
    seen = PackedRests()
    for rest in film.rests:
        scene = rest["scene"]
        photos = scene.get("photos")
        own = [photo for photo in photos or () if photo["file"] == video]
        if own:
            camera = {"photos": own, "calibration": own[0]["calibration"]}
            seen.append(rest | {"scene": scene | camera})
        elif not photos:
            seen.append(rest)
    return replace(film, rests=seen)


def film_size(size_px: tuple[int, int], max_width_px: int) -> tuple[int, int]:
    """Size of a film no wider than `max_width_px`."""
    return even_size(size_px, min(1.0, max_width_px / size_px[0]))


def _ignore_progress(time_s: float) -> None:
    """Show nothing."""


def draw_overlays(
    shots: Iterable[Shot],
    overlay: Overlay,
    on_progress: Callable[[float], None] = _ignore_progress,
) -> Iterator[tuple[float, Pixels]]:
    """Yield the time and the picture of every shot, with its drawings."""
    render = lru_cache(maxsize=CACHED_LAYERS)(_rasterize_drawing)
    for shot in shots:
        pixels = resize_by_area(shot.colours(None), overlay.size_px)
        for drawing in overlay.drawings_at(shot.time_s):
            left, top, right, bottom = drawing.box_px
            part = pixels[top:bottom, left:right]
            pixels[top:bottom, left:right] = alpha_composite(render(drawing), part)
        yield shot.time_s, pixels
        on_progress(shot.time_s)


def _rasterize_drawing(drawing: Drawing) -> Pixels:
    left, top, right, bottom = drawing.box_px
    return render_layer(drawing.svg, (right - left, bottom - top))


@contextmanager
def _progress_bar(recording: Film, name: str) -> Iterator[Callable[[float], None]]:
    """Yield a callback that takes the seconds of film done; on a terminal it moves a bar."""
    if not sys.stderr.isatty():
        yield lambda time_s: None
        return
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()
    console = Console(stderr=True)
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        row = bar.add_task(name, total=recording.duration_s)
        yield lambda time_s: bar.update(row, completed=time_s)
