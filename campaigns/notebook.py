"""A kernel of Jupyter is interrupted while long calls run: how long until it is idle again.

pip install ipykernel jupyter_client     # into the environment that has the package
python campaigns/notebook.py [--repeats 3] [name ...]
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path
from queue import Empty

from jupyter_client.manager import KernelManager

NAMES = (
    "score_parents PCART",
    "score_parents CustomScore",
    "exact",
    "anytime",
    "hill_climb",
    "fges",
    "boss",
    "pc",
    "cross_validate",
    "learn",
    "sample",
    "log_likelihood with gaps",
)
PROGRESS = "an.score_parents(mixed_table, an.PCART(), 4, progress=True)"
THREAD = "import threading; thread = threading.Thread(target=call, daemon=True); thread.start(); thread.join()"


class Notebook:
    """A kernel and what it answers."""

    def __init__(self) -> None:
        self._manager = KernelManager()
        self._manager.start_kernel(cwd=str(Path(__file__).parent))
        self._client = self._manager.client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=120)

    def run(self, code: str, interrupt_after: float | None = None) -> tuple[str, float]:
        """How a cell ended, and the seconds it took, from the interrupt on if there is one."""
        asked = self._client.execute(code)
        began = time.monotonic()
        if interrupt_after is not None:
            try:
                reply = self._client.get_shell_msg(timeout=interrupt_after)
                return f"early: {reply['content']['status']}", 0.0
            except Empty:
                began = time.monotonic()
                self._manager.interrupt_kernel()
        while True:
            reply = self._client.get_shell_msg(timeout=300)
            if reply["parent_header"].get("msg_id") == asked:
                content = reply["content"]
                return content.get("ename", content["status"]), time.monotonic() - began

    def close(self) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rng = random.Random(asked.seed)
    cells = [(name, f"call = CALLS[{name!r}]()", "call()") for name in asked.names or NAMES]
    if not asked.names:
        cells.append(("progress shown", "mixed_table = an.Table(mixed(5000, 20))", PROGRESS))
        cells.append(("in a thread", "call = CALLS['score_parents PCART']()", THREAD))
    print("| cell | interrupts | most seconds until idle | how it ended | next cell |\n|---|---|---|---|---|")
    late = []
    for name, prepare, code in cells:
        notebook = Notebook()
        try:
            ended = notebook.run("import arbornet as an; from calls import CALLS, mixed; " + prepare)[0]
            assert ended == "ok", ended
            runs = [notebook.run(code, rng.uniform(0.3, 1.5)) for _ in range(asked.repeats)]
            after = notebook.run("1 + 1")[0]
        finally:
            notebook.close()
        most = max(seconds for _, seconds in runs)
        print(
            f"| {name} | {len(runs)} | {most:.2f} | {', '.join(sorted({how for how, _ in runs}))} | {after} |",
            flush=True,
        )
        if most > 5 or after != "ok":
            late.append(name)
    if late:
        sys.exit("late: " + ", ".join(late))


if __name__ == "__main__":
    main()
