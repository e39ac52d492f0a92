"""OBS, by its WebSocket (obs-websocket 5, part of OBS from 28 on): requests, and a source's pictures.

The camera stays OBS's own; a picture of a source comes as a JPEG whenever it is asked for.
"""

import base64
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlsplit

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.errors import BadInput, CannotMeasure, MissingExtra
from overruler.frame import Shot
from overruler.sources.web_camera import shot_from_pixels

DEFAULT_PORT = 4455
PASSWORD_VARIABLE = "OBS_PASSWORD"
"""The environment variable that holds the password: on the command line, others could read it."""
ANSWER_TIMEOUT_S = 5.0
JPEG_QUALITY = 85
PICTURES_PER_S = 5.0
OP_IDENTIFY, OP_REQUEST, OP_RESPONSE = 1, 6, 7
"""The protocol's numbers for what a message is."""

JsonObject = dict[str, Any]


class Obs:
    """A connection to a running OBS; use it in a `with` block."""

    def __init__(
        self,
        host: str = "localhost",
        port: int = DEFAULT_PORT,
        password: str | None = None,
        answer_s: float = ANSWER_TIMEOUT_S,
    ) -> None:
        """Raises `CannotMeasure` where no OBS answers there, or where it does not let us in."""
        try:
            from websockets.exceptions import WebSocketException
            from websockets.sync.client import connect
        except ImportError:
            raise MissingExtra.with_install_hint("OBS needs websockets", "web") from None
        self._faults = (WebSocketException, OSError, TimeoutError)
        self._where, self._count, self._open = f"OBS at {host}:{port}", 0, ExitStack()
        self._answer_s = answer_s
        try:
            opened = connect(
                f"ws://{host}:{port}", open_timeout=answer_s, max_size=2**26, compression=None
            )
            self._line = self._open.enter_context(opened)
        except self._faults as error:
            raise CannotMeasure(
                f"{self._where} does not answer ({error}): Tools, WebSocket Server Settings"
            ) from None
        self._log_in(password if password is not None else os.environ.get(PASSWORD_VARIABLE, ""))

    def __enter__(self) -> "Obs":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    def request(self, kind: str, **data: Any) -> JsonObject:
        """What OBS answers; `BadInput` with its own words where it cannot do so."""
        self._count += 1
        self._send_message(
            OP_REQUEST, {"requestType": kind, "requestId": str(self._count), "requestData": data}
        )
        while (told := self._read_message())["op"] != OP_RESPONSE or told["d"]["requestId"] != str(
            self._count
        ):
            pass
        status = told["d"]["requestStatus"]
        if not status["result"]:
            raise BadInput(f"OBS: {kind}: {status.get('comment', status['code'])}")
        found: JsonObject = told["d"].get("responseData") or {}
        return found

    def _log_in(self, password: str) -> None:
        hello = self._read_message()["d"]
        proof = {}
        if "authentication" in hello:
            proof = {"authentication": authentication_string(password, **hello["authentication"])}
        self._send_message(OP_IDENTIFY, {"rpcVersion": 1, "eventSubscriptions": 0, **proof})
        try:
            self._read_message()
        except CannotMeasure:
            self._open.close()
            raise CannotMeasure(
                f"{self._where} does not let us in: set {PASSWORD_VARIABLE} to its password"
            ) from None

    def _send_message(self, op: int, data: JsonObject) -> None:
        try:
            self._line.send(json.dumps({"op": op, "d": data}))
        except self._faults as error:
            raise CannotMeasure(f"{self._where} has gone: {error}") from None

    def _read_message(self) -> JsonObject:
        try:
            told: JsonObject = json.loads(self._line.recv(self._answer_s))
        except (*self._faults, ValueError) as error:
            raise CannotMeasure(f"{self._where} has gone: {error}") from None
        return told


def authentication_string(password: str, challenge: str, salt: str) -> str:
    """The proof of a password that obs-websocket asks for (its protocol, "Creating an authentication string")."""

    def coded(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    return coded(coded(password + salt) + challenge)


def parse_address(address: str) -> tuple[str, int, str]:
    """Host, port and source that `obs://HOST:PORT/Source name` names; `BadInput` where it is none."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "localhost", parts.port or DEFAULT_PORT
    except ValueError:
        parts, host, port = urlsplit(""), "", 0
    name = unquote(parts.path.lstrip("/"))
    if parts.scheme != "obs" or not name:
        raise BadInput(
            f"{address}: expected obs://HOST:PORT/Source name, obs://localhost:{DEFAULT_PORT}/Camera say"
        )
    return host, port, name


def open_screenshots(address: str) -> Callable[[], Iterator[Shot]]:
    """How to open the pictures of a source of OBS."""
    host, port, name = parse_address(address)
    return lambda: _screenshot_shots(host, port, name, address)


def _screenshot_shots(host: str, port: int, name: str, address: str) -> Iterator[Shot]:
    begin = due = time.monotonic()
    with Obs(host, port) as obs:
        while True:
            yield shot_from_pixels(take_screenshot(obs, name), time.monotonic() - begin, address)
            due = max(due + 1 / PICTURES_PER_S, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))


def take_screenshot(obs: Obs, source: str) -> NDArray[np.uint8]:
    """What a source or a scene of OBS shows now (H, W, 3), blue green red."""
    wanted = {"sourceName": source, "imageFormat": "jpg", "imageCompressionQuality": JPEG_QUALITY}
    data = obs.request("GetSourceScreenshot", **wanted)["imageData"].partition(",")[2]
    pixels = cv2.imdecode(np.frombuffer(base64.b64decode(data), np.uint8), cv2.IMREAD_COLOR)
    if pixels is None:
        raise CannotMeasure(
            f"OBS: {source}: sent a picture that cannot be read: does the source show one?"
        )
    return np.asarray(pixels, np.uint8)
