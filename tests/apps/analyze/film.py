"""A film of a small table: one piece slides, another stands, and the board file beside it."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from overruler.board import Board
from synthetic.flat_table import Plinth, render_table
from tests.tables import BOARD_MM, SIZE_PX, camera_over, eight_markers

STANDS, STARTS, ENDS = (520.0, 170.0), (180.0, 150.0), (330.0, 260.0)
MOVES_S = 2.0, 3.4
LONG_S, SHOTS_PER_S = 10.0, 10


Pixels = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
HALF_PX = 40


def pictures() -> Iterator[Pixels]:
    """The table at each step. Drawing is slow: only the two rests are drawn, between them the piece is pasted."""
    camera, markers = camera_over(9.0), eight_markers()
    rim = (0.03, 0.03, 0.04)
    rests = [
        render_table(
            camera,
            SIZE_PX,
            BOARD_MM,
            [Plinth(*at, 27.0, rim=rim), Plinth(*STANDS, 50.0, rim=rim)],
            markers,
            noise=1.0,
        )
        for at in (STARTS, ENDS)
    ]
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


def written(path: Path) -> Path:
    """Write the film and its board file (.toml)."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(
            "libx264", rate=SHOTS_PER_S, options={"crf": "16", "g": "10", "preset": "fast"}
        )
        stream.width, stream.height, stream.pix_fmt = *SIZE_PX, "yuv420p"
        for step, pixels in enumerate(pictures()):
            frame = av.VideoFrame.from_ndarray(pixels, format="bgr24")
            frame.pts, frame.time_base = step, Fraction(1, SHOTS_PER_S)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    Board("film", 45.0, "DICT_4X4_50", *BOARD_MM, eight_markers()).save(path.with_suffix(".toml"))
    return path
