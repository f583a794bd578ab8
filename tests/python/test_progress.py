"""Progress: true figures, a bar on terminals only, silence unless asked for."""

import logging
import os
import pty
import subprocess
import sys

import pytest

from arbornet.text import progress
from arbornet.text.progress import Pace, shown, status
from arbornet.text.terminal import clock_time


def test_a_steady_pace_tells_the_exact_time_left():
    pace = Pace()
    for second in range(6):
        pace.mark(float(second), 10 * second)
    assert pace.left(5.0, 100) == pytest.approx(5.0)


def test_nothing_is_claimed_before_it_is_measured():
    pace = Pace()
    assert pace.left(0.0, 10) is None
    pace.mark(0.0, 0)
    pace.mark(0.5, 5)
    assert pace.left(0.5, 10) is None, "half a second is too short"
    assert pace.left(1.5, 0) is None, "the total is unknown"
    assert pace.left(1.5, 10) == pytest.approx(1.5)


def test_the_time_left_follows_a_change_of_pace():
    pace = Pace()
    for second in range(11):
        pace.mark(float(second), 100 * second)
    for second in range(11, 41):
        pace.mark(float(second), 1000 + (second - 10))
    done = 1030
    assert pace.left(40.0, done + 60) == pytest.approx(60, rel=0.05)


def test_work_that_hangs_moves_its_end_away():
    pace = Pace()
    pace.mark(0.0, 0)
    pace.mark(10.0, 50)
    assert pace.left(10.0, 100) == pytest.approx(10)
    assert pace.left(40.0, 100) == pytest.approx(40)


def test_figures_are_said_as_one_says_them():
    assert [clock_time(s) for s in (0.4, 59, 61, 3599, 7500, 1e19)] == [
        "0 s",
        "59 s",
        "1 min 01 s",
        "59 min 59 s",
        "2 h 05 min",
        "more than 100 days",
    ]
    assert status(1200, 5000, 8.2) == "1,200 of 5,000, about 8 s left"
    assert status(12, 0, None) == "12"
    assert status(5, 5, 0.0) == "5 of 5"


def test_nothing_is_shown_unless_asked_for(capfd):
    with shown("work", progress=False) as tell:
        assert tell is None
    assert capfd.readouterr() == ("", "")


def test_a_function_is_told_the_news_itself():
    told = []
    with shown("work", progress=lambda *news: told.append(news)) as tell:
        tell(3, 10)
    assert told == [(3, 10)]


LATE = """
import sys, time
from arbornet.text import progress
progress.LATE = 0.2
with progress.shown('scoring', 'late') as tell:
    tell(3, 10)
    time.sleep(float(sys.argv[1]))
    tell(9, 10)
"""


@pytest.mark.parametrize(("seconds", "is_drawn"), [(0.0, False), (0.3, True)])
def test_a_late_bar_is_not_drawn_for_short_work(seconds, is_drawn):
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    subprocess.run([sys.executable, "-c", LATE, str(seconds)], stderr=theirs, check=True, env=environment)
    os.write(theirs, b"end")  # else there may be nothing to read
    assert ("scoring" in os.read(ours, 65536).decode()) is is_drawn
    os.close(theirs)
    os.close(ours)


def test_without_a_terminal_progress_goes_to_the_log(capfd, caplog, monkeypatch):
    monkeypatch.setattr(progress, "LOG_EVERY", 0.0)
    with caplog.at_level(logging.INFO, "arbornet"), shown("scoring parent sets") as tell:
        tell(3, 10)
    assert [record.getMessage() for record in caplog.records] == ["scoring parent sets: 3 of 10"]
    assert capfd.readouterr() == ("", "")


CODE = """
from arbornet.text.progress import shown
with shown('scoring') as tell:
    tell(3, 10); tell(10, 10)
print('done')
"""


def test_the_log_is_quiet_by_default():
    run = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("done\n", "")


def test_on_a_terminal_there_is_a_bar_on_standard_error():
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    run = subprocess.run(
        [sys.executable, "-c", CODE], stdout=subprocess.PIPE, stderr=theirs, check=True, env=environment
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        said += piece
    os.close(ours)
    assert run.stdout == b"done\n"
    assert "scoring" in said.decode()
    assert "10 of 10" in said.decode()
