"""A stinger covers the whole screen when the scene changes, and nothing at its ends."""

import io

import numpy as np
import pytest
from PIL import Image

from overruler.picture.films import stinger
from overruler.picture.films.stinger import CUT_S, HOLD_S, LENGTH_S, StingerLook, draw_moment
from overruler.picture.raster import render_png

Alpha = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
LOOK = StingerLook("Ruling", "#101418", "#ffffff", ("#e5383b", "#4d8dff"))


def alpha_at(time_s: float, look: StingerLook = LOOK) -> Alpha:
    """How opaque a small picture of a moment is (H, W), 0 to 255."""
    picture = Image.open(io.BytesIO(render_png(draw_moment(look, time_s), 320)))
    return np.asarray(picture.convert("RGBA"))[..., 3]


@pytest.mark.parametrize("stripes", [1, 2, 3])
def test_the_scene_changes_unseen(stripes: int) -> None:
    look = StingerLook("Ruling", "#101418", "#ffffff", ("#e5383b",) * stripes)
    for time_s in np.linspace(CUT_S - HOLD_S / 2, CUT_S + HOLD_S / 2, 5):
        assert alpha_at(time_s, look).min() == 255
    assert alpha_at(0.0, look).max() == 0
    assert alpha_at(LENGTH_S, look).max() == 0


def test_what_comes_covers_more_and_more_and_then_less() -> None:
    covered = [int(alpha_at(time_s).sum()) for time_s in np.linspace(0, LENGTH_S, 15)]
    assert covered[:8] == sorted(covered[:8])
    assert covered[7:] == sorted(covered[7:], reverse=True)


def test_the_film_has_alpha_and_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    av = pytest.importorskip("av", reason="films need PyAV")
    monkeypatch.setattr(stinger, "FRAMES_PER_S", 5)  # fewer pictures are quick
    decoder = av.CodecContext.create("libvpx-vp9", "r")  # FFmpeg's own leaves alpha out
    with av.open(io.BytesIO(stinger.encode_stinger(LOOK))) as film:
        stream = film.streams.video[0]
        assert stream.metadata["alpha_mode"] == "1"
        shown = [one for packet in film.demux(stream) for one in decoder.decode(packet)]
    alphas = [one.to_ndarray(format="rgba")[..., 3] for one in shown]
    assert len(alphas) == round(5 * LENGTH_S)
    assert np.median(alphas[0]) == 0
    assert alphas[round(5 * CUT_S)].min() > 250  # no streaks of the scene below
