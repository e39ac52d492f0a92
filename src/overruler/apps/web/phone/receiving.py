"""Photos as they arrive: limits of time, number and memory, so that nobody can keep the others out."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from overruler.apps.web.faults import ServerBusy, UploadRefused, UploadTooSlow
from overruler.apps.web.phone import uploads
from overruler.writing import write_atomically

MAX_RECEIVING = 64
"""Photos received at the same time."""
MAX_RECEIVING_BYTES = 400_000_000
"""Bytes of all photos that are received, together."""
MAX_IDLE_S = 10.0
"""Longest pause between two parts of a body."""
GRACE_S = 30.0
"""Time that any body may take, however small."""
MIN_BYTES_PER_S = 20_000
"""Speed of a body that takes longer: a photo of 5 MB may take four minutes."""
EVICTION_IDLE_S = 2.0
"""Pause after which a body makes room for another where there is no more room."""
HEAD_BYTES = 64
"""First bytes of a photo by which its format is detected."""
MAX_PARALLEL_CLEANING = 2
"""Photos cleaned at the same time; each needs several times its size in memory."""
PHOTO_ENDINGS = {"JPEG": ".jpg", "HEIC": ".jpg", "PNG": ".png", "WEBP": ".webp"}
"""Ending of the name under which a photo of each format is stored; HEIC becomes JPEG."""
BUSY_TEXT = "too many photos are being sent: try again in a few seconds"
"""Message of `ServerBusy`."""


@dataclass(slots=True, eq=False)
class Reception:
    """A photo that is being received."""

    gate: "UploadGate"
    started_s: float
    moved_s: float
    """When the last part came."""
    data: bytearray = field(default_factory=bytearray)
    wait: asyncio.Timeout | None = None
    """The wait for the next part, if it waits."""

    async def read(self, body: AsyncIterator[bytes], most_bytes: int) -> bytes:
        """Read a body; refuse it as soon as it is too large, too slow, or no photo's."""
        while (part := await self._next_part(body)) is not None:
            before = len(self.data)
            if before + len(part) > most_bytes:
                raise photo_too_large(most_bytes)
            self.gate.make_room_for(len(part), self)
            self.data += part
            self.moved_s = _now_s()
            if len(self.data) >= HEAD_BYTES > before:
                uploads.detect_format(bytes(self.data[:HEAD_BYTES]))
        return bytes(self.data)

    async def _next_part(self, body: AsyncIterator[bytes]) -> bytes | None:
        """The next part, or None at the end; `UploadTooSlow` if it does not come in time."""
        allowed_s = GRACE_S + len(self.data) / MIN_BYTES_PER_S
        end_s = min(_now_s() + MAX_IDLE_S, self.started_s + allowed_s)
        try:
            async with asyncio.timeout_at(end_s) as self.wait:
                return await anext(body, None)
        except TimeoutError:
            raise UploadTooSlow("the photo") from None
        finally:
            self.wait = None

    def idle_s(self) -> float:
        """For how long it has waited; 0 where it waits for nothing."""
        return _now_s() - self.moved_s if self.wait else 0.0

    def evict(self) -> None:
        """End its wait now."""
        if self.wait:
            self.wait.reschedule(0.0)


class UploadGate:
    """All photos that are being received."""

    __slots__ = ("_receptions", "cleaning")

    def __init__(self) -> None:
        self._receptions: set[Reception] = set()
        self.cleaning = asyncio.Semaphore(MAX_PARALLEL_CLEANING)

    @contextmanager
    def open_reception(self) -> Iterator[Reception]:
        """Take in one more photo; `ServerBusy` where there is no room and nobody who stalls."""
        while len(self._receptions) >= MAX_RECEIVING:
            self._evict_one()
        now_s = _now_s()
        reception = Reception(self, now_s, now_s)
        self._receptions.add(reception)
        try:
            yield reception
        finally:
            self._receptions.discard(reception)

    def make_room_for(self, size: int, reception: Reception) -> None:
        """Make room for so many bytes more; `ServerBusy` where nothing can make it."""
        while sum(len(each.data) for each in self._receptions) + size > MAX_RECEIVING_BYTES:
            self._evict_one(reception)

    def _evict_one(self, kept: Reception | None = None) -> None:
        """End the reception that has stalled longest."""
        others = [each for each in self._receptions if each is not kept]
        stalled = max(others, key=Reception.idle_s, default=None)
        if stalled is None or stalled.idle_s() < EVICTION_IDLE_S:
            raise ServerBusy(BUSY_TEXT)
        stalled.evict()
        self._receptions.discard(stalled)


async def save_photo(
    gate: UploadGate, body: AsyncIterator[bytes], most_bytes: int, folder: Path, number: int
) -> str:
    """Write a photo without its metadata into a folder; return its file's name.

    `number` counts the photos of the table from 1.
    """
    with gate.open_reception() as reception:
        data = await reception.read(body, most_bytes)
        ending = PHOTO_ENDINGS[uploads.detect_format(data[:HEAD_BYTES])]
        photo = f"photo{number if number > 1 else ''}{ending}"
        async with gate.cleaning:
            cleaned = await asyncio.to_thread(uploads.strip_metadata, data)
            await asyncio.to_thread(write_atomically, folder / photo, cleaned)
    return photo


def photo_too_large(most_bytes: int) -> UploadRefused:
    remedy = "save it as JPEG of 12 megapixels, or set the camera to that"
    return UploadRefused(f"the photo is larger than {most_bytes / 1e6:g} MB: {remedy}", 413)


def _now_s() -> float:
    return asyncio.get_running_loop().time()
