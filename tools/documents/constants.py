#!/usr/bin/env python3
"""The page of all constants: what each is, its unit, and whether it says what it rests on.

    uv run tools/documents/constants.py --write     # docs/constants.md
    uv run tools/documents/constants.py             # status 1 where the page says otherwise

A constant is an upper-case name at the top of a module with a number in it. Its docstring names
evidence where it cites a count, a measurement, a choice made on data, a definition or a publication.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "overruler"
PAGE = ROOT / "docs" / "constants.md"
UNITS = {
    "MM": "mm", "MM2": "mm²", "PX": "px", "DEG": "°", "RAD": "rad", "S": "s", "MS": "ms", "IN": "in",
    "BYTES": "bytes", "SIGMAS": "σ", "SHARE": "share", "PROBABILITY": "probability", "NATS": "nats",
    "RATIO": "ratio", "COUNT": "count",
}  # fmt: skip
EVIDENCE = re.compile(
    r"\b(?:of|on|in|by|from|over) \d|\d+ (?:of|out of) \d|\b(?:1[89]|20)\d\d\b|%|"
    r"\b(?:counted|measured|chosen|fitted|tuned|tried|render|photos?|tables?|rule|standard|defin|"
    r"published|EXIF|OpenCV|JPEG|specif)",
    re.I,
)
MAX_VALUE = 48
TABLE_HEAD = "| name | value | unit | evidence | meaning |\n|---|---|---|---|---|\n"
INTRODUCTION = """# Constants

The page lists every number that the program was given, file by file. "Evidence" says whether the
docstring names what the number rests on: a count, a measurement, a choice made on data, a definition
or a publication. Fitted coefficients lie beside the networks' weights, in
`src/overruler/vision/learned/weights/`, with the date, the data and the command that made them.

`uv run tools/documents/constants.py --write` makes this page.
"""


@dataclass(frozen=True, slots=True)
class Constant:
    """A number at the top of a module."""

    name: str
    value: str
    meaning: str

    @property
    def unit(self) -> str:
        """The unit that the name ends in; empty where it names none. Within a name `IN` is no inch."""
        *before, last = self.name.split("_")
        words = [last, *(word for word in reversed(before) if word != "IN")]
        return next((UNITS[word] for word in words if word in UNITS), "")

    @property
    def has_evidence(self) -> bool:
        return bool(EVIDENCE.search(self.meaning))

    def row(self) -> str:
        value = self.value if len(self.value) <= MAX_VALUE else f"{self.value[: MAX_VALUE - 1]}…"
        meaning = " ".join(self.meaning.split()).replace("|", "\\|")
        evidence = "yes" if self.has_evidence else "no"
        return f"| `{self.name}` | `{value.replace('|', chr(92) + '|')}` | {self.unit} | {evidence} | {meaning} |"


def read_constants(path: Path) -> Iterator[Constant]:
    """The constants of a module, in its order."""
    body = ast.parse(path.read_text("utf-8")).body
    for node, after in zip_longest(body, body[1:]):
        name, value = _assignment(node)
        if value is not None and name.isupper() and _holds_number(value):
            yield Constant(name.strip("_"), ast.unparse(value), _docstring(after))


def _assignment(node: ast.stmt) -> tuple[str, ast.expr | None]:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id, node.value
    return "", None


def _holds_number(value: ast.expr) -> bool:
    return any(
        isinstance(n, ast.Constant)
        and isinstance(n.value, int | float)
        and not isinstance(n.value, bool)
        for n in ast.walk(value)
    )


def _docstring(node: ast.stmt | None) -> str:
    """The string below a constant; empty where there is none."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return str(node.value.value)
    return ""


def page_text() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    total = with_evidence = 0
    for path in sorted(PACKAGE.rglob("*.py")):
        constants = list(read_constants(path))
        if not constants:
            continue
        total += len(constants)
        with_evidence += sum(constant.has_evidence for constant in constants)
        parts.append(f"\n## `{path.relative_to(PACKAGE)}`\n\n{TABLE_HEAD}")
        parts.extend(f"{constant.row()}\n" for constant in constants)
    parts.insert(1, f"\n{with_evidence} of {total} name their evidence.\n")
    return "".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write docs/constants.md")
    text = page_text()
    if parser.parse_args().write:
        PAGE.write_text(text, "utf-8")
        return 0
    if not PAGE.exists() or PAGE.read_text("utf-8") != text:
        print(
            "docs/constants.md differs from the code: uv run tools/documents/constants.py --write",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
