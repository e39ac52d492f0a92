"""A film's packets before decoding, and which of them hold a picture that is looked at.

A picture that no other refers to and that nobody looks at need not be decoded; all others come out
the same. H.264 and HEVC tell in the header of a picture's first slice whether others refer to it.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

LookSlot = tuple[float, float]
"""The time slot of a picture, of which one picture is looked at, and the picture's delay in s."""

REORDER_PACKETS = 16
"""Most packets between a picture and the one shown before it, in either direction."""
NONREFERENCE_DELAY_SHARE = 0.5
"""Delay of a picture that no other refers to, as a share of the time between looks."""
HEADER_BYTES = 4096
"""More than the bytes before a picture's first slice."""
CONFIG_RECORD_VERSION = 1
"""First byte of a configuration record (ISO/IEC 14496-15); units then begin with their lengths."""
HEVC_LAYER_BYTE = 21
"""Byte of HEVC's record with the number of layers in bits 3 to 5."""
LENGTH_SIZE_BYTE = {"h264": 4, "hevc": HEVC_LAYER_BYTE}
"""Byte of a record whose last two bits hold the size of a length, minus one."""
START_CODE = b"\0\0\1"


def mark_wanted(
    packets: Iterable[Any], place: Callable[[Any], LookSlot | None]
) -> Iterator[tuple[Any, bool]]:
    """Yield each packet, and whether it may be the one looked at in its slot, if it has one."""
    waiting = deque[tuple[Any, LookSlot | None]]()
    nearby: deque[LookSlot | None] = deque(maxlen=2 * REORDER_PACKETS + 1)
    for packet in packets:
        slot = place(packet) if packet is not None else None
        waiting.append((packet, slot))
        nearby.append(slot)
        if len(waiting) > REORDER_PACKETS:
            yield _mark_packet(*waiting.popleft(), nearby)
    while waiting:
        yield _mark_packet(*waiting.popleft(), nearby)


def _mark_packet(
    packet: Any, slot: LookSlot | None, nearby: Iterable[LookSlot | None]
) -> tuple[Any, bool]:
    if slot is None:
        return packet, True
    index, late_s = slot
    earlier = (other for other in nearby if other and other[0] == index and other[1] < late_s)
    return packet, next(earlier, None) is None


def knows_nonreference(context: Any) -> bool:
    """Tell whether the headers suffice: in HEVC, an upper layer may refer to any picture."""
    if context.name != "hevc":
        return True
    record = context.extradata or b""
    if len(record) <= HEVC_LAYER_BYTE or record[0] != CONFIG_RECORD_VERSION:
        return False
    return bool(record[HEVC_LAYER_BYTE] >> 3 & 7 == 1)


def is_nonreference(context: Any, packet: Any) -> bool:
    """Tell whether no other picture refers to this one; False if that is unknown."""
    size_byte = LENGTH_SIZE_BYTE.get(context.name)
    if size_byte is None:
        return False
    record = context.extradata or b""
    head = bytes(memoryview(packet)[:HEADER_BYTES])
    if len(record) > size_byte and record[0] == CONFIG_RECORD_VERSION:
        units = _length_prefixed_units(head, (record[size_byte] & 3) + 1)
    else:
        units = _start_code_units(head)
    read_header = _h264_nonreference if context.name == "h264" else _hevc_nonreference
    answers = (read_header(unit[0]) for unit in units if unit)
    return next((answer for answer in answers if answer is not None), False)


def _length_prefixed_units(head: bytes, size: int) -> Iterator[bytes]:
    """Yield the first byte of each unit that follows its length."""
    offset = 0
    while offset + size < len(head):
        start = offset + size
        yield head[start : start + 1]
        offset = start + int.from_bytes(head[offset:start], "big")


def _start_code_units(head: bytes) -> Iterator[bytes]:
    """Yield the first byte of each unit that follows a start code."""
    offset = head.find(START_CODE)
    while offset >= 0:
        yield head[offset + 3 : offset + 4]
        offset = head.find(START_CODE, offset + 3)


def _h264_nonreference(first: int) -> bool | None:
    """Tell whether no picture refers to a slice's (H.264, 7.4.1); None if it is no slice."""
    return first >> 5 & 3 == 0 if 1 <= first & 31 <= 5 else None


def _hevc_nonreference(first: int) -> bool | None:
    """Tell the same for HEVC (H.265, table 7-1)."""
    kind = first >> 1 & 63
    return (kind < 16 and kind % 2 == 0) if kind < 32 else None
