"""The documents and the program's messages are spelled as dictionaries have it, and their links are safe."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "mkdocs.yml", "docs", "src")
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
HERE = ("localhost", "127.0.0.1", "ADDRESS", "HOST", "…")
"""Hosts of addresses that need no encryption: the reader's own machine."""


@pytest.mark.skipif(find_spec("codespell_lib") is None, reason="codespell is not installed")
def test_no_word_is_misspelled() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "codespell_lib", *TEXTS], cwd=ROOT, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_links_into_the_world_are_encrypted() -> None:
    """Links between the pages are followed by test_docs.py."""
    for page in PAGES:
        for host in re.findall(r"\bhttp://([^\s/:)`\"'>]+)", page.read_text("utf-8")):
            assert host.startswith(HERE), f"{page.name}: http://{host}"
