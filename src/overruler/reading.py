"""Typed access to parsed JSON and TOML: every complaint names the path of the value that is wrong.

node = Node.of_json(text, "scene.json")
node["pieces"].items()[0]["x_mm"].number()  # BadInput: scene.json: pieces[0].x_mm: expected a number, found text
"""

import json
import math
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from overruler.errors import BadInput, did_you_mean

T = TypeVar("T")

_TYPE_NAMES = {
    dict: "an object",
    list: "an array",
    str: "text",
    bool: "true or false",
    type(None): "null",
}


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number in JSON")


def parse_json(text: str, name: str) -> Any:
    """The value in `text`; NaN, infinities and anything that is not JSON are refused with `name` in the message."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{name}: not JSON: {' '.join(str(error).split())}") from None


def read_text(path: Path) -> str:
    """The UTF-8 text of a file, or `BadInput` in one line."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path}: is not UTF-8 text: save it as such") from None


@dataclass(frozen=True, slots=True)
class Node:
    """One value of a parsed document and where it stands."""

    value: Any
    name: str
    """The document's own name, a file's mostly."""
    path: str = ""
    """Where in the document: `pieces[3].base`; empty for the whole."""

    @classmethod
    def of_json(cls, text: str, name: str) -> "Node":
        return cls(parse_json(text, name), name)

    @classmethod
    def of_toml(cls, path: Path) -> "Node":
        try:
            return cls(tomllib.loads(read_text(path)), str(path))
        except tomllib.TOMLDecodeError as error:
            raise BadInput(f"{path}: not TOML: {error}") from None

    def fail(self, problem: str) -> NoReturn:
        """Complain about this value."""
        raise BadInput(": ".join(part for part in (self.name, self.path, problem) if part))

    def _fail_expected(self, wanted: str) -> NoReturn:
        kind = _TYPE_NAMES.get(type(self.value), "a number")
        shown = f" {json.dumps(self.value)}" if isinstance(self.value, str | int | float) else ""
        self.fail(f"expected {wanted}, found {kind}{shown[:60]}")

    def object(self) -> "Node":
        return self if isinstance(self.value, dict) else self._fail_expected("an object")

    def has(self, key: str) -> bool:
        return key in self.object().value

    def __getitem__(self, key: str) -> "Node":
        """The value under a required key."""
        inner = f"{self.path}.{key}" if self.path else key
        if not self.has(key):
            Node(None, self.name, inner).fail("is missing")
        return Node(self.value[key], self.name, inner)

    def get(self, key: str, read: "Callable[[Node], T]", default: T) -> T:
        """`read` of the value under a key, or the default where the key is absent."""
        return read(self[key]) if self.has(key) else default

    def keys(self) -> Iterator[str]:
        return iter(self.object().value)

    def items(self) -> list["Node"]:
        """The nodes of an array."""
        if not isinstance(self.value, list):
            self._fail_expected("an array")
        return [Node(value, self.name, f"{self.path}[{i}]") for i, value in enumerate(self.value)]

    def number(self) -> float:
        """A finite number; true and false are none."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            self._fail_expected("a number")
        try:
            value = float(self.value)
        except OverflowError:
            value = math.inf
        return value if math.isfinite(value) else self.fail("is not a finite number")

    def positive(self) -> float:
        value = self.number()
        return value if value > 0 else self.fail(f"must be greater than 0, is {value:g}")

    def integer(self) -> int:
        value = self.number()
        return (
            int(value)
            if value == int(value)
            else self.fail(f"must be a whole number, is {value:g}")
        )

    def text(self) -> str:
        return self.value if isinstance(self.value, str) else self._fail_expected("text")

    def boolean(self) -> bool:
        return self.value if isinstance(self.value, bool) else self._fail_expected("true or false")

    def choice(self, known: tuple[str, ...]) -> str:
        text = self.text()
        return (
            text
            if text in known
            else self.fail(
                f"unknown {text!r}; known: {', '.join(known)}{did_you_mean(text, known)}"
            )
        )

    def vector(self, length: int) -> tuple[float, ...]:
        values = tuple(item.number() for item in self.items())
        return (
            values
            if len(values) == length
            else self.fail(f"expected {length} numbers, found {len(values)}")
        )

    def matrix(self, rows: int, columns: int) -> tuple[tuple[float, ...], ...]:
        values = tuple(item.vector(columns) for item in self.items())
        return (
            values
            if len(values) == rows
            else self.fail(f"expected {rows} rows, found {len(values)}")
        )


# --- keys that the program does not know ---

_NO_INNER_KEYS: Mapping[str, Sequence[str]] = {}


def unknown_keys(
    node: Node, known: Iterable[str], inner: Mapping[str, Sequence[str]] = _NO_INNER_KEYS
) -> dict[str, Any]:
    """The keys of an object that are not `known`, and those of an `inner` object that are not known there."""
    extra = {key: value for key, value in node.value.items() if key not in known}
    for key, names in inner.items():
        if node.has(key) and (beyond := unknown_keys(node[key], names)):
            extra[key] = beyond
    return extra


def merge_keys(known: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of both; where both have one `known` holds, objects in objects alike."""
    both = {
        key: merge_keys(value, extra[key])
        if isinstance(value, dict) and isinstance(extra.get(key), dict)
        else value
        for key, value in known.items()
    }
    return both | {key: value for key, value in extra.items() if key not in known}
