"""The program that counts what edits of a photo cost."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluate import edits
from overruler.errors import CannotMeasure

SAMPLES = Path(__file__).parents[3] / "sample_images"


def test_an_edit_that_leaves_nothing_to_measure_counts_as_all_missed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for ending in ("jpg", "json", "toml"):
        shutil.copy(SAMPLES / f"xwing_space.{ending}", tmp_path)

    def refuse(self: Any, frame: Any) -> None:
        raise CannotMeasure("no marker")

    monkeypatch.setattr("evaluate.edits.Referee.look", refuse)
    row = edits.counted(tmp_path / "xwing_space.jpg", "haze", np.random.default_rng(1))
    assert (row.found, row.false) == (0, 0)
    assert row.wanted > 5
    assert "haze: no marker" in capsys.readouterr().err
    assert edits.main([str(tmp_path), "--only", "haze, grey"]) == 0
    assert f"0/{row.wanted}" in capsys.readouterr().out


def test_what_cannot_be_counted_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert edits.main([str(tmp_path)]) == 2
    assert "holds no NAME.jpg" in capsys.readouterr().err
    assert edits.main([str(SAMPLES), "--only", "sepia"]) == 2
    assert "'sepia' is none of: as it is, " in capsys.readouterr().err
