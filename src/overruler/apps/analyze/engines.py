"""Where segments are worked on: in this process, or on workers that Dask hands them to.

An engine maps one picklable function over specifications and yields, as each is done, the specification and its result
or the error. That is all that another engine would have to do.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from overruler.errors import BadInput, MissingExtra, OverrulerError

S = TypeVar("S")
Result = Any

ENGINES = ("serial", "dask")
DASK_CONFIG = {
    "distributed.scheduler.worker-saturation": 1.0,
    "distributed.scheduler.allowed-failures": 2,
}
"""One task at a time to each worker, so that only the task that kills workers is blamed for it."""


class Engine(Protocol):
    """Maps a function over specifications."""

    def __call__(
        self, work: Callable[[S], Result], specs: Sequence[S]
    ) -> Iterator[tuple[S, Result | Exception]]: ...


def serial_engine(
    work: Callable[[S], Result], specs: Sequence[S]
) -> Iterator[tuple[S, Result | Exception]]:
    """One after the other."""
    for spec in specs:
        try:
            yield spec, work(spec)
        except OverrulerError as error:
            yield spec, error


def dask_engine(workers: int, scheduler: str | None) -> Engine:
    """Dask's workers: `workers` processes of one thread each here, or those of a scheduler that is running."""

    def run(
        work: Callable[[S], Result], specs: Sequence[S]
    ) -> Iterator[tuple[S, Result | Exception]]:
        try:
            import dask
            import distributed
        except ImportError:
            raise MissingExtra.with_install_hint("the dask engine needs Dask", "dask") from None
        local: Callable[..., Any] = distributed.LocalCluster
        completed: Callable[..., Any] = distributed.as_completed
        with dask.config.set(DASK_CONFIG):
            cluster = (
                None
                if scheduler
                else local(n_workers=workers, threads_per_worker=1, dashboard_address=None)
            )
            try:
                with _connect_client(distributed.Client, scheduler or cluster) as client:
                    futures = {client.submit(work, spec, pure=False): spec for spec in specs}
                    for future in completed(futures):
                        error = future.exception()
                        yield futures[future], future.result() if error is None else error
            finally:
                if cluster is not None:
                    cluster.close()

    return run


def _connect_client(client: Callable[..., Any], where: Any) -> Any:
    try:
        return client(where, timeout=10)
    except (OSError, ValueError) as error:
        raise BadInput(f"--scheduler: {where}: {' '.join(str(error).split())}") from None
