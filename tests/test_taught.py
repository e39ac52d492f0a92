"""What corrections taught: a file that is read as it was written, and a re-weighing that can be undone."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.errors import BadInput
from overruler.taught import CorrectedPhoto, JudgedFinding, Taught, Weighing, log_odds

PHOTO = CorrectedPhoto("table.jpg", "ab12", (JudgedFinding("25 mm", 0.9, False),))
TAUGHT = Taught("f00d", (PHOTO,), {"25 mm": Weighing(-1.5, 0.8)})
probabilities = st.floats(0.001, 0.999)
weighings = st.builds(Weighing, st.floats(-4, 4), st.floats(0.5, 1.6))


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    TAUGHT.save(tmp_path / "taught.json")
    assert Taught.load(tmp_path / "taught.json") == TAUGHT


@given(probabilities)
def test_what_nothing_was_learned_of_stays(probability: float) -> None:
    assert Weighing().reweigh(probability) == pytest.approx(probability, abs=1e-9)


@given(weighings, probabilities, probabilities)
def test_what_was_likelier_stays_likelier(how: Weighing, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert how.reweigh(low) <= how.reweigh(high)


@given(weighings, probabilities)
def test_a_re_weighing_is_undone(how: Weighing, probability: float) -> None:
    now = how.reweigh(probability)
    if abs(log_odds(now)) < 8.9:  # beyond, none is believed
        assert how.before(now) == pytest.approx(probability, rel=1e-6)


def changed(**keys: Any) -> str:
    return json.dumps(TAUGHT.to_json() | keys)


FINDING = {"kind": "25 mm", "probability": 0.5, "is_piece": True}


def photo_with(**keys: Any) -> list[Any]:
    return [{"photo": "a.jpg", "sha256": "ab", "findings": [FINDING | keys]}]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not JSON"),
        ("[]", "expected an object, found an array"),
        (changed(schema="overruler/fix/1"), "schema: unknown 'overruler/fix/1'"),
        (changed(extra=1), "extra: unknown key"),
        (changed(networks=3), "networks: expected text, found a number 3"),
        (changed(photos={}), "photos: expected an array"),
        (changed(photos=photo_with(probability=1.5)), "must lie between 0 and 1"),
        (changed(photos=photo_with(probability=None)), "expected a number, found null"),
        (changed(photos=photo_with(is_piece=1)), "expected true or false"),
        (changed(photos=photo_with(shape="square")), "shape: unknown key"),
        (changed(weighings={"25 mm": {"offset": 0}}), "weighings.25 mm.slope: is missing"),
        (changed(weighings={"25 mm": {"offset": 0, "slope": -1}}), "must lie between 0.1 and 10"),
        (changed(weighings={"25 mm": {"offset": 99, "slope": 1}}), "must lie between -9 and 9"),
        (changed(weighings=[]), "weighings: expected an object"),
    ],
)
def test_a_bad_file_is_told_in_one_line(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "taught.json"
    path.write_text(text)
    with pytest.raises(BadInput, match=r"taught\.json: ") as told:
        Taught.load(path)
    assert problem in str(told.value)
    assert "\n" not in str(told.value)
