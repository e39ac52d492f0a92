"""A server in a process of its own, and a phone that asks it: Chromium without a screen."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

SAMPLES = Path(__file__).parents[2] / "sample_images"
CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
PATIENCE_MS = 300_000
"""How long a page may take to show what is waited for."""
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip


@contextmanager
def server(
    boards: Iterable[Path] = tuple(sorted(SAMPLES.glob("*.toml"))),
) -> Iterator[tuple[str, int]]:
    """The address of a server that knows some tables, and its process; what it keeps goes with it."""
    known = [part for board in boards for part in ("--board", str(board))]
    with tempfile.TemporaryDirectory() as store:
        command = [
            sys.executable,
            "-m",
            "overruler",
            "serve",
            "--port",
            "0",
            "--store",
            store,
            *known,
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield process.stdout.readline().strip(), process.pid
            finally:
                process.terminate()


@contextmanager
def chromium(*flags: str) -> Iterator["Browser"]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, *flags])
        yield browser
        browser.close()


def phone(browser: "Browser", height_px: int = 844, **more: Any) -> "Page":
    """A page on a screen to touch."""
    size: ViewportSize = {"width": 390, "height": height_px}
    return patient_page(browser, viewport=size, has_touch=True, is_mobile=True, **more)


def patient_page(browser: "Browser", **more: Any) -> "Page":
    """A page of a context of its own that waits for a slow machine: `more` is of the context."""
    context = browser.new_context(**more)
    context.set_default_timeout(PATIENCE_MS)
    return context.new_page()
