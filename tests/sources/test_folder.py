"""Photos in a folder, in the order that their names count."""

from pathlib import Path

import pytest

from overruler.errors import BadInput
from overruler.sources.folder import photos_in


def test_turn_two_comes_before_turn_ten(tmp_path: Path) -> None:
    for name in ("turn 10.jpg", "turn 2.JPG", "1.png", "notes.txt", "turn.jpg"):
        (tmp_path / name).touch()
    assert [path.name for path in photos_in(tmp_path)] == [
        "1.png",
        "turn 2.JPG",
        "turn 10.jpg",
        "turn.jpg",
    ]


def test_a_folder_without_photos_is_a_clear_refusal(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no photos"):
        photos_in(tmp_path)
    with pytest.raises(BadInput, match="No such file"):
        photos_in(tmp_path / "nowhere")
