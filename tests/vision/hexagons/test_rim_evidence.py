"""The sides of a rim: six of a hexagon, none of a circle."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.bases import HEXAGON_MEAN_RATIO, Base
from overruler.vision.contours.outlines import base_outline
from overruler.vision.hexagons.rim_evidence import RimEvidence, hexagon_reach, see_rim
from tests.vision.hexagons.table import as_round, over, painted, row_of

SIXTH = 2 * np.pi / 6


def evidence_of(base: Base, tilt_deg: float = 30.0, seed: int = 1) -> tuple[RimEvidence, float]:
    """What is seen of the middle base of some, and its heading in rad."""
    camera, placed = over(tilt_deg), row_of([base] * 8, seed)
    seen = see_rim(painted(camera, placed, seed).pixels, camera, as_round(placed, seed)[7])
    assert seen is not None
    return seen, placed[7][2]


@given(st.floats(0, 2 * np.pi))
def test_the_reach_of_a_hexagon_is_that_of_its_outline(angle: float) -> None:
    corners = base_outline(Base.hexagon(30.0))
    sides = np.roll(corners, -1, 0) - corners
    normals = np.stack([sides[:, 1], -sides[:, 0]], -1) / np.hypot(*sides.T)[:, None]
    ahead = normals @ [np.cos(angle), np.sin(angle)]
    reach_mm = 15.0 / ahead.max()  # the nearest side in that direction
    mean_mm = 15.0 * HEXAGON_MEAN_RATIO
    assert float(hexagon_reach(np.array(angle))) == pytest.approx(reach_mm / mean_mm, rel=1e-9)


def test_the_mean_reach_of_a_hexagon_is_one() -> None:
    angles = np.linspace(0, 2 * np.pi, 60000, endpoint=False)
    assert hexagon_reach(angles).mean() == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("tilt_deg", [0.0, 25.0, 45.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_hexagon_is_likelier_one_and_varies_as_one(tilt_deg: float, seed: int) -> None:
    seen, heading = evidence_of(Base.hexagon(30.0), tilt_deg, seed)
    assert seen.hexagon > seen.circle + 3
    assert 0.6 < seen.sixth < 1.4
    off = (seen.heading_rad - heading + SIXTH / 2) % SIXTH - SIXTH / 2
    assert abs(off) < np.radians(7)


@pytest.mark.parametrize("tilt_deg", [0.0, 25.0, 45.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_round_base_is_likelier_round_and_varies_little(tilt_deg: float, seed: int) -> None:
    seen, _ = evidence_of(Base.circle(32.0), tilt_deg, seed)
    assert seen.hexagon < seen.circle
    assert seen.sixth < 0.35


def test_what_the_photo_does_not_show_says_nothing() -> None:
    camera, placed = over(), row_of([Base.hexagon(30.0)])
    outside = replace(as_round(placed)[0], xy_mm=np.array([5000.0, 5000.0]))
    assert see_rim(painted(camera, placed).pixels, camera, outside) is None
