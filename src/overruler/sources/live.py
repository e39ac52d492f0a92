"""Running cameras and streams: a reader thread fills one slot, and the newest picture wins.

A source that ends or stalls is opened again, at growing intervals. Until pictures come, it counts as
lost and gives the reason.
"""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.errors import BadInput, CannotMeasure, MissingExtra, OverrulerError
from overruler.frame import Frame, PixelBox, Shot
from overruler.sources.damage import DamageWatch, PacketDecoder, sound_packets
from overruler.sources.decoded_picture import shot_from_picture
from overruler.sources.display_transform import read_pixel_aspect
from overruler.sources.film_file import choose_stream
from overruler.sources.folder import ENDINGS
from overruler.sources.photo import load_photo
from overruler.sources.video import LOOKS_PER_S, Film
from overruler.sources.web_camera import shot_from_pixels

STREAM_SCHEMES = ("http://", "https://", "rtsp://", "rtmp://", "udp://", "tcp://")
OPEN_TIMEOUT_S = 10.0
"""Longest wait for a stream to begin."""
STALL_TIMEOUT_S = 2.0
"""Age of the newest picture from which a source counts as lost."""
FIRST_RETRY_S = 0.5
"""Wait before a source is first opened again; it doubles each time."""
LONGEST_RETRY_S = 8.0
"""Longest wait before a source is opened again."""
LONGEST_DAMAGE_S = 10.0
"""After damage, no picture of a stream is shown before the next key picture, or for this long."""
PHOTO_INTERVAL_S = 0.2
"""Time between the pictures of a photo that stands in for a camera: nothing moves on it."""
CAMERA_SIZE_PX = (1920, 1080)
"""Width and height asked of a camera."""
OPENCV_SILENT = 0
"""OpenCV's number of the level at which it logs nothing."""

ShotOpener = Callable[[], Iterator[Shot]]


@dataclass(frozen=True, slots=True)
class Source:
    """A source of pictures."""

    name: str
    open_shots: ShotOpener
    """Opens it anew and returns its shots as they come; raises `OverrulerError` or `OSError`."""
    reopens: bool = True
    """Whether opening it again may help when it has ended."""
    loops: bool = False
    """Whether it begins again at once, at another time: a film shown over and over."""


def parse_source(address: str, loop: bool = False) -> Source:
    """Return the source that an address names; raises `BadInput` if it names none.

    A number or a device is a camera, a photo is a camera that sees it for ever, a film is
    played at its own pace, and `obs://HOST:PORT/Source name` is a source of OBS.
    """
    if loop and not _is_film(address):
        raise BadInput(f"--loop goes with a film: {address} is none: leave it away")
    if address.startswith("obs://"):
        from overruler.sources.obs import open_screenshots

        return Source(address, open_screenshots(address))
    if address.startswith(STREAM_SCHEMES):
        if not urlsplit(address).netloc:
            raise BadInput(f"{address}: names no host: give rtsp://192.168.1.20/stream say")
        return Source(address, lambda: _stream_shots(address))
    if address.isdecimal() or address.startswith("/dev/"):
        device = int(address) if address.isdecimal() else address
        return Source(f"camera {address}", lambda: _camera_shots(device))
    path = Path(address)
    if "://" in address:
        raise BadInput(f"{address}: addresses begin with {', '.join((*STREAM_SCHEMES, 'obs://'))}")
    if path.suffix.lower() in ENDINGS:
        photo = load_photo(path)
        return Source(str(path), lambda: _photo_shots(photo))
    with Film(path):
        return Source(str(path), lambda: _film_shots(path), reopens=loop, loops=loop)


def _is_film(address: str) -> bool:
    is_stream = "://" in address or address.isdecimal() or address.startswith("/dev/")
    return not is_stream and Path(address).suffix.lower() not in ENDINGS


# --- kinds of sources ---


def _photo_shots(photo: Frame) -> Iterator[Shot]:
    """Yield a photo again and again, as a camera over a table on which nothing moves."""
    shot, start = Shot.of(photo), time.monotonic()
    while True:
        yield replace(shot, time_s=time.monotonic() - start)
        time.sleep(PHOTO_INTERVAL_S)


def _film_shots(path: Path) -> Iterator[Shot]:
    """Yield a film's shots at its own pace."""
    start = time.monotonic()
    with Film(path) as film:
        for shot in film:
            time.sleep(max(start + shot.time_s - time.monotonic(), 0.0))
            yield shot


def _stream_shots(address: str) -> Iterator[Shot]:
    try:
        import av
    except ImportError:
        raise MissingExtra.with_install_hint("streams need PyAV", "video") from None
    start = time.monotonic()
    try:
        with av.open(address, timeout=(OPEN_TIMEOUT_S, STALL_TIMEOUT_S)) as container:
            if not container.streams.video:
                remedy = "is it a film or a camera's stream?"
                raise CannotMeasure(f"{address}: holds no pictures: {remedy}")
            stream = choose_stream(container, address).stream
            aspect = read_pixel_aspect(stream, address)
            stream.thread_type = "AUTO"
            damage = DamageWatch(LONGEST_DAMAGE_S)
            errors = (av.error.FFmpegError, ValueError)
            decoder = PacketDecoder(stream, errors)
            for packet in sound_packets(container.demux(stream), are_counted=False):
                for picture in decoder.decode(packet):
                    now_s = time.monotonic() - start
                    if damage.trusts(picture, now_s):
                        yield shot_from_picture(picture, now_s, address, aspect)
    except (av.error.FFmpegError, ValueError, OSError) as error:
        problem = f"{address}: {getattr(error, 'strerror', None) or error}"
        raise CannotMeasure(f"{problem}: is the address right, and is it on air?") from None


def _camera_shots(device: int | str) -> Iterator[Shot]:
    name = f"camera {device}"
    cv2.utils.logging.setLogLevel(
        OPENCV_SILENT
    )  # it tells a missing camera by ten lines, at each try
    camera = cv2.VideoCapture(device)
    try:
        if not camera.isOpened():
            raise CannotMeasure(f"{name}: cannot be opened: is it plugged in, and free?")
        camera.set(cv2.CAP_PROP_FRAME_WIDTH, CAMERA_SIZE_PX[0])
        camera.set(cv2.CAP_PROP_FRAME_HEIGHT, CAMERA_SIZE_PX[1])
        start = time.monotonic()
        while True:
            done, pixels = camera.read()
            if not done:
                raise CannotMeasure(f"{name}: gives no more pictures; is it still plugged in?")
            time_s = time.monotonic() - start
            yield shot_from_pixels(np.asarray(pixels, np.uint8), time_s, name)
    finally:
        camera.release()


# --- the slot ---


class LiveReader:
    """A running source, of which only the newest shot is kept."""

    __slots__ = (
        "_ended",
        "_interval_s",
        "_last_shot_s",
        "_loss_reason",
        "_news",
        "_slot",
        "_start_s",
        "_thread",
        "source",
        "time_jumps",
    )

    source: Source
    time_jumps: int
    """How often the pictures have jumped to another time."""

    def __init__(
        self, source: Source, least_s: float = 1 / LOOKS_PER_S, start_s: float | None = None
    ) -> None:
        """`least_s` is the shortest interval between kept shots.

        Times count from `start_s` of the monotonic clock; by default from now.
        """
        self.source = source
        self.time_jumps = 0
        self._interval_s = least_s
        self._slot: tuple[int, Shot] | None = None
        self._last_shot_s = -np.inf
        self._loss_reason = "opening"
        self._news = threading.Condition()
        self._ended = threading.Event()
        self._start_s = time.monotonic() if start_s is None else start_s
        self._thread = threading.Thread(target=self._run_reader, name="source", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join(STALL_TIMEOUT_S)

    def newest_shot(self, after: int, timeout_s: float) -> tuple[int, Shot] | None:
        """Return the newest shot and its number, once that exceeds `after`; None after a timeout."""

        def has_newer() -> bool:
            return self._slot is not None and self._slot[0] > after

        with self._news:
            return self._slot if self._news.wait_for(has_newer, timeout_s) else None

    def loss_reason(self) -> str | None:
        """Return why there are no pictures now; None if there are."""
        if time.monotonic() - self._last_shot_s < STALL_TIMEOUT_S:
            return None
        return self._loss_reason or f"no picture for {STALL_TIMEOUT_S:g} s"

    def _run_reader(self) -> None:
        wait_s = FIRST_RETRY_S
        while not self._ended.is_set():
            before = self._slot
            try:
                self._fill_slot()
                if self._ended.is_set():
                    return
                self._loss_reason = "it has ended"
            except (OverrulerError, OSError) as error:
                self._loss_reason = str(error)
            had_shots = self._slot is not before
            if self.source.loops and had_shots:
                self.time_jumps += 1
                continue
            self._last_shot_s = -np.inf
            if not self.source.reopens:
                return
            wait_s = FIRST_RETRY_S if had_shots else min(2 * wait_s, LONGEST_RETRY_S)
            self._ended.wait(wait_s)

    def _fill_slot(self) -> None:
        """Put shots into the slot until they end, at most one each interval."""
        due = -np.inf
        for shot in self.source.open_shots():
            if self._ended.is_set():
                return
            now = time.monotonic()
            self._last_shot_s, self._loss_reason = now, ""
            if now < due:
                continue
            due = max(due + self._interval_s, now + self._interval_s / 2)
            kept = replace(shot, time_s=now - self._start_s, colours=_serialized_colours(shot))
            with self._news:
                number = self._slot[0] + 1 if self._slot else 1
                self._slot = (number, kept)
                self._news.notify_all()


def _serialized_colours(shot: Shot) -> Callable[[PixelBox | None], NDArray[np.uint8]]:
    """Return a shot's colours for several threads, of which only one at a time converts them."""
    lock = threading.Lock()

    def colours(box: PixelBox | None) -> NDArray[np.uint8]:
        with lock:
            return shot.colours(box)

    return colours
