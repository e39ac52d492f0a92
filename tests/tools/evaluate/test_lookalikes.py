"""The program that counts prints which are taken for bases."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from evaluate import lookalikes
from overruler.bases import Base
from overruler.pieces import Piece
from synthetic.from_above.sheet import read_truth
from synthetic.printed_mats import print_on_mat

SAMPLES = Path(__file__).parents[3] / "sample_images"
SEED, EACH = 1, 6


def test_what_lies_on_prints_is_told_and_what_was_found_before_is_found_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A referee takes the first two prints for bases, one of them surely, and loses one of two bases."""
    for ending in ("jpg", "json", "toml"):
        shutil.copy(SAMPLES / f"xwing_space.{ending}", tmp_path)
    truth, camera, photo = read_truth(tmp_path / "xwing_space.json")
    _, prints = print_on_mat(np.random.default_rng([SEED, 0]), photo, camera, truth, EACH)
    assert len(prints) > 2

    def piece(x_mm: float, y_mm: float, probability: float) -> Piece:
        more = {"probability": probability}
        return Piece("p", Base.circle(40.0), float(x_mm), float(y_mm), extra=more)

    bases = [piece(one["x_mm"], one["y_mm"], 1.0) for one in truth["pieces"][:2]]
    (first, second), (near_x, near_y) = (one.xy_mm for one in prints[:2])
    false = [piece(first, second, 0.95), piece(near_x + 1, near_y - 1, 0.85)]
    looks = iter([bases, [bases[0], *false]])
    report = lambda _: SimpleNamespace(scene=SimpleNamespace(pieces=next(looks)))  # noqa: E731
    monkeypatch.setattr(lookalikes, "Referee", lambda _: SimpleNamespace(look=report))
    arguments = [str(tmp_path), "--each", str(EACH), "--seed", str(SEED)]
    assert lookalikes.main(arguments) == 0
    said = capsys.readouterr().out
    total = next(line for line in said.splitlines() if "all" in line)
    assert [int(part) for part in total.split("│")[2:5]] == [len(prints), 2, 1]
    assert "bases found with prints: 1 of 2" in said


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
    other: dict[str, Any] = {}
    (tmp_path / "alone.json").write_text(json.dumps(other))
    assert lookalikes.main([str(tmp_path)]) == 2
    assert "holds no NAME.jpg with NAME.json beside it" in capsys.readouterr().err
