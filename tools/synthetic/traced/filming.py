"""What drawn and traced films have in common: pieces carried one after another, their truth, and the film's file."""

import argparse
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from synthetic.arrays import Rng

FPS, STEPS_PER_S = 30, 10
"""Pictures a second, and how often they change."""
LIFT_MM, HAND_S = 5.0, 0.6
"""How high a piece is lifted on its way, and how long the hand is there before and after."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Carried:
    """One piece on its way along straight legs."""

    path_mm: Array
    """(L + 1, 2)."""
    start_s: float
    end_s: float

    @property
    def lift_mm(self) -> float:
        """How high it is lifted, half way."""
        return LIFT_MM

    def at(self, time_s: float) -> tuple[Array, float, float]:
        """Where the piece is, how high, and what share of the way it has come: slowly at first and at last."""
        q = float(np.clip((time_s - self.start_s) / (self.end_s - self.start_s), 0, 1))
        share = 3 * q * q - 2 * q**3
        along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(self.path_mm, axis=0).T))])
        place = [np.interp(share * along[-1], along, axis) for axis in self.path_mm.T]
        return np.array(place), self.lift_mm * float(np.sin(np.pi * q)), share

    @property
    def hand_from_s(self) -> float:
        return round(self.start_s - HAND_S, 1)

    @property
    def hand_to_s(self) -> float:
        return self.end_s + HAND_S

    def gone(self, time_s: float) -> float:
        """How far the hand is from the piece: 0 where it holds it, 1 and more where it is not over the table."""
        return max(self.start_s - time_s, time_s - self.end_s, 0.0) / HAND_S

    def truth(self, piece: str) -> dict[str, Any]:
        return {
            "piece": piece,
            "t_start_s": self.start_s,
            "t_end_s": self.end_s,
            "from_mm": self.path_mm[0].tolist(),
            "to_mm": self.path_mm[-1].tolist(),
            "path_length_mm": float(np.hypot(*np.diff(self.path_mm, axis=0).T).sum()),
            "path_mm": self.path_mm.tolist(),
            "hand_from_s": self.hand_from_s,
            "hand_to_s": self.hand_to_s,
        }


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


def write(
    path: Path,
    size_px: tuple[int, int],
    pictures: Iterable[NDArray[np.uint8]],
    order: str,
    crf: str = "18",
) -> None:
    """Pictures (H, W, 3) of each step as a film; `order` is `rgb24` or `bgr24`, `crf` how coarsely H.264 codes it."""
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(
            "libx264", rate=FPS, options={"crf": crf, "preset": "veryfast"}
        )
        stream.width, stream.height, stream.pix_fmt = *size_px, "yuv420p"
        for step, picture in enumerate(pictures):
            for k in range(FPS // STEPS_PER_S):
                shot = av.VideoFrame.from_ndarray(picture, format=order)
                shot.pts, shot.time_base = step * (FPS // STEPS_PER_S) + k, Fraction(1, FPS)
                container.mux(stream.encode(shot))
        container.mux(stream.encode())


def parser_of(about: str | None, moves: int, out: str) -> argparse.ArgumentParser:
    """The command line of both, with its defaults."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1, help="films, with seeds one after another")
    parser.add_argument("--moves", type=int, default=moves)
    parser.add_argument("--out", type=Path, default=Path(out))
    return parser


def films(parser: argparse.ArgumentParser, film: Callable[[int, argparse.Namespace], Path]) -> None:
    """Write the film of each seed as it is wished."""
    wish = parser.parse_args()
    wish.out.mkdir(parents=True, exist_ok=True)
    for seed in range(wish.seed, wish.seed + wish.count):
        print(film(seed, wish))
