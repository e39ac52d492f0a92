"""A real browser for the tests of pages, where one is installed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from bench.phone_server import CHROMIUM, chromium
from tests.waiting import LONG_S

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium is installed: apt-get install -y chromium"
)


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    pytest.importorskip("playwright.sync_api", reason="the page is tried with playwright")
    with chromium() as found:
        yield _patient(found)


@pytest.fixture(scope="module")
def large() -> Iterator["Browser"]:
    """A browser of somebody who has set its letters to 24 px; 16 px are usual."""
    pytest.importorskip("playwright.sync_api", reason="the page is tried with playwright")
    with chromium("--blink-settings=defaultFontSize=24") as found:
        yield _patient(found)


def _patient(browser: "Browser") -> "Browser":
    """A browser whose pages are waited for as long as all else is."""
    new_context = browser.new_context

    def new_patient_context(**options: Any) -> "BrowserContext":
        context = new_context(**options)
        context.set_default_timeout(1000 * LONG_S)
        return context

    setattr(browser, "new_context", new_patient_context)  # noqa: B010
    return browser
