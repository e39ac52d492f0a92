"""A ruling's words and look say what the verdict says."""

import pytest

from overruler.games import Ruler
from overruler.picture.answer_style import (
    CLOSE_STYLE,
    MEASURED_STYLE,
    NO_STYLE,
    YES_STYLE,
    AnswerStyle,
)
from overruler.picture.drawable_ruling import drawable_ruling, drawable_rulings
from overruler.scene import Piece, Scene, Table
from overruler.units import format_length
from overruler.verdict import Verdict
from tests.reports import RULINGS, pieces, verdict

SCENE = Scene("legion", Table(900, 600), pieces())


@pytest.mark.parametrize(
    ("ruling", "look", "headline", "detail", "tag"),
    [
        (
            RULINGS[0],
            YES_STYLE,
            "p01 → p02: range 3",
            "13.2 mm inside the line, certain  ·  444.0 ± 0.6 mm (95 %)",
            "range 3",
        ),
        (
            RULINGS[1],
            CLOSE_STYLE,
            "p01 → p03: too close to call",
            "range 2 (62 %) or 3 (38 %)  ·  270.4 ± 0.6 mm (95 %)",
            "range 2 or 3",
        ),
        (
            RULINGS[2],
            NO_STYLE,
            "p03 → p02: past the ruler",
            "56.7 mm inside the line, certain  ·  361.5 ± 0.6 mm (95 %)",
            "past the ruler",
        ),
    ],
)
def test_words_and_look(
    ruling: Verdict, look: AnswerStyle, headline: str, detail: str, tag: str
) -> None:
    told = drawable_ruling(SCENE, ruling)
    assert (told.style, told.headline, told.detail, told.line_label) == (
        look,
        headline,
        detail,
        tag,
    )
    assert tuple(piece.id for piece in told.pieces) == ruling.pair


def test_an_answer_of_no_is_out_and_zero_is_not() -> None:
    no = Verdict({"answer": False}, "not within range 2", (), 1.0, 0.0, (0, 0), (1, 0), value=False)
    zero = Verdict({"range": 0}, "range 0", (), 0.0, 0.0, (0, 0), (0, 0), value=0)
    assert drawable_ruling(SCENE, no).style is NO_STYLE
    assert drawable_ruling(SCENE, zero).style is YES_STYLE


@pytest.mark.parametrize(("sigma_mm", "said"), [(0.25, "98.4 ± 0.5 mm (95 %)"), (0.0, "98.4 mm")])
def test_a_plain_distance_is_said_once(sigma_mm: float, said: str) -> None:
    plain = Verdict({}, said, (), 98.4, sigma_mm, (0, 0), (98.4, 0), ("p01", "p02"))
    told = drawable_ruling(SCENE, plain)
    assert (told.style, told.headline, told.detail) == (MEASURED_STYLE, f"p01 → p02: {said}", "")


def test_a_ruling_without_places_is_not_drawn() -> None:
    assert drawable_rulings(SCENE, [Verdict({"eligible": True}, "may shoot", (), value=True)]) == []


@pytest.mark.parametrize(
    ("distance_mm", "reach_mm", "game", "said"),
    [
        (458.68, 0.51, "legion", "458.7 ± 0.5 mm (95 %)"),
        (458.68, 0.0, "legion", "458.7 mm"),
        (458.68, 0.004, "legion", "458.7 ± 0.1 mm (95 %)"),
        (254.0, 0.51, "skirmish", "10.00 ± 0.02 in (95 %)"),
        (254.0, 0.0, "positioning", "10.00 in"),
    ],
)
def test_lengths(distance_mm: float, reach_mm: float, game: str, said: str) -> None:
    assert format_length(distance_mm, reach_mm, Scene(game, Table(900, 600), ()).unit) == said


def test_lines_are_named_by_the_ruler_s_segments() -> None:
    told = drawable_ruling(SCENE, RULINGS[0])
    assert [told.line_name(line) for line in told.lines_mm] == ["1", "2", "3", "4", "5"]
    assert told.line_name(76.2) == "76.2 mm"
    inches = drawable_ruling(Scene("skirmish", Table(900, 600), pieces()), RULINGS[0])
    assert inches.line_name(76.2) == "3 in"
    assert told.nearest_line_mm == pytest.approx(457.2)


def test_a_scene_s_own_ruler_counts() -> None:
    short = Scene("legion", Table(900, 600), pieces(), ruler=Ruler.of_segments(100, 4))
    assert drawable_ruling(short, RULINGS[0]).line_name(300) == "3"


def test_the_line_is_drawn_at_the_higher_base() -> None:
    one, other, *_ = pieces()
    high = Piece("p02", other.base, other.x_mm, other.y_mm, z_mm=50)
    scene = Scene("legion", Table(900, 600), (one, high))
    assert drawable_ruling(scene, verdict("p01", "p02", "range 3", 3, {"3": 1.0})).z_mm == 50
