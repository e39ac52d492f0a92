"""Files of fitted coefficients: complete, and read as they stand."""

import json
from datetime import date
from pathlib import Path

import pytest

from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.inference import WEIGHTS

FILES = sorted(WEIGHTS.glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_names_every_feature_and_its_origin(path: Path) -> None:
    record = json.loads(path.read_text(encoding="utf-8"))
    assert set(record) == {"coefficients", "features", "date", "data", "command"}
    assert list(load_coefficients(path.stem).values()) == record["coefficients"]
    assert list(load_coefficients(path.stem)) == record["features"]
    assert len(set(record["features"])) == len(record["features"]) > 0
    assert date.fromisoformat(record["date"]) <= date.today()
    assert record["data"]
    assert record["command"]


def test_scores_are_there() -> None:
    names = {path.stem for path in FILES}
    assert {
        "round_score",
        "oval_score",
        "plate_score",
        "rectangle_score",
        "regiment_score",
    } <= names
