"""Films of odd make, written packet by packet from a sound one."""

import struct
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
RATE = 10


def corner_pictures(count: int, size: tuple[int, int]) -> list[Pixels]:
    """Pictures with a bright upper left corner, each darker elsewhere than the one before."""
    width, height = size
    pictures = []
    for number in range(count):
        pixels = np.full((height, width, 3), 150 - number, np.uint8)
        pixels[: height // 3, : width // 3] = 250
        pictures.append(pixels)
    return pictures


def noisy_pictures(count: int) -> list[Pixels]:
    """Pictures that take many bytes each, so that a part of the file is a part of the film."""
    random = np.random.default_rng(1)
    return [
        pixels - random.integers(0, 60, pixels.shape, np.uint8)
        for pixels in corner_pictures(count, (192, 128))
    ]


def write_film(
    path: Path, pictures: Sequence[Pixels], codec: str = "libx264", **stream_options: Any
) -> Path:
    """Write pictures as a film of `RATE` a second, with two B-frames between others."""
    import av

    options = stream_options.pop(
        "options", {"crf": "10", "bf": "2", "g": "10", "sc_threshold": "0"}
    )
    kind, asked = stream_options.pop("format", None), stream_options.pop("container", {})
    with av.open(str(path), "w", format=kind, options=asked) as container:
        stream: Any = container.add_stream(codec, rate=RATE, options=options)
        stream.height, stream.width = pictures[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        for key, value in stream_options.items():
            setattr(stream.codec_context, key, value)
        for number, pixels in enumerate(pictures):
            frame = av.VideoFrame.from_ndarray(pixels, format="bgr24")
            frame.pts, frame.time_base = number, Fraction(1, RATE)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def with_display_matrix(path: Path, matrix: Sequence[int]) -> Path:
    """Put a display matrix (nine numbers) into the header of an MP4's track."""
    data = bytearray(path.read_bytes())
    unit = struct.pack(">9i", 65536, 0, 0, 0, 65536, 0, 0, 0, 1 << 30)
    track = data.index(b"tkhd")
    at = data.index(unit, track)
    data[at : at + 36] = struct.pack(">9i", *matrix)
    path.write_bytes(data)
    return path


def remuxed(source: Path, path: Path, **changes: Any) -> Path:
    """Copy a film's packets; `stamp` gives a packet's new times (pts, dts) by its number."""
    import av

    stamp = changes.get("stamp")
    with av.open(str(source)) as old, av.open(str(path), "w") as new:
        stream = old.streams.video[0]
        copy = new.add_stream_from_template(stream)
        packets = [packet for packet in old.demux(stream) if packet.size]
        for number, packet in enumerate(packets):
            if stamp is not None:
                packet.pts, packet.dts = stamp(number)
                packet.time_base = Fraction(1, RATE)
            packet.stream = copy
            new.mux(packet)
    return path


def with_sound(source: Path, path: Path, late_s: float, sound_s: float) -> Path:
    """Copy an MP4's packets beside a silence that begins at 0, the pictures so much later."""
    import av

    with av.open(str(source)) as old, av.open(str(path), "w") as new:
        copy = new.add_stream_from_template(old.streams.video[0])
        sound: Any = new.add_stream("pcm_s16le" if path.suffix == ".mkv" else "aac", rate=8000)
        samples = np.zeros((1, round(8000 * sound_s)), np.float32)
        silence = av.AudioFrame.from_ndarray(samples, format="fltp", layout="mono")
        silence.sample_rate, silence.pts, silence.time_base = 8000, 0, Fraction(1, 8000)
        for part in av.AudioResampler(sound.format, "mono", 8000, 1024).resample(silence):
            new.mux(sound.encode(part))
        new.mux(sound.encode())
        for packet in old.demux(old.streams.video[0]):
            if packet.size:
                shift = round(late_s / packet.time_base)
                packet.pts, packet.dts = (packet.pts or 0) + shift, (packet.dts or 0) + shift
                packet.stream = copy
                new.mux(packet)
    return path
