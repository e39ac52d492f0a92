"""The program that counts what edits of a film cost."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluate import film_edits
from overruler.sources.video import Film
from synthetic.filming import write

MOVE = {
    "t_start_s": 1.0,
    "t_end_s": 2.0,
    "from_mm": [0.0, 0.0],
    "to_mm": [30.0, 40.0],
    "path_length_mm": 60.0,
}
TOLD = {
    "start_s": 1.0,
    "end_s": 2.1,
    "from_x_mm": 0.1,
    "from_y_mm": 0.0,
    "to_x_mm": 30.0,
    "to_y_mm": 40.1,
    "distance_mm": 50.3,
    "sigma_mm": 0.1,
    "path_mm": 58.0,
    "path_sigma_mm": 2.0,
}


@pytest.fixture
def film(tmp_path: Path) -> Path:
    path = tmp_path / "film_001.mkv"
    pictures = (np.full((96, 128, 3), 40 + 10 * step, np.uint8) for step in range(12))
    write(path, (128, 96), pictures)
    path.with_suffix(".json").write_text(json.dumps({"moves": [MOVE]}))
    path.with_suffix(".toml").write_text("")
    return path


def test_each_picture_of_the_film_is_edited_once(film: Path) -> None:
    plain = list(film_edits.edited_pictures(film, "as it is", 1.2))
    levels = [float(picture.mean()) for picture in plain]
    assert levels == pytest.approx([40 + 10 * step for step in range(12)], abs=2)
    dusk = [float(one.mean()) for one in film_edits.edited_pictures(film, "dusk", 1.2)]
    assert dusk[0] == pytest.approx(levels[0], abs=1)
    assert dusk[-1] < 0.6 * levels[-1]


def test_moves_are_counted_and_the_edited_film_is_what_is_analysed(
    film: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[float] = []

    def analysed(films: list[Path], out: Path, more: list[str]) -> Path:
        with Film(films[0]) as opened:
            seen.append(float(np.mean([shot.grey.mean() for shot in opened])))
        assert films[0].with_suffix(".toml").exists()
        return out

    def moves_in(results: Path | None) -> list[dict[str, Any]]:
        return [TOLD, TOLD | {"to_x_mm": 300.0}]

    monkeypatch.setattr(film_edits, "analysed", analysed)
    monkeypatch.setattr(film_edits, "moves_in", moves_in)
    assert film_edits.main([str(film), "--only", "as it is, dusk"]) == 0
    assert seen[1] < 0.8 * seen[0]
    row = next(line for line in capsys.readouterr().out.splitlines() if "as it is" in line)
    assert [cell.strip() for cell in row.split("│")[2:-1]] == ["1/1", "1", "0.30", "0.00", "1.00"]


def test_what_cannot_be_counted_is_said(film: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert film_edits.main([str(film), "--only", "sepia"]) == 2
    assert "'sepia' is none of: as it is, " in capsys.readouterr().err
    film.write_bytes(b"")
    assert film_edits.main([str(film)]) == 3
    assert "film_001.mkv: is empty" in capsys.readouterr().err
    film.with_suffix(".toml").unlink()
    assert film_edits.main([str(film)]) == 2
    assert "film_001.toml: is missing" in capsys.readouterr().err
