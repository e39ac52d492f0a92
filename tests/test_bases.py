"""Bases are spelled as people write them, and what is said of one can be read again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.bases import LARGEST_BASE_MM, Base, catalogue
from overruler.errors import BadInput

SIZES = st.integers(1, 10 * int(LARGEST_BASE_MM)).map(lambda tenths: tenths / 10)


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("27", Base.circle(27)),
        (" 28.5 mm", Base.circle(28.5)),
        ("40x40", Base.rectangle(40, 40)),
        ("25X50", Base.rectangle(25, 50)),
        ("50 × 25", Base.rectangle(25, 50)),
        ("75x42o", Base.oval(42, 75)),
        ("42x75 oval", Base.oval(42, 75)),
        ("60 × 35 mm Oval", Base.oval(35, 60)),
        ("70x25s", Base.stadium(25, 70)),
        ("25x70 stadium", Base.stadium(25, 70)),
        ("30h", Base.hexagon(30)),
        ("30 mm hexagon", Base.hexagon(30)),
    ],
)
def test_a_base_is_what_people_write(text: str, base: Base) -> None:
    assert Base.parse(text) == base


@given(SIZES, SIZES, st.sampled_from(["circle", "rectangle", "oval", "stadium", "hexagon"]))
def test_the_name_of_a_base_is_read_as_that_base(one: float, other: float, shape: str) -> None:
    small, large = sorted((one, other))
    by_one_size = {"circle": Base.circle(one), "hexagon": Base.hexagon(one)}
    base = by_one_size.get(shape) or Base(shape, small, large)
    assert Base.parse(base.name) == base


@pytest.mark.parametrize(
    "text",
    [
        "",
        "oval",
        "27o",
        "27x",
        "x27",
        "27x27x27",
        "-27",
        "27;50",
        "nan",
        "inf",
        "1e3",
        "27 inch",
        "2_7",
        "٢٧",
        "27 o 30",
    ],
)
def test_nonsense_is_refused_with_what_is_right(text: str) -> None:
    with pytest.raises(BadInput, match="27 is a round one, 40x40 a square, 75x42o an oval"):
        Base.parse(text)


@pytest.mark.parametrize("text", ["0", "0x20", "501", "40x600", "999999999999999999999"])
def test_a_size_that_no_base_has_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="between 0 and 500 mm"):
        Base.parse(text)


def test_every_base_of_the_catalogue_can_be_asked_for() -> None:
    assert [Base.parse(base.name) for base in catalogue()] == list(catalogue())


def test_the_catalogue_knows_which_games_use_plates() -> None:
    assert {base.shape for base in catalogue("legion")} == {"circle"}
    assert [base.width_mm for base in catalogue("xwing")] == [40, 60, 80]
    assert {base.shape for base in catalogue()} == {"circle", "rectangle", "oval", "stadium"}


def test_a_ship_s_plate_has_rounded_corners_and_is_the_same_base() -> None:
    for base in (
        Base.rectangle(25, 50),
        Base.rectangle(25, 25),
        Base.circle(40),
        Base.oval(42, 75),
    ):
        assert base.with_rounded_corners is base
    made = Base.rectangle(40, 40).with_rounded_corners
    assert made.corner_radius_mm == 1.5
    assert made == Base.rectangle(40, 40)
    assert hash(made) == hash(Base.rectangle(40, 40))
    assert made.to_json() == {
        "shape": "rectangle",
        "width_mm": 40,
        "length_mm": 40,
        "corner_radius_mm": 1.5,
    }
    assert (
        Base("rectangle", 40, 40, corner_radius_mm=0.8).with_rounded_corners.corner_radius_mm == 0.8
    )
