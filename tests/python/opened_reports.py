"""Reports opened in a browser: one fixture for all tests that look at them, and the words they look with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arbornet.show.report import Report, write
from browser import CHROMIUM, Page, browser

in_a_browser = pytest.mark.skipif(CHROMIUM is None, reason="no browser (Debian: apt install chromium)")

WINDOWS = [(1280, 800), (1440, 900), (390, 844)]
"""Two desks and a telephone."""
DESKS = WINDOWS[:2]

HELPERS = """
globalThis.box = (e) => { const b = e.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; };
globalThis.all = (s) => [...document.querySelectorAll(s)];
globalThis.seen = (e) => e.checkVisibility();
"""

OpenReport = Callable[..., Page]


@pytest.fixture(scope="session")
def browser_page() -> Iterator[Page]:
    """One browser for all tests of a process."""
    with browser() as opened:
        yield opened


@pytest.fixture
def open_report(browser_page: Page, tmp_path: Path) -> Iterator[OpenReport]:
    """Writes a report and opens it; afterwards the console is empty and nothing but the file was asked for."""

    def go(report: Report | Path, **window: int | bool) -> Page:
        path = report if isinstance(report, Path) else tmp_path / "report.html"
        if isinstance(report, Report):
            write(report, path)
        browser_page.console.clear()
        browser_page.requests.clear()
        browser_page.open(path, **window)
        browser_page.run(HELPERS)
        return browser_page

    yield go
    assert browser_page.console == []
    assert [url for url in browser_page.requests if not url.startswith("file:")] == []


def select(page: Page, i: int) -> None:
    """Chooses a variable."""
    page.run(f"all('.an-node')[{i}].dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
