"""The program that counts prints which are taken for bases."""

import shutil
from pathlib import Path

import pytest

from evaluate import lookalikes

SAMPLES = Path(__file__).parents[3] / "sample_images"


def test_prints_on_a_sample_are_no_bases(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of eight planets, signs and lids on a mat of space one network took six for bases."""
    for ending in ("jpg", "json", "toml"):
        shutil.copy(SAMPLES / f"xwing_space.{ending}", tmp_path)
    assert lookalikes.main([str(tmp_path), "--each", "8", "--seed", "1"]) == 0
    total = next(line for line in capsys.readouterr().out.splitlines() if "all" in line)
    prints, told, sure = (int(part) for part in total.split("│")[2:5])
    assert prints > 5
    assert told <= 1
    assert sure == 0


def test_a_folder_without_truth_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lookalikes.main([str(tmp_path)]) == 2
    assert "holds no NAME.jpg with NAME.json beside it" in capsys.readouterr().err
