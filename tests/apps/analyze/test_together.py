"""Two films of one table through the command: one game, one folder, one name for each piece."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from overruler.apps import cli
from overruler.errors import BadInput
from overruler.frame import Frame, Shot

av = pytest.importorskip("av", reason="films need PyAV")
pq = pytest.importorskip("pyarrow.parquet", reason="tables need pyarrow")
from overruler.apps.analyze import video as drawn  # noqa: E402
from overruler.apps.analyze.merge import FilmResults  # noqa: E402
from overruler.apps.analyze.offsets import find_offsets, tell_apart  # noqa: E402
from overruler.apps.analyze.paired import paired_moments  # noqa: E402
from tests.apps.analyze import film as table  # noqa: E402

LATE_S, UNTIL_S = 1.0, 5.0


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The same game from two sides; the second camera was started later."""
    folder = tmp_path_factory.mktemp("films")
    left = table.written(folder / "left.mkv", until_s=UNTIL_S)
    right = table.written(folder / "right.mkv", table.OPPOSITE, LATE_S, UNTIL_S)
    return [left, right]


def arguments(films: list[Path], out: Path) -> list[str]:
    board = str(films[0].with_suffix(".toml"))
    names = [str(film) for film in films]
    return ["analyze", *names, "--board", board, "--bases", "27,50", "--out", str(out)]


def test_two_films_of_one_table_are_one_game(films: list[Path], tmp_path: Path) -> None:
    options = ["--together", "--offset", f"right={LATE_S:+g}", "--flat"]
    assert cli.main([*arguments(films, tmp_path), *options]) == 0
    out = tmp_path / "left+right"
    (move,) = pq.read_table(out / "moves.parquet").to_pylist()
    ends = [(move["from_x_mm"], move["from_y_mm"]), (move["to_x_mm"], move["to_y_mm"])]
    assert np.allclose(ends, [table.STARTS, table.ENDS], atol=0.5)
    assert (move["start_s"], move["end_s"]) == pytest.approx(table.MOVES_S, abs=0.3)
    assert move["way_seen"]
    assert (out / "report.html").exists()
    scenes = [json.loads(line) for line in (out / "scenes.jsonl").read_text().splitlines()]
    files = [[one["file"] for one in scene["photos"]] for scene in scenes]
    left, right = map(str, films)
    assert files == [[left], [left, right], [left, right]], "the right camera began later"


def test_the_overlay_is_drawn_as_the_recordings_own_camera_sees_the_table() -> None:
    photos = [{"file": name, "calibration": {"of": name}} for name in ("left", "right")]
    scenes = [{"photos": photos, "calibration": {"of": "left"}}, {"photos": photos[:1]}]
    rests = [{"time_s": k, "scene": scene} for k, scene in enumerate(scenes)]
    (seen,) = drawn.as_seen_in(FilmResults("film", rests=rests), "right").rests
    assert seen["time_s"] == 0
    assert seen["scene"] == {"photos": photos[1:], "calibration": {"of": "right"}}
    one = FilmResults("film", rests=[{"time_s": 0, "scene": {"calibration": {"of": "left"}}}])
    assert list(drawn.as_seen_in(one, "left").rests) == one.rests


def test_an_offset_is_told_or_asked_for(films: list[Path]) -> None:
    assert find_offsets(films, ["right=-2.5"]) == [0, -2.5]
    assert find_offsets(films, ["right=-2.5"], films[1:]) == [0], "without the first film"
    with pytest.raises(BadInput, match="give --offset right=SECONDS"):
        find_offsets(films, [])  # in four seconds little moves


def test_films_without_a_common_moment_are_told(films: list[Path]) -> None:
    left, right = films
    assert tell_apart(films, [0.0, LATE_S]) == []
    ((after,), (before,)) = (tell_apart(films, [0.0, offset_s]) for offset_s in (99.0, -99.0))
    assert after.startswith(f"{right} begins after {left} has ended, at ")
    assert before == f"{right} ends before {left} begins: check --offset"


# --- bad input ---


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--offset", "right=1"], "--offset goes with --together"),
        (["--together", "--offset", "right=later"], "expected FILM=SECONDS"),
        (["--together", *2 * ["--offset", "right=1"]], "right has two offsets: give one"),
        (["--together", "--offset", "left=1"], "left is the first film"),
        (["--together", "--offset", "middle=1"], "'middle' is no film that was given"),
        (["--together", "--point", "1,2=3,4"], "--point goes with one camera"),
        (["--lens-of-camera", "2=right.toml"], "--lens-of-camera goes with --together"),
        (["--together", "--lens-of-camera", "3=right.toml"], "N from 1 to 2"),
    ],
)
def test_options_that_do_not_go_together_are_told(
    films: list[Path],
    tmp_path: Path,
    options: list[str],
    told: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main([*arguments(films, tmp_path), *options]) == 2
    assert told in capsys.readouterr().err


def test_one_film_is_not_several(films: list[Path], tmp_path: Path) -> None:
    assert cli.main([*arguments(films[:1], tmp_path), "--together"]) == 2


# --- pairing ---


def shots_at(*times_s: float) -> Iterator[Shot]:
    pixels = np.zeros((8, 8, 3), np.uint8)
    return iter([Shot.of(Frame(pixels, "film", time_s=time_s)) for time_s in times_s])


def test_pictures_are_paired_by_the_first_films_time() -> None:
    left = shots_at(0.0, 0.1, 0.2, 0.3)
    right = shots_at(0.02, 0.12)
    moments = list(paired_moments([left, right], [0.0, 0.1]))
    assert [[number for number, _ in one.shots] for one in moments] == [[0], [0, 1], [0, 1], [0]]
    paired = [round(shot.time_s, 2) for one in moments for number, shot in one.shots if number]
    assert paired == [0.12, 0.22]


def test_a_film_that_ends_is_told_once_the_others_have_gone_on() -> None:
    left = shots_at(*np.arange(0, 5, 0.1))
    moments = list(paired_moments([left, shots_at(0.0, 0.1)], [0.0, 0.0]))
    (told,) = (one for one in moments if one.ended)
    assert told.ended == (1,)
    assert told.shots[0][1].time_s == pytest.approx(2.1, abs=0.11)
