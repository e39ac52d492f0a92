"""A film's packets before they are decoded, and which of them hold a picture that somebody will look at.

Pictures that no other is made from and that nobody looks at need not be decoded: all others come out as they would.
Whether others are made from it a picture of H.264 or HEVC says in the header of its first slice.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

LookSlot = tuple[float, float]
"""The stretch of time that a picture falls in, of each of which one is looked at, and how late it would be for it."""

REORDER_PACKETS = 16
"""The picture that is shown before another is stored at most so many packets before or after it."""
NONREFERENCE_DELAY_SHARE = 0.5
"""A picture that would be decoded for its own sake counts as so much later, as a share of the time between looks."""
HEADER_BYTES = 4096
"""What comes before the first slice of a picture is shorter, in bytes."""
CONFIG_RECORD_VERSION = 1
"""What a configuration record (ISO/IEC 14496-15) begins with; the stream's units then begin with their lengths."""
HEVC_LAYER_BYTE = 21
"""The byte of HEVC's record that counts its layers in bits 3 to 5, and says in its last two how long a length is."""
LENGTH_SIZE_BYTE = {"h264": 4, "hevc": HEVC_LAYER_BYTE}
"""The byte of a record whose last two bits say how long a length is, less one."""


def mark_wanted(
    packets: Iterable[Any], place: Callable[[Any], LookSlot | None]
) -> Iterator[tuple[Any, bool]]:
    """Each packet, and whether its picture may be the one to look at in its stretch; one without a place may always."""
    waiting: deque[tuple[Any, LookSlot | None]] = deque()
    near: deque[LookSlot | None] = deque(maxlen=2 * REORDER_PACKETS + 1)
    for packet in packets:
        at = place(packet) if packet is not None else None
        waiting.append((packet, at))
        near.append(at)
        if len(waiting) > REORDER_PACKETS:
            yield _mark_packet(*waiting.popleft(), near)
    while waiting:
        yield _mark_packet(*waiting.popleft(), near)


def _mark_packet(
    packet: Any, at: LookSlot | None, near: Iterable[LookSlot | None]
) -> tuple[Any, bool]:
    if at is None:
        return packet, True
    stretch, late_s = at
    return packet, not any(
        one is not None and one[0] == stretch and one[1] < late_s for one in near
    )


def knows_nonreference(context: Any) -> bool:
    """Whether the decoder knows the pictures that no other is made from; in HEVC with layers, those above may be."""
    if context.name != "hevc":
        return True
    record = context.extradata or b""
    return (
        len(record) > HEVC_LAYER_BYTE
        and record[0] == CONFIG_RECORD_VERSION
        and record[HEVC_LAYER_BYTE] >> 3 & 7 == 1
    )


def is_nonreference(context: Any, packet: Any) -> bool:
    """Whether no other picture is made from this one; False where that cannot be told."""
    at = LENGTH_SIZE_BYTE.get(context.name)
    if at is None:
        return False
    record, head = context.extradata or b"", bytes(memoryview(packet)[:HEADER_BYTES])
    lengths = len(record) > at and record[0] == CONFIG_RECORD_VERSION
    units = (
        _length_prefixed_units(head, (record[at] & 3) + 1) if lengths else _start_code_units(head)
    )
    found = (
        _h264_nonreference(unit[0]) if context.name == "h264" else _hevc_nonreference(unit[0])
        for unit in units
        if unit
    )
    return next((one for one in found if one is not None), False)


def _length_prefixed_units(head: bytes, size: int) -> Iterator[bytes]:
    """The first bytes of a packet's units, each of which follows its length."""
    at = 0
    while at + size < len(head):
        yield head[at + size : at + size + 1]
        at += size + int.from_bytes(head[at : at + size], "big")


def _start_code_units(head: bytes) -> Iterator[bytes]:
    """The first bytes of a packet's units, each of which follows a start code."""
    at = head.find(b"\0\0\1")
    while at >= 0:
        yield head[at + 3 : at + 4]
        at = head.find(b"\0\0\1", at + 3)


def _h264_nonreference(first: int) -> bool | None:
    """Whether a slice is of a picture that no other is made from (H.264, 7.4.1); None for what is no slice."""
    return first >> 5 & 3 == 0 if 1 <= first & 31 <= 5 else None


def _hevc_nonreference(first: int) -> bool | None:
    """The same for HEVC (H.265, table 7-1)."""
    kind = first >> 1 & 63
    return (kind < 16 and kind % 2 == 0) if kind < 32 else None
