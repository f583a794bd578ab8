"""What `an.learn` told of its time, and what it took: shared by the benches that run it on many tables."""

from __future__ import annotations

import re
import resource
import time
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import arbornet as an

_TOLD = re.compile(r"parents.*, (?:about )?(under )?([\d,.]+)(?: to ([\d,.]+))? (s|min|h|days)", re.S)
_UNITS = {"s": 1, "min": 60, "h": 3600, "days": 86400}
#: What has been done when a line begins with this word.
_STEPS = {"score": "types", "to score": "plan", "candidates": "score", "search": "search", "network": "fit"}


class Said(StringIO):
    """What is printed, with the processor time at which each step was done."""

    def __init__(self) -> None:
        super().__init__()
        self.began = time.process_time()
        self.seconds = dict.fromkeys(_STEPS.values(), 0.0)

    def write(self, text: str) -> int:
        """Notes when a step's line comes."""
        step = _STEPS.get(text.partition(":")[0])
        if step is not None:
            now = time.process_time()
            self.seconds[step] = round(now - self.began, 2)
            self.began = now
        return super().write(text)


def range_told(said: str) -> tuple[float, float]:
    """The seconds told before the scoring, at least and at most."""
    text = " ".join(said.split())
    if "to score" not in text:
        return 0.0, 0.0
    told = _TOLD.search(text[text.index("to score") : text.index("candidates:")])
    if told is None:
        return 0.0, 0.0
    under, first, last, unit = told.groups()
    low, high = (float(x.replace(",", "")) * _UNITS[unit] for x in (first, last or first))
    return 0.0 if under else low, high


def learned(frame: Any, effort: str | None = None, **settings: Any) -> tuple[an.BayesNet, dict[str, Any]]:
    """The network that `an.learn` makes of a frame, with what it told and took.

    `cpu` and `wall` are seconds, `low` to `high` is what was told, `types` to `fit` are the CPU seconds of the steps.
    """
    said = Said()
    wall, cpu = time.perf_counter(), time.process_time()
    given = settings if effort is None else {**settings, "effort": effort}
    with redirect_stdout(said):
        net = an.learn(frame, **given)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    low, high = range_told(said.getvalue())
    text = " ".join(said.getvalue().split())
    return net, {
        "low": low,
        "high": high,
        "cpu": round(cpu, 2),
        "wall": round(wall, 2),
        **said.seconds,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "arcs": net.graph.number_of_edges(),
        "stopped": net.origin.search["stopped"],
        "left_out": "; ".join(
            re.findall(r"left out: (of the .*?|\d[\d,]* families .*?)(?= left out:| to look| search:)", text)
        ),
    }
