"""Other programs' learners, each in an environment of its own: a Python with its packages, an R with bnlearn."""

from __future__ import annotations

import csv
import json
import selectors
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import networkx as nx

from true_graphs.tables import Drawn

PEERS = Path(__file__).resolve().parents[2] / "peers"
BNLEARN = ("bnlearn tabu CG-BIC",)


class TooSlow(Exception):
    """A learner did not finish in time."""


class Refused(Exception):
    """A learner could not take the table."""


class PythonPeers:
    """The learners of `benches/peers/structure.py` in a process, restarted after one that was too slow."""

    def __init__(self, python: str, limit: float) -> None:
        self._python = python
        self._limit = limit
        self._process: subprocess.Popen[str] | None = None
        self.versions: dict[str, str] = self._start()

    def learned(self, learner: str, drawn: Drawn) -> tuple[nx.DiGraph[str], float]:
        """A graph, and user CPU seconds."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.csv"
            drawn.made.frame.write_csv(path)
            if self._process is None:
                self._start()
            job = {"learner": learner, "table": str(path), "kinds": drawn.kinds}
            answer = self._asked(json.dumps(job), self._limit)
        if "error" in answer:
            raise Refused(answer["error"])
        return _graph(drawn, answer["edges"]), float(answer["seconds"])

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _start(self) -> dict[str, str]:
        self._process = subprocess.Popen(
            [self._python, str(PEERS / "structure.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        return self._answer(60.0)

    def _asked(self, line: str, limit: float) -> dict[str, Any]:
        assert self._process is not None and self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._answer(limit)

    def _answer(self, limit: float) -> dict[str, Any]:
        assert self._process is not None and self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            if not selector.select(limit):
                self.close()
                raise TooSlow(f"no answer within {limit:g} s")
        line = self._process.stdout.readline()
        if not line:
            self.close()
            raise Refused("the peer's process ended")
        answer: dict[str, Any] = json.loads(line)
        return answer


class Bnlearn:
    """The learners of `benches/peers/structure.R`, one process each."""

    def __init__(self, rscript: str, limit: float) -> None:
        self._rscript = rscript
        self._limit = limit
        version = self._run().split()
        self.versions = dict.fromkeys(BNLEARN, f"bnlearn {version[-1]}")

    def learned(self, learner: str, drawn: Drawn) -> tuple[nx.DiGraph[str], float]:
        """A graph, and user CPU seconds."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            drawn.made.frame.write_csv(folder / "table.csv")
            with (folder / "kinds.csv").open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([("column", "kind"), *drawn.kinds.items()])
            said = self._run(str(folder / "table.csv"), str(folder / "kinds.csv"), learner, str(folder / "edges.csv"))
            with (folder / "edges.csv").open(encoding="utf-8", newline="") as file:
                edges = [(row["from"], row["to"]) for row in csv.DictReader(file)]
        return _graph(drawn, edges), float(said.split()[-1])

    def close(self) -> None:
        """Nothing is kept running."""

    def _run(self, *given: str) -> str:
        command = [self._rscript, str(PEERS / "structure.R"), *given]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=self._limit, check=False)
        except subprocess.TimeoutExpired:
            raise TooSlow(f"no answer within {self._limit:g} s") from None
        if run.returncode:
            raise Refused(" ".join(run.stderr.split())[:200])
        return run.stdout


def _graph(drawn: Drawn, edges: Any) -> nx.DiGraph[str]:
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(drawn.kinds)
    graph.add_edges_from((a, b) for a, b in edges)
    return graph
