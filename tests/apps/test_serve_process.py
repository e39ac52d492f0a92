"""The server as people start it: killed, started twice, its folder named as people name folders, its log read."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from overruler.apps.cli import main
from tests.apps.web.desk import jpeg
from tests.waiting import LONG_S

PHOTO = jpeg((320, 240))


@contextmanager
def server(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[bytes], str, Path]]:
    """A server of its own in a folder, its address with the key, and the file of what it says."""
    log = folder / f"log-{time.monotonic_ns()}"
    command = [sys.executable, "-m", "overruler", "serve", "--port", "0", *options]
    with log.open("wb") as errors:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=errors)
        try:
            yield process, _address_line(process), log
        finally:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


def _address_line(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None
    text, end_s = "", time.monotonic() + LONG_S
    while time.monotonic() < end_s and "Ctrl-C" not in text:
        if select.select([process.stdout], [], [], 0.2)[0]:
            part = os.read(process.stdout.fileno(), 65_536)
            if not part:
                break
            text += part.decode()
    lines = [line for line in text.splitlines() if line.startswith("http")]
    assert lines, text
    return lines[0]


def ask(address: str, path: str, body: bytes | None = None) -> Any:
    home, _, key = address.partition("?key=")
    headers = {"authorization": f"Bearer {key}"} if key else {}
    request = urllib.request.Request(home + path, body, headers)
    with urllib.request.urlopen(request, timeout=LONG_S) as answer:
        return json.load(answer)


def sent(address: str) -> str:
    name: str = ask(address, "api/measurements?marker_mm=60&game=legion", PHOTO)["id"]
    return name


def end_of(address: str, names: Sequence[str]) -> list[str]:
    """What each measurement ended with."""
    end_s = time.monotonic() + LONG_S
    while time.monotonic() < end_s:
        states = [ask(address, f"api/measurements/{name}") for name in names]
        if all(state["state"] in ("done", "failed") for state in states):
            return [state["step"] for state in states]
        time.sleep(0.2)
    raise AssertionError(states)


def test_a_relative_folder_a_kill_and_a_second_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with server(tmp_path, "--store", "store", "--workers", "1") as (process, address, _):
        names = [sent(address) for _ in range(4)]
        steps = end_of(address, names[:2])
        assert all("marker" in step for step in steps), steps  # what there is to say of the photo
        assert main(["serve", "--port", "0", "--store", str(tmp_path / "store")]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "another server uses it" in line
        names.append(sent(address))
        process.send_signal(signal.SIGKILL)
        process.wait()
    with server(tmp_path, "--store", "store", "--workers", "1") as (_, address, log):
        steps = end_of(address, names)
        assert len(set(steps)) == 1, steps
        assert ask(address, "api/health")["ok"]
    assert log.read_text() == ""


def test_nobody_finds_the_key_in_what_the_server_says(tmp_path: Path) -> None:
    options = ("--lan", "--host", "127.0.0.2", "--store", "store", "--workers", "1")
    logged = ("-v", "--log", "steps.txt")
    with server(tmp_path, *options, *logged) as (process, address, log):
        key = address.partition("?key=")[2]
        assert len(key) >= 20
        home = address.partition("?")[0]
        for path in (f"?key={key}", f"api/measurements?key={key}", f"nowhere?key={key}"):
            with _any_answer(f"{home}{path}") as status:
                assert status in (200, 404)
        with _any_answer(f"{home}api/about?key={key[:-1]}x") as status:
            assert status == 401
        _send_broken(home, key)
        process.send_signal(signal.SIGINT)
        process.wait(LONG_S)
        assert process.stdout is not None
        steps = (tmp_path / "steps.txt").read_bytes()
        assert b"photos are kept in" in steps
        said = log.read_bytes() + process.stdout.read() + steps
    assert key.encode() not in said
    assert b"Traceback" not in said
    store = tmp_path / "store"
    assert not [
        path for path in store.rglob("*") if path.is_file() and key.encode() in path.read_bytes()
    ]


@contextmanager
def _any_answer(address: str) -> Iterator[int]:
    try:
        with urllib.request.urlopen(address, timeout=LONG_S) as answer:
            yield answer.status
    except urllib.error.HTTPError as error:
        error.close()
        yield error.code


def _send_broken(home: str, key: str) -> None:
    """Send requests with the key that break off or make no sense."""
    host, _, port = home.removeprefix("http://").rstrip("/").partition(":")
    for text in (
        f"GET /?key={key} HTTP/9.9\r\n\r\n",
        f"\x00GET /?key={key}\r\n\r\n",
        f"POST /api/measurements?marker_mm=60&key={key} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 99\r\n\r\nx",
    ):
        with socket.create_connection((host, int(port)), LONG_S) as line:
            line.sendall(text.encode())
            line.shutdown(socket.SHUT_WR)
            line.settimeout(LONG_S)
            try:
                while line.recv(4096):
                    pass
            except OSError:
                continue
