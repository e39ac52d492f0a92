"""Every promise of docs/promises.md names tests, and these exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "promises.md").read_text("utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("|") and not line.startswith("|---")]
PROMISES = [row for row in ROWS if not row.endswith("held by |") and "**can**" not in row]
NAMED = sorted(set(re.findall(r"`((?:tests|tools)/[\w/.]+)(?:::(\w+))?`", PAGE)))


@cache
def functions_of(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return frozenset(each.name for each in tree.body if isinstance(each, ast.FunctionDef))


@pytest.mark.parametrize("row", PROMISES)
def test_a_promise_names_a_test(row: str) -> None:
    held_by = row.rstrip("| ").rpartition("|")[2]
    assert re.search(r"`tests/[\w/.]+::test_\w+`", held_by), row


@pytest.mark.parametrize(("path", "test"), NAMED)
def test_what_holds_a_promise_exists(path: str, test: str) -> None:
    assert (ROOT / path).is_file()
    assert not test or test in functions_of(ROOT / path)
