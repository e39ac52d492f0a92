"""Fitted coefficients beside the networks' weights: every file is complete, and read to the last bit."""

import json
from pathlib import Path

import pytest

from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.inference import WEIGHTS
from overruler.vision.learned.rim_net import CENTRE_SIGMA_INFLATION, TRACED_RADIUS_SIGMA_INFLATION

FILES = sorted(WEIGHTS.glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_says_what_its_coefficients_are_and_where_they_come_from(path: Path) -> None:
    fitted = json.loads(path.read_text("utf-8"))
    assert fitted.keys() == {"coefficients", "features", "date", "data", "command"}
    assert fitted["date"]
    assert fitted["data"]
    assert len(set(fitted["features"])) == len(fitted["features"])
    loaded = load_coefficients(path.stem)
    assert list(loaded) == fitted["features"]
    assert list(loaded.values()) == fitted["coefficients"]


def test_the_rim_networks_take_theirs_from_the_file() -> None:
    assert (CENTRE_SIGMA_INFLATION, TRACED_RADIUS_SIGMA_INFLATION) == (2.5, 2.3)
