"""A table to be shown live: pieces that a test moves, a hand, a camera that can be unplugged, and no slow looking."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import cv2
import numpy as np
import uvicorn
from starlette.applications import Starlette

from overruler.apps.web.connections import LimitedProtocol
from overruler.apps.web.guard import AccessPolicy
from overruler.apps.web.live.app import LiveServices, make_live_app
from overruler.apps.web.live.desk import Desk
from overruler.apps.web.live.watcher import TableWatcher
from overruler.apps.web.sockets import SocketProtocol
from overruler.bases import Base
from overruler.detections import Detection
from overruler.errors import CannotMeasure
from overruler.frame import Frame, Shot
from overruler.geometry.pose import Array
from overruler.house_rules import HouseRules
from overruler.report import Report
from overruler.sources.live import LiveReader, Source
from overruler.vision.assembly.to_scene import build_scene
from overruler.vision.tracking.watch import Watch
from synthetic.flat_table import Plinth, render_table
from tests.tables import BOARD_MM, SIZE_PX, camera_over, exact
from tests.waiting import LONG_S

CAMERA = camera_over(10.0)
SIZES_MM = {"p01": 27.0, "p02": 50.0, "p03": 27.0}


@cache
def drawn(places: tuple[tuple[str, tuple[float, float]], ...]) -> Any:
    """The table with its pieces, drawn once."""
    plinths = [Plinth(*at, SIZES_MM[name], rim=(0.02,) * 3) for name, at in places]
    return render_table(CAMERA, SIZE_PX, BOARD_MM, plinths, noise=1.0, blur_px=0.7)


class Table:
    """What the camera sees, and a referee who knows where everything is."""

    game: str | None = None
    house = HouseRules()

    def __init__(self) -> None:
        self.places = {"p01": (150.0, 250.0), "p02": (300.0, 140.0), "p03": (420.0, 380.0)}
        self.hand = False
        self.restless = False
        """Whether something goes on in a corner of the table."""
        self.plugged = True
        self.taken = 0
        """Pictures that were taken."""

    def show_pictures(self, count: int) -> None:
        """Wait until so many more pictures were taken."""
        last = self.taken + count
        until(lambda: self.taken >= last)

    def picture(self) -> Any:
        pixels = drawn(tuple(self.places.items()))
        if self.hand:
            x, y = CAMERA.project(np.array([*self.places["p02"], 20.0])).astype(int)
            pixels = cv2.rectangle(
                pixels.copy(),
                (int(x) - 60, int(y) - 700),
                (int(x) + 60, int(y) + 60),
                (120, 150, 200),
                -1,
            )
        if self.restless:
            at = CAMERA.project(np.array([500.0, 80.0, 0.0])).astype(int)
            grey = int(time.monotonic() * 1000) % 200
            pixels = cv2.rectangle(
                pixels.copy(), (at - 20).tolist(), (at + 20).tolist(), (grey,) * 3, -1
            )
        return pixels

    def shots(self) -> Iterator[Shot]:
        begin = time.monotonic()
        while self.plugged:
            yield Shot.of(Frame(self.picture(), "table", time_s=time.monotonic() - begin))
            self.taken += 1
            time.sleep(0.08)
        raise CannotMeasure("camera 0: gives no more pictures")

    # --- the referee ---

    def watching(self) -> Watch:
        return Watch(self)

    def look(self, frame: Frame) -> Report:
        found = tuple(map(self._detection, self.places))
        calibration = exact(CAMERA)
        return Report(frame, calibration, found, build_scene(calibration, found, "legion"))

    def redetect_bases(
        self, frame: Frame, report: Report, bases: Any, within_mm: Array | None
    ) -> tuple[Detection, ...]:
        low, high = within_mm if within_mm is not None else (-np.inf, np.inf)
        places = {name: np.array(at) for name, at in self.places.items()}
        inside = [name for name, at in places.items() if (at > low).all() and (at < high).all()]
        return tuple(
            one for one in map(self._detection, inside) if bases is None or one.base in bases
        )

    def remeasure_base(self, frame: Frame, report: Report, one: Detection) -> None:
        """Nothing more to be said."""

    def _detection(self, name: str) -> Detection:
        at = np.array(self.places[name])
        pixel = CAMERA.project(np.array([*at, 0.0]))
        base, doubt = Base.circle(SIZES_MM[name]), np.eye(2) * 0.01
        return Detection(
            base, at, 0.0, 0.0, doubt, np.zeros((2, 15)), 1.0, 1.0, pixel, np.tile(pixel, (8, 1))
        )


def air(
    table: Table, door: AccessPolicy | None = None, overlay_key: str | None = None
) -> LiveServices:
    """The live application's parts over a table."""
    desk = Desk()
    referee: Any = table
    live = LiveReader(Source("table", table.shots))
    eyes = TableWatcher(live, referee, lambda seen: desk.update_table(seen, eyes.shot))
    return LiveServices(desk, eyes, door or AccessPolicy(frozenset({"localhost"})), overlay_key)


@contextmanager
def served(found: LiveServices, port: int = 0) -> Iterator[tuple[str, uvicorn.Server]]:
    """Its address, while it is served by a thread."""
    with serving(make_live_app(found), port) as served_:
        yield served_


@contextmanager
def serving(app: Starlette, port: int = 0) -> Iterator[tuple[str, uvicorn.Server]]:
    """An application's address, while it is served by a thread."""
    line = socket.create_server(("127.0.0.1", port))
    config = uvicorn.Config(
        app,
        log_level="error",
        http=LimitedProtocol,
        ws=SocketProtocol,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([line],), daemon=True)
    thread.start()
    try:
        yield f"http://localhost:{line.getsockname()[1]}", server
    finally:
        server.should_exit = True
        thread.join(LONG_S)


def until(true: Any, timeout_s: float = LONG_S) -> None:
    """Wait for something; an error where it does not come."""
    end = time.monotonic() + timeout_s
    while not true():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.03)
