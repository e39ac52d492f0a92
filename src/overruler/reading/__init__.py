"""Typed access to parsed JSON and TOML; every error names the path of the value that is wrong.

node = Node.of_json(text, "scene.json")
node["pieces"].items()[0]["x_mm"].number()  # BadInput: scene.json: pieces[0].x_mm: expected a number, found text
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from overruler.errors import BadInput, describe_syntax_error, did_you_mean
from overruler.reading.files import BYTE_ORDER_MARK, read_text

T = TypeVar("T")
Numbers = tuple[float, ...]
Reader = Callable[["Node"], float]

_TYPE_NAMES = {
    dict: "an object", list: "an array", tuple: "an array", str: "text",
    type(None): "null", int: "a number", float: "a number",
}  # fmt: skip
MISSPELT_RATIO = 0.76
"""How alike a key and its misspelling are by difflib; `x_mm` and `y_mm`, which both are keys, have 0.75."""
_MAX_SHOWN_CHARS = 60
"""Characters of a wrong value that an error message shows."""


_MAYBE_INFINITE = re.compile(r"NaN|Infinity|[eE]\+?\d{3}|\d{200}")
"""Found in every JSON text that holds a number which is not finite."""


def parse_json(text: str, name: str) -> Any:
    """Parse JSON; raise `BadInput` with `name` in it for text that is not JSON.

    It names the path of a number that is not finite, under keys that nobody reads too.
    """
    text = text.removeprefix(BYTE_ORDER_MARK)
    if not text.strip():
        raise BadInput(f"{name}: is empty: JSON belongs there")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{name}: not JSON: {describe_syntax_error(error)}") from None
    if _MAYBE_INFINITE.search(text):
        _check_finite(Node(document, name))
    return document


def _check_finite(document: "Node") -> None:
    """Raise `BadInput` about the first number of a document that is not finite."""
    todo = [document]
    while todo:
        node = todo.pop()
        if isinstance(node.value, float):
            node.number()
        elif isinstance(node.value, dict):
            todo += [node[key] for key in reversed(node.value)]
        elif isinstance(node.value, list):
            todo += reversed(node.items())


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
    def of_json_file(cls, path: Path) -> "Node":
        return cls.of_json(read_text(path), str(path))

    @classmethod
    def of_toml(cls, path: Path, or_json: bool = False) -> "Node":
        """`or_json` says in the error that the file may be JSON, by its name."""
        import tomllib  # most files are JSON

        text = read_text(path)
        if not text.strip():
            raise BadInput(f"{path}: is empty: TOML belongs there")
        if text.lstrip().startswith("{"):
            remedy = "give it a name that ends in .json" if or_json else "TOML belongs there"
            raise BadInput(f"{path}: is JSON: {remedy}")
        try:
            return cls(tomllib.loads(text), str(path))
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{path}: not TOML: {describe_syntax_error(error)}") from None

    def fail(self, problem: str) -> NoReturn:
        """Raise `BadInput` about this value."""
        raise BadInput(": ".join(part for part in (self.name, self.path, problem) if part))

    def _fail_expected(self, expected: str) -> NoReturn:
        if isinstance(self.value, bool):
            self.fail(f"expected {expected}, found {json.dumps(self.value)}")
        found = _TYPE_NAMES.get(type(self.value)) or type(self.value).__name__
        is_long = isinstance(self.value, int) and abs(self.value) > sys.float_info.max
        if isinstance(self.value, str | int | float) and not is_long:
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
            Node(None, self.name, inner).fail(f"is missing{self._misspelling_hint(key)}")
        return Node(self.value[key], self.name, inner)

    def _misspelling_hint(self, missing: str) -> str:
        """A hint at a key that may be meant as the missing one; empty where none is like it."""
        from difflib import get_close_matches  # few files have mistakes

        alike = get_close_matches(missing, self.value, 1, MISSPELT_RATIO)
        return f"; is {alike[0]!r} a misspelling of it?" if alike else ""

    def require(self, *keys: str) -> None:
        """Raise `BadInput` where a key is missing."""
        for key in keys:
            self[key]

    def reject_unknown_keys(self, known: Iterable[str], problem: str = "unknown key") -> None:
        """Raise `BadInput` for a key that is not `known`; the message lists the known ones."""
        known = tuple(known)
        for key in self.keys():
            if key not in known:
                self[key].fail(f"{problem}; known: {', '.join(known)}{did_you_mean(key, known)}")

    def reject_misspelt_keys(self, known: Sequence[str]) -> None:
        """Raise `BadInput` for a key that is nearly a `known` one; others are for other programs."""
        for key in self.keys():
            if key not in known and (hint := did_you_mean(key, known, MISSPELT_RATIO)):
                self[key].fail(f"unknown key{hint}")

    def get(self, key: str, read: "Callable[[Node], T]", default: T) -> T:
        """Apply `read` to the node under a key; return the default where the key is missing."""
        return read(self[key]) if self.has(key) else default

    def keys(self) -> Iterator[str]:
        return iter(self.object().value)

    def items(self) -> list["Node"]:
        """The nodes of an array: a list, a tuple, or one of numpy's."""
        values = self.value
        if not isinstance(values, list | tuple):
            # An array of numpy's, without importing numpy.
            is_array = hasattr(values, "tolist") and hasattr(values, "__len__")
            values = values.tolist() if is_array else self._fail_expected("an array")
        return [Node(value, self.name, f"{self.path}[{i}]") for i, value in enumerate(values)]

    def number(self) -> float:
        """A finite number, one of numpy's too; `true` and `false` are not numbers."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float | Real):
            self._fail_expected("a number")
        if not isinstance(value, int):  # one may be too long for a float
            value = float(value)
        is_finite = abs(value) <= sys.float_info.max
        return float(value) if is_finite else self.fail("is not a finite number")

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

    def identifier(self) -> str:
        """A text by which people can call something: it has a character that is seen."""
        text = self.text()
        return text if text.strip() else self.fail("is empty: give a name")

    def boolean(self) -> bool:
        return self.value if isinstance(self.value, bool) else self._fail_expected("true or false")

    def choice(self, known: tuple[str, ...]) -> str:
        """A text that is one of the `known` ones."""
        text = self.text()
        if text not in known:
            hint = did_you_mean(text, known) if len(known) > 1 else ""
            self.fail(f"unknown {text!r}; known: {', '.join(known)}{hint}")
        return text

    def vector(self, length: int, read: "Reader" = number) -> Numbers:
        values = tuple(map(read, self.items()))
        if len(values) != length:
            self.fail(f"expected {length} numbers, found {len(values)}")
        return values

    def matrix(self, rows: int, columns: int, read: "Reader" = number) -> tuple[Numbers, ...]:
        values = tuple(item.vector(columns, read) for item in self.items())
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


# --- lengths ---

MAX_LENGTH_MM = 1e7
"""10 km. A larger number does not resolve `units.CONTACT_TOLERANCE_MM`."""
MIN_LENGTH_MM = 1e-6
"""Smallest size of anything that has one."""


def read_coordinate(node: Node) -> float:
    """Read a coordinate in mm."""
    value = node.number()
    if abs(value) > MAX_LENGTH_MM:
        node.fail(f"lies more than 10 km away, at {value:g} mm")
    return value


def read_length(node: Node) -> float:
    """Read a positive length in mm."""
    value = node.positive()
    if not MIN_LENGTH_MM <= value <= MAX_LENGTH_MM:
        node.fail(f"must be from {MIN_LENGTH_MM:g} to {MAX_LENGTH_MM:g} mm, is {value:g}")
    return value
