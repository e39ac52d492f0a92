"""Checks of values that a program gives to a class, by the readers that check those of a file."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from overruler.errors import BadInput
from overruler.reading import Node

T = TypeVar("T")


def check_fields(value: Any, what: str, readers: Mapping[str, Any]) -> None:
    """Check fields of a frozen dataclass, each by its reader; `BadInput` names the one that is wrong.

    A plain number stays as it is; one of numpy's becomes plain, as files need it.
    """
    for key, read in readers.items():
        given = getattr(value, key)
        taken = read(Node(given, what, key))
        if type(given) not in (int, float) and taken is not given:
            object.__setattr__(value, key, taken)


def check_kind(value: object, kind: type | tuple[type, ...], what: str, path: str = "") -> None:
    """Raise `BadInput` for a value that is not of a class, the first of several being the usual one."""
    if not isinstance(value, kind):
        usual = kind[0] if isinstance(kind, tuple) else kind
        wrong_kind(value, usual.__name__, what, path)


def tuple_of(values: Iterable[T], kind: type[T], what: str, path: str) -> tuple[T, ...]:
    """A tuple of values that are all of a class; raise `BadInput` for any other."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        wrong_kind(values, f"sequence of {kind.__name__}", what, path)
    given = tuple(values)
    for index, value in enumerate(given):
        check_kind(value, kind, what, f"{path}[{index}]")
    return given


def file_path(given: object, what: str, path: str = "") -> Path:
    """The path of a file that a program names; raise `BadInput` for what names none."""
    if not isinstance(given, str | Path):
        _fail_expected(given, "the path of a file", what, path)
    if not str(given).strip():
        raise BadInput(f"{_place(what, path)}: is empty: name a file")
    return Path(given)


def wrong_kind(value: object, expected: str, what: str, path: str) -> NoReturn:
    """Raise `BadInput` about a value of a wrong class."""
    article = "an" if expected[0] in "AEIOUaeiou" else "a"
    _fail_expected(value, f"{article} {expected}", what, path)


def _fail_expected(value: object, expected: str, what: str, path: str) -> NoReturn:
    raise BadInput(f"{_place(what, path)}: expected {expected}, found {type(value).__name__}")


def _place(what: str, path: str) -> str:
    return ": ".join(part for part in (what, path) if part)
