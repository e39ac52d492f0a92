"""`overruler measure --doubt`: how sure distances are, as a picture beside the rest."""

import argparse
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from overruler.apps import measure
from overruler.apps.cli import main
from overruler.apps.measure import MeasureOptions, read_options
from overruler.errors import BadInput
from overruler.report import Report
from tests.reports import report


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces the slow work by a report that is ready."""

    def pretend(given: MeasureOptions, say: Callable[[str], None]) -> Report:
        return report()

    monkeypatch.setattr(measure, "measure_photo", pretend)


@pytest.mark.parametrize("ending", [".jpg", ".png", ".svg"])
def test_the_map_is_written(
    look: None, tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    path = tmp_path / f"doubt{ending}"
    assert main(["measure", "table.jpg", "--marker-mm", "60", "--doubt", str(path)]) == 0
    data = path.read_bytes()
    assert data.startswith({".jpg": b"\xff\xd8", ".png": b"\x89PNG", ".svg": b"<svg"}[ending])
    assert re.search(r"written:\s", capsys.readouterr().out)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def refused(*arguments: str) -> str:
    parser = argparse.ArgumentParser()
    measure.add_arguments(parser)
    with pytest.raises(BadInput) as caught:
        read_options(parser.parse_args(["table.jpg", "--marker-mm", "60", *arguments]))
    return str(caught.value)


def test_a_name_that_is_no_picture_s_is_refused(tmp_path: Path) -> None:
    assert refused("--doubt", str(tmp_path / "map.gif")).startswith("--doubt:")


def test_two_outputs_in_one_file_are_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "one.png")
    assert "different files" in refused("--doubt", path, "--picture", path)


def test_a_folder_that_is_not_there_is_refused_before_the_work(tmp_path: Path) -> None:
    assert "no" in refused("--doubt", str(tmp_path / "nowhere" / "map.png"))
