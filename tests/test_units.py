"""Lengths are told in the unit that the user asks for; files and JSON keep millimetres."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.apps.cli import main
from overruler.apps.measure.summary import (
    calibration_line,
    piece_table,
    problem_lines,
    ruling_lines,
)
from overruler.calibration import Problem, calibration_to_json
from overruler.house_rules import HouseRules
from overruler.picture.drawable_ruling import drawable_ruling
from overruler.picture.report_drawing import draw_on_photo
from overruler.report import Report, TablePhoto
from overruler.rules import ask
from overruler.units import INCHES, MILLIMETRES, format_change, format_number, lengths_in_unit
from tests.reports import report

SCENE = {
    "schema": "overruler/scene/1",
    "game": "legion",
    "board": {"width_mm": 1800, "height_mm": 900},
    "pieces": [
        {
            "id": name,
            "base": {"shape": "circle", "diameter_mm": 27},
            "x_mm": x_mm,
            "y_mm": 100,
            "covariance_mm2": [[0.04, 0], [0, 0.04]],
        }
        for name, x_mm in (("a", 100), ("b", 327))
    ],
}


def report_in(unit: str) -> Report:
    """The report on the small table, its lengths told in a unit, with one ruling."""
    made = report()
    scene = HouseRules(unit=unit).apply_to(made.scene)
    ruling = ask(scene, {"question": "range", "from": "p01", "to": "p02"})
    return replace(made, scene=scene, verdicts=(ruling,))


UNSURE = Problem("unsure_distances", "a distance of 300 mm is unsure by up to ± 2.66 mm (95 %)")
UNSURE_IN = "a distance of 11.81 in is unsure by up to ± 0.105 in (95 %)"


@pytest.mark.parametrize("count", [1, 2])
def test_what_is_wrong_with_a_photo_is_told_in_the_unit(count: int) -> None:
    told = report_in(INCHES)
    calibration = replace(told.calibration, problems=(UNSURE,))
    photos = (TablePhoto(told.frame, calibration),) * count
    told = replace(told, calibration=calibration, photos=photos)
    number = "photos 1, 2: " if count > 1 else ""
    assert [line.plain for line in problem_lines(told)] == [f"! {number}{UNSURE_IN}"]
    drawn = " ".join(re.findall(r">([^<]+)<", draw_on_photo(told).document()))
    assert "11.81 in is unsure" in drawn
    assert "300 mm" not in drawn
    assert calibration_to_json(calibration)["problems"][0]["text"] == UNSURE.text
    assert problem_lines(replace(told, scene=report_in(MILLIMETRES).scene))[0].plain.endswith(
        UNSURE.text
    )


def test_the_name_of_a_photo_is_no_length() -> None:
    text = "base 30 mm.jpg is left out: it contradicts the other photos, which agree"
    assert Problem("photo_left_out", text).sentence(INCHES) == text


@given(st.integers(0, 99_999), st.integers(0, 3))
def test_a_length_in_a_sentence_keeps_its_decimals(number: int, digits: int) -> None:
    said = lengths_in_unit(f"off by ± {number / 10**digits:.{digits}f} mm (95 %)", INCHES)
    expected = format_number(number / 10**digits, INCHES, max(digits, 1))
    assert said == f"off by ± {expected} in (95 %)"
    assert lengths_in_unit("5 ± 1 mm high", INCHES) == "0.20 ± 0.04 in high"


@pytest.mark.parametrize(
    ("word", "unit"), [("inches", "in"), ("Inch", "in"), ('"', "in"), ("millimetres", "mm")]
)
def test_units_are_known_by_what_people_call_them(
    word: str, unit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "scene.json"
    path.write_text(json.dumps(SCENE))
    answers = []
    for said in (word, unit):
        assert main(["ask", str(path), "distance a b", "--units", said]) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1]
    assert ("distance_in" in answers[0]) is (unit == "in")


def test_a_unit_that_nobody_knows_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "scene.json", "distance a b", "--units", "feet"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "known: mm, in" in said


def test_units_that_nobody_asks_for_are_millimetres() -> None:
    scene = report().scene
    for state, unit in (({}, MILLIMETRES), ({"unit": 5}, MILLIMETRES), ({"unit": "in"}, INCHES)):
        assert replace(scene, state=state).unit == unit
    assert replace(scene, state={}, game="inches").unit == INCHES
    assert replace(scene, state={"unit": "mm"}, game="inches").unit == MILLIMETRES


@given(st.floats(0, 5000))
def test_a_number_in_inches_is_the_same_length(length_mm: float) -> None:
    assert float(format_number(length_mm, INCHES)) * 25.4 == pytest.approx(length_mm, abs=0.13)
    assert float(format_number(length_mm, MILLIMETRES)) == pytest.approx(length_mm, abs=0.051)


@pytest.mark.parametrize("unit", [MILLIMETRES, INCHES])
def test_all_that_is_spoken_of_a_photo_has_one_unit(unit: str) -> None:
    other = {MILLIMETRES: " in", INCHES: " mm"}[unit]
    told = report_in(unit)
    headers = [str(column.header) for column in piece_table(told).columns]
    assert headers[2:5] == [f"x {unit}", f"y {unit}", f"± {unit} (95 %)"]
    [ruling] = [line.plain for line in ruling_lines(told)]
    assert f" {unit} " in ruling
    assert f"{other} " not in ruling
    margin_mm = told.verdicts[0].margin_mm
    assert margin_mm is not None
    assert f" {format_number(abs(margin_mm), unit)} {unit} inside the line" in ruling
    calibration = replace(told.calibration, left_out_mm=0.254)
    facts = calibration_line(replace(told, calibration=calibration)).plain
    assert facts.endswith({MILLIMETRES: "0.25 mm", INCHES: "0.010 in"}[unit])


def test_all_that_is_drawn_on_a_photo_has_one_unit() -> None:
    told = report_in(INCHES)
    ruling = drawable_ruling(told.scene, told.verdicts[0])
    assert " in inside the line" in ruling.detail
    assert "(95 %)" in ruling.detail
    assert " mm" not in ruling.headline + ruling.detail + ruling.line_label
    assert ruling.line_name(76.2) == "3 in"
    drawn = draw_on_photo(told).document()
    assert "6 in<" in drawn  # the scale bar
    assert " mm<" not in drawn


def test_an_answer_in_inches_is_not_rounded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "scene.json"
    path.write_text(json.dumps(SCENE))
    assert main(["ask", str(path), "range a b", "--units", "in"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["distance_in"] == told["distance_mm"] / 25.4 == pytest.approx(200 / 25.4)
    assert told["margin_in"] == told["margin_mm"] / 25.4
    assert main(["ask", str(path), "range a b"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain == {key: value for key, value in told.items() if not key.endswith("_in")}


@pytest.mark.parametrize(
    ("before_mm", "after_mm", "unit", "told"),
    [
        (2.0, 0.8, "mm", "2.0 → 0.8 mm"),
        (0.24, 0.12, "in", "0.009 → 0.005 in"),
        (0.5, 0.05, "in", "0.020 → 0.002 in"),
        (0.3, 0.04, "mm", "0.30 → 0.04 mm"),
        (5.08, 2.54, "in", "0.20 → 0.10 in"),
    ],
)
def test_what_a_length_becomes_is_told_apart_from_what_it_was(
    before_mm: float, after_mm: float, unit: str, told: str
) -> None:
    assert format_change(before_mm, after_mm, unit) == told
