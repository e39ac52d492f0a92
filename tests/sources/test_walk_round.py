"""Of a film of a walk round the table the sharpest pictures are kept, all along its time."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from overruler.errors import CannotMeasure
from overruler.sources.picture_kind import is_film_file
from overruler.sources.walk_round import CANDIDATES, sharpest_pictures

av: Any = pytest.importorskip("av", reason="films need PyAV")


def walk(path: Path, duration_s: float, step_s: float = 0.1) -> Path:
    """A film of a texture that is smeared but in every fourth picture, whose brightness counts time."""
    texture = np.random.default_rng(3).integers(0, 120, (120, 160, 3)).astype(np.uint8)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=100, options={"crf": "8", "threads": "1"})
        stream.width, stream.height, stream.pix_fmt = 160, 120, "yuv420p"
        stream.time_base = stream.codec_context.time_base = Fraction(1, 100)
        for k in range(round(duration_s / step_s)):
            shown = texture if k % 4 == 2 else cv2.blur(texture, (9, 1))
            pixels = np.asarray(shown + np.uint8(min(k, 120)), np.uint8)
            frame = av.VideoFrame.from_ndarray(pixels, format="bgr24")
            frame.pts, frame.time_base = round(k * step_s * 100), Fraction(1, 100)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


@pytest.mark.parametrize("duration_s", [2.0, 8.0])
def test_the_sharp_pictures_are_kept_in_their_order(tmp_path: Path, duration_s: float) -> None:
    said: list[str] = []
    path = walk(tmp_path / "walk.mp4", duration_s)
    kept = sharpest_pictures(path, said.append)
    times = np.array([float(frame.name.rsplit(" at ")[1].removesuffix(" s")) for frame in kept])
    assert 4 <= len(kept) <= CANDIDATES
    assert (np.diff(times) > 0).all()
    assert np.diff([0, *times, duration_s]).max() < 0.25 * duration_s + 0.5
    assert (np.round(times * 10).astype(int) % 4 == 2).all()
    assert said[0].startswith("reading the film")


def test_a_film_is_told_from_a_photo(tmp_path: Path) -> None:
    photo = tmp_path / "photo.mp4"
    photo.write_bytes(cv2.imencode(".jpg", np.zeros((64, 64, 3), np.uint8))[1].tobytes())
    assert not is_film_file(photo)
    assert not is_film_file(tmp_path / "nothing.mp4")
    assert is_film_file(walk(tmp_path / "walk.mkv", 1.0))


def test_a_long_film_is_no_walk(tmp_path: Path) -> None:
    with pytest.raises(CannotMeasure, match="a walk round the table at most 180 s; cut it"):
        sharpest_pictures(walk(tmp_path / "long.mp4", 200.0, step_s=5.0), lambda text: None)
