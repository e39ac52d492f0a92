#!/usr/bin/env python3
"""A film forwards and then backwards: played over and over, it is a recording without a cut.

uv run tools/synthetic/there_and_back.py game.mp4 out/game-and-back.mp4
"""

import argparse
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av


def forwards(film: Path) -> Iterator[Any]:
    with av.open(str(film)) as container:
        yield from container.decode(video=0)


def backwards(film: Path) -> Iterator[Any]:
    """From one key picture to the next, the last stretch first: no more than one of them is held."""
    with av.open(str(film)) as container:
        stream: Any = container.streams.video[0]
        keys = sorted(
            {
                packet.pts
                for packet in container.demux(stream)
                if packet.is_keyframe and packet.pts is not None
            }
        )
        for key, end in reversed(list(zip(keys, [*keys[1:], None], strict=True))):
            container.seek(key, stream=stream, backward=True)
            pictures: list[Any] = []
            shown: Iterator[Any] = container.decode(stream)
            for picture in shown:
                if end is not None and picture.pts >= end:
                    break
                if picture.pts >= key:
                    pictures.append(picture)
            yield from reversed(pictures)


def there_and_back(film: Path, out: Path) -> None:
    """Write the film, H.264 at the same size and rate."""
    with av.open(str(film)) as container:
        given = container.streams.video[0]
        rate, size = given.average_rate or Fraction(30), (given.width, given.height)
    with av.open(str(out), "w") as container:
        stream: Any = container.add_stream(
            "libx264", rate=rate, options={"crf": "18", "preset": "veryfast", "threads": "1"}
        )
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        for number, picture in enumerate(_both(film)):
            shown: Any = picture.reformat(format="yuv420p")
            shown.pts, shown.time_base, shown.pict_type = number, 1 / rate, 0
            container.mux(stream.encode(shown))
        container.mux(stream.encode())


def _both(film: Path) -> Iterator[Any]:
    yield from forwards(film)
    yield from backwards(film)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("film", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    there_and_back(args.film, args.out)


if __name__ == "__main__":
    main()
