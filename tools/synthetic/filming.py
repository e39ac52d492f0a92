"""Films of pieces that are carried one after another: their paths, their times, and the film's file."""

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from synthetic.arrays import Array, Picture, Rng, Shape

FPS, STEPS_PER_S = 30, 10
"""Pictures a second, and how often they change."""
LIFT_MM, HAND_S = 5.0, 0.6
"""How high a piece is lifted on its way, and how long the hand is there before and after."""


def any_path(rng: Rng, start: Array) -> Array:
    """Straight legs, one to three, from a place to anywhere."""
    path = [start]
    for _ in range(int(rng.choice([1, 1, 2, 3]))):
        angle, length = rng.uniform(0, 2 * np.pi), rng.uniform(35, 170)
        path.append(path[-1] + length * ahead(angle))
    return np.array(path)


def times(rng: Rng, now_s: float, path_mm: Array) -> tuple[float, float]:
    """When the piece leaves and when it arrives, where the hand reaches for it now; one that stays is held a while."""
    length_mm = float(np.hypot(*np.diff(path_mm, axis=0).T).sum())
    long_s = max(0.8, length_mm / rng.uniform(90, 150)) if length_mm else rng.uniform(2, 7)
    return round(now_s + HAND_S, 1), round(now_s + HAND_S + long_s, 1)


def ahead(angle: float) -> Array:
    """The unit vector in a direction."""
    return np.array([np.cos(angle), np.sin(angle)])


def write(path: Path, size_px: Shape, pictures: Iterable[Picture], crf: str = "18") -> None:
    """Pictures (H, W, 3) of each step, red green blue, as a film; `crf` says how coarsely H.264 codes it."""
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(
            "libx264", rate=FPS, options={"crf": crf, "preset": "veryfast", "threads": "1"}
        )
        stream.width, stream.height, stream.pix_fmt = *size_px, "yuv420p"
        for step, picture in enumerate(pictures):
            for k in range(FPS // STEPS_PER_S):
                shot = av.VideoFrame.from_ndarray(picture, format="rgb24")
                shot.pts, shot.time_base = step * (FPS // STEPS_PER_S) + k, Fraction(1, FPS)
                container.mux(stream.encode(shot))
        container.mux(stream.encode())


def step_of(time_s: float) -> int:
    """The number of the picture at a time."""
    return round(time_s * STEPS_PER_S)
