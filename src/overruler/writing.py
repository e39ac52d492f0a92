"""Atomic writes: a file is written whole or not at all."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from overruler.errors import BadInput


def write_atomically(path: str | Path, data: bytes | str) -> None:
    """Write `data` (text as UTF-8) in one step, or raise `BadInput` and leave the old file."""
    with atomic_file(path) as temporary:
        temporary.write_bytes(data.encode() if isinstance(data, str) else data)


def write_parts_atomically(path: str | Path, texts: Iterable[str]) -> None:
    """Write a text as `write_atomically` does, part by part."""
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        file.writelines(texts)


@contextmanager
def atomic_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary file that replaces `path` on success; on an error the old file stays."""
    path = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
        try:
            yield Path(temporary)
            os.chmod(temporary, 0o666 & ~_current_umask())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror or error}") from None


def check_writable(path: str | Path) -> None:
    """Raise `BadInput` where `write_atomically` would fail later."""
    path = Path(path)
    if path.is_dir():
        raise BadInput(f"{path}: is a folder: name a file in it")
    if not path.parent.is_dir():
        raise BadInput(f"{path}: there is no folder {path.parent}: make it first, or name another")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise BadInput(f"{path}: the folder {path.parent} cannot be written to: choose another")


def _current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
