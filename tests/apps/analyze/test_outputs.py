"""What is written of a film: tables, chapters, the page, rulings, and what can be asked of them."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.apps import cli, query
from overruler.apps.analyze import (
    film_rulings,
    page,
    photo_folder,
    pipeline,
    segment,
    tables,
    turns,
)
from overruler.apps.analyze.event_log import move_data
from overruler.apps.analyze.merge import FilmResults
from overruler.apps.analyze.result_folders import folder_names
from overruler.bases import Base
from overruler.errors import BadInput
from overruler.pieces import Piece

MOVE = {
    "piece": "p01",
    "start_s": 61.5,
    "end_s": 62.75,
    "from_x_mm": 100.0,
    "from_y_mm": 100.0,
    "to_x_mm": 200.0,
    "to_y_mm": 100.0,
    "distance_mm": 100.0,
    "path_mm": 152.4,
    "sigma_mm": 0.2,
    "path_sigma_mm": 0.5,
    "way_seen": True,
    "name_probability": 1.0,
    "perhaps": "",
    "way_mm": [[100.0, 100.0], [150.0, 140.0], [200.0, 100.0]],
    "trail": [[62.0, 150.0, 140.0]],
}


def scene(x_mm: float) -> dict[str, Any]:
    pieces = [
        {"id": name, "base": {"shape": "circle", "diameter_mm": 27.0}, "x_mm": x, "y_mm": 100.0}
        | {"covariance_mm2": [[0.04, 0.0], [0.0, 0.04]]}
        for name, x in (("p01", x_mm), ("p02", 400.0))
    ]
    return {
        "schema": "overruler/scene/1",
        "game": "legion",
        "board": {"width_mm": 900.0, "height_mm": 900.0},
        "pieces": pieces,
    }


@pytest.fixture
def film() -> FilmResults:
    told = FilmResults(
        "a <b> & c", read_to_s=70.0, moves=[dict(MOVE)], problems=["2 damaged </script> pieces"]
    )
    told.rests = [
        {"time_s": time_s, "scene": scene(x), "still": "data:,"}
        for time_s, x in ((1.0, 100), (30.0, 100), (63.0, 200))
    ]
    told.bases = {name: {"shape": "circle", "diameter_mm": 27.0} for name in ("p01", "p02")}
    places = {"x_mm": 100.0, "y_mm": 100.0, "sigma_mm": 0.2}
    told.stays = {name: [{"from_s": 0.0, "to_s": 70.0, **places}] for name in told.bases}
    told.positions = [{"piece": "p01", "time_s": 1.0, **places, "seen": True}]
    return told


def test_chapters_are_a_players(film: FilmResults) -> None:
    text = tables.webvtt_chapters(film)
    assert text.startswith("WEBVTT\n\n00:00:00.000 --> 00:01:01.500\nStart\n")
    assert "00:01:01.500 --> 00:01:10.000\np01 moves 152 mm\n" in text


def test_chapters_and_the_page_tell_lengths_in_the_table_s_unit(film: FilmResults) -> None:
    assert '"unit":"mm"' in "".join(page.render_page(film, None, None))
    film.rests = [
        rest | {"scene": rest["scene"] | {"state": {"unit": "in"}}} for rest in film.rests
    ]
    assert "p01 moves 6.0 in\n" in tables.webvtt_chapters(film)
    assert '"unit":"in"' in "".join(page.render_page(film, None, None))
    scripts = [page.PAGE_TEMPLATE.with_name(name).read_text() for name in page.PAGE_PARTS.values()]
    assert "".join(scripts).count("″") == 1  # one function tells all lengths


def test_tables_come_back_as_they_were_written(film: FilmResults, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="tables need pyarrow")
    pytest.importorskip("duckdb", reason="queries need DuckDB")
    folder = tmp_path / "it's"
    folder.mkdir()
    touching = [
        {
            "time_s": 1.0,
            "from": "p01",
            "to": "p02",
            "distance_mm": 0.0,
            "sigma_mm": 0.2,
            "probability": 0.5,
        }
    ]
    in_turns = turns.turn_rows(film, turns.guess_turns(film))
    tables.write_tables(film, folder, film_rulings.rule_all_pairs(film), None, touching, in_turns)
    names, rows = query.run_query(tmp_path, "SELECT film, piece, path_mm, end_s FROM moves")
    assert names == ["film", "piece", "path_mm", "end_s"]
    assert rows == [("it's", "p01", 152.4, 62.75)]
    assert query.run_query(tmp_path, "SELECT seen FROM positions")[1] == [(True,)]
    assert query.run_query(tmp_path, "SELECT turn, moves FROM turns")[1] == [("1", 1)]
    assert query.run_query(tmp_path, 'SELECT "from", "to", probability FROM contacts')[1] == [
        ("p01", "p02", 0.5)
    ]
    assert (folder / "moves.csv").read_text().splitlines()[1].startswith("p01,61.5,62.75,100.0")
    lines = [json.loads(line) for line in (folder / "scenes.jsonl").read_text().splitlines()]
    assert [line["time_s"] for line in lines] == [1.0, 30.0, 63.0]


def test_queries_that_are_wrong_are_refused_in_a_line(film: FilmResults, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="tables need pyarrow")
    pytest.importorskip("duckdb", reason="queries need DuckDB")
    with pytest.raises(BadInput, match="holds no tables"):
        query.run_query(tmp_path, "SELECT 1")
    tables.write_tables(film, tmp_path, None, None)
    with pytest.raises(BadInput, match="SQL: "):
        query.run_query(tmp_path, "SELECT nothing FROM moves")
    with pytest.raises(BadInput, match="SQL: "):
        query.run_query(tmp_path, f"COPY moves TO '{tmp_path}/stolen.csv'")
    assert not (tmp_path / "stolen.csv").exists()


@pytest.mark.parametrize("sql", ["", ";", "-- x"])
def test_a_query_that_asks_nothing_is_told_so(film: FilmResults, tmp_path: Path, sql: str) -> None:
    pytest.importorskip("pyarrow", reason="tables need pyarrow")
    pytest.importorskip("duckdb", reason="queries need DuckDB")
    tables.write_tables(film, tmp_path, None, None)
    with pytest.raises(BadInput) as refused:
        query.run_query(tmp_path, sql)
    assert str(refused.value) == (
        f"SQL: {sql!r} asks nothing: give a query, 'select * from moves' say"
    )


def test_what_a_film_is_called_changes_no_terminal(
    film: FilmResults,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("pyarrow", reason="tables need pyarrow")
    pytest.importorskip("duckdb", reason="queries need DuckDB")
    folder = tmp_path / "red\x1b[31m\u202e"
    folder.mkdir()
    tables.write_tables(film, folder, None, None)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert cli.main(["query", str(tmp_path), "select film from moves"]) == 0
    shown = capsys.readouterr().out
    assert "red\\x1b[31m\\u202e" in shown
    assert "\u202e" not in shown


def test_pictures_stay_in_their_files_until_the_page_is_written(
    film: FilmResults, tmp_path: Path
) -> None:
    stills = [f'data:,{number}"still":"\\é' for number in range(len(film.rests))]
    told = [rest | {"still": still} for rest, still in zip(film.rests, stills, strict=True)]
    (tmp_path / "part.json").write_bytes(
        segment.encode_json({"rests": told, "told": 'no "still":"picture"'})
    )
    film.rests = segment.load_segment(tmp_path / "part.json")["rests"]
    assert not any(isinstance(rest["still"], str) for rest in film.rests)
    (data,) = re.findall(r'id="data">(.*)</script>', "".join(page.render_page(film, None, None)))
    assert [rest["still"] for rest in json.loads(data)["rests"]] == stills


def test_the_page_is_whole_and_asks_nobody_for_anything(film: FilmResults) -> None:
    text = "".join(
        page.render_page(
            film,
            film_rulings.rule_all_pairs(film),
            film_rulings.check_allowances(film, {"p01": 150.0}),
        )
    )
    assert "<title>a &lt;b&gt; &amp; c: the game</title>" in text
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", text)
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert data is not None
    told = json.loads(data[1])
    assert told["problems"] == ["2 damaged </script> pieces"]
    assert told["rests"][-1]["mm"] == [pytest.approx(173.0)]
    assert told["moves"][0]["path_mm"] == 152.4


def test_ranges_are_told_with_since_when(film: FilmResults) -> None:
    rows = film_rulings.rule_all_pairs(film)
    assert [(row["range"], row["since_s"]) for row in rows] == [(2, 1.0), (2, 1.0), (2, 1.0)]
    film.rests[-1]["scene"] = scene(300.0)
    rows = film_rulings.rule_all_pairs(film)
    assert [(row["range"], row["since_s"]) for row in rows] == [(2, 1.0), (2, 1.0), (1, 63.0)]
    assert all(row["probability"] > 0.99 for row in rows)


def exchanged(film: FilmResults, probability: float) -> list[dict[str, Any]]:
    """The rulings at the end, where p01 and p03 perhaps exchanged their names: one is near p02, one is not."""
    for rest in film.rests:
        far = {"id": "p03", "x_mm": 850.0, "y_mm": 850.0}
        rest["scene"]["pieces"].append(rest["scene"]["pieces"][0] | far)
    others = {"p01": "p03", "p03": "p01"}
    film.moves = [
        MOVE | {"piece": one, "perhaps": other, "name_probability": probability}
        for one, other in others.items()
    ]
    return film_rulings.rule_all_pairs(film)[-3:]


def test_a_ruling_is_no_surer_than_the_names_of_its_pieces(film: FilmResults) -> None:
    rows = exchanged(film, 0.7)
    assert [(row["from"], row["to"]) for row in rows] == [
        ("p01", "p02"),
        ("p01", "p03"),
        ("p02", "p03"),
    ]
    assert [row["probability"] for row in rows] == pytest.approx([0.7, 1.0, 0.7], abs=1e-3)


def test_two_that_are_as_far_from_a_third_may_exchange_their_names(film: FilmResults) -> None:
    for rest in film.rests:
        near = rest["scene"]["pieces"][0]
        mirrored = {"id": "p03", "x_mm": 800.0 - near["x_mm"]}
        rest["scene"]["pieces"].append(near | mirrored)
    film.moves = [MOVE | {"perhaps": "p03", "name_probability": 0.6}]
    rows = film_rulings.rule_all_pairs(film)[-3:]
    assert [row["probability"] for row in rows] == pytest.approx([1.0] * 3, abs=0.01)


def test_contact_is_no_surer_than_the_names_either(film: FilmResults) -> None:
    for rest in film.rests:
        rest["scene"] = scene(374.0)
        far = {"id": "p03", "x_mm": 850.0}
        rest["scene"]["pieces"].append(rest["scene"]["pieces"][0] | far)
    sure = film_rulings.find_contacts(film)[-1]["probability"]
    film.moves = [MOVE | {"perhaps": "p03", "name_probability": 0.6}]
    row = film_rulings.find_contacts(film)[-1]
    assert row["probability"] == pytest.approx(0.6 * sure)


def ships(x_mm: float) -> dict[str, Any]:
    """Two ships 40 mm wide whose bases are x - 360 mm apart, to 0.2 mm in either place."""
    told = scene(x_mm)
    for piece in told["pieces"]:
        piece |= {
            "base": {"shape": "rectangle", "width_mm": 40.0, "length_mm": 40.0},
            "heading_deg": 90.0,
        }
    return told | {"game": "xwing"}


@pytest.mark.parametrize(
    ("moved", "after"), [(None, [0, 0, 0]), ("p01", [0, 0, 1]), ("p02", [0, 0, 1])]
)
def test_ships_that_touched_are_at_range_0_until_one_of_them_moves(
    film: FilmResults, moved: str | None, after: list[int]
) -> None:
    """Whatever their gap measures as meanwhile."""
    for rest, x_mm in zip(film.rests, (360.1, 359.5, 359.5), strict=True):
        rest["scene"] = ships(x_mm)
    film.moves = [MOVE | {"piece": moved}] if moved else []
    rows = film_rulings.rule_all_pairs(film)
    assert [row["range"] for row in rows] == after
    assert [row["since_s"] for row in rows] == [1.0, 1.0, 63.0 if moved else 1.0]
    assert rows[1]["probability"] == rows[0]["probability"] < 0.9


def test_other_games_remember_no_range_0(film: FilmResults) -> None:
    for rest, x_mm in zip(film.rests, (374.0, 372.0, 372.0), strict=True):
        rest["scene"] = scene(x_mm)
    assert len({row["range"] for row in film_rulings.rule_all_pairs(film)}) == 1


def test_a_move_longer_than_allowed_has_a_probability(film: FilmResults) -> None:
    assert film_rulings.check_allowances(film, {"p01": 152.4})[0]["probability"] == pytest.approx(
        0.5
    )
    assert film_rulings.check_allowances(film, {"p01": 151.4})[0]["probability"] == pytest.approx(
        0.977, abs=1e-3
    )
    assert film_rulings.check_allowances(film, {"p02": 10.0}) == []


def _too_far(film: FilmResults, allowed_mm: float, **move: Any) -> float:
    film.moves = [dict(MOVE) | move]
    return float(film_rulings.check_allowances(film, {"p01": allowed_mm})[0]["probability"])


def test_no_way_is_shorter_than_the_straight_line(film: FilmResults) -> None:
    """A rough way must not excuse a move that is too long from end to end."""
    rough = {"path_mm": 100.0, "sigma_mm": 0.2, "path_sigma_mm": 3.0}
    assert _too_far(film, 99.0, way_seen=True, **rough) > 0.9999
    assert _too_far(film, 99.0, way_seen=False, **rough) > 0.9999


def test_a_way_that_nobody_saw_is_longer_than_the_straight_line_by_a_detour(
    film: FilmResults,
) -> None:
    rng = np.random.default_rng(5)
    normals = rng.standard_normal((2, 400_000))
    for allowed_mm, sigma_mm in ((95.0, 4.0), (103.0, 4.0), (120.0, 4.0), (103.0, 0.0)):
        move = {"path_mm": 100.0, "sigma_mm": sigma_mm, "path_sigma_mm": np.hypot(sigma_mm, 10.0)}
        lengths = 100.0 + sigma_mm * normals[0] + np.abs(10.0 * normals[1])
        told = _too_far(film, allowed_mm, way_seen=False, **move)
        assert told == pytest.approx((lengths > allowed_mm).mean(), abs=0.004)


def test_a_way_between_two_photos_has_the_doubt_of_one_that_nobody_saw(film: FilmResults) -> None:
    spread = ((0.04, 0.0), (0.0, 0.04))
    before, after = (
        Piece("p01", Base.circle(27.0), x_mm=x, y_mm=100.0, covariance_mm2=spread)
        for x in (100.0, 200.0)
    )
    move = photo_folder.find_move("p01", before, after, (0.0, 1.0))
    assert move is not None
    assert move.path_sigma_mm > 0.2 * move.path_mm > 10 * move.sigma_mm
    film.moves = [move_data(move)]
    (row,) = film_rulings.check_allowances(film, {"p01": 101.0})
    assert 0.9 < row["probability"] < 0.99
    assert not row["way_seen"]


def test_allowances_are_read_in_either_unit() -> None:
    assert film_rulings.read_allowances(["p03=6in", "p04=150mm"]) == {
        "p03": pytest.approx(152.4),
        "p04": 150.0,
    }
    for wrong in ("p03", "p03=6", "=6in", "p03=-1in", "p03=xin"):
        with pytest.raises(BadInput, match="--allowance"):
            film_rulings.read_allowances([wrong])
    with pytest.raises(BadInput, match="p03 has two allowances"):
        film_rulings.read_allowances(["p03=6in", "p03=7in"])


def test_film_editors_get_a_marker_for_each_move(film: FilmResults) -> None:
    otio = pytest.importorskip("opentimelineio", reason="editors' markers need OpenTimelineIO")
    text = tables.otio_timeline(film)
    assert text is not None
    (marker,) = otio.adapters.read_from_string(text, "otio_json").tracks[0][0].markers
    assert marker.name == "p01 moves 152 mm"
    assert marker.marked_range.start_time.to_seconds() == 61.5
    assert marker.marked_range.duration.to_seconds() == 1.25


def test_film_editors_find_the_film(film: FilmResults, tmp_path: Path) -> None:
    otio = pytest.importorskip("opentimelineio", reason="editors' markers need OpenTimelineIO")
    video = tmp_path / "a <b> & c ß.mkv"
    text = tables.otio_timeline(film, video)
    assert text is not None
    clip = otio.adapters.read_from_string(text, "otio_json").tracks[0][0]
    assert (clip.name, clip.media_reference.target_url) == (video.name, str(video))
    assert clip.source_range.duration.to_seconds() == film.read_to_s
    assert clip.available_range() == clip.source_range
    assert clip.source_range.contains(clip.markers[0].marked_range)


@given(st.lists(st.sampled_from(["a", "A", "a-2", "a-2-2", "b"]), max_size=6))
def test_every_film_has_a_folder_of_its_own(stems: list[str]) -> None:
    """Also where letters of either case are the same to the disk, and names look numbered."""
    videos = [Path(f"{number}/{stem}.mp4") for number, stem in enumerate(stems)]
    names = folder_names([[video] for video in videos])
    assert len({name.casefold() for name in names}) == len(stems)
    assert all(name.startswith(stem) for name, stem in zip(names, stems, strict=True))


def test_the_terminal_and_the_page_tell_what_makes_the_places_worse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    text = "no base is found: measure the markers' printed size"
    table = scene(100.0) | {"calibration": {"problems": [{"flag": "marker_size", "text": text}]}}
    film = FilmResults(
        "film", read_to_s=5.0, rests=[{"time_s": 0.4, "scene": table, "still": "data:,"}]
    )
    pipeline.write_results(film, tmp_path, False, {})
    assert f"0.4 s: {text}" in caplog.text + capsys.readouterr().err
    assert text in (tmp_path / "report.html").read_text(encoding="utf-8")
