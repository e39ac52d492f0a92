"""Work in processes of their own: what dies, hangs or fails takes nothing else with it."""

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from overruler.apps.web.faults import ServerBusy, TaskFailed
from overruler.apps.web.phone import worker_pool
from overruler.apps.web.phone.worker_pool import WorkerPool


def pretend(connection: Any) -> None:
    """A process that does as it is told."""
    while True:
        try:
            name, folder, arguments = connection.recv()
        except (EOFError, OSError):
            return
        if name == "die once" and not (marker := Path(folder, "died")).exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if name == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if "hang" in (name, *arguments):
            signal.pause()
        for _ in range(4 if name == "dawdle" else 0):
            connection.send(("said", "slowly"))
            time.sleep(1.0)
        connection.send(("said", f"at {name}"))
        if name == "babble":
            connection.send(5)
            continue
        if name == "err":
            connection.send(("failed", {"message": "ours", "trace": "Traceback\n"}, False))
        elif name == "fail":
            connection.send(("failed", {"message": "no markers", "unmeasurable": True}, False))
        else:
            connection.send(("done", (os.getpid(), arguments), name == "grow"))


@pytest.fixture(autouse=True)
def pretending(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pool, "serve_tasks", pretend)


def act(
    work: Callable[[WorkerPool, list[str]], Awaitable[Any]], processes: int = 1
) -> tuple[Any, list[str]]:
    async def whole() -> tuple[Any, list[str]]:
        workers, said = WorkerPool(processes), list[str]()
        await workers.start()
        try:
            return await work(workers, said), said
        finally:
            await workers.stop()

    return asyncio.run(whole())


def test_a_task_is_done_and_says_how_far_it_is() -> None:
    (_, arguments), said = act(
        lambda workers, said: workers.run_task("work", Path("."), ["a", 1], said.append)
    )
    assert arguments == ["a", 1]
    assert said == ["at work"]


def test_a_task_that_fails_says_why_and_the_next_is_done() -> None:
    async def work(workers: WorkerPool, said: list[str]) -> int:
        first = (await workers.run_task("work", Path("."), [], said.append))[0]
        with pytest.raises(TaskFailed, match="no markers") as failure:
            await workers.run_task("fail", Path("."), [], said.append)
        assert failure.value.unmeasurable
        assert (await workers.run_task("work", Path("."), [], said.append))[0] == first
        return 0

    act(work)


def test_the_log_says_where_a_task_failed(caplog: pytest.LogCaptureFixture) -> None:
    async def work(workers: WorkerPool, said: list[str]) -> None:
        with pytest.raises(TaskFailed, match="ours"):
            await workers.run_task("err", Path("2a"), [], said.append)

    act(work)
    assert caplog.messages == ["2a: ours", "Traceback"]


@pytest.mark.parametrize("deed", ["die", "hang"])
def test_a_process_that_dies_or_hangs_is_replaced(
    deed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "TASK_TIMEOUT_S", 1.0 if deed == "hang" else 60.0)

    async def work(workers: WorkerPool, said: list[str]) -> int:
        lost = asyncio.create_task(workers.run_task(deed, Path("."), [], said.append))
        with pytest.raises(TaskFailed, match="too long" if deed == "hang" else "stopped"):
            await lost
        monkeypatch.setattr(worker_pool, "TASK_TIMEOUT_S", 60.0)
        return int((await workers.run_task("work", Path("."), [], said.append))[0])

    assert act(work)[0] > 0


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("measure", "send it again, or smaller"), ("correct", "nothing was changed: try again")],
)
def test_what_took_too_long_tells_what_helps(
    name: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No photo is sent with a correction."""
    monkeypatch.setattr(worker_pool, "TASK_TIMEOUT_S", 1.0)

    async def work(workers: WorkerPool, said: list[str]) -> None:
        with pytest.raises(TaskFailed, match=remedy):
            await workers.run_task(name, Path("."), ["hang"], said.append)

    act(work)


def test_a_slow_task_that_tells_its_steps_is_not_taken_for_hung(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A busy machine needs minutes for several photos."""

    async def work(workers: WorkerPool, said: list[str]) -> None:
        await workers.run_task("work", Path("."), [], said.append)  # it has started
        monkeypatch.setattr(worker_pool, "TASK_TIMEOUT_S", 3.0)
        await workers.run_task("dawdle", Path("."), [], said.append)

    _, said = act(work)
    assert said == ["at work", *["slowly"] * 4, "at dawdle"]


def test_a_process_that_has_grown_is_replaced() -> None:
    async def work(workers: WorkerPool, said: list[str]) -> list[int]:
        return [
            (await workers.run_task(name, Path("."), [], said.append))[0]
            for name in ("work", "grow", "work")
        ]

    (one, two, three), _ = act(work)
    assert one == two != three


def test_what_waits_is_bounded_and_the_urgent_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pool, "MAX_WAITING", 3)

    async def work(workers: WorkerPool, said: list[str]) -> list[str]:
        order: list[str] = []

        async def one(name: str, urgent: bool = False) -> None:
            await workers.run_task(name, Path("."), [], lambda text: order.append(text), urgent)

        tasks = [asyncio.create_task(one(f"photo {k}")) for k in range(2)]
        tasks.append(asyncio.create_task(one("picture", urgent=True)))
        await asyncio.sleep(0)
        assert workers.full
        with pytest.raises(ServerBusy):
            await one("too much")
        await asyncio.gather(*tasks)
        return order

    assert act(work)[0] == ["at picture", "at photo 0", "at photo 1"]


def test_a_process_that_dies_once_costs_nothing(tmp_path: Path) -> None:
    async def work(workers: WorkerPool, said: list[str]) -> Any:
        return await workers.run_task("die once", tmp_path, [], said.append)

    assert act(work)[0][0] > 0


def test_an_idle_process_that_is_killed_is_replaced() -> None:
    async def work(workers: WorkerPool, said: list[str]) -> list[int]:
        first = (await workers.run_task("work", Path("."), [], said.append))[0]
        os.kill(first, signal.SIGKILL)
        await asyncio.sleep(0.2)
        return [first, (await workers.run_task("work", Path("."), [], said.append))[0]]

    first, second = act(work)[0]
    assert first != second


def test_an_error_of_who_listens_or_of_what_is_sent_ends_nothing() -> None:
    def fail(step: str) -> None:
        raise OSError(28, "No space left on device")

    async def work(workers: WorkerPool, said: list[str]) -> None:
        assert (await workers.run_task("work", Path("."), ["a"], fail))[1] == ["a"]
        with pytest.raises(TaskFailed, match="try again"):
            await workers.run_task("babble", Path("."), [], said.append)
        with pytest.raises(TaskFailed, match="try again"):
            await workers.run_task("work", Path("."), [lambda: 0], said.append)
        assert (await workers.run_task("work", Path("."), ["b"], said.append))[1] == ["b"]
        assert not workers.problem

    act(work)


def test_where_no_process_can_be_started_that_is_told_until_one_can(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker_pool, "START_DELAY_S", 0.01)
    whole = worker_pool.WorkerProcess

    def fail() -> Any:
        raise OSError(12, "Cannot allocate memory")

    async def work(workers: WorkerPool, said: list[str]) -> Any:
        await asyncio.sleep(0)
        for _ in range(worker_pool.MAX_ENDINGS):
            with pytest.raises(TaskFailed, match="no process"):
                await workers.run_task("work", Path("."), [], said.append)
        assert "memory" in workers.problem
        monkeypatch.setattr(worker_pool, "WorkerProcess", whole)
        await workers.run_task("work", Path("."), [], said.append)
        return workers.problem

    monkeypatch.setattr(worker_pool, "WorkerProcess", fail)
    assert act(work)[0] == ""
