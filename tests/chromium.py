"""A real browser for the tests of pages, where one is installed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from bench.phone_server import CHROMIUM, chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium is installed: apt-get install -y chromium"
)


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    pytest.importorskip("playwright.sync_api", reason="the page is tried with playwright")
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def large() -> Iterator["Browser"]:
    """A browser of somebody who has set its letters to 24 px; 16 px are usual."""
    pytest.importorskip("playwright.sync_api", reason="the page is tried with playwright")
    with chromium("--blink-settings=defaultFontSize=24") as found:
        yield found
