"""A real browser for the tests of pages; without one they are skipped, and say so."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.pages.browser import Eyes, chromium, started


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for a file of tests; not for longer, since it keeps an event loop under way meanwhile."""
    path = chromium()
    if path is None:
        pytest.skip("no chromium on this machine (Debian's package: chromium)")
    with started(path) as running:
        yield running


@pytest.fixture
def look(browser: Browser) -> Eyes:
    """Look at a page: `look(html_or_url, 320, name="…", dark=True)`, or `look.everywhere(…, name="…")`.

    Pictures are kept where SPOTWARDEN_SCREENSHOTS names a folder.
    """
    folder = os.environ.get("SPOTWARDEN_SCREENSHOTS")
    return Eyes(browser, Path(folder) if folder else None)
