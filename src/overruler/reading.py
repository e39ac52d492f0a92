"""Typed access to parsed JSON and TOML; every error names the path of the value that is wrong.

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
BYTE_ORDER_MARK = "\ufeff"
"""Begins texts that editors on Windows save."""
_MAX_SHOWN_CHARS = 60
"""Characters of a wrong value that an error message shows."""


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number in JSON")


def parse_json(text: str, name: str) -> Any:
    """Parse JSON; raise `BadInput` with `name` in it for NaN, infinities and text that is not JSON."""
    try:
        return json.loads(text.removeprefix(BYTE_ORDER_MARK), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{name}: not JSON: {' '.join(str(error).split())}") from None


def read_text(path: Path) -> str:
    """Read a UTF-8 text file, with or without a byte order mark; `BadInput` where that fails."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path}: is not UTF-8 text: save it as such") from None


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a parsed document, with its path.

    The readers return the value with its type, or raise `BadInput` with the path.
    """

    value: Any
    name: str
    """Name of the document, usually a file's."""
    path: str = ""
    """Path in the document, such as `pieces[3].base`; empty for the document itself."""

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
        """Raise `BadInput` about this value."""
        raise BadInput(": ".join(part for part in (self.name, self.path, problem) if part))

    def _fail_expected(self, expected: str) -> NoReturn:
        found = _TYPE_NAMES.get(type(self.value), "a number")
        if isinstance(self.value, str | int | float):
            found += f" {json.dumps(self.value)}"[:_MAX_SHOWN_CHARS]
        self.fail(f"expected {expected}, found {found}")

    def object(self) -> "Node":
        """This node, whose value must be an object."""
        return self if isinstance(self.value, dict) else self._fail_expected("an object")

    def has(self, key: str) -> bool:
        return key in self.object().value

    def __getitem__(self, key: str) -> "Node":
        """The node under a key, which must be there."""
        inner = f"{self.path}.{key}" if self.path else key
        if not self.has(key):
            Node(None, self.name, inner).fail("is missing")
        return Node(self.value[key], self.name, inner)

    def require(self, *keys: str) -> None:
        """Raise `BadInput` where a key is missing."""
        for key in keys:
            self[key]

    def reject_unknown_keys(self, known: Iterable[str], problem: str = "unknown key") -> None:
        """Raise `BadInput` for a key that is not `known`; the message lists the known ones."""
        known = tuple(known)
        for key in self.keys():
            if key not in known:
                self[key].fail(f"{problem}; known: {', '.join(known)}")

    def get(self, key: str, read: "Callable[[Node], T]", default: T) -> T:
        """Apply `read` to the node under a key; return the default where the key is missing."""
        return read(self[key]) if self.has(key) else default

    def keys(self) -> Iterator[str]:
        return iter(self.object().value)

    def items(self) -> list["Node"]:
        """The nodes of an array."""
        if not isinstance(self.value, list):
            self._fail_expected("an array")
        return [Node(value, self.name, f"{self.path}[{i}]") for i, value in enumerate(self.value)]

    def number(self) -> float:
        """A finite number; `true` and `false` are not numbers."""
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
        if value != int(value):
            self.fail(f"must be a whole number, is {value:g}")
        return int(value)

    def text(self) -> str:
        return self.value if isinstance(self.value, str) else self._fail_expected("text")

    def boolean(self) -> bool:
        return self.value if isinstance(self.value, bool) else self._fail_expected("true or false")

    def choice(self, known: tuple[str, ...]) -> str:
        """A text that is one of the `known` ones."""
        text = self.text()
        if text not in known:
            hint = did_you_mean(text, known)
            self.fail(f"unknown {text!r}; known: {', '.join(known)}{hint}")
        return text

    def vector(self, length: int) -> tuple[float, ...]:
        values = tuple(item.number() for item in self.items())
        if len(values) != length:
            self.fail(f"expected {length} numbers, found {len(values)}")
        return values

    def matrix(self, rows: int, columns: int) -> tuple[tuple[float, ...], ...]:
        values = tuple(item.vector(columns) for item in self.items())
        if len(values) != rows:
            self.fail(f"expected {rows} rows, found {len(values)}")
        return values


# --- keys that the program does not know ---

_NO_INNER_KEYS: Mapping[str, Sequence[str]] = {}


def unknown_keys(
    node: Node, known: Iterable[str], inner: Mapping[str, Sequence[str]] = _NO_INNER_KEYS
) -> dict[str, Any]:
    """The entries of an object whose keys are not `known`.

    `inner` lists the known keys of objects in it; their unknown entries are kept in objects too.
    """
    unknown = {key: value for key, value in node.value.items() if key not in known}
    for key, inner_known in inner.items():
        if node.has(key) and (inner_unknown := unknown_keys(node[key], inner_known)):
            unknown[key] = inner_unknown
    return unknown


def merge_keys(known: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two objects, and the objects in them; where both have a key, `known` wins."""
    merged = dict(known)
    for key, value in extra.items():
        if key not in known:
            merged[key] = value
        elif isinstance(known[key], dict) and isinstance(value, dict):
            merged[key] = merge_keys(known[key], value)
    return merged
