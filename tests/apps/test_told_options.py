"""`overruler measure` with what people tell: terrain, corrections and bases are read before the photo is."""

import argparse
from dataclasses import replace
from pathlib import Path

import pytest

from overruler.apps import measure
from overruler.apps.cli import main
from overruler.apps.measure import MeasureOptions, read_options
from overruler.apps.measure.summary import left_out_lines, piece_table
from overruler.bases import Base
from tests.reports import report

TERRAIN = """
schema = "overruler/terrain/1"
[[terrain]]
id = "hill"
footprint_mm = [[0, 0], [90, 0], [90, 90]]
top_z_mm = 30
"""
FIX = 'schema = "overruler/fix/1"\n[[fix]]\ndo = "remove"\nid = "p01"\n'


def options(*arguments: str) -> MeasureOptions:
    parser = argparse.ArgumentParser()
    measure.add_arguments(parser)
    return read_options(parser.parse_args(["table.jpg", "--marker-mm", "60", *arguments]))


def test_terrain_and_corrections_are_read(tmp_path: Path) -> None:
    (tmp_path / "terrain.toml").write_text(TERRAIN)
    (tmp_path / "fix.toml").write_text(FIX)
    read = options("--terrain", str(tmp_path / "terrain.toml"), "--fix", str(tmp_path / "fix.toml"))
    assert [told.id for told in read.terrain] == ["hill"]
    assert [(fix.do, fix.id) for fix in read.fixes] == [("remove", "p01")]
    assert (options().terrain, options().fixes) == ((), ())


def test_bases_of_all_shapes_are_asked_for_once_each() -> None:
    angular = Base.rectangle(40, 40), Base.rectangle(25, 50)
    round_ended = Base.oval(42, 75), Base.stadium(25, 70)
    wanted = (Base.circle(27), *angular, *round_ended, Base.hexagon(30))
    asked = "27, 40x40,50x25,27.0,75x42o,42x75 oval,70x25s,30h"
    assert options("--bases", asked).bases == wanted
    assert options("--bases", "27,cart", "--own-base", "cart=25x50").bases == (wanted[0], wanted[2])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--terrain", "nowhere.toml"], "nowhere.toml: cannot be read"),
        (["--fix", "nowhere.json"], "nowhere.json: cannot be read"),
        (["--terrain", "wrong.toml"], "wrong.toml: schema: unknown"),
        (["--fix", "wrong.toml"], "wrong.toml: fix: is missing"),
        (["--bases", "27,40x"], "--bases: '40x' is no base"),
        (["--bases", "27,,50"], "--bases: '' is no base"),
        (["--bases", "75x420x3o"], "--bases: '75x420x3o' is no base"),
        (["--bases", "40x900"], "between 0 and 500 mm"),
        (["--own-base", "cart=25x"], "--own-base cart: '25x' is no base"),
    ],
)
def test_what_is_wrong_is_one_line(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.toml").write_text('schema = "overruler/fix/1"\n')
    assert main(["measure", "table.jpg", "--marker-mm", "60", *arguments]) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert (out, err.count("\n")) == ("", 1)


def test_the_summary_says_what_was_corrected_by_hand() -> None:
    plain = report()
    first, second, *rest = plain.scene.pieces
    moved = replace(first, extra={"by_hand": True, "corrections": ["move"], "fitted": True})
    told = replace(second, extra={"by_hand": True, "corrections": ["add"], "fitted": False})
    notes = list(
        piece_table(replace(plain, scene=replace(plain.scene, pieces=(moved, told, *rest))))
        .columns[-1]
        .cells
    )
    assert "corrected by hand" in str(notes[0])
    assert "the photo does not show it" in str(notes[1])
    assert str(notes[2]) == ""


def test_the_summary_says_what_may_be_no_piece_and_rules_on_others() -> None:
    plain = report()
    first, *rest = plain.scene.pieces
    doubted = replace(first, extra={**first.extra, "probability": 0.7})
    told = replace(plain, scene=replace(plain.scene, pieces=(doubted, *rest)), verdicts=())
    assert "perhaps no piece (70 %" in str(next(iter(piece_table(told).columns[-1].cells)))
    (line,) = left_out_lines(told)
    assert line.plain.endswith(f": {first.id}")
    assert left_out_lines(replace(plain, verdicts=())) == []


def test_the_summary_does_not_ask_to_confirm_what_a_hand_placed() -> None:
    """Confirming says that it is a piece, which nobody doubts: the photo does not show its place."""
    plain = report()
    first, second, *rest = plain.scene.pieces
    doubted = replace(first, extra={**first.extra, "probability": 0.7})
    placed = replace(second, extra={"by_hand": True, "corrections": ["add"], "fitted": False})
    told = replace(plain, scene=replace(plain.scene, pieces=(doubted, placed, *rest)), verdicts=())
    doubtful, by_hand = (line.plain for line in left_out_lines(told))
    assert doubtful.endswith(f"(--fix confirms a piece): {first.id}")
    assert by_hand.startswith("placed by hand where the photo shows no base")
    assert by_hand.endswith(f": {second.id}")


def test_the_summary_says_whose_a_piece_is_or_may_be() -> None:
    plain = report()
    first, second, third, *rest = plain.scene.pieces
    mine = replace(first, player="Anna")
    torn = replace(second, extra={"player_unsure": ["Anna", "Ben"]})
    weak = replace(third, extra={"player_unsure": ["Ben"]})
    notes = list(
        piece_table(replace(plain, scene=replace(plain.scene, pieces=(mine, torn, weak, *rest))))
        .columns[-1]
        .cells
    )
    assert str(notes[0]).endswith("Anna")
    assert [str(note) for note in notes[1:3]] == ["of Anna or Ben?", "of Ben perhaps"]


def test_no_name_changes_the_terminal() -> None:
    plain = report()
    first, *rest = plain.scene.pieces
    named = replace(first, id="x\x1b[31m", player="Anna\u202e\x1b]0;")
    table = piece_table(replace(plain, scene=replace(plain.scene, pieces=(named, *rest))))
    assert str(next(iter(table.columns[0].cells))) == "x\\x1b[31m"
    assert str(next(iter(table.columns[-1].cells))).endswith("Anna\\u202e\\x1b]0;")
