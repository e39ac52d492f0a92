"""A server whose photos are measured before they are sent: all is real but for what is slow."""

import io
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient

from overruler.apps.web.faults import TaskFailed
from overruler.apps.web.guard import AccessPolicy
from overruler.apps.web.phone import app as application
from overruler.apps.web.phone.app import Settings, make_app
from overruler.apps.web.phone.request_options import BOARD_FILE
from overruler.apps.web.phone.worker_tasks import SCENE_FILE, scene_text, screen_photo_file
from overruler.errors import CannotMeasure
from overruler.geometry.covariance import Covariance
from overruler.scene import Scene
from overruler.vision.camera.final_fit import _check_fit
from tests.reports import SIZE_PX, camera, report
from tests.waiting import LONG_S

if TYPE_CHECKING:
    from playwright.sync_api import Page

HOME = "http://localhost"
ADVICE = {
    "way": "from the opposite side",
    "before_mm": 2.0,
    "after_mm": 0.8,
    "settles": True,
}
"""From where another photo would help, as a worker finds it."""
OTHER_BOARD = "3x3 ft"
OTHER_BOARD_PX = 72
MISFIT_PX = 56
UNREADABLE = "no markers were found"


def jpeg(size_px: tuple[int, int] = (320, 240), **options: Any) -> bytes:
    """A small photo of nothing."""
    out = io.BytesIO()
    noise = np.random.default_rng(1).integers(0, 255, (size_px[1], size_px[0], 3), np.uint8)
    Image.fromarray(noise).save(out, "JPEG", **options)
    return out.getvalue()


def add_photo(page: "Page", folder: Path) -> None:
    """Choose one photo more of the table that a page shows."""
    photo = folder / "b.jpg"
    photo.write_bytes(jpeg((320, 240), quality=80))
    page.set_input_files("#add", photo)


def scene() -> Scene:
    """The scene of `tests.reports`, as a photo's: with its camera and a doubt of half a millimetre."""
    seen = camera()
    calibration = {
        "size_px": list(SIZE_PX),
        "matrix": seen.matrix.tolist(),
        "distortion": seen.distortion.tolist(),
        "rotation": seen.T_camera_board.rotation.tolist(),
        "translation_mm": seen.T_camera_board.translation_mm.tolist(),
        "problems": [],
    }
    found = report().scene
    doubt = Covariance((np.eye(2 * len(found.pieces)) * 0.25).tolist())
    return replace(found, covariance=doubt, extra={"calibration": calibration})


def seen_twice(second_file: str = "photo2.jpg") -> Scene:
    """The same table in two photos, the second one taken from the opposite side; one piece moved."""
    found = scene()
    first = found.extra["calibration"]
    middle = np.array([found.board.width_mm / 2, found.board.height_mm / 2, 0.0])
    half_turn = np.diag([-1.0, -1.0, 1.0])
    rotation = np.array(first["rotation"])
    shift = np.array(first["translation_mm"]) + rotation @ (middle - half_turn @ middle)
    second = {
        **first,
        "rotation": (rotation @ half_turn).tolist(),
        "translation_mm": shift.tolist(),
    }
    photos = [
        {"file": "photo.jpg", "calibration": first},
        {"file": second_file, "calibration": second},
    ]
    moved = [{"id": "p03", "photo": 1, "x_mm": 320.0, "y_mm": 420.0}]
    return replace(found, extra={**found.extra, "photos": photos, "moved": moved})


def misfit_words() -> str:
    """What is said of markers that lie otherwise than on the board."""
    solution: Any = SimpleNamespace(covariance=np.eye(2), rms_px=54_427.2)
    try:
        _check_fit(solution, 1.0)
    except CannotMeasure as error:
        return str(error)
    raise AssertionError


def read_board(folder: Path) -> str:
    """The text of a measurement's board file."""
    file = folder / BOARD_FILE
    return file.read_text() if file.exists() else ""


class Ready:
    """Workers that have everything measured at once.

    A photo 64 px wide shows no markers, one of `OTHER_BOARD_PX` shows `OTHER_BOARD`, and one of
    `MISFIT_PX` a board that nobody knows.
    """

    full = False
    problem = ""

    def __init__(self, processes: int) -> None:
        self.done: list[tuple[str, list[Any]]] = []

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    async def run_task(
        self,
        name: str,
        folder: Path,
        arguments: list[Any],
        say: Callable[[str], None],
        urgent: bool = False,
    ) -> Any:
        self.done.append((name, arguments))
        say("looking for bases")
        if name == "picture":
            return b"\x89PNG"
        if name == "advise":
            return ADVICE
        with Image.open(folder / arguments[0].photo) as photo:
            if photo.width == 64:
                raise TaskFailed(UNREADABLE, unmeasurable=True)
            if photo.width == MISFIT_PX:
                raise TaskFailed(misfit_words(), unmeasurable=True)
            if photo.width == OTHER_BOARD_PX and OTHER_BOARD not in read_board(folder):
                raise TaskFailed("it is another board", unmeasurable=True, board=OTHER_BOARD)
        several = seen_twice if arguments[0].more else scene
        (folder / SCENE_FILE).write_text(scene_text(several().to_json()))
        (folder / screen_photo_file(arguments[0].photo)).write_bytes(jpeg())
        return {"pieces": 5, "size_px": list(SIZE_PX)}


@contextmanager
def client(
    monkeypatch: pytest.MonkeyPatch, store: Path, door: AccessPolicy | None = None, **settings: Any
) -> Iterator[TestClient]:
    """A client of a server of its own."""
    monkeypatch.setattr(application, "WorkerPool", Ready)
    told = Settings(store, door or AccessPolicy(frozenset({"localhost"})), **settings)
    with TestClient(make_app(told), base_url=HOME) as found:
        yield found


def ended(found: TestClient, name: str) -> Mapping[str, Any]:
    """A measurement once it is done or has failed."""
    end_s = time.monotonic() + LONG_S
    while time.monotonic() < end_s:
        state: dict[str, Any] = found.get(f"/api/measurements/{name}").json()
        if state["state"] in ("done", "failed"):
            return state
        time.sleep(0.01)
    raise AssertionError("it never ended")


def measured(found: TestClient, photo: bytes | None = None, **wish: str) -> str:
    """The id of a measurement that is done."""
    wish = {"game": "legion", "marker_mm": "60", **wish}
    answer = found.post("/api/measurements", params=wish, content=photo or jpeg())
    assert answer.status_code == 202, answer.text
    name: str = answer.json()["id"]
    ended(found, name)
    return name
