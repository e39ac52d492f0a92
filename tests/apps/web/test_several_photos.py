"""A table in several photos: the gap is shown on the one where it is largest."""

from dataclasses import replace

from overruler.apps.web.scene_paths import table_json
from overruler.apps.web.several_photos import (
    close_up_of,
    photo_number,
    photos_json,
    with_photo_numbers,
)
from overruler.rules import ask
from tests.apps.web.desk import seen_twice


def test_the_gap_is_shown_by_the_photo_that_shows_it_largest() -> None:
    """The first camera hangs over the far side of the board, the second one over the near side."""
    table = seen_twice()
    near, far = (
        close_up_of(table, ask(table, {"question": "distance", "from": a, "to": b}))["close_up"]
        for a, b in (("p01", "p02"), ("p03", "p04"))
    )
    assert (near["photo"], far["photo"]) == (1, 0)
    assert len(far["outlines"]) == 2


def test_each_photo_is_drawn_by_its_own_camera_and_has_its_number() -> None:
    table = seen_twice("photo3.jpg")
    first, second = (table_json(table, photo)["pieces"][0]["center_px"] for photo in (0, 1))
    assert abs(first[0] - second[0]) > 100
    told = photos_json(table, 1)
    assert [one["number"] for one in told["photos"]] == [1, 3]
    assert [(one["id"], one["photo"]) for one in told["moved"]] == [("p03", 1)]


def test_one_photo_is_number_one() -> None:
    assert [photo_number(name) for name in ("", "photo.jpg", "photo7.png")] == [1, 1, 7]


def test_what_no_ruling_measures_has_no_gap() -> None:
    table = seen_twice()
    verdict = ask(table, {"question": "distance", "from": "p01", "to": "p02"})
    assert close_up_of(table, replace(verdict, from_point_mm=None)) == {}


def test_problems_name_photos_by_their_numbers() -> None:
    """The page has buttons 1, 2 and 3; the names of the server's files stand nowhere."""
    said = "photo3.png hangs on photo.jpg and photo2.jpg by the ground"
    assert with_photo_numbers(said) == "photo 3 hangs on photo 1 and photo 2 by the ground"
    assert with_photo_numbers("a photo from the right") == "a photo from the right"
    table = seen_twice("photo2.jpg")
    problem = {"flag": "photo_left_out", "text": "photo2.jpg is left out: it is blurred"}
    calibration = {**table.extra["calibration"], "problems": [problem]}
    told = table_json(replace(table, extra={**table.extra, "calibration": calibration}))
    assert told["problems"] == ["photo 2 is left out: it is blurred"]


def test_the_page_tells_the_problems_of_every_photo() -> None:
    table = seen_twice("photo3.jpg")
    blurred = {"flag": "blurred", "text": "the photo is blurred"}
    first, second = table.extra["photos"]
    second = {**second, "calibration": {**second["calibration"], "problems": [blurred]}}
    told = table_json(replace(table, extra={**table.extra, "photos": [first, second]}))
    assert "photo 3: the photo is blurred" in told["problems"]


def test_the_page_tells_problems_in_the_unit_of_the_table() -> None:
    table = seen_twice("photo2.jpg")
    unsure = {"flag": "low_light", "text": "places are unsure by ± 1.5 mm (95 %)"}
    calibration = {**table.extra["calibration"], "problems": [unsure]}
    told = table_json(replace(table, game="inches", extra={"calibration": calibration}))
    assert told["problems"] == ["places are unsure by ± 0.06 in (95 %)"]
