"""Photos that stall, crawl or come in crowds keep nobody out."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from overruler.apps.web.faults import ServerBusy, UploadRefused, UploadTooSlow
from overruler.apps.web.phone import receiving
from overruler.apps.web.phone.receiving import UploadGate
from tests.apps.web.desk import client, jpeg
from tests.waiting import LONG_S

PHOTO = jpeg()
MANY_BYTES = 10_000_000


async def whole(photo: bytes = PHOTO) -> AsyncIterator[bytes]:
    for start in range(0, len(photo), 4096):
        await asyncio.sleep(0)
        yield photo[start : start + 4096]


async def stalled(photo: bytes = PHOTO) -> AsyncIterator[bytes]:
    yield photo[:100]
    await asyncio.sleep(60)
    yield photo[100:]


async def crawling(photo: bytes = PHOTO) -> AsyncIterator[bytes]:
    for start in range(len(photo)):
        await asyncio.sleep(0.02)
        yield photo[start : start + 1]


async def received(gate: UploadGate, body: AsyncIterator[bytes]) -> bytes:
    with gate.open_reception() as reception:
        return await reception.read(body, MANY_BYTES)


def test_a_photo_arrives_as_it_was_sent() -> None:
    assert asyncio.run(received(UploadGate(), whole())) == PHOTO


def test_a_photo_that_stalls_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "MAX_IDLE_S", 0.1)
    with pytest.raises(UploadTooSlow, match="send it again"):
        asyncio.run(asyncio.wait_for(received(UploadGate(), stalled()), LONG_S))


def test_a_photo_that_crawls_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "GRACE_S", 0.3)
    with pytest.raises(UploadTooSlow):
        asyncio.run(asyncio.wait_for(received(UploadGate(), crawling()), LONG_S))


def test_who_stalls_makes_room_for_who_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "MAX_RECEIVING", 6)
    monkeypatch.setattr(receiving, "EVICTION_IDLE_S", 0.1)

    async def work() -> tuple[list[bytes], list[Any]]:
        gate = UploadGate()
        stalls = [asyncio.create_task(received(gate, stalled())) for _ in range(6)]
        await asyncio.sleep(0.2)
        photos = [await received(gate, whole()) for _ in range(12)]
        for task in stalls:
            task.cancel()
        return photos, await asyncio.gather(*stalls, return_exceptions=True)

    photos, stalls = asyncio.run(work())
    assert photos == [PHOTO] * 12
    assert any(isinstance(end, UploadTooSlow) for end in stalls)


def test_where_all_are_sending_the_next_is_asked_to_come_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(receiving, "MAX_RECEIVING", 2)

    async def work() -> None:
        gate = UploadGate()
        with (
            gate.open_reception(),
            gate.open_reception(),
            pytest.raises(ServerBusy),
            gate.open_reception(),
        ):
            raise AssertionError
        assert await received(gate, whole()) == PHOTO

    asyncio.run(work())


def test_all_photos_together_fill_no_more_than_their_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(receiving, "MAX_RECEIVING_BYTES", len(PHOTO) + 50)

    async def work() -> None:
        gate = UploadGate()
        held = asyncio.create_task(received(gate, stalled()))
        await asyncio.sleep(0.05)
        with pytest.raises(ServerBusy):
            await received(gate, whole())
        held.cancel()
        await asyncio.gather(held, return_exceptions=True)
        assert await received(gate, whole()) == PHOTO

    asyncio.run(work())


def test_what_is_no_photo_is_refused_by_its_first_bytes() -> None:
    with pytest.raises(UploadRefused, match="not a photo"):
        asyncio.run(asyncio.wait_for(received(UploadGate(), stalled(b"GIF89a" * 40)), LONG_S))


def test_a_busy_server_says_when_to_come_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(receiving, "MAX_RECEIVING", 0)
    with client(monkeypatch, tmp_path / "store") as api:
        answer = api.post("/api/measurements", params={"marker_mm": "60"}, content=PHOTO)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "try again" in answer.json()["error"]
    assert not list((tmp_path / "store" / "measurements").glob("*"))
