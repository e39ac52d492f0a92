"""Packets that are damaged or lost, and pictures made from them, which look sound to the decoder."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

STEADY_STEPS = 8
"""Packets that must have come at one pace before a longer step means that some are lost."""
STEADY_SHARE = 0.1
"""Most difference between steps of one pace, as a share of a step: stamps are rounded."""
LOST_STEPS = 1.5
"""A step this many times the usual one passes over a packet."""


class DamageWatch:
    """Tells which decoded pictures can be trusted."""

    __slots__ = ("_hold_s", "_on_gap", "damaged_count", "since_s")

    damaged_count: int
    """Packets that could not be decoded, and pictures that came out damaged."""
    since_s: float
    """Time of the damage from which no picture could be trusted yet; infinity if there is none."""

    def __init__(
        self, hold_s: float, on_gap: Callable[[float, float], None] = lambda start, end: None
    ) -> None:
        """Damage ends with the next key picture, or after `hold_s`.

        `on_gap` hears the start and the end of each stretch without a picture to trust.
        """
        self._hold_s = hold_s
        self._on_gap = on_gap
        self.damaged_count = 0
        self.since_s = np.inf

    def trusts(self, picture: Any, time_s: float) -> bool:
        """Whether a decoded picture is as its maker meant it; None stands for a damaged packet."""
        if picture is None or picture.is_corrupt:
            self.damaged_count += 1
            self.since_s = min(self.since_s, max(time_s, 0.0))
            return False
        if self.since_s <= time_s <= self.since_s + self._hold_s and not picture.key_frame:
            return False
        self._on_gap(self.since_s, time_s)
        self.since_s = np.inf
        return True


def sound_packets(packets: Iterable[Any], are_counted: bool) -> Iterator[Any]:
    """Yield a stream's packets, with None for those that are damaged and where some are missing.

    Most formats tell where packets are missing; `are_counted` says so. In others packets at a
    steady pace tell it. The last packet before the missing ones may have lost its end: it counts
    as damaged. `packets` may hold None, for what could not be read.
    """
    pace = _Pace()
    before: Any = None
    is_first = True
    for packet in packets:
        is_broken = not are_counted and packet is not None and pace.skips_to(packet)
        if not is_first:
            yield None if is_broken or _is_damaged(before) else before
        before, is_first = packet, False
    if not is_first:
        yield None if _is_damaged(before) else before


def _is_damaged(packet: Any) -> bool:
    return packet is None or bool(packet.size and packet.is_corrupt)


class _Pace:
    """The steps between packets, in the order of decoding."""

    __slots__ = ("_last", "_steps")

    def __init__(self) -> None:
        self._last: int | None = None
        self._steps: deque[int] = deque(maxlen=STEADY_STEPS)

    def skips_to(self, packet: Any) -> bool:
        """Whether packets are missing before this one."""
        last, self._last = self._last, packet.dts
        if last is None or packet.dts is None:
            return False
        step = packet.dts - last
        skips = self._is_steady() and step > LOST_STEPS * max(self._steps)
        if not skips:
            self._steps.append(step)
        return skips

    def _is_steady(self) -> bool:
        if len(self._steps) < STEADY_STEPS:
            return False
        return max(self._steps) - min(self._steps) <= STEADY_SHARE * max(self._steps)


class PacketDecoder:
    """Decodes packets one by one; after a damaged one it waits for the next key picture."""

    __slots__ = ("_context", "_errors", "_time_base")

    def __init__(self, stream: Any, errors: tuple[type[Exception], ...]) -> None:
        """`errors` are those that the decoder raises for what it cannot decode."""
        self._context = stream.codec_context
        self._time_base = stream.time_base
        self._errors = errors

    def decode(self, packet: Any) -> Iterator[Any]:
        """Yield the pictures that a packet completes, or None if it cannot be decoded.

        None in place of a packet is a damaged one. What came before it is yielded first.
        """
        if packet is not None:
            yield from self._decode_sound(packet)
            return
        for picture in filter(None, self._decode_sound(None)):
            picture.time_base = self._time_base
            yield picture
        self._context.flush_buffers()
        yield None

    def _decode_sound(self, packet: Any) -> Iterator[Any]:
        try:
            yield from self._context.decode(packet)
        except EOFError:
            return
        except self._errors:
            yield None
