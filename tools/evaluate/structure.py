#!/usr/bin/env python3
"""How is the code built? Sizes of files, rooms, functions and statements, and how names are made.

    uv run tools/evaluate/structure.py                # this project's package
    uv run tools/evaluate/structure.py PATH ...       # any other Python package beside it

A row a package:

    lines     of all files
    files     median and maximum of lines a file
    room      the most files that one folder holds
    circles   groups of files that import each other, imports inside functions included
    function  median, 90th percentile and maximum of lines, from the first statement of the body
    one word  share of function names without an underscore inside, special methods left out
    nodes     90th percentile of syntax nodes in a statement that has no body of its own
    long      share of lines over 100 columns
"""

import argparse
import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

PACKAGE = Path(__file__).parents[2] / "src" / "overruler"
LONG_LINE = 100
COLUMNS = ("package", "lines", "files", "room", "circles", "function", "one word", "nodes", "long")


@dataclass(frozen=True, slots=True)
class Structure:
    """The measures of one package."""

    file_lines: Sequence[int]
    room_files: Mapping[Path, int]
    circles: int
    function_lines: Sequence[int]
    function_names: Sequence[str]
    statement_nodes: Sequence[int]
    long_lines: int

    def row(self) -> list[str]:
        """The cells of a row, in the order of `COLUMNS` after the first."""
        one_word = sum("_" not in name.strip("_") for name in self.function_names)
        functions = sorted(self.function_lines)
        lines = sum(self.file_lines)
        return [
            str(lines),
            f"{median(self.file_lines):.0f} / {max(self.file_lines)}",
            str(max(self.room_files.values())),
            str(self.circles),
            f"{median(functions):.0f} / {percentile(functions, 0.9)} / {functions[-1]}",
            f"{one_word / len(self.function_names):.0%}",
            str(percentile(self.statement_nodes, 0.9)),
            f"{self.long_lines / lines:.1%}",
        ]


def percentile(values: Sequence[int], share: float) -> int:
    """The value that this share of all values does not exceed."""
    return sorted(values)[int(share * (len(values) - 1))]


def measure_structure(package: Path) -> Structure:
    """The measures of all Python files below a folder."""
    sources = {path: path.read_text("utf-8") for path in sorted(package.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in sources.items()}
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    functions = [n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    statements = [n for n in nodes if isinstance(n, ast.stmt) and not hasattr(n, "body")]
    rooms = Counter(path.parent for path in sources if path.name != "__init__.py")
    lines = [line for text in sources.values() for line in text.splitlines()]
    return Structure(
        [len(text.splitlines()) for text in sources.values()],
        rooms,
        count_circles(package, trees),
        [(f.end_lineno or f.lineno) - f.body[0].lineno + 1 for f in functions],
        [f.name for f in functions if not f.name.startswith("__")],
        [sum(1 for _ in ast.walk(statement)) for statement in statements],
        sum(len(line) > LONG_LINE for line in lines),
    )


def count_circles(package: Path, trees: Mapping[Path, ast.Module]) -> int:
    """How many imports have to go before no file imports itself by way of others."""
    names = {_module_name(package, path): tree for path, tree in trees.items()}
    graph = {name: set(_imports(tree, names)) - {name} for name, tree in names.items()}
    count = 0
    while True:
        try:
            tuple(TopologicalSorter(graph).static_order())
        except CycleError as error:
            after, before = error.args[1][:2]
            graph[before].discard(after)
            count += 1
        else:
            return count


def _module_name(package: Path, path: Path) -> str:
    parts = (package.name, *path.relative_to(package).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(tree: ast.Module, known: Mapping[str, object]) -> Iterator[str]:
    """The known modules that a file imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            inner = {f"{node.module}.{alias.name}" for alias in node.names} & known.keys()
            yield from inner or ({str(node.module)} & known.keys())


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("packages", nargs="*", type=Path, default=[PACKAGE], metavar="PATH")
    table = Table(*COLUMNS)
    for package in parser.parse_args().packages:
        table.add_row(package.name, *measure_structure(package).row())
    Console().print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
