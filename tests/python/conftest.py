"""What all tests need: interrupts that arrive, and skips that are counted and judged."""

import os
import signal
from collections.abc import Generator

import pytest

from browser import CHROMIUM
from opened_reports import browser_page, open_report

__all__ = ["browser_page", "open_report"]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background of a shell without job control: tests that interrupt would wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Printed tables fit the terminal: that of the tests has 80 columns.
os.environ["COLUMNS"] = "80"

#: What a machine may lack though `make test` did its work, as the reasons of skips begin.
MAY_BE_MISSING = ("no browser", "no Graphviz", "no fork", "no /dev", "no /proc")
#: Where everything has to be there, as where changes are judged, no test may be skipped at all.
NOTHING_MISSING = bool(os.environ.get("ARBORNET_ALL_TESTS"))


def _judged(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turns a skip without leave into a failure."""
    if not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    reason = reason.removeprefix("Skipped: ")
    if NOTHING_MISSING or not reason.startswith(MAY_BE_MISSING):
        report.outcome = "failed"
        report.longrepr = f"skipped, though nothing that it needs may be missing here: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Judges the skips of tests."""
    report = yield
    _judged(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Judges the skips of whole files."""
    report = yield
    _judged(report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Counts what was skipped, and says loudly when the report was not tried in a browser."""
    skipped = terminalreporter.stats.get("skipped", [])
    terminalreporter.write_line(f"{len(skipped)} tests skipped")
    if CHROMIUM is None:
        terminalreporter.write_line(
            "NO BROWSER: the tests of the report in a browser did not run (Debian: apt install chromium)", red=True
        )
