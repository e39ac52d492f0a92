"""Things made ahead: the same, in order, no more than asked for, their errors where they belong."""

import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.sources.prefetch import prefetch_items
from tests.waiting import LONG_S


@given(st.lists(st.integers(), max_size=30), st.integers(1, 12))
def test_they_are_the_same_in_the_same_order(things: list[int], most: int) -> None:
    with prefetch_items(things, most) as made:
        assert list(made) == things


def test_only_so_many_are_made_before_they_are_asked_for() -> None:
    made, enough = [], threading.Event()

    def counted() -> Iterator[int]:
        for k in range(100):
            made.append(k)
            if k == 5:
                enough.set()
            yield k

    with prefetch_items(counted(), most=3) as things:
        assert [next(things) for _ in range(4)] == [0, 1, 2, 3]
        assert enough.wait(LONG_S), "the next ones are made meanwhile"
        assert len(made) <= 4 + 3
    assert len(made) <= 4 + 3


def test_they_are_made_in_a_thread_that_is_over_afterwards() -> None:
    threads = set()

    def noted() -> Iterator[int]:
        for k in range(20):
            threads.add(threading.current_thread())
            yield k

    def interrupted() -> None:
        with prefetch_items(noted()) as things:
            next(things)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert threads
    assert threading.current_thread() not in threads
    assert not any(thread.is_alive() for thread in threads)


def test_an_error_comes_where_it_would_have_come() -> None:
    def breaks() -> Iterator[int]:
        yield 1
        yield 2
        raise ValueError("broken")

    with prefetch_items(breaks()) as things:
        assert [next(things), next(things)] == [1, 2]
        with pytest.raises(ValueError, match="broken"):
            next(things)
