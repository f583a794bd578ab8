"""Ctrl-C in the middle of a call, sent by a thread; a signal that nobody takes fails its test and not the whole run."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

#: Seconds: the one that is promised, and what a busy machine adds to it.
SOON = 3.0


class Press:
    """When the key was pressed.

    Attributes:
        at: the time by `time.perf_counter`, None as long as it was not.
    """

    def __init__(self) -> None:
        self.at: float | None = None

    def __call__(self) -> None:
        self.at = time.perf_counter()
        os.kill(os.getpid(), signal.SIGINT)

    def ago(self) -> float:
        """Seconds since then.

        Raises:
            AssertionError: if it was not pressed: the call ended before.
        """
        assert self.at is not None, "the call ended before it was interrupted"
        return time.perf_counter() - self.at


@contextmanager
def ctrl_c(after: float) -> Iterator[Press]:
    """Presses Ctrl-C so many seconds after the beginning of the block; prepare all but the call itself before it.

    The block must take the signal. If it ends before, nothing is sent; if the signal strikes where nothing takes it, on
    a machine that is slow to begin the call, that is a failure of this test alone.
    """
    press = Press()
    timer = threading.Timer(after, press)
    timer.start()
    try:
        yield press
        timer.cancel()
        timer.join()
    except KeyboardInterrupt:
        pytest.fail(f"the interrupt after {after} s was not taken by the call")
    finally:
        timer.cancel()
        timer.join()
