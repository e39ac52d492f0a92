"""Words take the room that is reckoned for them."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.picture.raster import render_png
from overruler.picture.svg import element, text_line
from overruler.picture.text_layout import FONT_PATH, fit_text, text_width, wrap_text

SENTENCE = "p01 → p02: range 4, 1.5 mm past the line, certain · 458.7 ± 0.3 mm"
text = st.text(st.characters(codec="latin-1", categories=("L", "N", "P")), max_size=40)


def inked_width(line: str, size: float) -> float:
    """How wide a line really is when it is drawn."""
    svg = element(
        "svg",
        text_line(line, 20, 60, size, "start", fill="#000"),
        width=2400,
        height=100,
        xmlns="http://www.w3.org/2000/svg",
    )
    drawn = cv2.imdecode(np.frombuffer(render_png(svg, 2400), np.uint8), cv2.IMREAD_UNCHANGED)
    assert drawn is not None
    columns = np.flatnonzero(drawn[..., 3].max(0) > 128)
    return float(columns[-1] + 1 - columns[0])


@pytest.mark.parametrize(
    "line", [SENTENCE, "too close to call", "WWWW", "p01", "illicit", "ÄÖÜ – ≈ × ✓"]
)
def test_the_width_is_that_of_the_drawn_line(line: str) -> None:
    """Between two strokes, because ink begins and ends inside a letter's own room."""
    drawn = inked_width(f"|{line}|", 40) - inked_width("||", 40)
    assert text_width(line) * 40 == pytest.approx(drawn, rel=0.015, abs=2)


@given(text, st.floats(5, 60), st.floats(20, 900))
def test_fitted_text_fits(line: str, size: float, room: float) -> None:
    shown, shrunk = fit_text(line, size, room)
    assert 0.6 * size - 1e-9 <= shrunk <= size
    assert text_width(shown) * shrunk <= room + 1e-6 or shown == "…"
    assert shown == line or shown.endswith("…")


def test_text_that_fits_is_left_alone() -> None:
    assert fit_text("range 3", 20, 500) == ("range 3", 20)


@given(
    st.lists(text.filter(lambda word: word and not word.isspace()), max_size=12), st.floats(60, 600)
)
def test_wrapping_keeps_every_word_in_its_order(sentence: list[str], room: float) -> None:
    line = " ".join(sentence)
    lines = wrap_text(line, 20, room)
    assert " ".join(lines).split() == line.split()
    assert all(text_width(one) * 20 <= room + 1e-6 or len(one.split()) == 1 for one in lines)


def test_the_font_travels_with_its_licence() -> None:
    licence = FONT_PATH.parent / "OFL.txt"
    assert "SIL OPEN FONT LICENSE Version 1.1" in licence.read_text(encoding="utf-8")
