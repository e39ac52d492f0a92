"""What can go wrong, as one tree.

    OverrulerError                 exit status
    ├── BadInput (ValueError)           2      a file, an option, a scene or a question is wrong
    │   └── UnknownName (LookupError)   2      a name that is not among those there are
    ├── MissingExtra (ImportError)      2      a part of the program is not installed
    └── CannotMeasure (RuntimeError)    3      the photo cannot be measured

Every message is one line: what is wrong, where, and what to do about it.
"""

from collections.abc import Iterable


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
        super().__init__(f"{what}: unknown name {name!r}; known: {', '.join(sorted(known)) or 'none'}")


class MissingExtra(OverrulerError, ImportError):
    """A part of the program that is not installed."""


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
    if error.name == "cv2":
        return MissingExtra("OpenCV is not installed: pip install opencv-python-headless")
    library = str(error).partition(":")[0]
    if library.startswith("lib") and ".so" in library:
        return MissingExtra(f"OpenCV does not load, the system lacks {library}: {OPENCV_REMEDY}")
    return None
