"""OBS through its WebSocket (obs-websocket 5, part of OBS since 28): requests and pictures.

OBS keeps the camera; a source's picture comes as a JPEG on request.
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
"""Environment variable with the password; on the command line, others could read it."""
ANSWER_TIMEOUT_S = 5.0
MAX_MESSAGE_BYTES = 2**26
JPEG_QUALITY = 85
PICTURES_PER_S = 5.0
OP_IDENTIFY = 1
"""The protocol's number of a message that logs in."""
OP_REQUEST = 6
OP_RESPONSE = 7

JsonObject = dict[str, Any]


class Obs:
    """A connection to a running OBS, used in a `with` block."""

    __slots__ = ("_answer_s", "_connection", "_exits", "_faults", "_name", "_request_count")

    def __init__(
        self,
        host: str = "localhost",
        port: int = DEFAULT_PORT,
        password: str | None = None,
        answer_s: float = ANSWER_TIMEOUT_S,
    ) -> None:
        """Raises `CannotMeasure` if no OBS answers, or if it refuses the password."""
        try:
            from websockets.exceptions import WebSocketException
            from websockets.sync.client import connect
        except ImportError:
            raise MissingExtra.with_install_hint("OBS needs websockets", "web") from None
        self._faults = (WebSocketException, OSError, TimeoutError)
        self._name = f"OBS at {host}:{port}"
        self._request_count = 0
        self._exits = ExitStack()
        self._answer_s = answer_s
        limits: dict[str, Any] = {"open_timeout": answer_s, "max_size": MAX_MESSAGE_BYTES}
        try:
            opened = connect(f"ws://{host}:{port}", compression=None, **limits)
            self._connection = self._exits.enter_context(opened)
        except self._faults as error:
            problem = f"{self._name} does not answer ({error})"
            raise CannotMeasure(f"{problem}: Tools, WebSocket Server Settings") from None
        self._log_in(password if password is not None else os.environ.get(PASSWORD_VARIABLE, ""))

    def __enter__(self) -> "Obs":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._exits.close()

    def request(self, kind: str, **data: Any) -> JsonObject:
        """Send a request and return OBS's answer; raises `BadInput` with its words if it refuses."""
        self._request_count += 1
        number = str(self._request_count)
        request = {"requestType": kind, "requestId": number, "requestData": data}
        self._send_message(OP_REQUEST, request)
        answer = self._read_answer(number)
        status = answer["requestStatus"]
        if not status["result"]:
            raise BadInput(f"OBS: {kind}: {status.get('comment', status['code'])}")
        response: JsonObject = answer.get("responseData") or {}
        return response

    def _read_answer(self, number: str) -> JsonObject:
        """Read messages until the answer to a request."""
        while True:
            message = self._read_message()
            answer: JsonObject = message["d"]
            if message["op"] == OP_RESPONSE and answer["requestId"] == number:
                return answer

    def _log_in(self, password: str) -> None:
        hello = self._read_message()["d"]
        proof = {}
        if "authentication" in hello:
            proof = {"authentication": authentication_string(password, **hello["authentication"])}
        self._send_message(OP_IDENTIFY, {"rpcVersion": 1, "eventSubscriptions": 0, **proof})
        try:
            self._read_message()
        except CannotMeasure:
            self._exits.close()
            remedy = f"set {PASSWORD_VARIABLE} to its password"
            raise CannotMeasure(f"{self._name} does not let us in: {remedy}") from None

    def _send_message(self, op: int, data: JsonObject) -> None:
        try:
            self._connection.send(json.dumps({"op": op, "d": data}))
        except self._faults as error:
            raise CannotMeasure(f"{self._name} has gone: {error}") from None

    def _read_message(self) -> JsonObject:
        try:
            message: JsonObject = json.loads(self._connection.recv(self._answer_s))
        except (*self._faults, ValueError) as error:
            raise CannotMeasure(f"{self._name} has gone: {error}") from None
        return message


def authentication_string(password: str, challenge: str, salt: str) -> str:
    """Return the proof of a password (obs-websocket, "Creating an authentication string")."""

    def digest(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    return digest(digest(password + salt) + challenge)


def parse_address(address: str) -> tuple[str, int, str]:
    """Return host, port and source of `obs://HOST:PORT/Source name`; raises `BadInput`."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "localhost", parts.port or DEFAULT_PORT
    except ValueError:
        parts, host, port = urlsplit(""), "", 0
    name = unquote(parts.path.lstrip("/"))
    if parts.scheme != "obs" or not name:
        expected = f"obs://HOST:PORT/Source name, obs://localhost:{DEFAULT_PORT}/Camera say"
        raise BadInput(f"{address}: expected {expected}")
    return host, port, name


def open_screenshots(address: str) -> Callable[[], Iterator[Shot]]:
    """Return a function that opens the pictures of a source of OBS."""
    host, port, name = parse_address(address)
    return lambda: _screenshot_shots(host, port, name, address)


def _screenshot_shots(host: str, port: int, name: str, address: str) -> Iterator[Shot]:
    start = due = time.monotonic()
    with Obs(host, port) as obs:
        while True:
            pixels = take_screenshot(obs, name)
            yield shot_from_pixels(pixels, time.monotonic() - start, address)
            due = max(due + 1 / PICTURES_PER_S, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))


def take_screenshot(obs: Obs, source: str) -> NDArray[np.uint8]:
    """Return what a source or a scene of OBS shows now (H, W, 3), blue green red."""
    options = {"sourceName": source, "imageFormat": "jpg", "imageCompressionQuality": JPEG_QUALITY}
    address: str = obs.request("GetSourceScreenshot", **options)["imageData"]
    data = base64.b64decode(address.partition(",")[2])
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    if pixels is None:
        problem = "sent a picture that cannot be read: does the source show one?"
        raise CannotMeasure(f"OBS: {source}: {problem}")
    return np.asarray(pixels, np.uint8)
