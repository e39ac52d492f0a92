"""A film of a small table: one piece slides, another stands, and the board file beside it."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import islice
from pathlib import Path

import av
import numpy as np

from overruler.board import Board
from overruler.geometry.camera import Camera
from synthetic.flat_table import Plinth, render_table
from tests.tables import BOARD_MM, SIZE_PX, camera_over, eight_markers

STANDS, STARTS, ENDS = (520.0, 170.0), (180.0, 150.0), (330.0, 260.0)
MOVES_S = 2.0, 3.4
LONG_S, SHOTS_PER_S = 10.0, 10


Pixels = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
HALF_PX = 40


def _smaller(camera: Camera, share: float) -> Camera:
    """The same view in fewer pixels."""
    matrix = camera.matrix * np.array([[share], [share], [1.0]])
    matrix[:2, 2] += (share - 1) / 2  # pixels are counted from the middle of the first one
    return camera.with_lens(matrix, camera.distortion)


NEAR, OPPOSITE = camera_over(9.0), _smaller(camera_over(20.0, turn_deg=170.0), 0.6)
"""Cameras over the table, on two sides of it, the second a cheap one."""
SIZES_PX = {NEAR: SIZE_PX, OPPOSITE: (720, 540)}
"""Sizes of their pictures."""


@cache
def rest(camera: Camera, at: tuple[float, float]) -> Pixels:
    """The table with the piece that slides at a place."""
    rim = (0.03, 0.03, 0.04)
    plinths = [Plinth(*at, 27.0, rim=rim), Plinth(*STANDS, 50.0, rim=rim)]
    return render_table(camera, SIZES_PX[camera], BOARD_MM, plinths, eight_markers(), noise=1.0)


def pictures(camera: Camera = NEAR) -> Iterator[Pixels]:
    """The table at each step. Drawing is slow: only the two rests are drawn, between them the piece is pasted."""
    rests = [rest(camera, at) for at in (STARTS, ENDS)]
    first, last = (
        np.rint(camera.project(np.array([*at, 0.0]))).astype(int) for at in (STARTS, ENDS)
    )
    bare, piece = rests[0].copy(), rests[0][_round(first)]
    bare[_round(first)] = rests[1][_round(first)]
    for step in range(round(LONG_S * SHOTS_PER_S)):
        share = float(np.clip((step / SHOTS_PER_S - MOVES_S[0]) / (MOVES_S[1] - MOVES_S[0]), 0, 1))
        if share in (0, 1):
            yield rests[int(share)]
            continue
        shown = bare.copy()
        shown[
            _round(np.rint(first + (3 * share**2 - 2 * share**3) * (last - first)).astype(int))
        ] = piece
        yield shown


def _round(at: Pixels) -> tuple[slice, slice]:
    return slice(at[1] - HALF_PX, at[1] + HALF_PX), slice(at[0] - HALF_PX, at[0] + HALF_PX)


def written(
    path: Path, camera: Camera = NEAR, late_s: float = 0.0, until_s: float = LONG_S
) -> Path:
    """Write the film from `late_s` to `until_s`, and its board file (.toml)."""
    shown = islice(pictures(camera), round(late_s * SHOTS_PER_S), round(until_s * SHOTS_PER_S))
    with av.open(str(path), "w") as container:
        stream = container.add_stream(
            "libx264",
            rate=SHOTS_PER_S,
            options={"crf": "16", "g": "10", "preset": "fast", "threads": "1"},
        )
        stream.width, stream.height, stream.pix_fmt = *SIZES_PX[camera], "yuv420p"
        for step, pixels in enumerate(shown):
            frame = av.VideoFrame.from_ndarray(pixels, format="bgr24")
            frame.pts, frame.time_base = step, Fraction(1, SHOTS_PER_S)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    Board("film", 45.0, "DICT_4X4_50", *BOARD_MM, eight_markers()).save(path.with_suffix(".toml"))
    return path
