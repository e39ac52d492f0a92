"""The recording with what was found in it drawn over, as a film of its own."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from overruler.apps.analyze.merge import Film
from overruler.apps.analyze.overlay import Drawing, Overlay
from overruler.errors import BadInput, CannotMeasure
from overruler.picture.raster import Pixels, laid, layer, resized
from overruler.picture.replay import mp4
from overruler.shot import Shot
from overruler.sources.ahead import ahead
from overruler.sources.video import Film as Opened
from overruler.writing import check_writable, whole

WIDE_PX = 1280
"""As wide as a larger recording becomes."""
RATE = 30.0
"""What a film whose rate nobody knows is said to have; its pictures keep their times all the same."""


def check(videos: list[Path], out: Path) -> None:
    """`BadInput` before any work is done."""
    if len(videos) != 1 or videos[0].is_dir():
        raise BadInput("--video: goes with one film; give the films one by one, a folder of photos makes none")
    if out.suffix.lower() != ".mp4":
        raise BadInput(f"--video: {out}: the name must end in .mp4")
    check_writable(out)
    if out.exists() and out.samefile(videos[0]):
        raise BadInput(f"--video: {out}: is the recording itself: choose another name")


def write(video: Path, film: Film, out: Path) -> str:
    """Write the film, whole or not at all; what was written, in words."""
    with Opened(video, looks_per_s=float("inf")) as opened, whole(out) as temporary, _bar(opened, out.name) as told:
        shots = iter(opened)
        first = next(shots, None)
        if first is None:
            raise CannotMeasure(f"{video}: holds no picture that can be read; record or export it again")
        size = _size(first.size_px)
        with ahead(_drawn(chain([first], shots), Overlay(film, size), told)) as pictures:
            count = mp4(pictures, size, opened.frames_per_s or RATE, temporary)
        sound = "; its sound is left out" if opened.has_sound else ""
    return f"{out}: {count} pictures of {size[0]} × {size[1]}{sound}"


def _size(size_px: tuple[int, int]) -> tuple[int, int]:
    """Width and height of the film that is made: even, as its coding needs, and no wider than `WIDE_PX`."""
    share = min(1.0, WIDE_PX / size_px[0])
    return max(2, round(size_px[0] * share / 2) * 2), max(2, round(size_px[1] * share / 2) * 2)


def _drawn(shots: Iterable[Shot], overlay: Overlay, told: Callable[[float], None]) -> Iterator[tuple[float, Pixels]]:
    """Every picture with its drawing, and its time."""
    layers = lru_cache(maxsize=4)(_layer)  # most stand for many pictures
    for shot in shots:
        pixels = resized(shot.colours(None), overlay.size_px)
        for drawing in overlay.at(shot.time_s):
            left, top, right, bottom = drawing.box_px
            pixels[top:bottom, left:right] = laid(layers(drawing), pixels[top:bottom, left:right])
        yield shot.time_s, pixels
        told(shot.time_s)


def _layer(drawing: Drawing) -> Pixels:
    left, top, right, bottom = drawing.box_px
    return layer(drawing.svg, (right - left, bottom - top))


@contextmanager
def _bar(opened: Opened, name: str) -> Iterator[Callable[[float], None]]:
    """What to call with how far it has come, in seconds of film: a bar where a person is watching."""
    if not sys.stderr.isatty():
        yield lambda time_s: None
        return
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        row = bar.add_task(name, total=opened.duration_s)
        yield lambda time_s: bar.update(row, completed=time_s)
