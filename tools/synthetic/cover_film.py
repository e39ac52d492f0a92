#!/usr/bin/env python3
"""A film in front of which somebody stands for a while: a part of its picture is dark.

    uv run --extra video python tools/synthetic/cover_film.py film.mkv covered.mkv --from-s 13 --part 0,0.5

Its truth and its board file stay those of the film.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np

from synthetic.arrays import Picture
from synthetic.filming import FPS, STEPS_PER_S, write

DARK = (38, 34, 33)
"""The colour of a back, red green blue."""


def covered(
    film: Path, from_s: float, until_s: float, part: tuple[float, float]
) -> Iterator[Picture]:
    """The pictures of each step, covered within these times; `part` is the share of the width from and to."""
    with av.open(str(film)) as container:
        for number, shot in enumerate(container.decode(video=0)):
            if number % (FPS // STEPS_PER_S):
                continue
            picture = np.array(shot.to_ndarray(format="rgb24"), np.uint8)
            left, right = (round(share * picture.shape[1]) for share in part)
            if from_s <= number / FPS < until_s:
                picture[:, left:right] = DARK
            yield picture


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("film", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--from-s", type=float, default=0.0)
    parser.add_argument("--until-s", type=float, default=float("inf"))
    part = "which part of the width, as shares from the left"
    parser.add_argument("--part", default="0,0.5", metavar="FROM,TO", help=part)
    wish = parser.parse_args()
    first, last = (float(share) for share in wish.part.split(","))
    with av.open(str(wish.film)) as container:
        size_px = container.streams.video[0].width, container.streams.video[0].height
    write(wish.out, size_px, covered(wish.film, wish.from_s, wish.until_s, (first, last)))


if __name__ == "__main__":
    main()
