"""Sources as they run: the newest picture wins, a lost one is said and tried again."""

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from overruler.errors import BadInput, CannotMeasure
from overruler.frame import Shot
from overruler.sources.live import LiveReader, Source, parse_source
from overruler.sources.video import Film
from overruler.sources.web_camera import shot_from_pixels
from tests.sources.odd_films import noisy_pictures, write_film
from tests.waiting import LONG_S

av = pytest.importorskip("av", reason="films need PyAV")


def shot(level: int) -> Shot:
    return shot_from_pixels(np.full((8, 8, 3), level, np.uint8), 0.0, "test")


def film(path: Path, frames: int = 10) -> Path:
    """Each picture brighter than the last, ten a second."""
    with av.open(str(path), "w") as out:
        stream = out.add_stream("mpeg4", rate=10, options={"threads": "1"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(frames):
            pixels = np.full((48, 64, 3), 20 + 20 * number, np.uint8)
            for packet in stream.encode(av.VideoFrame.from_ndarray(pixels, format="bgr24")):
                out.mux(packet)
        for packet in stream.encode():
            out.mux(packet)
    return path


def running(opened: Source) -> LiveReader:
    live = LiveReader(opened, least_s=0.0)
    live.start()
    return live


def test_who_comes_late_gets_the_newest() -> None:
    done = threading.Event()

    def shots() -> Iterator[Shot]:
        yield from map(shot, range(50))
        done.wait(LONG_S)

    live = running(Source("test", shots))
    try:
        while (got := live.newest_shot(0, LONG_S)) and got[0] < 50:
            time.sleep(0.01)
        assert got is not None
        assert got[1].grey[0, 0] == 49
        assert live.newest_shot(50, 0.05) is None
        assert live.loss_reason() is None
    finally:
        done.set()
        live.stop()


def test_what_breaks_off_is_said_and_opened_again() -> None:
    opened: list[int] = []
    seen, hold = threading.Event(), threading.Event()

    def shots() -> Iterator[Shot]:
        if opened:
            seen.wait(LONG_S)
        opened.append(1)
        yield shot(len(opened))
        if len(opened) == 1:
            raise CannotMeasure("the cable is out")
        hold.wait(LONG_S)

    live = running(Source("test", shots))
    try:
        assert live.newest_shot(0, LONG_S) is not None
        end = time.monotonic() + LONG_S
        while live.loss_reason() is None:
            assert time.monotonic() < end
        assert live.loss_reason() == "the cable is out"
        seen.set()
        again = live.newest_shot(1, LONG_S)
        assert again is not None
        assert again[1].grey[0, 0] == 2
        assert live.loss_reason() is None
    finally:
        seen.set()
        hold.set()
        live.stop()


def test_a_film_is_shown_at_its_own_pace_and_then_it_has_ended(tmp_path: Path) -> None:
    begin = time.monotonic()
    levels = [
        int(one.grey[0, 0]) for one in parse_source(str(film(tmp_path / "film.mp4"))).open_shots()
    ]
    assert time.monotonic() - begin >= 0.85
    assert levels == sorted(levels)
    assert len(levels) == 10
    live = running(parse_source(str(tmp_path / "film.mp4")))
    live._thread.join(LONG_S)
    assert live.loss_reason() == "it has ended"


def test_a_film_that_begins_again_says_so(tmp_path: Path) -> None:
    live = running(parse_source(str(film(tmp_path / "film.mp4", frames=3)), loop=True))
    try:
        number, last, returns = 0, -1, 0
        while returns < 2 and (got := live.newest_shot(number, LONG_S)):
            number, one = got
            level = int(one.grey[0, 0])
            returns, last = returns + (level < last), level
            assert (
                returns <= live.time_jumps <= returns + 1
            )  # it may have gone on to the next picture meanwhile
            assert live.loss_reason() is None
    finally:
        live.stop()
    assert returns == 2


def test_a_stream_that_is_not_there_is_lost_and_says_why() -> None:
    live = running(parse_source("tcp://127.0.0.1:9"))
    try:
        end = time.monotonic() + LONG_S
        while "127.0.0.1:9" not in (live.loss_reason() or ""):
            assert time.monotonic() < end
    finally:
        live.stop()


def served_once(data: bytes) -> str:
    """Return the address at which the next caller gets these bytes, as from an encoder."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with server, server.accept()[0] as caller:
            caller.sendall(data)

    threading.Thread(target=serve, daemon=True).start()
    return f"tcp://127.0.0.1:{server.getsockname()[1]}"


def test_a_stream_shows_no_picture_made_from_bytes_that_were_lost(tmp_path: Path) -> None:
    data = write_film(tmp_path / "a.ts", noisy_pictures(30)).read_bytes()
    lost = slice(int(0.4 * len(data)), int(0.45 * len(data)))
    sent = {shot.grey.tobytes() for shot in parse_source(served_once(data)).open_shots()}
    damaged = data[: lost.start] + data[lost.stop :]
    shown = [shot.grey.tobytes() for shot in parse_source(served_once(damaged)).open_shots()]
    assert len(sent) == 30
    assert 15 <= len(shown) < 29
    assert set(shown) <= sent


@pytest.mark.parametrize(
    "address", ["no-such-film.mp4", "ftp://somewhere/film.mp4", "obs://localhost:4455"]
)
def test_addresses_that_mean_nothing_are_refused(address: str) -> None:
    with pytest.raises(BadInput):
        parse_source(address)


def test_a_camera_that_is_not_there_is_lost_not_fatal(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CannotMeasure, match="plugged in"):
        next(parse_source("97").open_shots())
    assert capfd.readouterr().err == ""  # OpenCV would tell it by ten lines of its own


def test_a_photo_stands_in_for_a_camera(tmp_path: Path) -> None:
    path = tmp_path / "table.png"
    Image.fromarray(np.full((90, 120, 3), (200, 100, 50), np.uint8)).save(path)
    shots = parse_source(str(path)).open_shots()
    first, second = next(shots), next(shots)
    assert 0 <= first.time_s < second.time_s
    assert first.size_px == second.size_px == (120, 90)
    assert second.colours(None)[0, 0].tolist() == [50, 100, 200]
    with pytest.raises(CannotMeasure, match="overruler measure takes photos"):
        Film(path)
