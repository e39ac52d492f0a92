"""Work done in processes of their own, so that a tap is answered while photos are measured.

There are one or two of them, each with one task at a time; what waits is bounded. A process that dies, hangs or has
grown large is replaced, and only the task it was at fails.
"""

import asyncio
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from overruler.apps.web.faults import ServerBusy, TaskFailed
from overruler.apps.web.phone.worker_tasks import serve_tasks

MAX_WAITING = 64
TASK_TIMEOUT_S = 180.0
"""A task that takes longer hangs."""
_URGENT_RANK, _USUAL_RANK = 0, 1


@dataclass(order=True, slots=True)
class _Job:
    rank: tuple[int, int]
    task: tuple[str, str, list[Any]] = field(compare=False)
    on_progress: Callable[[str], None] = field(compare=False)
    result: "asyncio.Future[Any]" = field(compare=False)


class WorkerPool:
    """`await workers.do("measure", folder, arguments, say)`."""

    def __init__(self, processes: int) -> None:
        self._waiting: asyncio.PriorityQueue[_Job] = asyncio.PriorityQueue(MAX_WAITING)
        self._numbers = count()
        self._threads = ThreadPoolExecutor(processes, "wait-for-worker")
        self._processes = processes
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self._tasks = [asyncio.create_task(self._worker_loop()) for _ in range(self._processes)]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._threads.shutdown(wait=False)

    @property
    def full(self) -> bool:
        return self._waiting.full()

    async def run_task(
        self,
        name: str,
        folder: Path,
        arguments: list[Any],
        say: Callable[[str], None],
        urgent: bool = False,
    ) -> Any:
        """A task's result; `ServerBusy` where too much waits, `TaskFailed` where it came to nothing."""
        rank = (_URGENT_RANK if urgent else _USUAL_RANK, next(self._numbers))
        job = _Job(
            rank, (name, str(folder), arguments), say, asyncio.get_running_loop().create_future()
        )
        try:
            self._waiting.put_nowait(job)
        except asyncio.QueueFull:
            raise ServerBusy("too many photos are waiting: try again in a minute") from None
        return await job.result

    async def _worker_loop(self) -> None:
        worker = WorkerProcess()
        try:
            while True:
                job = await self._waiting.get()
                if job.result.cancelled():
                    continue
                worker = await self._run_job(worker, job)
        finally:
            worker.end()

    async def _run_job(self, worker: "WorkerProcess", job: _Job) -> "WorkerProcess":
        """Do a job; the worker for the next one."""
        try:
            async with asyncio.timeout(TASK_TIMEOUT_S):
                spent = await worker.run_task(self._threads, job)
        except (TimeoutError, EOFError, OSError) as error:
            slow = isinstance(error, TimeoutError)
            text = (
                "the photo took too long"
                if slow
                else "the work on the photo stopped, for want of memory perhaps"
            )
            _set_outcome(job, TaskFailed(f"{text}: send it again, or smaller"))
            spent = True
        if not spent:
            return worker
        worker.end()
        return WorkerProcess()


class WorkerProcess:
    """One process and the line to it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self._line: Connection = ours
        self._process: SpawnProcess = context.Process(
            target=serve_tasks, args=(theirs,), daemon=True, name="measure"
        )
        self._process.start()
        theirs.close()

    async def run_task(self, threads: ThreadPoolExecutor, job: _Job) -> bool:
        """Have a job done; whether the process is then to be replaced. `EOFError` where it died."""
        loop = asyncio.get_running_loop()
        self._line.send(job.task)
        while True:
            kind, value, *spent = await loop.run_in_executor(threads, self._line.recv)
            if kind == "said":
                job.on_progress(value)
                continue
            _set_outcome(job, value if kind == "done" else TaskFailed(*value))
            return bool(spent[0])

    def end(self) -> None:
        self._process.kill()
        self._process.join(5)
        self._line.close()


def _set_outcome(job: _Job, value: Any) -> None:
    if job.result.done():
        return
    if isinstance(value, TaskFailed):
        job.result.set_exception(value)
    else:
        job.result.set_result(value)
