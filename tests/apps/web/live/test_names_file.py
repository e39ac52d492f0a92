"""Names outlive the server: a piece is known again by its base and its place, whatever its id is then."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.apps.web.live.names_file import (
    SAME_PLACE_MM,
    Kept,
    keep_piece,
    names_text,
    read_names,
)
from overruler.apps.web.live.show import Show
from overruler.errors import BadInput
from overruler.scene import Scene, Table
from tests.apps.web.live.test_app import call
from tests.apps.web.live.test_desk import fix
from tests.apps.web.live_table import Table as LiveTable
from tests.apps.web.live_table import air, served, until
from tests.reports import pieces

SCENE = Scene("legion", Table(900, 600), pieces())


def named(scene: Scene) -> tuple[Scene, dict[str, dict[str, object]]]:
    """A scene in which one piece has a unit and another a name of its own."""
    labels: dict[str, dict[str, object]] = {"p01": {"unit": "Guards", "player": "red"}, "Luke": {}}
    first, second, *others = scene.pieces
    first = replace(first, unit="Guards", player="red")
    return replace(scene, pieces=(first, replace(second, id="Luke"), *others)), labels


def kept_of(path: Path) -> Kept:
    scene, labels = named(SCENE)
    show = Show().with_score("red", "3").with_player("red", "Anna", None)
    path.write_text(names_text(scene, labels, show), encoding="utf-8")
    return read_names(path)


@settings(max_examples=20)
@given(st.permutations(range(5)), st.floats(-15, 15))
def test_whoever_stands_where_a_named_piece_stood_gets_its_name(
    order: list[int], shift_mm: float
) -> None:
    scene, labels = named(SCENE)
    path = Path("/nonexistent/names.json")
    assert read_names(path) == Kept()
    kept = kept_of_scene(scene, labels)
    now = tuple(
        replace(pieces()[k], id=f"p{number:02}", x_mm=pieces()[k].x_mm + shift_mm)
        for number, k in enumerate(order, 1)
    )
    told = {fix.id: dict(fix.labels) for fix in kept.fixes_for(replace(SCENE, pieces=now))}
    assert told == {
        f"p{order.index(0) + 1:02}": {"unit": "Guards", "player": "red"},
        f"p{order.index(1) + 1:02}": {"new_id": "Luke"},
    }


def kept_of_scene(scene: Scene, labels: dict[str, dict[str, object]]) -> Kept:

    return Kept(tuple(keep_piece(piece) for piece in scene.pieces if piece.id in labels))


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    kept = kept_of(tmp_path / "names.json")
    assert [piece.id for piece in kept.pieces] == ["p01", "Luke"]
    assert kept.show.scores == {"red": "3"}
    assert kept.show.players["red"].name == "Anna"
    far = tuple(replace(piece, x_mm=piece.x_mm + SAME_PLACE_MM + 1) for piece in pieces())
    assert kept.fixes_for(replace(SCENE, pieces=far)) == []


@pytest.mark.parametrize("text", ["{", '{"schema": "overruler/names/2"}', "[]"])
def test_a_wrong_file_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "names.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=r"names\.json"):
        read_names(tmp_path / "names.json")


def test_a_server_that_starts_again_knows_the_names(tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    services = replace(air(LiveTable()), names=(path, Kept()))
    with served(services) as (home, _):
        until(lambda: call(f"{home}/api/live")["calibrated"])
        fix(home, {"do": "name", "id": "p03", "new_id": "Luke"})
        fix(home, {"do": "name", "id": "p01", "unit": "Guards", "player": "red"})
        call(f"{home}/api/live/do/score?player=red&score=4", post=True)
        until(lambda: path.exists() and '"4"' in path.read_text(encoding="utf-8"))
    again = replace(air(LiveTable()), names=(path, read_names(path)))
    with served(again) as (home, _):
        until(lambda: "Luke" in {one["id"] for one in call(f"{home}/api/live")["pieces"]})
        until(lambda: call(f"{home}/api/live")["show"]["scores"] == {"red": "4"})
        units = {one["id"]: one.get("unit") for one in call(f"{home}/api/live")["pieces"]}
        assert units == {"p01": "Guards", "p02": None, "Luke": None}


def test_what_is_shown_when_the_server_ends_is_kept(tmp_path: Path) -> None:
    """Also where it was changed a moment ago."""
    path = tmp_path / "names.json"
    with served(replace(air(LiveTable()), names=(path, Kept()))) as (home, _):
        until(lambda: call(f"{home}/api/live")["calibrated"])
        until(path.exists)
        for score in range(5):
            call(f"{home}/api/live/do/score?player=red&score={score}", post=True)
    assert read_names(path).show.scores == {"red": "4"}


def test_names_are_kept_again_once_their_file_can_be_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A stick is pulled out and put back, or a full disk has room again."""
    path = tmp_path / "stick" / "names.json"
    path.parent.mkdir()
    with served(replace(air(LiveTable()), names=(path, Kept()))) as (home, _):
        until(lambda: call(f"{home}/api/live")["calibrated"])
        until(path.exists)
        shutil.rmtree(path.parent)
        call(f"{home}/api/live/do/score?player=red&score=3", post=True)
        until(lambda: f"--names: {path}: cannot be written" in caplog.text)
        path.parent.mkdir()
        until(path.exists)
    assert read_names(path).show.scores == {"red": "3"}
    assert caplog.text.count("--names") == 1
