"""Segments are put together: names kept over the seam, each moment told once."""

import json
import tracemalloc
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from overruler.apps.analyze import event_log
from overruler.apps.analyze.merge import PackedRests, merge_segments
from overruler.apps.analyze.remarks import remarks_on
from overruler.bases import Base
from overruler.errors import CannotMeasure
from overruler.track import Tick, TrackedPosition

BASE = {"shape": "circle", "diameter_mm": 27.0}


def stay(x_mm: float, from_s: float, to_s: float) -> dict[str, Any]:
    return {"from_s": from_s, "to_s": to_s, "x_mm": x_mm, "y_mm": 100.0, "sigma_mm": 0.3}


def move(piece: str, start_s: float, end_s: float, x0: float, x1: float) -> dict[str, Any]:
    ends = {"from_x_mm": x0, "from_y_mm": 100.0, "to_x_mm": x1, "to_y_mm": 100.0}
    lengths = {
        "distance_mm": abs(x1 - x0),
        "path_mm": abs(x1 - x0),
        "sigma_mm": 0.3,
        "path_sigma_mm": 0.3,
    }
    lengths["way_seen"] = True
    middle = [(start_s + end_s) / 2, (x0 + x1) / 2, 100.0]
    return {
        "piece": piece,
        "start_s": start_s,
        "end_s": end_s,
        **ends,
        **lengths,
        "way_mm": [],
        "trail": [middle],
    }


def part(
    begin: float, end: float | None, stays: dict[str, Any], moves: list[Any], times: range
) -> dict[str, Any]:
    marks = [{"time_s": float(t), "seen": list(stays)} for t in times]
    pieces = [{"id": name, "base": BASE} for name in stays]
    rests = [
        {
            "time_s": float(times[-1]),
            "scene": {"pieces": pieces, "covariance": {"order": list(stays)}},
            "still": "",
        }
    ]
    told = {
        "bases": dict.fromkeys(stays, BASE),
        "stays": stays,
        "marks": marks,
        "moves": moves,
        "rests": rests,
    }
    ends = {"from_s": begin, "to_s": end, "read_to_s": float(times[-1])}
    return {**told, **ends, "notes": [], "problems": [], "refused": None}


FIRST = part(
    0.0,
    10.0,
    {"p01": [stay(100, 0, 6), stay(160, 7, 14)], "p02": [stay(300, 0, 14)]},
    [move("p01", 6, 7, 100, 160), move("p02", 12, 13, 300, 300)],
    range(15),
)
SECOND = part(
    10.0,
    None,
    {
        "p01": [stay(160.4, 6, 20)],
        "p02": [stay(299.8, 6, 12), stay(350, 13, 20)],
        "p03": [stay(500, 15, 20)],
    },
    [move("p02", 12, 13, 300, 350)],
    range(6, 21),
)
# In the second segment the pieces come in another order.
TURNED = SECOND | {
    "bases": dict.fromkeys(("p02", "p01", "p03"), BASE),
    "stays": {
        "p02": SECOND["stays"]["p01"],
        "p01": SECOND["stays"]["p02"],
        "p03": SECOND["stays"]["p03"],
    },
    "moves": [SECOND["moves"][0] | {"piece": "p01"}],
}


@pytest.mark.parametrize("second", [SECOND, TURNED], ids=["in order", "turned round"])
def test_pieces_keep_their_names_over_the_seam(second: dict[str, Any]) -> None:
    film = merge_segments("film", [FIRST, second])
    assert sorted(film.bases) == ["p01", "p02", "p03"]
    assert [(one["piece"], one["start_s"]) for one in film.moves] == [("p01", 6), ("p02", 12)]
    assert [(one["x_mm"], one["to_s"]) for one in film.stays["p01"]] == [(100, 6), (160, 20)]
    assert (
        film.rests[-1]["scene"]["covariance"]["order"][0]
        == film.rests[-1]["scene"]["pieces"][0]["id"]
    )


def test_moments_of_rest_need_little_memory_until_somebody_asks() -> None:
    scene = json.dumps(
        {"covariance": {"mm2": [[1.5 + j + k / 7 for j in range(60)] for k in range(60)]}}
    )
    tracemalloc.start()
    try:
        rests = [{"time_s": float(k), "scene": json.loads(scene), "still": ""} for k in range(9)]
        loose = tracemalloc.get_traced_memory()[0]
        kept = PackedRests()
        for rest in rests:
            kept.append(rest)
        packed = tracemalloc.get_traced_memory()[0] - loose
    finally:
        tracemalloc.stop()
    assert packed < loose / 3
    assert list(kept) == rests
    assert kept[-1]["time_s"] == 8.0


def test_each_moment_is_told_once() -> None:
    film = merge_segments("film", [FIRST, SECOND])
    rows = [(row["piece"], row["time_s"]) for row in film.positions]
    assert len(rows) == len(set(rows))
    at_rest = [
        row
        for row in film.positions
        if row["piece"] == "p02" and row["time_s"] in (9.0, 10.0, 11.0)
    ]
    assert [row["x_mm"] for row in at_rest] == [300, 299.8, 299.8]
    assert [row["time_s"] for row in film.positions] == sorted(
        row["time_s"] for row in film.positions
    )


def test_a_move_is_a_row_at_either_end_and_on_its_way() -> None:
    rows = [
        row
        for row in merge_segments("film", [FIRST]).positions
        if row["piece"] == "p01" and 6 <= row["time_s"] <= 7
    ]
    places = {(row["time_s"], row["x_mm"]) for row in rows}
    assert {(6, 100), (6.5, 130), (7, 160)} <= places


def test_a_segment_that_nothing_was_seen_in_is_named_and_the_others_stand() -> None:
    film = merge_segments("film", [FIRST, SECOND | {"refused": "no marker was found"}])
    assert film.problems == ["from 10 s to 20 s: no marker was found"]
    with pytest.raises(CannotMeasure, match="film: no marker"):
        merge_segments("film", [SECOND | {"refused": "no marker was found"}])


def test_a_place_that_is_measured_anew_without_a_move_holds_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        event_log, "rest_data", lambda time_s, report: {"time_s": time_s, "scene": {"pieces": []}}
    )
    log = event_log.EventLog(0.0)
    for time_s, x_mm in (
        (0.0, 100.0),
        (1.0, 100.0),
        (2.0, None),
        (3.0, None),
        (4.0, 104.0),
        (5.0, 104.0),
    ):
        spots = (
            (TrackedPosition("p01", Base.circle(27.0), x_mm, 50.0, 0.3, "static", True),)
            if x_mm is not None
            else ()
        )
        log.record_tick(
            Tick(
                time_s,
                spots,
                rest=rest(x_mm) if time_s in (0.0, 4.0) and x_mm is not None else None,
            )
        )
    told = log.data() | {
        "from_s": 0.0,
        "to_s": None,
        "read_to_s": 5.0,
        "problems": [],
        "refused": None,
    }
    film = merge_segments("film", [told])
    assert [(row["time_s"], row["x_mm"]) for row in film.positions] == [
        (0.0, 100.0),
        (1.0, 100.0),
        (4.0, 104.0),
        (5.0, 104.0),
    ]
    assert film.moves == []


def rest(x_mm: float) -> Any:
    """A report as far as it is noted."""
    found = SimpleNamespace(xy_mm=np.array([x_mm, 50.0]))
    return SimpleNamespace(
        scene=SimpleNamespace(pieces=[SimpleNamespace(id="p01")]), detections=[found]
    )


def _with_problems(rest: dict[str, Any], *problems: dict[str, str]) -> dict[str, Any]:
    scene = rest["scene"] | {"calibration": {"problems": list(problems)}, "state": {"unit": "in"}}
    return rest | {"scene": scene}


def test_what_makes_the_places_worse_is_told_once_and_in_the_films_unit() -> None:
    size = {"flag": "marker_size", "text": "the photo would show 2540 mm of the table"}
    again = size | {"text": "the photo would show 2541 mm of the table"}
    few = {"flag": "few_markers", "text": "two markers are few"}
    (first,), (second,) = FIRST["rests"], SECOND["rests"]
    film = merge_segments(
        "film",
        [
            FIRST | {"rests": [_with_problems(first | {"time_s": 4.0}, size)]},
            SECOND | {"rests": [_with_problems(second, again, few)]},
        ],
    )
    assert remarks_on(film) == [
        "4.0 s: the photo would show 100.00 in of the table",
        "20.0 s: two markers are few",
    ]


def test_whose_move_it_may_be_is_told_by_the_film_s_names() -> None:
    doubtful = move("p01", 6, 7, 100, 160) | {"name_probability": 0.65, "perhaps": "p02"}
    seen = move("p02", 12, 13, 300, 300)
    second = part(10.0, None, {"q1": [stay(160, 9, 30)], "q2": [stay(300, 9, 30)]}, [
        move("q1", 20, 21, 160, 180) | {"name_probability": 0.9, "perhaps": "q2"},
        move("q2", 22, 23, 300, 310) | {"name_probability": 0.8, "perhaps": ""},
    ], range(10, 31))  # fmt: skip
    film = merge_segments("film", [FIRST | {"moves": [doubtful, seen]}, second])
    assert [one["perhaps"] for one in film.moves] == ["p02", "p02", ""]
    assert remarks_on(film) == [
        "7.0 s: p01 may be p02 (35%): it moved unseen",
        "21.0 s: p01 may be p02 (10%): it moved unseen",
        "23.0 s: p02 may be another piece (20%): it moved unseen",
    ]


def test_of_several_cameras_each_ones_problems_go_by_its_film() -> None:
    few, bow = ({"flag": flag, "text": flag} for flag in ("few_markers", "bowed"))
    (rest,) = FIRST["rests"]
    told = _with_problems(rest, bow, few)
    photos = [
        {"file": "games/left.mp4", "calibration": {"problems": [few]}},
        {"file": "games/right.mp4", "calibration": {"problems": []}},
    ]
    scene = told["scene"] | {"photos": photos}
    film = merge_segments("film", [FIRST | {"rests": [told | {"scene": scene, "time_s": 4.0}]}])
    assert remarks_on(film) == ["4.0 s: bowed", "4.0 s: left.mp4: few_markers"]


def test_a_note_that_comes_again_and_again_is_one_remark() -> None:
    notes = [{"time_s": float(k), "text": "no marker was found"} for k in range(1, 6)]
    notes.append({"time_s": 7.0, "text": "the camera shakes"})
    film = merge_segments("film", [FIRST | {"notes": notes}])
    assert remarks_on(film) == [
        "1.0 s, and 4 more times until 5.0 s: no marker was found",
        "7.0 s: the camera shakes",
    ]
