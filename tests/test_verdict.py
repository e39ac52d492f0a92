"""Verdicts: how sure they call themselves, what they print, and how they read."""

from dataclasses import replace

import pytest

from overruler.verdict import Verdict

EXACT = Verdict(
    answer={"range": 3, "melee": False},
    headline="range 3",
    rules=("legion.segments",),
    distance_mm=456.4,
    sigma_mm=0.0,
    from_point_mm=(1, 2),
    to_point_mm=(3, 4),
    pair=("r1", "e1"),
    margin_mm=0.8,
    value=3,
)


def with_odds(**odds: float) -> Verdict:
    return replace(
        EXACT, sigma_mm=0.3, probability={key.lstrip("_"): share for key, share in odds.items()}
    )


def test_nobody_can_take_a_verdict_for_a_truth_value() -> None:
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(EXACT)


@pytest.mark.parametrize(
    ("share", "call"),
    [
        (1.0, "certain"),
        (0.999, "certain"),
        (0.9989, "likely"),
        (0.9, "likely"),
        (0.8999, "too close to call"),
        (0.5, "too close to call"),
    ],
)
def test_the_call_is_that_of_the_likeliest_answer(share: float, call: str) -> None:
    assert with_odds(_3=share, _4=1 - share).call == call
    assert with_odds(_3=1 - share, _4=share).call == call


def test_exact_places_need_no_call() -> None:
    assert EXACT.call is None
    assert {"probability", "call"}.isdisjoint(EXACT.to_json())


def test_json_holds_the_answer_and_what_it_rests_on() -> None:
    found = with_odds(_3=0.62, _4=0.38).to_json()
    assert found == {
        "range": 3,
        "melee": False,
        "distance_mm": 456.4,
        "sigma_mm": 0.3,
        "from_point_mm": (1, 2),
        "to_point_mm": (3, 4),
        "margin_mm": 0.8,
        "probability": {"3": 0.62, "4": 0.38},
        "call": "too close to call",
        "from": "r1",
        "to": "e1",
        "rules": ["legion.segments"],
    }


SENTENCES = [
    (EXACT, "range 3, 0.8 mm inside the line"),
    (replace(EXACT, margin_mm=0.0), "range 3, on the line"),
    (replace(EXACT, margin_mm=-2.8e-14), "range 3, on the line"),
    (replace(EXACT, margin_mm=0.04), "range 3, less than 0.1 mm inside the line"),
    (replace(EXACT, margin_mm=-0.04), "range 3, less than 0.1 mm outside the line"),
    (replace(EXACT, margin_mm=0.01, unit="in"), "range 3, less than 0.01 in inside the line"),
    (
        replace(EXACT, margin_mm=-1.26, headline="not at range 2"),
        "not at range 2, 1.3 mm outside the line",
    ),
    (replace(EXACT, margin_mm=None), "range 3"),
    (with_odds(_3=0.9999, _4=0.0001), "range 3, 0.8 mm inside the line, certain"),
    (with_odds(_3=0.96, _4=0.04), "range 3, 0.8 mm inside the line, likely (96 %)"),
    (with_odds(_3=0.9986, _4=0.0014), "range 3, 0.8 mm inside the line, likely (99.9 %)"),
    (with_odds(_3=0.62, _4=0.38), "too close to call: range 3 (62 %) or 4 (38 %)"),
    (with_odds(_5=0.45, null=0.55), "too close to call: past the ruler (55 %) or range 5 (45 %)"),
    (with_odds(true=0.7, false=0.3), "too close to call: yes (70 %) or no (30 %)"),
    (with_odds(_2=0.93, _3=0.07), "likely range 2 (93 %), though as measured range 3"),
]


@pytest.mark.parametrize(
    ("verdict", "sentence"), SENTENCES, ids=[sentence for _, sentence in SENTENCES]
)
def test_sentences(verdict: Verdict, sentence: str) -> None:
    assert verdict.sentence() == sentence


def test_what_lies_on_a_line_but_for_rounding_is_neither_inside_nor_outside() -> None:
    assert replace(EXACT, margin_mm=-2.8e-14).margin_mm == 0
    assert replace(EXACT, margin_mm=-2e-6).margin_mm == -2e-6
