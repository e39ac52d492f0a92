"""WebSockets get frames that are damaged, forbidden or never finished: nothing breaks."""

import json
import logging
import random
import urllib.request
from pathlib import Path

import pytest
from uvicorn.protocols.http import h11_impl

from evaluate import attack_server
from overruler.apps.web.guard import AccessPolicy
from overruler.apps.web.phone import app as application
from overruler.apps.web.phone.app import Settings, make_app
from overruler.apps.web.sockets import NO_HTTP, NoFaults
from tests.apps.web.desk import Ready
from tests.apps.web.live_table import Table, air, served, serving
from tests.waiting import LONG_S

LOCAL = AccessPolicy(frozenset({"localhost"}))
COUNT = 60
GLANCE_S = 0.02
"""How long a socket is watched that may go on: some frames are never finished."""


def attack(
    home: str,
    path: str,
    read_s: float,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> set[str]:
    """Send frames to a socket, and read each for so long: how they end, with no error in the log."""
    monkeypatch.setattr(attack_server, "PORT", int(home.rpartition(":")[2]))
    monkeypatch.setattr(attack_server, "READ_S", read_s)
    draw = random.Random(7)
    logger, faults = logging.getLogger("uvicorn.error"), NoFaults()
    logger.addFilter(faults)
    counts, _ = attack_server.attack(COUNT, lambda: attack_server.send_frames(path, draw))
    logger.removeFilter(faults)
    assert "Traceback" not in capfd.readouterr().err
    return set(counts)


def test_frames_for_the_phones_server(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(application, "WorkerPool", Ready)
    with serving(make_app(Settings(tmp_path / "store", LOCAL))) as (home, _):
        ends = attack(home, "/api/measurements/234567892345/watch", GLANCE_S, monkeypatch, capfd)
        assert ends <= {"ended", "left"}
        with urllib.request.urlopen(f"{home}/api/health", timeout=LONG_S) as answer:
            assert json.load(answer)["ok"]


def test_frames_for_the_live_server(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    policy = AccessPolicy(frozenset({"localhost"}))
    with served(air(Table(), policy)) as (home, _):
        ends = attack(home, "/api/live/air", GLANCE_S, monkeypatch, capfd)
        assert ends <= {"ended", "left"}
        with urllib.request.urlopen(f"{home}/api/live", timeout=LONG_S) as answer:
            assert "version" in json.load(answer)


def test_a_text_that_is_none_ends_a_socket_though_its_client_closes_it_too(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Both arrive together: the socket is closing when the text is read."""
    no_text, close = bytes([0x81, 0x81, 0, 0, 0, 0, 0xFF]), bytes([0x88, 0x80, 0, 0, 0, 0])
    monkeypatch.setattr(attack_server, "frames", lambda _: no_text + close)
    with served(air(Table(), AccessPolicy(frozenset({"localhost"})))) as (home, _):
        assert attack(home, "/api/live/air", LONG_S, monkeypatch, capfd) == {"ended"}
    assert not [record for record in caplog.records if record.name == "asyncio"]


def test_only_what_a_client_did_wrong_stays_out_of_the_log() -> None:
    def is_logged(error: Exception) -> bool:
        told = (type(error), error, None)
        record = logging.LogRecord("uvicorn.error", logging.ERROR, "", 0, "x", (), told)
        return NoFaults().filter(record)

    assert not is_logged(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"))
    assert is_logged(RuntimeError("ours"))


def test_a_request_over_https_is_told_once_and_says_what_to_do() -> None:
    faults = NoFaults()
    records = [
        logging.LogRecord("uvicorn.error", logging.WARNING, "", 0, NO_HTTP, (), None)
        for _ in range(3)
    ]
    told = [one.getMessage() for one in records if faults.filter(one)]
    assert len(told) == 1
    assert "https needs --tls-cert" in told[0]
    assert NO_HTTP in Path(h11_impl.__file__).read_text()
