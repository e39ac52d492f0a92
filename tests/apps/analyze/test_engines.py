"""Engines: the same results whoever does the work."""

import pickle

import pytest

from overruler.apps.analyze.engines import dask_engine, serial_engine
from overruler.apps.web.faults import TaskFailed
from overruler.errors import BadInput, CannotMeasure, OverrulerError, UnknownName, WrongBoard
from overruler.writing import WriteFailed


def work(number: int) -> int:
    if number == 3:
        raise CannotMeasure("three cannot be measured")
    return number * number


def results(found: object) -> dict[int, str]:
    return {spec: str(result) for spec, result in found}  # type: ignore[attr-defined]


EXPECTED = {1: "1", 2: "4", 3: "three cannot be measured", 4: "16"}


def test_one_failure_costs_only_itself() -> None:
    assert results(serial_engine(work, [1, 2, 3, 4])) == EXPECTED


def test_dask_gives_the_same() -> None:
    pytest.importorskip("distributed", reason="the dask engine needs Dask")
    assert results(dask_engine(1, None)(work, [1, 2, 3, 4])) == EXPECTED


@pytest.mark.parametrize(
    "error",
    [
        BadInput("a\nb"),
        UnknownName("game", "legoin", ["legion"]),
        WrongBoard("it is another board", "3x3"),
        WriteFailed("out.json", "No space left on device"),
        TaskFailed("no room", status=503, lacks_room=True),
    ],
)
def test_an_error_comes_whole_out_of_another_process(error: OverrulerError) -> None:
    came = pickle.loads(pickle.dumps(error))
    assert (type(came), str(came), vars(came)) == (type(error), str(error), vars(error))
