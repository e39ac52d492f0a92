"""What can go wrong, as one tree.

    OverrulerError                 exit status
    ├── BadInput (ValueError)           2      a file, an option, a scene or a question is wrong
    │   └── UnknownName (LookupError)   2      a name that is not among those there are
    ├── MissingExtra (ImportError)      2      a part of the program is not installed
    └── CannotMeasure (RuntimeError)    3      the photo cannot be measured

Every message is one line: what is wrong, where, and what to do about it.
"""

import sys
from collections.abc import Iterable
from pathlib import Path


class OverrulerError(Exception):
    """Anything the program says no to; `exit_code` is the process's status."""

    exit_code = 2

    def __init__(self, message: str = "") -> None:
        """`message` may quote names from a file: what would break the line or hide in it is escaped."""
        super().__init__("".join(c if c.isprintable() else ascii(c)[1:-1] for c in message))


class BadInput(OverrulerError, ValueError):
    """A file, an option, a scene or a question that is wrong."""


class UnknownName(BadInput, LookupError):
    """A name that is not among those there are."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        super().__init__(
            f"{what}: unknown name {name!r}; known: {', '.join(known) or 'none'}{did_you_mean(name, known)}"
        )


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question that names what was probably meant, to end a complaint with; empty where nothing is near."""
    from difflib import get_close_matches

    simple = {one.casefold(): one for one in known}
    found = get_close_matches(name.casefold(), simple, n=1)
    return f"; did you mean {simple[found[0]]!r}?" if found else ""


class MissingExtra(OverrulerError, ImportError):
    """A part of the program that is not installed."""

    @classmethod
    def with_install_hint(cls, what: str, extra: str) -> "MissingExtra":
        """`what` is missing, and the extra that brings it."""
        return cls(f"{what}: {install_command(extra)}")


def install_command(extra: str) -> str:
    """The command that installs an extra, by the installer that this environment is from."""
    made_by = {"uv-receipt.toml": "uv tool install", "pipx_metadata.json": "pipx install --force"}
    found = [command for file, command in made_by.items() if (Path(sys.prefix) / file).exists()]
    return f"{found[0] if found else 'pip install'} 'overruler[{extra}]'"


class CannotMeasure(OverrulerError, RuntimeError):
    """A photo from which nothing can be measured; the message ends in the remedy."""

    exit_code = 3


OPENCV_REMEDY = (
    "apt-get install -y libgl1 libglib2.0-0, or the wheel that needs neither: "
    "pip uninstall -y opencv-python && pip install opencv-python-headless"
)
"""What makes OpenCV load on a machine without a desktop."""


def explain_import_error(error: ImportError) -> MissingExtra | None:
    """One line with the remedy where `error` says that OpenCV does not load; None where it is about something else."""
    library = str(error).partition(":")[0]
    if library.startswith("lib") and ".so" in library:  # such an error bears OpenCV's name too
        return MissingExtra(f"OpenCV does not load, the system lacks {library}: {OPENCV_REMEDY}")
    if error.name == "cv2" and isinstance(error, ModuleNotFoundError):
        return MissingExtra("OpenCV is not installed: pip install opencv-python-headless")
    if error.name == "cv2":
        return MissingExtra(f"OpenCV does not load ({error}): {OPENCV_REMEDY}")
    return None
