"""Progress: a bar on a terminal, log lines elsewhere, nothing unless you turn it on.

Long work calls `tell(done, total)` whenever there is news. The time left comes from the pace measured lately, not from
the start, because work changes its pace (small parent sets are scored faster than large ones); until there is a pace,
none is claimed. The bar is drawn by rich on standard error, so standard output stays clean for pipes.
"""

from __future__ import annotations

import logging
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from arbornet.given import Progress
from arbornet.text.terminal import clock_time

Tell = Callable[[int, int], None]
"""What is called with news of long work: how much is done, and of how much (0 while unknown)."""

log = logging.getLogger("arbornet")
log.addHandler(logging.NullHandler())

LOG_EVERY = 10.0
LATE = 2.0
"""Seconds after which the bar of work is shown that may be short."""


class Pace:
    """Measures how fast work goes on.

    Args:
        least: Seconds of measurement before a pace is claimed.
    """

    def __init__(self, least: float = 1.0):
        self._least = least
        self._marks: deque[tuple[float, int]] = deque()
        self._begun: float | None = None

    def mark(self, now: float, done: int) -> None:
        """Notes how much is done; what lies further back than ten seconds and a third of the work is forgotten."""
        if self._begun is None:
            self._begun = now
        self._marks.append((now, done))
        horizon = now - max(10.0, (now - self._begun) / 3)
        while len(self._marks) > 2 and self._marks[1][0] <= horizon:
            self._marks.popleft()

    def left(self, now: float, total: int) -> float | None:
        """Seconds left until `total` is done, or None as long as nobody can know."""
        if not self._marks or not total:
            return None
        (start, before), (_, done) = self._marks[0], self._marks[-1]
        if now - start < self._least or done <= before:
            return None
        # Time without news counts too: work that hangs moves its end away.
        return max(0.0, (total - done) * (now - start) / (done - before))


def status(done: int, total: int, left: float | None) -> str:
    """The figures beside a bar: `1,200 of 5,000, about 8 s left`."""
    if not total:
        return f"{done:,}"
    says = f"{done:,} of {total:,}"
    if done >= total:
        return says
    return f"{says}, about {clock_time(left)} left" if left is not None else says


@contextmanager
def shown(what: str, progress: Progress = True) -> Iterator[Tell | None]:
    """Shows the progress of the work done inside.

    Args:
        what: What is being done, such as "scoring parent sets".
        progress: Whether to show anything: True, "late" for work over two seconds only, a function to call instead.

    Yields:
        The function to call with (done, total), total 0 while unknown; None if nothing is to be shown.
    """
    if not progress:
        yield None
    elif callable(progress):
        yield progress
    elif sys.stderr.isatty():
        with _bar(what, LATE if progress == "late" else 0.0) as tell:
            yield tell
    else:
        yield _logged(what)


def _logged(what: str) -> Tell:
    """Logs news at level INFO, every ten seconds at most."""
    pace = Pace()
    last = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        pace.mark(now, done)
        if now - last >= LOG_EVERY:
            last = now
            log.info("%s: %s", what, status(done, total, pace.left(now, total)))

    return tell


@contextmanager
def _bar(what: str, after: float) -> Iterator[Tell]:
    """A bar of rich, with the first news after so many seconds."""
    began = time.monotonic()
    pace = Pace()
    with ExitStack() as open_:
        draw: Tell | None = None

        def tell(done: int, total: int) -> None:
            nonlocal draw
            pace.mark(time.monotonic(), done)
            if draw is None and time.monotonic() - began >= after:
                draw = _drawn(what, pace, open_)
            if draw is not None:
                draw(done, total)

        if not after:
            draw = _drawn(what, pace, open_)
        yield tell


def _drawn(what: str, pace: Pace, open_: ExitStack) -> Tell:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
    from rich.text import Text

    class Figures(ProgressColumn):
        def render(self, task: Task) -> Text:
            done, total = int(task.completed), int(task.total or 0)
            return Text(status(done, total, pace.left(time.monotonic(), total)))

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), Figures())
    display = Progress(*columns, console=Console(file=sys.stderr), transient=True, refresh_per_second=5)
    task = open_.enter_context(display).add_task(what, total=None)
    return lambda done, total: display.update(task, completed=done, total=total or None)
