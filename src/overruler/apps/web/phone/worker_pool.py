"""A pool of worker processes: the server answers taps while photos are measured.

Each process does one task at a time, and the queue is bounded. A process that dies, hangs or grows
too large is replaced; only the task that it was at fails.
"""

import asyncio
import logging
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
"""Tasks that may wait."""
TASK_TIMEOUT_S = 180.0
"""Longest time between two steps that a task tells; one that is silent for longer counts as hung."""
BUSY_TEXT = "too many photos are waiting: try again in a minute"
"""Message of `ServerBusy`."""
MAX_ENDINGS = 3
"""Processes that end one after another before the server counts as unable to work."""
START_DELAY_S = 1.0
"""Time before the next attempt to start a process that cannot be started."""
MAX_ATTEMPTS = 2
"""Processes that try one task: the first may have died of something else."""
SEND_AGAIN_TEXT = "send it again, or smaller"
"""What helps where a photo could not be measured."""
TRY_AGAIN_TEXT = "nothing was changed: try again in a minute"
"""What helps where a task on a measured photo failed: a correction, a picture."""
START_FAILED_TEXT = "no process to measure photos can be started"
"""What is said where the machine has no room for a process."""
logger = logging.getLogger("overruler.server")
_URGENT_RANK = 0
"""Rank of a task that somebody waits for at the page; it goes before all usual ones."""
_USUAL_RANK = 1
"""Rank of a measurement."""
_JOIN_TIMEOUT_S = 5.0
"""Longest wait for a killed process to end."""


@dataclass(order=True, slots=True)
class _Job:
    rank: tuple[int, int]
    """Urgency, then the order of arrival."""
    task: tuple[str, str, list[Any]] = field(compare=False)
    """Name, folder and arguments, as `worker_tasks.serve_tasks` receives them."""
    on_progress: Callable[[str], None] = field(compare=False)
    result: "asyncio.Future[Any]" = field(compare=False)
    attempts: int = field(default=0, compare=False)
    """Processes that have tried it."""

    @property
    def remedy(self) -> str:
        """What a person may do if it fails."""
        return SEND_AGAIN_TEXT if self.task[0] == "measure" else TRY_AGAIN_TEXT

    def finish(self, value: Any) -> None:
        """Set the result, or raise it if it is a `TaskFailed`; a cancelled job takes neither."""
        if self.result.done():
            return
        if isinstance(value, TaskFailed):
            self.result.set_exception(value)
        else:
            self.result.set_result(value)


class WorkerPool:
    """Worker processes behind one queue: `await pool.run_task("measure", folder, [request], on_progress)`."""

    __slots__ = ("_endings", "_numbers", "_processes", "_queue", "_tasks", "_threads")

    def __init__(self, processes: int) -> None:
        self._queue: asyncio.PriorityQueue[_Job] = asyncio.PriorityQueue(MAX_WAITING)
        self._numbers = count()
        self._endings = 0
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
        return self._queue.full()

    @property
    def problem(self) -> str:
        """What keeps photos from being measured, in words; empty where nothing does."""
        if self._endings >= MAX_ENDINGS:
            return f"the last {self._endings} processes that measure photos ended: is memory short?"
        if self._tasks and all(task.done() for task in self._tasks):
            return "no photo is measured any more: start the server again"
        return ""

    async def run_task(
        self,
        name: str,
        folder: Path,
        arguments: list[Any],
        on_progress: Callable[[str], None],
        urgent: bool = False,
    ) -> Any:
        """Run a task in a worker and return its result.

        `ServerBusy` if the queue is full, `TaskFailed` if the task fails.
        """
        rank = (_URGENT_RANK if urgent else _USUAL_RANK, next(self._numbers))
        result = asyncio.get_running_loop().create_future()
        job = _Job(rank, (name, str(folder), arguments), on_progress, result)
        try:
            self._queue.put_nowait(job)
        except asyncio.QueueFull:
            raise ServerBusy(BUSY_TEXT) from None
        return await job.result

    async def _worker_loop(self) -> None:
        """Do one task after another; no error of a task or a process ends this."""
        worker = await asyncio.to_thread(_start_process)
        try:
            while True:
                job = await self._queue.get()
                while not job.result.done():
                    if worker is None or not worker.is_alive():
                        worker = await _replace_process(worker)
                    if worker is None:
                        text = f"{START_FAILED_TEXT}: {job.remedy}"
                        job.finish(TaskFailed(text, status=503))
                        self._endings += 1
                        break
                    if not await self._run_job(worker, job):
                        worker = await _replace_process(worker)
        finally:
            if worker is not None:
                worker.end()

    async def _run_job(self, worker: "WorkerProcess", job: _Job) -> bool:
        """Run a job and return whether the worker can take another; a first death is no result."""
        job.attempts += 1
        try:
            async with asyncio.timeout(TASK_TIMEOUT_S) as patience:
                can_go_on = await worker.run_job(self._threads, job, patience)
        except TimeoutError:
            text = "the photo took too long"
            job.attempts = MAX_ATTEMPTS
        except (EOFError, OSError):
            text = "the work on the photo stopped, for want of memory perhaps"
        except Exception as error:  # whatever it is, the next photo must be measured
            logger.exception("a worker failed")
            text = f"the work on the photo failed ({type(error).__name__})"
        else:
            self._endings = 0
            return can_go_on
        logger.warning("%s: %s", Path(job.task[1]).name, text)
        self._endings += 1
        if job.attempts >= MAX_ATTEMPTS:
            job.finish(TaskFailed(f"{text}: {job.remedy}", status=503))
        return False


def _start_process() -> "WorkerProcess | None":
    try:
        return WorkerProcess()
    except (OSError, RuntimeError) as error:
        logger.warning("%s: %s", START_FAILED_TEXT, error)
        return None


async def _replace_process(worker: "WorkerProcess | None") -> "WorkerProcess | None":
    """End a process and start another; None if that does not work twice."""
    if worker is not None:
        await asyncio.to_thread(worker.end)
    started = await asyncio.to_thread(_start_process)
    if started is None:
        await asyncio.sleep(START_DELAY_S)
        started = await asyncio.to_thread(_start_process)
    return started


class WorkerProcess:
    """One process and the pipe to it."""

    __slots__ = ("_connection", "_process")

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self._connection: Connection = ours
        self._process: SpawnProcess = context.Process(
            target=serve_tasks, args=(theirs,), daemon=True, name="measure"
        )
        self._process.start()
        theirs.close()

    async def run_job(
        self, threads: ThreadPoolExecutor, job: _Job, patience: asyncio.Timeout
    ) -> bool:
        """Run a job and return whether the process can take another; `EOFError` if it died.

        A step that is told shows that it is not hung, however slow the machine is.
        """
        loop = asyncio.get_running_loop()
        self._connection.send(job.task)
        while True:
            kind, value, *rest = await loop.run_in_executor(threads, self._connection.recv)
            if kind == "said":
                patience.reschedule(loop.time() + TASK_TIMEOUT_S)
                _report(job, value)
                continue
            job.finish(value if kind == "done" else _failure(job, value))
            has_grown = bool(rest[0])
            return not has_grown

    def is_alive(self) -> bool:
        return self._process.is_alive()

    def end(self) -> None:
        self._process.kill()
        self._process.join(_JOIN_TIMEOUT_S)
        self._connection.close()


def _failure(job: _Job, arguments: dict[str, Any]) -> TaskFailed:
    """The error of a task; where the program is at fault, the log has the trace."""
    trace = arguments.pop("trace", "")
    if trace:
        logger.error("%s: %s", Path(job.task[1]).name, arguments["message"])
    for line in trace.splitlines():
        logger.error("%s", line)
    return TaskFailed(**arguments)


def _report(job: _Job, step: str) -> None:
    """Pass a step on; an error there is no error of the task."""
    try:
        job.on_progress(step)
    except Exception:
        logger.exception("a step was not passed on")
