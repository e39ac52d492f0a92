"""OBS through its WebSocket (obs-websocket 5, part of OBS since 28): requests and pictures.

OBS keeps the camera; a source's picture comes as a JPEG on request.
"""

import base64
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
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
REMEDY = "OBS 28 or newer is needed, with Tools, WebSocket Server Settings on, and its port"
"""What helps where something answers that is no OBS, or an old one."""
LIST_KEYS = ("inputs", "sceneItems")
"""Keys of answers that hold lists of objects."""
NUMBER_KEYS = ("sceneItemId", "baseWidth", "baseHeight")
"""Keys of answers that hold numbers."""
TEXT_KEYS = ("imageData", "currentProgramSceneName", "inputName", "inputKind", "sourceName")
"""Keys of answers that hold text."""


class JsonObject(dict[str, Any]):
    """A JSON object of OBS; a missing key is an error in one line."""

    __slots__ = ()

    def __missing__(self, key: str) -> Any:
        raise CannotMeasure(f"OBS answers without {key}: {REMEDY}")


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
        self._faults = (WebSocketException, OSError, TimeoutError, ValueError, OverflowError)
        self._name = f"OBS at {host}:{port}"
        self._request_count = 0
        self._exits = ExitStack()
        self._answer_s = answer_s
        limits: dict[str, Any] = {"open_timeout": answer_s, "max_size": MAX_MESSAGE_BYTES}
        try:
            opened = connect(f"ws://{host}:{port}", compression=None, **limits)
            self._connection = self._exits.enter_context(opened)
        except self._faults as error:
            problem = f"{self._name} does not answer ({_one_line(error)})"
            raise CannotMeasure(f"{problem}: {REMEDY}") from None
        try:
            self._log_in(
                password if password is not None else os.environ.get(PASSWORD_VARIABLE, "")
            )
        except BaseException:
            self._exits.close()
            raise

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
        if not isinstance(status, JsonObject):
            raise self._not_obs(f"answers {kind} without a status")
        if not status["result"]:
            raise BadInput(f"OBS: {kind}: {status.get('comment', status.get('code'))}")
        response = answer.get("responseData") or JsonObject()
        if not isinstance(response, JsonObject) or not _has_expected_types(response):
            raise self._not_obs(f"answers {kind} with what is no answer to it")
        return response

    def _read_answer(self, number: str) -> JsonObject:
        """Read messages until the answer to a request; events may come before it."""
        end_s = time.monotonic() + self._answer_s
        with suppress(TimeoutError):
            while time.monotonic() < end_s:
                op, answer = self._read_message(end_s - time.monotonic())
                if op == OP_RESPONSE and answer.get("requestId") == number:
                    return answer
        raise self._not_obs("does not answer a request")

    def _log_in(self, password: str) -> None:
        try:
            _, hello = self._read_message(self._answer_s)
        except TimeoutError:
            raise self._not_obs("lets us in and says nothing") from None
        proof = {}
        if "authentication" in hello:
            proof = {"authentication": self._prove(password, hello["authentication"])}
        self._send_message(OP_IDENTIFY, {"rpcVersion": 1, "eventSubscriptions": 0, **proof})
        try:
            self._read_message(self._answer_s)
        except (CannotMeasure, TimeoutError):
            remedy = f"set {PASSWORD_VARIABLE} to its password"
            raise CannotMeasure(f"{self._name} does not let us in: {remedy}") from None

    def _prove(self, password: str, puzzle: Any) -> str:
        parts = puzzle if isinstance(puzzle, JsonObject) else JsonObject()
        challenge, salt = parts["challenge"], parts["salt"]
        if not (isinstance(challenge, str) and isinstance(salt, str)):
            raise self._not_obs("asks for a password in a way of its own")
        return authentication_string(password, challenge, salt)

    def _not_obs(self, problem: str) -> CannotMeasure:
        return CannotMeasure(f"{self._name} {problem}: {REMEDY}")

    def _send_message(self, op: int, data: Mapping[str, Any]) -> None:
        try:
            self._connection.send(json.dumps({"op": op, "d": data}))
        except self._faults as error:
            raise self._gone(error) from None

    def _read_message(self, most_s: float) -> tuple[int, JsonObject]:
        """Read a message's number and data; `TimeoutError` if none comes."""
        try:
            text = self._connection.recv(max(0.0, most_s))
            message = json.loads(text, object_hook=JsonObject)
        except TimeoutError:
            raise
        except (*self._faults, RecursionError) as error:
            raise self._gone(error) from None
        if not isinstance(message, JsonObject):
            raise self._not_obs("sends what is no message of OBS")
        op, data = message.get("op"), message.get("d")
        if not isinstance(op, int) or not isinstance(data, JsonObject):
            raise self._not_obs("speaks another protocol, that of an old OBS perhaps")
        return op, data

    def _gone(self, error: Exception) -> CannotMeasure:
        return CannotMeasure(f"{self._name} has gone ({_one_line(error)}): start it again")


def _one_line(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error)  # the system's words, without its number
    return " ".join(text.split()) or type(error).__name__


def _has_expected_types(response: JsonObject) -> bool:
    """Whether what is read of an answer has the types that the protocol says."""
    for key, value in response.items():
        if key in TEXT_KEYS and not isinstance(value, str):
            return False
        if key in NUMBER_KEYS and not isinstance(value, int | float):
            return False
        if key == "inputKinds" and not _is_list_of(str, value):
            return False
        if key in LIST_KEYS and not _is_list_of_objects(value):
            return False
    return True


def _is_list_of(kind: type, value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, kind) for each in value)


def _is_list_of_objects(value: Any) -> bool:
    return _is_list_of(JsonObject, value) and all(map(_has_expected_types, value))


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
    address = obs.request("GetSourceScreenshot", **options).get("imageData", "")
    try:
        data = base64.b64decode(address.partition(",")[2])
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) if data else None
    except (ValueError, cv2.error):
        pixels = None
    if pixels is None:
        problem = "sent no picture that can be read: does the source show one?"
        raise CannotMeasure(f"OBS: {source}: {problem}")
    return np.asarray(pixels, np.uint8)
