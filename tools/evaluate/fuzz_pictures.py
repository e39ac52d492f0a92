#!/usr/bin/env python3
"""Does any photo or film, however damaged, get more than pictures or one clear line?

    uv run tools/evaluate/fuzz_pictures.py                        # ten thousand files
    uv run tools/evaluate/fuzz_pictures.py --count 100000 --seed 7

Small sound files of every kind are made, then bytes of them are flipped, cut out, repeated, zeroed
and exchanged. Each is opened and read to its end, in processes that end if one takes too long.
The law: pictures, or an `OverrulerError` of one line. Everything else is printed.
"""

import argparse
import faulthandler
import io
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from overruler.errors import OverrulerError

MAX_S = 30.0
"""Longest time that a file may take, in s."""
BATCH = 1000
"""Files that a process reads in one go."""
PROGRESS = 5000
"""After so many files a line says how far the run is."""
SIZE_PX = (80, 64)
"""Width and height of the photos and films: small, for many of them."""
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
"""The bytes with which a PNG begins."""
PICTURE_COUNT = 6
"""Pictures of each film."""

Outcome = tuple[str, float, str]
"""What came out (`read`, `refused`, `broken`), how long it took in s, and the traceback."""


def rough_pixels(seed: int = 0) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Blocks of random colours."""
    width, height = SIZE_PX
    draw = np.random.default_rng(seed)
    blocks = draw.integers(0, 255, (height // 8, width // 8, 3), np.uint8)
    return np.kron(blocks, np.ones((8, 8, 1), np.uint8))


def photo_bytes(kind: str, mode: str = "RGB", **options: Any) -> bytes:
    """A sound photo, with metadata; a `mode` of Pillow's names its channels."""
    exif = Image.Exif()
    exif[0x0112] = 6
    if "compression" not in options:  # libtiff writes none of these
        exif.get_ifd(0x8769)[0xA405] = 26
    file = io.BytesIO()
    picture = Image.fromarray(rough_pixels()).convert(mode)
    if kind == "HEIF":
        from pillow_heif import from_pillow

        from_pillow(picture).save(file, exif=exif.tobytes())
    else:
        picture.save(file, kind, exif=exif.tobytes(), **options)
    return file.getvalue()


def film_bytes(
    ending: str, codec: str = "libx264", pixels: str = "yuv420p", **options: str
) -> bytes:
    """A sound film; `options` are those of FFmpeg's muxers."""
    import av

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{ending}"
        with av.open(str(path), "w", options=options) as container:
            stream: Any = container.add_stream(codec, rate=25)
            stream.width, stream.height, stream.pix_fmt = *SIZE_PX, pixels
            quiet = {"x265-params": "log-level=none:pools=none"} if codec == "libx265" else {}
            # one thread: the same bytes on every machine
            stream.options = {"threads": "1", **quiet}
            for number in range(PICTURE_COUNT):
                frame = av.VideoFrame.from_ndarray(rough_pixels(number // 3), format="bgr24")
                frame.pts, frame.time_base = number, Fraction(1, 25)
                container.mux(stream.encode(frame))
            container.mux(stream.encode())
        return path.read_bytes()


MAKERS: dict[str, Callable[[], bytes]] = {
    ".jpg": partial(photo_bytes, "JPEG"),
    ".progressive.jpg": partial(photo_bytes, "JPEG", progressive=True),
    ".grey.jpg": partial(photo_bytes, "JPEG", "L"),
    ".cmyk.jpg": partial(photo_bytes, "JPEG", "CMYK"),
    ".png": partial(photo_bytes, "PNG"),
    ".palette.png": partial(photo_bytes, "PNG", "P"),
    ".16.png": partial(photo_bytes, "PNG", "I;16"),
    ".alpha.png": partial(photo_bytes, "PNG", "RGBA"),
    ".webp": partial(photo_bytes, "WEBP"),
    ".lossless.webp": partial(photo_bytes, "WEBP", lossless=True),
    ".tif": partial(photo_bytes, "TIFF"),
    ".lzw.tif": partial(photo_bytes, "TIFF", compression="tiff_lzw"),
    ".jpeg.tif": partial(photo_bytes, "TIFF", compression="jpeg"),
    ".16.tif": partial(photo_bytes, "TIFF", "I;16"),
    ".bmp": partial(photo_bytes, "BMP"),
    ".gif": partial(photo_bytes, "GIF"),
    ".heic": partial(photo_bytes, "HEIF"),
    ".avif": partial(photo_bytes, "AVIF"),
    ".mp4": partial(film_bytes, ".mp4"),
    ".fragments.mp4": partial(film_bytes, ".mp4", movflags="frag_keyframe+empty_moov"),
    ".hevc.mp4": partial(film_bytes, ".mp4", "libx265"),
    ".mkv": partial(film_bytes, ".mkv"),
    ".ffv1.mkv": partial(film_bytes, ".mkv", "ffv1"),
    ".webm": partial(film_bytes, ".webm", "libvpx"),
    ".ts": partial(film_bytes, ".ts"),
    ".mpeg2.ts": partial(film_bytes, ".ts", "mpeg2video"),
    ".avi": partial(film_bytes, ".avi"),
    ".mpeg4.avi": partial(film_bytes, ".avi", "mpeg4"),
    ".mjpeg.avi": partial(film_bytes, ".avi", "mjpeg", "yuvj420p"),
    ".raw.avi": partial(film_bytes, ".avi", "rawvideo"),
    ".mov": partial(film_bytes, ".mov"),
}
"""What makes a sound file of each kind, by its ending."""
FILM_ENDINGS = (".mp4", ".mkv", ".webm", ".ts", ".avi", ".mov")


@cache
def sound_files() -> dict[str, bytes]:
    """Sound files by their endings."""
    files: dict[str, bytes] = {}
    for ending, make in MAKERS.items():
        try:
            files[ending] = make()
        except Exception as error:  # this installation lacks the part
            print(f"left out: {ending} ({type(error).__name__})", file=sys.stderr)
    return files


def mutate(data: bytes, draw: random.Random) -> bytes:
    """Damage a file at one to eight places."""
    broken = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 8))):
        at = draw.randrange(max(len(broken), 1))
        # headers hold most of what can go wrong
        at = at if draw.random() < 0.5 else at % 600
        length = draw.choice((1, 4, 40, 400))
        how = draw.randrange(6)
        if how == 0:
            broken[at : at + 1] = bytes([draw.randrange(256)])
        elif how == 1:
            del broken[at : at + length]
        elif how == 2:
            broken[at:at] = broken[at : at + length]
        elif how == 3:
            broken[at : at + length] = bytes(length)
        elif how == 4:
            broken[at : at + 4] = draw.choice((b"\xff" * 4, b"\x7f\xff\xff\xff", b"\x80\0\0\0"))
        else:
            del broken[at:]
    return bytes(broken)


def mend_checksums(data: bytes) -> bytes:
    """Make the checksums of a PNG's chunks right again, so that what they hold is looked at."""
    mended, at = bytearray(data), len(PNG_SIGNATURE)
    while at + 12 <= len(mended):
        end = at + 8 + int.from_bytes(mended[at : at + 4], "big")
        if end + 4 > len(mended):
            break
        mended[end : end + 4] = zlib.crc32(mended[at + 4 : end]).to_bytes(4, "big")
        at = end + 4
    return bytes(mended)


def damaged_file(data: bytes, draw: random.Random) -> bytes:
    """A damaged file; most PNGs have right checksums again."""
    broken = mutate(data, draw)
    is_mended = broken.startswith(PNG_SIGNATURE) and draw.random() < 0.8
    return mend_checksums(broken) if is_mended else broken


def read_file(path: Path, is_film: bool) -> None:
    """Read all pictures of a photo or a film."""
    if not is_film:
        from overruler.sources.photo import load_photo

        load_photo(path)
        return
    from overruler.sources.video import Film

    with Film(path) as film:
        for shot in film:
            shot.colours(None)
        film.problems()


def try_file(path: Path, is_film: bool) -> Outcome:
    """Read a file and tell what came out."""
    start = time.perf_counter()
    try:
        read_file(path, is_film)
    except OverrulerError as error:
        what = "refused" if str(error) and "\n" not in str(error) else "broken"
        return what, time.perf_counter() - start, f"no line: {error!r}" * (what == "broken")
    except Exception:
        return "broken", time.perf_counter() - start, traceback.format_exc()
    return "read", time.perf_counter() - start, ""


def run_batch(seed: int, count: int, watched: bool = False) -> Iterator[tuple[str, Outcome]]:
    """Read `count` damaged files; the same seed makes the same files.

    Where it is `watched`, a file that takes longer than `MAX_S` ends the process.
    """
    draw = random.Random(seed)
    files = sound_files()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(count):
            ending = draw.choice(sorted(files))
            path = Path(folder) / f"a{ending}"
            path.write_bytes(damaged_file(files[ending], draw))
            if watched:
                faulthandler.dump_traceback_later(MAX_S, exit=True)
            yield ending, try_file(path, ending.endswith(FILM_ENDINGS))
            faulthandler.cancel_dump_traceback_later()
            path.unlink()


def print_batch(seed: int, count: int) -> None:
    """Read a batch and print its outcomes, one a line; a file that hangs ends the process."""
    for ending, outcome in run_batch(seed, count, watched=True):
        print(json.dumps([ending, outcome]), flush=True)
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps(["peak", peak_kib]))


def run_process(seed: int, count: int) -> list[Any]:
    """Run a batch in a process of its own; one that dies or hangs counts as broken."""
    command = [sys.executable, __file__, "--batch", str(seed), "--count", str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode:
        words = f"batch of seed {seed}, file {len(lines)}: {done.stderr[-3000:]}"
        lines.append(["?", ["broken", 0.0, words]])
    return lines


def run_all(count: int, seed: int, workers: int) -> Iterator[list[Any]]:
    """Run all batches, and yield their lines."""
    sizes = [min(BATCH, count - start) for start in range(0, count, BATCH)]
    with ThreadPoolExecutor(workers) as pool:
        seeds = [seed + number for number in range(len(sizes))]
        for lines in pool.map(run_process, seeds, sizes):
            yield from lines


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch", type=int, help="read one batch of this seed (used by itself)")
    args = parser.parse_args()
    if args.batch is not None:
        print_batch(args.batch, args.count)
        return 0
    return report(args.count, args.seed, args.workers)


def report(count: int, seed: int, workers: int) -> int:
    """Run everything and print the figures; 1 if anything but pictures and lines came out."""
    counts: Counter[tuple[str, str]] = Counter()
    faults: Counter[str] = Counter()
    slowest_s, peak_kib = 0.0, 0
    for ending, outcome in run_all(count, seed, workers):
        if ending == "peak":
            peak_kib = max(peak_kib, outcome)
            continue
        what, spent_s, trace = outcome
        counts[ending, what] += 1
        slowest_s = max(slowest_s, spent_s)
        if what == "broken":
            faults[trace] += 1
        if (done := sum(counts.values())) % PROGRESS == 0:
            print(f"{done} files, {sum(faults.values())} faults", flush=True)
    for (ending, what), number in sorted(counts.items()):
        print(f"{ending:18} {what:8} {number:7}")
    for trace, number in faults.most_common(20):
        print(f"--- {number} times:\n{trace}")
    print(
        f"{sum(counts.values())} files: {sum(faults.values())} tracebacks or hangs over "
        f"{MAX_S:g} s, slowest {slowest_s:.2f} s, largest process {peak_kib / 2**20:.2f} GiB"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
