"""Atomic writes: a file is written whole or not at all.

A symlink stays one: the file that it leads to is written. A file that exists keeps its mode and its owner.
A pipe, a terminal or `/dev/null` is written to, and never replaced by a file.
"""

import errno
import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from overruler.errors import BadInput
from overruler.reading.fields import file_path

MAX_PREFIX_CHARS = 40
"""Characters of a file's name that its temporary file's name begins with; names have at most 255 bytes."""
PIPE_READER_WAIT_S = 10.0
"""Longest wait for a program that opens the other end of a named pipe."""
FOREIGN_ENDINGS = frozenset(
    (
        *(".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".heic", ".heif"),
        *(".bmp", ".gif", ".svg"),
        *(".mp4", ".mov", ".mkv", ".avi", ".webm", ".pdf", ".html", ".zip", ".parquet", ".md"),
        *(".json", ".jsonl", ".geojson", ".toml", ".csv", ".py"),
    )
)
"""Endings that say what a file holds: no other kind of file is written under them."""
_POLL_INTERVAL_S = 0.05
"""Time between two attempts to open a named pipe."""


class WriteFailed(BadInput):
    """A file cannot be written: the disk is full, the folder is gone, the device is none to write to."""

    def __init__(self, path: str | Path, reason: str) -> None:
        super().__init__(f"{path}: cannot be written: {reason}")
        self.reason = reason
        """Why, without the path."""


def write_atomically(path: str | Path, data: bytes | str) -> None:
    """Write `data` (text as UTF-8) in one step, or raise `WriteFailed` and leave the old file."""
    with atomic_file(path) as temporary:
        temporary.write_bytes(data.encode() if isinstance(data, str) else data)


def write_all_atomically(files: Iterable[tuple[str | Path, bytes | str]]) -> None:
    """Write several files as `write_atomically` does: all of them are complete before one is replaced."""
    with ExitStack() as stack:
        for path, data in files:
            temporary = stack.enter_context(atomic_file(path))
            temporary.write_bytes(data.encode() if isinstance(data, str) else data)


def remove_file(path: Path) -> None:
    """Remove a file where there is one; raise `WriteFailed` where it cannot be removed."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise WriteFailed(path, str(error.strerror or error)) from None


def write_parts_atomically(path: str | Path, texts: Iterable[str]) -> None:
    """Write a text as `write_atomically` does, part by part."""
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        file.writelines(texts)


@contextmanager
def atomic_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary file that replaces `path` on success; on an error the old file stays.

    What is no file (a pipe, a device) gets the temporary file's bytes instead.
    """
    path = file_path(path, "writing a file")
    try:
        if _is_stream(path):
            with _copied_to_stream(path) as temporary:
                yield temporary
            return
        with _replacing_file(path) as temporary:
            yield temporary
    except OSError as error:
        raise WriteFailed(path, str(error.strerror or error)) from None


def check_writable(path: str | Path) -> None:
    """Raise `BadInput` where `write_atomically` would fail later."""
    path = Path(path)
    if str(path) == "-":
        raise BadInput("-: name a file, or /dev/stdout for standard output")
    if path.is_dir():
        raise BadInput(f"{path}: is a folder: name a file in it")
    if _is_stream(path):
        return
    target = _final_target(path) if path.is_symlink() else path
    if not target.parent.is_dir():
        raise BadInput(
            f"{path}: there is no folder {target.parent}: make it first, or name another"
        )
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise BadInput(f"{path}: the folder {target.parent} cannot be written to: choose another")
    if target.exists() and not os.access(target, os.W_OK):
        raise BadInput(f"{path}: is write-protected: unprotect it, or name another file")


def check_different(option: str, paths: Iterable[str | Path]) -> None:
    """Raise `BadInput` for a file that is named twice, however it is spelled; `option` begins the message."""
    first: dict[str, str | Path] = {}
    for path in paths:
        real = os.path.realpath(path)
        if real in first:
            known = first[real]
            same = "is named twice" if str(known) == str(path) else f"and {path} are one file"
            raise BadInput(f"{option}: {known} {same}: name each once")
        first[real] = path


def check_outputs(
    written: Iterable[tuple[str, Path | None]], read: Iterable[str | Path | None]
) -> None:
    """Raise `BadInput` where a file that is read would be lost, or two options write one file.

    `written` are options with the files to write, `read` the files that are read; None is no file.
    """
    kept = {os.path.realpath(path) for path in read if path}
    options: dict[str, str] = {}
    for option, path in written:
        if path is None:
            continue
        real = os.path.realpath(path)
        if real in kept:
            raise BadInput(f"{option}: {path}: is read, and would be lost: name another file")
        other = options.setdefault(real, option)
        if other != option:
            raise BadInput(f"{other} and {option} both name {path}: name different files")


def check_ending(option: str, path: Path | None, endings: Sequence[str]) -> None:
    """Raise `BadInput` where the name of a file to write says that it holds something else.

    `endings` are those of what is written. Without an ending, or with one that says nothing, a name is good.
    """
    ending = path.suffix.lower() if path else ""
    if ending in FOREIGN_ENDINGS and ending not in endings:
        raise BadInput(f"{option}: {path}: {endings_rule(endings)}")


def endings_rule(endings: Sequence[str]) -> str:
    """What a message says of a name with another ending."""
    *others, last = endings
    return (
        f"the name must end in {', '.join(others)} or {last}"
        if others
        else f"the name must end in {last}"
    )


def make_folder(option: str, folder: Path, mode: int = 0o777) -> Path:
    """Make a folder that an option names, and those above it; `BadInput` says what is in the way."""
    for path in (folder, *folder.parents):
        if path.exists() and not path.is_dir():
            raise BadInput(f"{option}: {path}: is a file: name a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=mode)
    except OSError as error:
        reason = error.strerror or error
        raise BadInput(
            f"{option}: {folder}: cannot be made: {reason}: name another folder"
        ) from None
    return folder


def check_folder_name(option: str, folder: Path) -> Path:
    """The folder; raises `BadInput` where the name of one to make is a file's, `report.html` say."""
    if folder.suffix.lower() in FOREIGN_ENDINGS and not folder.exists():
        raise BadInput(
            f"{option}: {folder}: a folder is made, and no {folder.suffix} file: name a folder"
        )
    return folder


# --- files ---


@contextmanager
def _replacing_file(path: Path) -> Iterator[Path]:
    """Yield a temporary file beside the file that `path` leads to, and replace that one at the end."""
    target = _final_target(path)
    mode = _mode_of_existing(target)
    temporary = _create_beside(target, is_private=mode is not None)
    try:
        yield temporary
        _flush_to_disk(temporary)
        if mode is not None:
            _give_owner_and_mode(temporary, target, mode)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _flush_to_disk(path: Path) -> None:
    """Wait until a file's bytes are on the disk: after a power cut its new name would lead to an empty file."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that cannot
            raise
    finally:
        os.close(handle)


def _create_beside(target: Path, is_private: bool) -> Path:
    """An empty file beside another one, its owner's alone or as open as any new file.

    The system takes the user's mask off. Asking for that mask would clear it for other threads.
    """
    import secrets  # many commands write nothing

    name = f".{target.name[:MAX_PREFIX_CHARS]}.{secrets.token_hex(8)}"
    temporary = target.parent / name
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    os.close(os.open(temporary, flags, 0o600 if is_private else 0o666))
    return temporary


def _final_target(path: Path) -> Path:
    """The file that a path leads to, through links; `WriteFailed` where they lead round in a circle."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise WriteFailed(path, "is a link that leads back to itself: name another file")
    return target


def _mode_of_existing(target: Path) -> int | None:
    """The mode of the file that stands there; None if none does, `PermissionError` if it is protected."""
    if not target.exists():
        return None
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "it is write-protected")
    return stat.S_IMODE(target.stat().st_mode)


def _give_owner_and_mode(temporary: Path, target: Path, mode: int) -> None:
    if target.exists():
        before, now = target.stat(), os.stat(temporary)
        if (before.st_uid, before.st_gid) != (now.st_uid, now.st_gid):
            with suppress(OSError, AttributeError):  # only root may; Windows has no such owners
                os.chown(temporary, before.st_uid, before.st_gid)
    os.chmod(temporary, mode)


# --- pipes and devices ---


def _is_stream(path: Path) -> bool:
    """Whether bytes are written to it one after another: a pipe, a terminal, `/dev/null`."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        raise WriteFailed(path, "it is a disk or a socket: name a file")
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


@contextmanager
def _copied_to_stream(path: Path) -> Iterator[Path]:
    """Yield a temporary file, and write its bytes to a pipe or a device at the end."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="overruler-") as folder:
        temporary = Path(folder, "data")
        temporary.touch()
        yield temporary
        with os.fdopen(_open_stream(path), "wb") as stream:
            stream.write(temporary.read_bytes())


def _open_stream(path: Path) -> int:
    """Open a pipe or a device for writing; `TimeoutError` if nobody reads the pipe."""
    end_s = time.monotonic() + PIPE_READER_WAIT_S
    while True:
        try:
            handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() >= end_s:
                raise TimeoutError(errno.ETIMEDOUT, "it is a pipe that no program reads") from None
            time.sleep(_POLL_INTERVAL_S)
        else:
            os.set_blocking(handle, True)
            return handle
