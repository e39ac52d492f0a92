"""The sample photos, measured as the README does, held against their truth."""

import json
from pathlib import Path

import numpy as np
import pytest

from evaluate.counting.tally import tally
from overruler.apps.cli import main
from overruler.scene import Scene

SAMPLES = Path(__file__).parents[1] / "sample_images"


@pytest.mark.parametrize("name", ["legion_desert", "skirmish_city"])
def test_a_sample_is_measured_from_photo_to_scene(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    photo = SAMPLES / f"{name}.jpg"
    assert main(["measure", str(photo), "--board", str(photo.with_suffix(".toml")), "--json"]) == 0
    scene = Scene.from_json(json.loads(capsys.readouterr().out))
    counted = tally(scene, json.loads(photo.with_suffix(".json").read_text()))
    assert counted.found >= 0.8 * counted.wanted
    assert counted.false <= 0.1 * len(scene.pieces)
    assert counted.sized >= 0.9 * counted.found
    assert np.median(counted.errors_mm) < 0.5
    assert np.mean(np.abs(counted.z) < 1.96) > 0.85


def test_all_samples_together_are_small() -> None:
    assert sum(path.stat().st_size for path in SAMPLES.iterdir()) < 40_000_000
