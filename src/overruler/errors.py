"""The tree of exceptions.

    OverrulerError                 exit status
    ├── BadInput (ValueError)           2      a file, an option, a scene or a question is wrong
    │   └── UnknownName (LookupError)   2      a name is not among the known ones
    ├── MissingExtra (ImportError)      2      a part of the program is not installed
    └── CannotMeasure (RuntimeError)    3      the photo cannot be measured

Every message is one line: what is wrong, where, and what to do.
"""

import sys
from collections.abc import Callable, Iterable
from copy import copy
from json import JSONDecodeError
from pathlib import Path
from typing import Any, Self


class OverrulerError(Exception):
    """The base of all errors that the program reports to its user."""

    exit_code = 2
    """Exit status of the process."""

    def __init__(self, message: str = "", in_mm: str = "") -> None:
        """Escape what would break the line or stay invisible: `message` may quote names from a file.

        `in_mm` ends the message: a text with lengths in mm and without names.
        """
        super().__init__(printable(message + in_mm))
        self.in_mm = in_mm

    def tell_lengths(self, tell: Callable[[str], str]) -> None:
        """Tell the end of the message by `tell`, which knows the unit that its reader wants."""
        self.args = (str(self).removesuffix(self.in_mm) + tell(self.in_mm),)
        self.in_mm = ""

    def about(self, what: str) -> Self:
        """The same error of something that it does not name, such as one of several photos."""
        error = copy(self)
        error.args = (f"{printable(what)}: {self}",)
        return error

    def __reduce__(self) -> Any:
        """Another process gets it as it is: its arguments cannot be told from its message."""
        return _rebuild_error, (type(self), self.args, vars(self))


def _rebuild_error(
    kind: type[OverrulerError], args: tuple[Any, ...], values: dict[str, Any]
) -> OverrulerError:
    error = kind.__new__(kind, *args)
    vars(error).update(values)
    return error


def printable(text: str) -> str:
    """The text with escapes for what would break a line, change the terminal or stay invisible."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


class BadInput(OverrulerError, ValueError):
    """A file, an option, a scene or a question is wrong."""


class UnknownName(BadInput, LookupError):
    """A name is not among the known ones."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        names = ", ".join(known) or "none"
        hint = did_you_mean(name, known)
        super().__init__(f"{what}: unknown name {name!r}; known: {names}{hint}")


OTHER_INITIAL_RATIO = 0.75
"""How alike a name with another first letter must be, as difflib counts; `chess` and `inches` have 0.73."""


def did_you_mean(name: str, known: Iterable[str], ratio: float = 0.6) -> str:
    """A hint at the known name most like `name`, to end a message with; empty where none is like it.

    `ratio` is how alike they must be, as difflib counts.
    """
    from difflib import get_close_matches

    known_by_casefold = {candidate.casefold(): candidate for candidate in known}
    word = name.casefold()
    alike = [one for one in known_by_casefold if one[:1] == word[:1]]
    others = [one for one in known_by_casefold if one[:1] != word[:1]]
    near = get_close_matches(word, alike, 1, ratio)
    near += get_close_matches(word, others, 1, max(ratio, OTHER_INITIAL_RATIO))
    matches = get_close_matches(word, near, 1, ratio)
    return f"; did you mean {known_by_casefold[matches[0]]!r}?" if matches else ""


class MissingExtra(OverrulerError, ImportError):
    """A part of the program is not installed."""

    @classmethod
    def with_install_hint(cls, what: str, extra: str) -> "MissingExtra":
        """Say what is missing, and the command that installs its extra."""
        return cls(f"{what}: {install_command(extra)}")


def install_command(extra: str) -> str:
    """The command that installs an extra with the installer that made this environment."""
    installer = "pip install"
    if (Path(sys.prefix) / "uv-receipt.toml").exists():
        installer = "uv tool install"
    elif (Path(sys.prefix) / "pipx_metadata.json").exists():
        installer = "pipx install --force"
    return f"{installer} 'overruler[{extra}]'"


class CannotMeasure(OverrulerError, RuntimeError):
    """Nothing can be measured from a photo; the message ends with the remedy."""

    exit_code = 3


class WrongBoard(CannotMeasure):
    """The photo does not fit the board that was named, and fits another one that is known."""

    def __init__(self, message: str, board: str) -> None:
        super().__init__(message)
        self.board = board
        """Name of the board that fits."""


OPENCV_REMEDY = (
    "apt-get install -y libgl1 libglib2.0-0, or the wheel that needs neither: "
    "pip uninstall -y opencv-python && pip install opencv-python-headless"
)
"""Makes OpenCV load on a machine without a desktop."""


def explain_import_error(error: ImportError) -> MissingExtra | None:
    """The error with its remedy where OpenCV does not load; None for any other import error."""
    library = str(error).partition(":")[0]
    if library.startswith("lib") and ".so" in library:  # its name is OpenCV's too
        return MissingExtra(f"OpenCV does not load, the system lacks {library}: {OPENCV_REMEDY}")
    if error.name == "cv2" and isinstance(error, ModuleNotFoundError):
        return MissingExtra("OpenCV is not installed: pip install opencv-python-headless")
    if error.name == "cv2":
        return MissingExtra(f"OpenCV does not load ({error}): {OPENCV_REMEDY}")
    return None


_JSON_PROBLEMS = {
    "Expecting value": "a value is missing, or is a word without quotes,",
    "Expecting property name enclosed in double quotes": "a key in double quotes is missing",
    "Expecting ',' delimiter": "a comma or a closing bracket is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Unterminated string starting at": "a text without a closing quote begins",
    "Invalid control character at": "a text holds a line break or another control character",
    "Illegal trailing comma before end of object": "a comma too many stands",
    "Illegal trailing comma before end of array": "a comma too many stands",
}
"""What the messages of Python's parser of JSON mean."""


def describe_syntax_error(error: Exception) -> str:
    """What is wrong with a text that is not JSON or TOML, in a line."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if "integer string conversion" in str(error):  # Python's limit
        return "a number in it has thousands of digits"
    if isinstance(error, JSONDecodeError):
        place = f"line {error.lineno} column {error.colno}"
        if error.msg == "Extra data":
            return f"more text follows it at {place}; of JSON Lines give one line"
        return f"{_JSON_PROBLEMS.get(error.msg, error.msg)} at {place}"
    return " ".join(str(error).split())
