"""However broken a user's text file is, it is read or refused in one line; the long run is in tools/evaluate."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluate import fuzz_files
from overruler.apps.settings.user_config import Config
from overruler.board import Board
from overruler.declared_terrain import load_terrain
from overruler.errors import BadInput
from overruler.lens import Lens
from overruler.presets import read_preset
from overruler.reading import Node

BOARD = 'schema = "overruler/board/1"\nwidth_mm = 900\nheight_mm = 600\n[markers]\nsize_mm = 60\n'
CORNERS = "[[0, 60, 0], [60, 60, 0], [60, 0, 0], [0, 0, 0]]"
PRESET = 'schema = "overruler/game/1"\ntitle = "t"\ngame = "inches"\n'
LARGE = "1" + 400 * "0"
"""A whole number above all floating point numbers."""


def read_preset_file(path: Path) -> None:
    read_preset(Node.of_toml(path))


def test_a_broken_file_is_read_or_refused_in_one_line() -> None:
    counts, problems, _ = fuzz_files.run(300, seed=20)
    assert problems == {}
    kinds = {kind for kind, *_ in (key.split() for key in counts)}
    assert all(counts[f"{kind} refused"] for kind in kinds)
    assert sum(counts[f"{kind} answered"] for kind in kinds) > 20


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (load_terrain, "x = " + 3000 * "[", "not TOML: it is nested too deeply"),
        (load_terrain, "x = " + 5000 * "9", "not TOML: a number in it has thousands of digits"),
        (load_terrain, "schema = 0x" + 6000 * "f", "schema: expected text, found a number$"),
        (read_preset_file, f"{PRESET}bases = [{LARGE}]", r"bases\[0\]: is not a finite number"),
        (Config.load, f"[bases]\nskiff = {LARGE}", "bases.skiff: is not a finite number"),
        (Config.load, "[table]\nmarker_mm = 1e300", "table.marker_mm: must be from"),
        (Board.load, BOARD.replace("900", "1e300"), "width_mm: must be from"),
        (
            Board.load,
            f"{BOARD}[markers.corners_mm]\n3 = {CORNERS.replace('60, 0, 0', '60, -1e308, 0')}",
            "lies more than 10 km away",
        ),
        (
            Board.load,
            f"{BOARD}[markers.corners_mm]\n{5000 * '3'} = {CORNERS}",
            "a marker's id is a whole number",
        ),
        (
            Board.load,
            f"{BOARD}covariance = [[1, 1e300, 0], [-1e300, 1, 0], [0, 0, 1]]\n"
            f"[markers.corners_mm]\n3 = {CORNERS}",
            "covariance: holds more than",
        ),
        (
            Lens.load,
            f"{fuzz_files.LENS}covariance = {[[1e300] * 9] * 9}",
            "covariance: says nothing of the lens",
        ),
    ],
)
def test_what_is_too_deep_or_too_large_is_told(
    tmp_path: Path, read: Callable[[Path], Any], text: str, said: str
) -> None:
    path = tmp_path / "file.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(BadInput, match=said):
        read(path)
