"""The recording with what was found in it drawn over, as a film of its own."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from overruler.apps.analyze.merge import FilmResults
from overruler.apps.analyze.overlay import Drawing, Overlay
from overruler.errors import BadInput, CannotMeasure
from overruler.picture.film_encoding import write_mp4
from overruler.picture.raster import Pixels, alpha_composite, render_layer, resize_by_area
from overruler.shot import Shot
from overruler.sources.prefetch import prefetch_items
from overruler.sources.video import Film as Opened
from overruler.writing import atomic_file, check_writable

MAX_WIDTH_PX = 1280
"""As wide as a larger recording becomes."""
ASSUMED_FRAMES_PER_S = 30.0
"""What a film whose rate nobody knows is said to have; its pictures keep their times all the same."""


def check_output(videos: list[Path], out: Path) -> None:
    """`BadInput` before any work is done."""
    if len(videos) != 1 or videos[0].is_dir():
        raise BadInput(
            "--video: goes with one film; give the films one by one, a folder of photos makes none"
        )
    if out.suffix.lower() != ".mp4":
        raise BadInput(f"--video: {out}: the name must end in .mp4")
    check_writable(out)
    if out.exists() and out.samefile(videos[0]):
        raise BadInput(f"--video: {out}: is the recording itself: choose another name")


def write_video(video: Path, film: FilmResults, out: Path) -> str:
    """Write the film, whole or not at all; what was written, in words."""
    with (
        Opened(video, looks_per_s=float("inf")) as opened,
        atomic_file(out) as temporary,
        _progress_bar(opened, out.name) as told,
    ):
        shots = iter(opened)
        first = next(shots, None)
        if first is None:
            raise CannotMeasure(
                f"{video}: holds no picture that can be read; record or export it again"
            )
        size = _even_size(first.size_px)
        with prefetch_items(
            _draw_overlays(chain([first], shots), Overlay(film, size), told)
        ) as pictures:
            count = write_mp4(
                pictures, size, opened.frames_per_s or ASSUMED_FRAMES_PER_S, temporary
            )
        sound = "; its sound is left out" if opened.has_sound else ""
    return f"{out}: {count} pictures of {size[0]} × {size[1]}{sound}"


def _even_size(size_px: tuple[int, int]) -> tuple[int, int]:
    """Width and height of the film that is made: even, as its coding needs, and no wider than `MAX_WIDTH_PX`."""
    share = min(1.0, MAX_WIDTH_PX / size_px[0])
    return max(2, round(size_px[0] * share / 2) * 2), max(2, round(size_px[1] * share / 2) * 2)


def _draw_overlays(
    shots: Iterable[Shot], overlay: Overlay, told: Callable[[float], None]
) -> Iterator[tuple[float, Pixels]]:
    """Every picture with its drawing, and its time."""
    layers = lru_cache(maxsize=4)(_rasterize_drawing)  # most stand for many pictures
    for shot in shots:
        pixels = resize_by_area(shot.colours(None), overlay.size_px)
        for drawing in overlay.drawings_at(shot.time_s):
            left, top, right, bottom = drawing.box_px
            pixels[top:bottom, left:right] = alpha_composite(
                layers(drawing), pixels[top:bottom, left:right]
            )
        yield shot.time_s, pixels
        told(shot.time_s)


def _rasterize_drawing(drawing: Drawing) -> Pixels:
    left, top, right, bottom = drawing.box_px
    return render_layer(drawing.svg, (right - left, bottom - top))


@contextmanager
def _progress_bar(opened: Opened, name: str) -> Iterator[Callable[[float], None]]:
    """What to call with how far it has come, in seconds of film: a bar where a person is watching."""
    if not sys.stderr.isatty():
        yield lambda time_s: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        row = bar.add_task(name, total=opened.duration_s)
        yield lambda time_s: bar.update(row, completed=time_s)
