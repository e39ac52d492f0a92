"""Half a request, sent by many, keeps nobody out: no key is needed to send one."""

import asyncio
import json
import socket
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from overruler.apps.web import connections, request_body
from overruler.apps.web.guard import AccessPolicy
from overruler.apps.web.phone import app as application
from overruler.apps.web.phone.app import Settings, make_app
from overruler.apps.web.phone.lan_address import open_listener
from tests.apps.web.desk import Ready
from tests.apps.web.live_table import serving
from tests.waiting import LONG_S

HALF = b"GET /api/about HTTP/1.1\r\nHost: localhost\r\nX-Half: "


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    monkeypatch.setattr(application, "WorkerPool", Ready)
    settings = Settings(tmp_path / "store", AccessPolicy(frozenset({"localhost"})))
    with serving(make_app(settings)) as (address, _):
        yield address


def call(home: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(home.rpartition(":")[2])), LONG_S)


def about(home: str) -> dict[str, object]:
    with urllib.request.urlopen(f"{home}/api/about", timeout=LONG_S) as answer:
        found: dict[str, object] = json.load(answer)
    return found


def ended(line: socket.socket, most_s: float) -> bool:
    """Whether the server ends a connection in time."""
    line.settimeout(most_s)
    try:
        while line.recv(65_536):
            pass
    except TimeoutError:
        return False
    except OSError:
        return True
    return True


def test_205_half_sent_headers_leave_the_door_open(
    home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEADERS_TIMEOUT_S", 3600.0)  # the answer waits for no end
    with ExitStack() as lines:
        for _ in range(205):
            line = lines.enter_context(call(home))
            line.sendall(HALF)
        assert about(home)["games"]


def test_who_has_waited_longest_makes_room(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 20)
    with ExitStack() as stack:
        lines = [stack.enter_context(call(home)) for _ in range(60)]
        for line in lines[-15:]:
            line.sendall(HALF)
        for _ in range(5):
            assert about(home)["games"]
        assert ended(lines[0], LONG_S)


def test_headers_that_do_not_come_end_the_connection(
    home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEADERS_TIMEOUT_S", 0.3)
    with call(home) as silent, call(home) as half, call(home) as dripping:
        half.sendall(HALF)
        begin = time.monotonic()
        while time.monotonic() - begin < 0.6:
            try:
                dripping.sendall(b"G")
            except OSError:
                break
            time.sleep(0.05)
        assert all(ended(line, LONG_S) for line in (silent, half, dripping))


def test_half_a_second_request_ends_the_connection_too(
    home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEADERS_TIMEOUT_S", 0.3)
    with call(home) as line:
        line.sendall(b"GET /api/about HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(0.1)
        line.sendall(HALF)
        assert ended(line, LONG_S)


def test_where_all_are_at_work_the_next_is_asked_to_come_again(
    home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 2)
    head = (
        b"POST /api/measurements?marker_mm=60 HTTP/1.1\r\nHost: localhost\r\n"
        b"Content-Length: 9\r\nExpect: 100-continue\r\n\r\n"
    )
    with call(home) as one, call(home) as two:
        for line in (one, two):
            line.sendall(head)
            assert b" 100 " in line.recv(4096)  # it is at work on it
        with call(home) as third:
            answer = third.recv(4096)
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after: 5" in answer


def test_a_text_that_does_not_come_is_answered(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_body, "BODY_TIMEOUT_S", 0.3)
    with call(home) as line:
        line.sendall(
            b"PUT /api/measurements/234567892345/fixes HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Length: 100\r\n\r\n{"
        )
        line.settimeout(LONG_S)
        assert line.recv(4096).startswith(b"HTTP/1.1 408 ")


def test_answers_are_sent_without_delay() -> None:
    """Else the second part of an answer waits for the receipt of the first: 40 ms."""
    delays: list[int] = []

    class Told(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            line = transport.get_extra_info("socket")
            delays.append(line.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    async def connect() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Told, sock=open_listener("127.0.0.1", 0))
        _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.close()
        await writer.wait_closed()
        server.close()
        await server.wait_closed()

    asyncio.run(connect())
    assert delays == [1]
