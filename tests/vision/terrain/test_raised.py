"""All ground under the bases of a photo, and the bases at its height."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from overruler.detections import RaisedArea
from overruler.vision.terrain import raised
from overruler.vision.terrain.raised import raise_found
from tests.tables import photo
from tests.vision.terrain.test_by_radii import CAMERA, NO_HINT, ON_ROOF, TABLE, table, unsure

FRAME = photo(CAMERA, [])
"""An empty board: no rim in it says anything."""
RADII_MM = np.array([16.0])
NOTHING: Any = (None, NO_HINT)


@pytest.fixture(autouse=True)
def no_hills(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raised, "find_hills", lambda *known: ())


def heights(is_prepared: bool, suspecting: bool, seen: Any = NOTHING) -> list[float]:
    calibration = replace(TABLE, markers=(1, 2, 3, 4) if is_prepared else ())
    facts = table(84.0), (), seen, RADII_MM, suspecting
    found, areas = raise_found(FRAME, calibration, *facts)
    assert bool(areas) == any(one.z_mm for one in found)
    return [one.z_mm for one in found[-len(ON_ROOF) :]]


def test_bases_that_look_too_large_are_raised_in_one_photo_of_a_prepared_table() -> None:
    assert min(heights(is_prepared=True, suspecting=True)) > 50
    assert heights(is_prepared=False, suspecting=True) == [0, 0, 0]
    assert heights(is_prepared=True, suspecting=False) == [0, 0, 0]
    assert heights(is_prepared=True, suspecting=True, seen=None) == [0, 0, 0]


@pytest.mark.parametrize(("chance", "is_told"), [(0.02, False), (0.2, True)])
def test_unlikely_ground_counts_in_the_doubt_and_is_not_told(
    monkeypatch: pytest.MonkeyPatch, chance: float, is_told: bool
) -> None:
    def area(*known: Any) -> tuple[RaisedArea, ...]:
        return (unsure(chance=chance),)

    monkeypatch.setattr(raised, "find_hills", area)
    found, areas = raise_found(FRAME, TABLE, table(0.0), (), NOTHING, RADII_MM, False)
    assert bool(areas) == is_told
    assert all(one.z_mm == 0 for one in found)
    doubts = [
        np.linalg.norm(list(one.rare_shifts_mm.values())) + np.trace(one.rare_excess_mm2)
        for one in found
    ]
    assert min(doubts[-len(ON_ROOF) :]) > 5
    assert max(doubts[: -len(ON_ROOF)]) == 0
