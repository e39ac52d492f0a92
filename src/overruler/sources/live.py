"""Cameras and streams as they run: a reader of its own fills one slot, and the newest picture wins.

A source that ends or stalls is tried again, at growing intervals; until pictures come, it is lost and says why.
"""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from overruler.errors import BadInput, CannotMeasure, MissingExtra, OverrulerError
from overruler.frame import PixelBox, Shot
from overruler.sources.video import LOOKS_PER_S, Film, shot_from_picture
from overruler.sources.web_camera import shot_from_pixels

STREAM_SCHEMES = ("http://", "https://", "rtsp://", "rtmp://", "udp://", "tcp://")
OPEN_TIMEOUT_S, STALL_TIMEOUT_S = 10.0, 2.0
"""How long a stream may take to begin; how long a picture may be the newest."""
FIRST_RETRY_S, LONGEST_RETRY_S = 0.5, 8.0
"""Before a source is tried again."""

ShotOpener = Callable[[], Iterator[Shot]]


@dataclass(frozen=True, slots=True)
class Source:
    """Where pictures come from."""

    name: str
    open_shots: ShotOpener
    """Opens it anew: its shots, as they come. Raises `OverrulerError` or `OSError` where it cannot."""
    reopens: bool = True
    """Whether there is any use in opening it once more when it has ended."""
    loops: bool = False
    """Whether it then begins at once with another time: a film shown over and over."""


def parse_source(address: str, loop: bool = False) -> Source:
    """What an address means; `BadInput` where it means nothing.

    A number or a device is a camera, a file is a film shown as if live, `obs://HOST:PORT/Source name` a source of OBS.
    """
    if address.startswith("obs://"):
        from overruler.sources.obs import open_screenshots

        return Source(address, open_screenshots(address))
    if address.startswith(STREAM_SCHEMES):
        return Source(address, lambda: _stream_shots(address))
    if address.isdecimal() or address.startswith("/dev/"):
        return Source(
            f"camera {address}",
            lambda: _camera_shots(int(address) if address.isdecimal() else address),
        )
    path = Path(address)
    if "://" in address:
        raise BadInput(f"{address}: addresses begin with {', '.join((*STREAM_SCHEMES, 'obs://'))}")
    with Film(path):
        return Source(str(path), lambda: _film_shots(path), reopens=loop, loops=loop)


# --- kinds of sources ---


def _film_shots(path: Path) -> Iterator[Shot]:
    """A film at its own pace."""
    begin = time.monotonic()
    with Film(path) as film:
        for shot in film:
            time.sleep(max(begin + shot.time_s - time.monotonic(), 0.0))
            yield shot


def _stream_shots(address: str) -> Iterator[Shot]:
    try:
        import av
    except ImportError:
        raise MissingExtra.with_install_hint("streams need PyAV", "video") from None
    begin = time.monotonic()
    try:
        with av.open(address, timeout=(OPEN_TIMEOUT_S, STALL_TIMEOUT_S)) as container:
            if not container.streams.video:
                raise CannotMeasure(
                    f"{address}: holds no pictures: is it a film or a camera's stream?"
                )
            stream: Any = container.streams.video[0]
            stream.thread_type = "AUTO"
            for picture in container.decode(stream):
                yield shot_from_picture(picture, time.monotonic() - begin, address)
    except (av.error.FFmpegError, ValueError, OSError) as error:
        raise CannotMeasure(f"{address}: {getattr(error, 'strerror', None) or error}") from None


def _camera_shots(which: int | str) -> Iterator[Shot]:
    camera = cv2.VideoCapture(which)
    try:
        if not camera.isOpened():
            raise CannotMeasure(f"camera {which}: cannot be opened: is it plugged in, and free?")
        camera.set(cv2.CAP_PROP_FRAME_WIDTH, 1920)
        camera.set(cv2.CAP_PROP_FRAME_HEIGHT, 1080)
        begin = time.monotonic()
        while True:
            good, pixels = camera.read()
            if not good:
                raise CannotMeasure(
                    f"camera {which}: gives no more pictures; is it still plugged in?"
                )
            yield shot_from_pixels(
                np.asarray(pixels, np.uint8), time.monotonic() - begin, f"camera {which}"
            )
    finally:
        camera.release()


# --- the slot ---


class LiveReader:
    """A source that runs: `newest` is all that anybody wants of it."""

    def __init__(self, source: Source, least_s: float = 1 / LOOKS_PER_S) -> None:
        self.source = source
        self._least_s = least_s
        self._slot: tuple[int, Shot] | None = None
        self.time_jumps = 0
        """How often the pictures have leapt to another time."""
        self._came_s = -np.inf
        self._why = "opening"
        self._news = threading.Condition()
        self._ended = threading.Event()
        self._first_s = time.monotonic()
        self._thread = threading.Thread(target=self._run_reader, name="source", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join(STALL_TIMEOUT_S)

    def newest_shot(self, after: int, timeout_s: float) -> tuple[int, Shot] | None:
        """The newest shot and its number, once that is greater than `after`; None where none comes in time."""
        with self._news:
            self._news.wait_for(lambda: self._slot is not None and self._slot[0] > after, timeout_s)
            return self._slot if self._slot is not None and self._slot[0] > after else None

    def loss_reason(self) -> str | None:
        """Why there are no pictures now; None where they come."""
        if time.monotonic() - self._came_s < STALL_TIMEOUT_S:
            return None
        return self._why or f"no picture for {STALL_TIMEOUT_S:g} s"

    def _run_reader(self) -> None:
        wait_s = FIRST_RETRY_S
        while not self._ended.is_set():
            before = self._slot
            try:
                self._fill_slot()
                self._why = "it has ended"
            except (OverrulerError, OSError) as error:
                self._why = str(error)
            if self.source.loops and self._slot is not before:
                self.time_jumps += 1
                continue
            self._came_s = -np.inf
            if not self.source.reopens:
                return
            wait_s = FIRST_RETRY_S if self._slot is not before else min(2 * wait_s, LONGEST_RETRY_S)
            self._ended.wait(wait_s)

    def _fill_slot(self) -> None:
        """Put shots into the slot until they end, at most one each `least_s`."""
        due = -np.inf
        for shot in self.source.open_shots():
            if self._ended.is_set():
                return
            self._came_s, self._why = (now := time.monotonic()), ""
            if now < due:
                continue
            due = max(due + self._least_s, now + self._least_s / 2)
            with self._news:
                number = self._slot[0] + 1 if self._slot else 1
                self._slot = (
                    number,
                    replace(shot, time_s=now - self._first_s, colours=_serialized_colours(shot)),
                )
                self._news.notify_all()


def _serialized_colours(
    shot: Shot,
) -> Callable[[PixelBox | None], np.ndarray[Any, np.dtype[np.uint8]]]:
    """A shot's colours for several threads: a decoder's picture is converted by one of them at a time."""
    lock = threading.Lock()

    def colours(box: PixelBox | None) -> np.ndarray[Any, np.dtype[np.uint8]]:
        with lock:
            return shot.colours(box)

    return colours
