"""A photo that comes in on standard input, where its path is `-`."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from overruler.errors import BadInput

STANDARD_INPUT = "-"
"""The path that means standard input."""
MAX_STREAM_BYTES = 500_000_000
"""Most bytes that are read of a photo: more than 60 megapixels of 16 bits take as TIFF."""


@contextmanager
def photo_from_standard_input() -> Iterator[Path]:
    """Yield a temporary file with the bytes that come in; raises `BadInput` where none do."""
    data = _read_photo_bytes()
    with tempfile.TemporaryDirectory(prefix="overruler-") as folder:
        path = Path(folder, "photo")
        path.write_bytes(data)
        yield path


def _read_photo_bytes() -> bytes:
    stream = sys.stdin
    if stream is None or stream.isatty():
        raise BadInput("-: is the keyboard here: pipe a photo into it, or name a file")
    data = stream.buffer.read(MAX_STREAM_BYTES + 1)
    if not data:
        raise BadInput("-: nothing came in on standard input: pipe one photo into it")
    if len(data) > MAX_STREAM_BYTES:
        most = f"{MAX_STREAM_BYTES / 1e6:g} MB"
        raise BadInput(f"-: more than {most} came in on standard input: pipe one photo into it")
    return data
