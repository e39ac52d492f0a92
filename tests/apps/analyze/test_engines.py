"""Engines: the same results whoever does the work."""

import pytest

from overruler.apps.analyze.engines import dask_engine, serial_engine
from overruler.errors import CannotMeasure


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
