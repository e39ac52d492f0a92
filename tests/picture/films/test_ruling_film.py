"""The film of a ruling: it begins with the bare table and ends with the whole picture."""

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from overruler import picture
from overruler.errors import MissingExtra
from overruler.picture import films
from overruler.picture.answer_style import CLOSE_STYLE, NO_STYLE, YES_STYLE
from overruler.picture.films import ruling_film
from overruler.picture.films.film_encoding import even_size
from overruler.picture.films.gif import STILL_LEVELS, encode_gif
from overruler.picture.raster import Pixels, render_layer, resize_by_area
from overruler.picture.report_drawing import Drawing
from overruler.picture.svg import element
from tests.reports import RULINGS, report

REPORT = report(*RULINGS)


@pytest.fixture(scope="module")
def gif() -> Image.Image:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ruling_film, "MAX_SIDE_PX", {".gif": 640})  # small ones are quick
        return Image.open(io.BytesIO(picture.annotated_bytes(REPORT, ".gif")))


def shown(film: Image.Image, number: int) -> Pixels:
    """One of its pictures (H, W, 3), blue green red."""
    film.seek(number)
    return np.asarray(film.convert("RGB"))[..., ::-1]


def mean_change(one: Pixels, other: Pixels) -> float:
    return float(np.abs(one.astype(float) - other).mean())


def test_a_gif_goes_from_the_bare_table_to_the_whole_picture(gif: Image.Image) -> None:
    frames = gif.n_frames  # type: ignore[attr-defined]
    size = gif.size
    bare = resize_by_area(REPORT.frame.pixels, size)
    whole = resize_by_area(picture.annotated_pixels(REPORT), size)
    first, last = shown(gif, 0), shown(gif, frames - 1)
    assert gif.info["duration"] > 3000  # the last is read
    assert gif.info["loop"] == 0
    assert mean_change(first, bare) < 6  # 255 colours
    assert mean_change(last, whole) < 6
    assert mean_change(first, whole) > 12
    changes = [mean_change(shown(gif, number), whole) for number in range(frames)]
    assert changes == sorted(changes, reverse=True)  # nothing that was shown goes again


def test_answers_keep_their_colours_in_a_gif(gif: Image.Image) -> None:
    """They are a small part of the picture, and a GIF has 256 colours."""
    last = shown(gif, gif.n_frames - 1).astype(int)  # type: ignore[attr-defined]
    for style in (YES_STYLE, NO_STYLE, CLOSE_STYLE):
        wanted = [int(style.colour[k : k + 2], 16) for k in (5, 3, 1)]
        assert (np.abs(last - wanted).max(-1) < 20).sum() > 30


def test_a_webm_has_the_same_length_and_end(monkeypatch: pytest.MonkeyPatch) -> None:
    av = pytest.importorskip("av")
    monkeypatch.setattr(ruling_film, "MAX_SIDE_PX", {".webm": 320})  # small ones are quick
    with av.open(io.BytesIO(picture.annotated_bytes(REPORT, ".webm"))) as film:
        *_, last = film.decode(video=0)
        assert film.duration / 1e6 == pytest.approx(6.1, abs=0.1)
    pixels = last.to_ndarray(format="bgr24")
    whole = resize_by_area(picture.annotated_pixels(REPORT), (last.width, last.height))
    assert mean_change(pixels, whole) < 6


@pytest.mark.parametrize("longest_px", range(120, 126))
def test_a_ruling_is_drawn_at_any_size_of_the_film(
    monkeypatch: pytest.MonkeyPatch, longest_px: int
) -> None:
    monkeypatch.setattr(ruling_film, "MAX_SIDE_PX", {".gif": longest_px})
    film = Image.open(io.BytesIO(picture.annotated_bytes(REPORT, ".gif")))
    assert 0 <= longest_px - max(film.size) < 2
    assert not any(side % 2 for side in film.size)


@settings(max_examples=30)
@given(
    width=st.integers(40, 5000),
    height=st.integers(40, 5000),
    longest_px=st.sampled_from(list(ruling_film.MAX_SIDE_PX.values())),
)
def test_the_parts_of_a_film_fill_it_whatever_the_size_of_the_photo(
    width: int, height: int, longest_px: int
) -> None:
    ground = (element("rect", width=width, height=height),)
    drawing = Drawing(ground, (), (), (), (width, height), 0)
    size = even_size((width, height), min(1.0, longest_px / max(width, height)))
    layer = render_layer(drawing.document_of(drawing.ground, size), size)
    assert layer[..., 3].min() == 255


def test_noise_does_not_change_a_gif() -> None:
    rng = np.random.default_rng(3)
    table = np.full((60, 80, 3), 120, np.uint8)
    noisy = [table + rng.integers(0, STILL_LEVELS, table.shape, np.uint8) for _ in range(5)]
    noisy[3][20:30, 20:30] = 250
    data = encode_gif(((0.1 * k, pixels) for k, pixels in enumerate(noisy)), 0.5)
    film = Image.open(io.BytesIO(data))
    assert film.n_frames == 3  # type: ignore[attr-defined]
    assert shown(film, 1)[25, 25] == pytest.approx([250, 250, 250], abs=8)
    assert shown(film, 0)[:10] == pytest.approx(shown(film, 2)[:10])


def test_a_webm_without_its_library_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(films, "find_spec", lambda name: None)
    films.check_film_ending(Path("a.gif"))
    with pytest.raises(MissingExtra, match="a GIF does not"):
        films.check_film_ending(Path("a.webm"))
