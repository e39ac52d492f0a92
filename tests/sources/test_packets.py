"""Which packets of a film need to be decoded whole."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.sources.packets import (
    REORDER_PACKETS,
    is_nonreference,
    knows_nonreference,
    mark_wanted,
)


@given(
    st.lists(st.integers(1, 31), min_size=3 * REORDER_PACKETS, max_size=100),
    st.integers(1, REORDER_PACKETS // 2),
)
def test_of_each_stretch_the_first_is_wanted_whatever_order_packets_come_in(
    gaps: list[int], depth: int
) -> None:
    times = np.cumsum(gaps).tolist()
    packets = [time for k in range(0, len(times), depth) for time in reversed(times[k : k + depth])]
    told = dict(mark_wanted(packets, lambda time: (time // 40, time)))
    assert list(told) == packets
    firsts = {time // 40: time for time in reversed(times)}
    assert {time for time, wanted in told.items() if wanted} == set(firsts.values())


def test_what_has_no_time_and_what_could_not_be_read_pass_in_their_order() -> None:
    told = list(mark_wanted([3, None, 1, 2], lambda time: None if time == 1 else (0, time)))
    assert told == [(3, False), (None, True), (1, True), (2, True)]


def context(name: str, record: bytes) -> Any:
    return SimpleNamespace(name=name, extradata=record)


H264 = bytes([1, 100, 0, 40, 0xFF])
HEVC = bytes([1, *[0] * 20, 1 << 3 | 3])


def units(*heads: int) -> bytes:
    return b"".join((9).to_bytes(4, "big") + bytes([head]) + bytes(8) for head in heads)


@pytest.mark.parametrize(
    ("head", "told"), [(0x01, True), (0x21, False), (0x41, False), (0x65, False)]
)
def test_h264_says_whether_others_are_made_from_a_picture(head: int, told: bool) -> None:
    assert is_nonreference(context("h264", H264), units(0x06, head)) is told, (
        "after what else is said of it"
    )
    marks = b"\0\0\0\1\x09\xf0\0\0\1" + bytes([head]) + bytes(9)
    assert is_nonreference(context("h264", b"\0\0\0\1"), marks) is told


@pytest.mark.parametrize(
    ("kind", "told"), [(0, True), (1, False), (8, True), (9, False), (19, False), (21, False)]
)
def test_hevc_says_so_too(kind: int, told: bool) -> None:
    assert is_nonreference(context("hevc", HEVC), units(39 << 1, kind << 1)) is told


def test_where_it_cannot_be_told_a_picture_is_needed() -> None:
    assert not is_nonreference(context("vp9", b""), units(0x01))
    assert not is_nonreference(context("h264", H264), units(0x06))
    assert not is_nonreference(context("h264", H264), b"")


def test_hevc_with_layers_or_without_a_word_of_them_is_decoded_whole() -> None:
    records = HEVC, HEVC[:-1] + bytes([2 << 3 | 3]), b"", b"\0\0\0\1"
    assert [knows_nonreference(context("hevc", record)) for record in records] == [
        True,
        False,
        False,
        False,
    ]
    assert knows_nonreference(context("h264", b""))
