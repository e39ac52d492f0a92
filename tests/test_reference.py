"""The library's public names: each is documented, and what its page and its notebook show happens."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import overruler

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reference.md").read_text("utf-8")
NOTEBOOK = ROOT / "docs" / "first-measurement.ipynb"
NAMES = [name for name in overruler.__all__ if name != "__version__"]


def test_the_page_has_every_public_name() -> None:
    assert sorted(re.findall(r"^::: overruler\.(\w+)$", PAGE, re.M)) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_is_described_and_typed(name: str) -> None:
    value: Any = getattr(overruler, name)
    assert re.match(r"[A-Z].+[.:]", inspect.getdoc(value) or "")
    members = vars(value).values() if inspect.isclass(value) else [value]
    for member in filter(inspect.isfunction, members):
        if not member.__name__.startswith("_"):
            assert "return" in member.__annotations__, member.__qualname__


def test_public_names_stay() -> None:
    """Taking one away is a decision: see docs/stability.md."""
    first = {
        *("Film", "Frame", "Matrix", "MissingExtra", "load_photo"),
        *("BadInput", "Base", "Board", "CannotMeasure", "Lens", "Measurement", "OverrulerError"),
        *("Piece", "Referee", "Report", "Scene", "Table", "Verdict", "ask", "matrix", "measure"),
    }
    assert first <= set(NAMES)


def test_what_pages_for_programs_import_is_public() -> None:
    """Pages about adding to the program itself may name its rooms."""
    pages = [page for page in (ROOT / "docs").glob("*.md") if not page.name.startswith("adding-")]
    rooms = r"^\s*(?:from|import) (overruler\.\S+)"
    assert [
        found for page in pages for found in re.findall(rooms, page.read_text("utf-8"), re.M)
    ] == []


def test_the_notebook_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(NOTEBOOK, 4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [cell.outputs[-1].data for cell in notebook.cells if cell.cell_type == "code"]
    assert "data:image/jpeg;base64," in outputs[0]["text/html"]
    assert "range" in outputs[1]["text/plain"]
    assert "reach_mm" in outputs[2]["text/plain"]
