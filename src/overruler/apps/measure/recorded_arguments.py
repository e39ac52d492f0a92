"""Recorded arguments of `overruler measure`: those in dispute bundles and in what older servers stored.

They are data, and no parser of a command line ever sees them: only the options of this list are known,
in the two spellings that the program has written (`--bases=27,50`, and `--bases` before `27,50`).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from overruler.apps.settings.measure_request import MeasureRequest
from overruler.errors import BadInput

MAX_ARGUMENTS = 400
"""Most arguments of a record: far more than the page and its options make."""
MAX_ARGUMENT_CHARS = 4000
"""Longest argument of a record: that of an upload's points."""
FILE_OPTIONS = (
    *("board", "lens", "terrain", "fix", "taught"),
    *("scene", "picture", "doubt", "geojson", "csv"),
)
"""Options that name one file; the last five are written."""
TEXT_OPTIONS = ("dictionary", "game", "bases", "units")
"""Options that hold one text."""
REPEATED_OPTIONS = ("lens_of_photo", "point", "own_base", "player", "house_rule", "ask")
"""Options that hold a text each time."""
REPEATED_FILE_OPTIONS = ("beside", "more")
"""Options that name a file to read each time."""
NUMBER_OPTIONS = ("marker_mm",)
"""Options that hold a number."""
FLAGS = ("flat", "json")
"""Options without a value."""
READERS: Mapping[str, Any] = {
    **dict.fromkeys((*TEXT_OPTIONS, *REPEATED_OPTIONS), str),
    **dict.fromkeys((*FILE_OPTIONS, *REPEATED_FILE_OPTIONS), Path),
    **dict.fromkeys(NUMBER_OPTIONS, float),
}
"""What makes an option's value of its text."""


def parse_arguments(arguments: Sequence[str]) -> MeasureRequest:
    """Read recorded arguments; raise `BadInput` if they make no sense."""
    if len(arguments) > MAX_ARGUMENTS:
        _fail(f"{len(arguments)} arguments, at most {MAX_ARGUMENTS}")
    given: dict[str, Any] = {}
    for name, text in _named_values(arguments):
        value = _read_value(name, text)
        if name in REPEATED_OPTIONS or name in REPEATED_FILE_OPTIONS:
            given[name] = (*given.get(name, ()), value)
        elif name in given:
            _fail(f"{_option(name)} is given twice")
        else:
            given[name] = value
    if "photo" not in given:
        _fail("no photo is named")
    return MeasureRequest(**given)


def _named_values(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each argument as the name of its option and its value; the photos have no option."""
    rest, photo_name = iter(arguments), "photo"
    for argument in rest:
        if len(argument) > MAX_ARGUMENT_CHARS:
            _fail(f"{argument[:40]!r} and more is too long")
        if not argument.startswith("-"):
            yield photo_name, argument
            photo_name = "more"
            continue
        option, equals, value = argument.partition("=")
        name = option.removeprefix("--").replace("-", "_")
        if name in FLAGS and not equals and option == _option(name):
            yield name, ""
            continue
        if name not in READERS or name == "more" or option != _option(name):
            _fail(f"{option!r} is no option of a record")
        yield name, value if equals else _next_value(rest, option)


def _next_value(rest: Iterator[str], option: str) -> str:
    value = next(rest, "-")
    if value.startswith("-") or len(value) > MAX_ARGUMENT_CHARS:
        _fail(f"{option} has no value")
    return value


def _read_value(name: str, text: str) -> Any:
    if name in FLAGS:
        return True
    if name in ("photo", "more"):
        return Path(text)
    if "\0" in text:
        _fail(f"{_option(name)} holds a null character")
    try:
        value = READERS[name](text)
    except ValueError:
        _fail(f"{_option(name)}: expected a number, found {text!r}")
    if isinstance(value, float) and not math.isfinite(value):
        _fail(f"{_option(name)}: {text!r} is not a finite number")
    return value


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _fail(problem: str) -> NoReturn:
    raise BadInput(f"the recorded arguments make no sense: {problem}")
