"""What answers in OBS's place: old ones, silent ones, and answers that hold no picture end in one line."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("websockets", reason="OBS is spoken to by websockets")

from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.sync.server import ServerConnection, serve

from overruler.apps.cli import main
from overruler.errors import CannotMeasure, OverrulerError
from overruler.sources.obs import Obs, take_screenshot
from tests.waiting import LONG_S

HELLO = {"op": 0, "d": {"obsWebSocketVersion": "5.5.0", "rpcVersion": 1}}
ANSWER_S = 0.3
"""How long the tests wait for an answer that does not come, in s."""


@contextmanager
def speaking(handler: Callable[[ServerConnection], None]) -> Iterator[int]:
    """The port of a server that speaks as `handler` does."""

    def quietly(line: ServerConnection) -> None:
        try:
            handler(line)
        except Exception:  # the client has gone
            return

    with serve(quietly, "127.0.0.1", 0, compression=None) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.socket.getsockname()[1]
        finally:
            server.shutdown()
            thread.join(5)


def answering(response: Any) -> Callable[[ServerConnection], None]:
    """An OBS that lets everybody in and answers every request with the same."""

    def handler(line: ServerConnection) -> None:
        line.send(json.dumps(HELLO))
        line.recv()
        line.send(json.dumps({"op": 2, "d": {"negotiatedRpcVersion": 1}}))
        while True:
            asked = json.loads(line.recv())["d"]
            status = {"result": True, "code": 100}
            answer = {"requestId": asked["requestId"], "requestStatus": status}
            line.send(json.dumps({"op": 7, "d": answer | response}))

    return handler


def old(line: ServerConnection) -> None:
    line.send(json.dumps({"update-type": "Heartbeat", "pulse": True}))
    time.sleep(1)


def silent(line: ServerConnection) -> None:
    time.sleep(1)


def other(line: ServerConnection) -> None:
    line.send("[1, 2")
    time.sleep(1)


@pytest.mark.parametrize("handler", [old, silent, other])
def test_what_is_no_obs_of_today_is_one_line_with_the_remedy(
    handler: Callable[[ServerConnection], None],
) -> None:
    with speaking(handler) as port, pytest.raises(CannotMeasure) as failure:
        Obs("127.0.0.1", port, "", ANSWER_S)
    line = str(failure.value)
    assert len(line.splitlines()) == 1
    assert handler is other or "OBS 28 or newer" in line


def test_an_old_obs_ends_the_command_with_the_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    with speaking(old) as port:
        assert main(["obs", "setup", "--host", "127.0.0.1", "--port", str(port)]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert "OBS 28 or newer" in line


def test_a_port_that_takes_calls_and_says_nothing_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        begin = time.monotonic()
        with pytest.raises(CannotMeasure, match="OBS 28 or newer"):
            Obs("127.0.0.1", port, "", ANSWER_S)
    assert time.monotonic() - begin < LONG_S


@pytest.mark.parametrize("port", [-1, 0, 70_000])
def test_a_port_that_is_none_is_one_line(port: int) -> None:
    with pytest.raises(CannotMeasure):
        Obs("127.0.0.1", port, "", ANSWER_S)


@pytest.mark.parametrize(
    "response",
    [
        {},
        {"responseData": {}},
        {"responseData": {"imageData": ""}},
        {"responseData": {"imageData": "data:image/jpg;base64,"}},
        {"responseData": {"imageData": "data:image/jpg;base64,!"}},
        {"responseData": {"imageData": "data:image/jpg;base64,AAAA"}},
    ],
)
def test_an_answer_without_a_picture_asks_whether_the_source_shows_one(response: Any) -> None:
    with (
        speaking(answering(response)) as port,
        Obs("127.0.0.1", port, "", LONG_S) as obs,
        pytest.raises(CannotMeasure, match=r"Camera: sent no picture.*does the source show one"),
    ):
        take_screenshot(obs, "Camera")


def test_events_without_end_are_no_answer() -> None:
    def chatting(line: ServerConnection) -> None:
        line.send(json.dumps(HELLO))
        line.recv()
        while True:
            line.send(json.dumps({"op": 5, "d": {"eventType": "Beat"}}))
            time.sleep(0.01)

    with speaking(chatting) as port, Obs("127.0.0.1", port, "", LONG_S) as obs:
        obs._answer_s = ANSWER_S
        with pytest.raises(CannotMeasure, match="does not answer a request"):
            obs.request("GetVersion")


KEYS = ("op", "d", "requestId", "requestStatus", "result", "imageData", "inputs", "comment")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "1", "data:,AA=="]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=8,
)


class Line:
    """A connection that has one message, and then none."""

    def __init__(self, message: Any) -> None:
        self.texts = [json.dumps(message)]

    def send(self, text: str) -> None: ...

    def recv(self, most_s: float) -> str:
        if not self.texts:
            raise TimeoutError
        return self.texts.pop()


@settings(max_examples=300)
@given(
    JSON
    | st.builds(
        lambda data: {"op": 7, "d": {"requestId": "1", **data}},
        st.dictionaries(st.sampled_from(KEYS), JSON),
    )
)
def test_no_message_is_more_than_one_line(message: Any) -> None:
    obs = Obs.__new__(Obs)
    obs._connection = Line(message)
    obs._faults = (OSError, ValueError)  # type: ignore[assignment]
    obs._name = "OBS"
    obs._request_count, obs._answer_s = 0, 0.01
    with pytest.raises(OverrulerError) as failure:
        take_screenshot(obs, "Camera")
    assert len(str(failure.value).splitlines()) == 1


def test_an_obs_that_is_not_there_is_told_in_words() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(CannotMeasure, match=r"does not answer \(Connection refused\): OBS 28"):
        Obs("127.0.0.1", port, "", ANSWER_S)
