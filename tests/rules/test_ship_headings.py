"""Arcs of ships that a photo may show the wrong way round: what else the heading may be counts by its probability."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.errors import BadInput
from overruler.rules import ask
from overruler.scene import Scene
from overruler.verdict import Verdict
from tests.rules.scenes import scene_of

FEW = settings(max_examples=25)
SIGMA_MM = 0.5
ARCS = ("front", "rear", "left", "right", "full_front", "full_rear", "bullseye")


def facing(heading_deg: float, others: Any, x_mm: float, y_mm: float) -> Scene:
    """A ship that faces so, or as `others` say, and one beside it."""
    base = {"shape": "rectangle", "width_mm": 40, "length_mm": 40}
    told = {"heading_deg": heading_deg, "other_headings": others}
    pieces = [
        {"id": "a", "base": base, "x_mm": 0, "y_mm": 0, **told},
        {"id": "b", "base": base, "x_mm": x_mm, "y_mm": y_mm},
    ]
    return partial(scene_of, game="xwing")(pieces, SIGMA_MM**2 * np.eye(4))


def attack(table: Scene, arc: str = "front") -> Verdict:
    return ask(table, {"question": "attack_range", "attacker": "a", "defender": "b", "arc": arc})


def maybe(heading_deg: float, probability: Any) -> dict[str, Any]:
    return {"heading_deg": heading_deg, "probability": probability}


def test_what_may_face_away_is_not_certainly_in_arc() -> None:
    known, open_ = (attack(facing(0, others, 150, 0)) for others in ([], [maybe(180, 0.015)]))
    assert (known.call, known.answer["in_arc_probability"]) == ("certain", 1)
    assert open_.call == "likely"
    assert open_.answer["in_arc_probability"] == pytest.approx(0.985)
    assert {**open_.answer, "in_arc_probability": 1} == known.answer
    assert open_.probability == pytest.approx({"0": 0, "1": 0, "2": 0.985, "3": 0, "null": 0.015})


def test_what_may_face_there_is_not_certainly_out_of_arc() -> None:
    verdict = attack(facing(180, [maybe(0, 0.015), maybe(90, 0.001)], 150, 0))
    assert verdict.answer["in_arc"] is False
    assert verdict.answer["in_arc_probability"] == pytest.approx(0.015)
    assert verdict.call == "likely"


@FEW
@given(
    st.sampled_from(ARCS),
    st.floats(0, 1),
    st.sampled_from([0.0, 17.0, 200.0]),
    st.floats(-250, 250),
    st.floats(45, 250),
)
def test_it_is_one_whichever_heading_is_said_first(
    arc: str, chance: float, heading: float, x_mm: float, y_mm: float
) -> None:
    one = attack(facing(heading, [maybe(heading + 180, 1 - chance)], x_mm, y_mm), arc)
    other = attack(facing(heading + 180, [maybe(heading, chance)], x_mm, y_mm), arc)
    assert one.probability == pytest.approx(other.probability, abs=1e-9)


@pytest.mark.parametrize(
    ("others", "message"),
    [
        (3, "pieces[0].other_headings: expected an array"),
        ([3], "pieces[0].other_headings[0]: expected an object"),
        ([{"heading_deg": 3}], "pieces[0].other_headings[0].probability: is missing"),
        ([maybe(3, "x")], "pieces[0].other_headings[0].probability: expected a number"),
        ([maybe(3, -0.1)], "pieces[0].other_headings: the probabilities must"),
        ([maybe(3, 0.6), maybe(93, 0.6)], "pieces[0].other_headings: the probabilities must"),
    ],
)
def test_bad_headings_are_refused_by_their_place(others: Any, message: str) -> None:
    with pytest.raises(BadInput) as error:
        attack(facing(0, others, 150, 0))
    assert message in str(error.value)
