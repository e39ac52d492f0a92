"""Files of text and of bytes, read whole; every error names the file, what is wrong and what to do."""

import codecs
import os
import select
import stat
from pathlib import Path

from overruler.errors import BadInput

BYTE_ORDER_MARK = "\ufeff"
"""Begins texts that editors on Windows save."""
UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""First bytes of the texts that PowerShell's `>` writes."""
_PICTURE, _FILM, _PDF, _ZIP = "a picture", "a film", "a PDF file", "a ZIP file"
REMEDIES = {
    _PICTURE: "overruler measure takes photos",
    _FILM: "overruler analyze takes films",
    _PDF: "give the text itself",
    _ZIP: "unpack it, or give a dispute bundle to overruler settle",
}
"""What to do with each kind of file that is given in place of a text."""
_KIND_BY_START = (
    *((b"\xff\xd8\xff", _PICTURE), (b"\x89PNG", _PICTURE), (b"GIF8", _PICTURE)),
    *((b"II*\0", _PICTURE), (b"MM\0*", _PICTURE), (b"\x1a\x45\xdf\xa3", _FILM)),
    *((b"%PDF", _PDF), (b"PK\3\4", _ZIP)),
)
"""First bytes of files that are no text."""
_PICTURE_BRANDS = (b"hei", b"hev", b"mif", b"msf", b"avi")
"""How the brands of HEIC and AVIF pictures begin; films have others."""
MAX_TEXT_BYTES = 64_000_000
"""Largest text file that is read."""
PIPE_WAIT_S = 10.0
"""Longest wait for the next bytes of a pipe."""
_PIPE_READ_BYTES = 65_536
"""Bytes of one read from a pipe."""
_OPEN_FLAGS = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")
)
"""Flags of the system under which no file makes the program wait; Windows has only the last."""


def read_text(path: Path) -> str:
    """Read a text file (`decode_text`); `BadInput` where that fails."""
    return decode_text(read_bytes(path, MAX_TEXT_BYTES), str(path))


def decode_text(data: bytes, name: str) -> str:
    """Decode UTF-8, and UTF-16 that begins with its mark; `BadInput` with `name` for anything else."""
    if kind := binary_kind(data):
        raise BadInput(f"{name}: is {kind}, not text: {REMEDIES[kind]}")
    encoding = "utf-16" if data.startswith(UTF_16_MARKS) else "utf-8"
    try:
        return data.decode(encoding).removeprefix(BYTE_ORDER_MARK)
    except UnicodeDecodeError:
        raise BadInput(f"{name}: is not UTF-8 text: save it as such") from None


def binary_kind(data: bytes) -> str | None:
    """What a file with these first bytes is, one of `REMEDIES`; None for a text, and what is not known."""
    if data[4:8] == b"ftyp":
        return _PICTURE if data[8:12].startswith(_PICTURE_BRANDS) else _FILM
    if data[:4] == b"RIFF":
        return _PICTURE if data[8:12] == b"WEBP" else _FILM
    return next((kind for start, kind in _KIND_BY_START if data.startswith(start)), None)


def read_bytes(path: Path, most_bytes: int) -> bytes:
    """Read a file, or a pipe that a program writes into; raise `BadInput` where that fails or is too much."""
    try:
        handle = os.open(path, _OPEN_FLAGS)
        with os.fdopen(handle, "rb", buffering=0) as file:
            mode = os.fstat(handle).st_mode
            _check_mode(path, mode, pipes=True)
            data = _read_pipe(handle, most_bytes) if stat.S_ISFIFO(mode) else b""
            while len(data) <= most_bytes and (part := file.read(most_bytes + 1 - len(data))):
                data += part
    except IsADirectoryError:
        raise BadInput(f"{path}: is a folder: give a file") from None
    except (OSError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        reason = getattr(error, "strerror", None) or error
        raise BadInput(f"{path}: cannot be read: {reason}") from None
    if len(data) > most_bytes:
        raise BadInput(f"{path}: is larger than {most_bytes / 1e6:g} MB: give another file")
    return data


def check_is_file(path: Path) -> None:
    """Raise `BadInput` for a pipe, a device or a socket; what is not there is the reader's to report."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return
    _check_mode(path, mode, pipes=False)


def _check_mode(path: Path, mode: int, pipes: bool) -> None:
    if stat.S_ISFIFO(mode) and not pipes:
        raise BadInput(f"{path}: is a pipe: save what comes out of it in a file, and give that")
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        raise BadInput(f"{path}: is a device, not a file: give a file")


def _read_pipe(handle: int, most_bytes: int) -> bytes:
    """Read a pipe to its end; `TimeoutError` if its writer is silent for `PIPE_WAIT_S`."""
    data = bytearray()
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    while len(data) <= most_bytes:
        if not poll.poll(1000 * PIPE_WAIT_S):
            raise TimeoutError(f"it is a pipe, and nothing came out of it for {PIPE_WAIT_S:g} s")
        part = os.read(handle, _PIPE_READ_BYTES)
        if not part:
            break
        data += part
    return bytes(data)
