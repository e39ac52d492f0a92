"""Engines: they run a function over specifications, in this process or on Dask's workers.

An engine maps one picklable function over specifications. As each is done, it yields the
specification with its result or its error. Another engine needs no more than that.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from overruler.errors import BadInput, MissingExtra, OverrulerError

S = TypeVar("S")
Result = Any

ENGINES = ("serial", "dask")
"""Names of the engines."""
DASK_CONFIG = {
    "distributed.scheduler.worker-saturation": 1.0,
    "distributed.scheduler.allowed-failures": 2,
}
"""Dask's settings: one task at a time for each worker, so that only a task that kills it is blamed."""
CONNECT_TIMEOUT_S = 10
"""Longest wait for a scheduler."""


class Engine(Protocol):
    """Maps a function over specifications."""

    def __call__(
        self, work: Callable[[S], Result], specs: Sequence[S]
    ) -> Iterator[tuple[S, Result | Exception]]: ...


def serial_engine(
    work: Callable[[S], Result], specs: Sequence[S]
) -> Iterator[tuple[S, Result | Exception]]:
    """Work on one specification after the other, in this process."""
    for spec in specs:
        try:
            yield spec, work(spec)
        except OverrulerError as error:
            yield spec, error


def dask_engine(workers: int, scheduler: str | None) -> Engine:
    """Work on Dask's workers: `workers` processes here, or those of a running scheduler."""

    def run(
        work: Callable[[S], Result], specs: Sequence[S]
    ) -> Iterator[tuple[S, Result | Exception]]:
        try:
            import dask
            import distributed
        except ImportError:
            raise MissingExtra.with_install_hint("the dask engine needs Dask", "dask") from None
        as_completed: Callable[..., Any] = distributed.as_completed
        with (
            dask.config.set(DASK_CONFIG),
            _cluster(distributed, workers, scheduler) as cluster,
            _connect_client(distributed.Client, cluster) as client,
        ):
            futures = {client.submit(work, spec, pure=False): spec for spec in specs}
            for future in as_completed(futures):
                error = future.exception()
                yield futures[future], future.result() if error is None else error

    return run


@contextmanager
def _cluster(distributed: Any, workers: int, scheduler: str | None) -> Iterator[Any]:
    """Yield the scheduler's address, or a cluster of processes on this machine."""
    if scheduler:
        yield scheduler
        return
    cluster = distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        dashboard_address=None,
        # Its usual port may be taken by another analysis, which it would warn of.
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
    )
    try:
        yield cluster
    finally:
        cluster.close()


def _connect_client(client: Callable[..., Any], where: Any) -> Any:
    try:
        return client(where, timeout=CONNECT_TIMEOUT_S)
    except (OSError, ValueError) as error:
        raise BadInput(f"--scheduler: {where}: {' '.join(str(error).split())}") from None
