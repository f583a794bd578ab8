"""Who finds the true graph? Our searches and other programs on simulated networks; writes docs/structure.md.

    python benches/python/structure.py --peers ENV/bin/python    # everything that is missing
    python benches/python/structure.py --quick                   # a small part, within a minute or two
    python benches/python/structure.py --networks 0              # only the page, from saved runs
    python benches/python/structure.py --forget hybrid           # run a learner again

Networks are those of `an.simulate.network`: every style, 20 to 30 variables, 1.5 arcs per variable, at most 3 parents.
Finished runs are saved in a journal, and the same call continues from it. The graph of every learner is compared with
the true one, and the log density of new rows under trees (PCART) fitted to it is computed.

Other programs need their own environment, which you install:

    python -m venv ENV && ENV/bin/pip install pyagrum pgmpy pybnesian

and bnlearn where R is (`--rscript`). Missing programs are left out, and so are learners of ours that this
version does not have.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import networkx as nx

sys.path.insert(0, str(Path(__file__).parent))

from true_graphs.journal import Journal, Run
from true_graphs.ours import learned, learners
from true_graphs.page import TRUTH, write
from true_graphs.peers import Bnlearn, PythonPeers, Refused, TooSlow
from true_graphs.tables import ROWS, Drawn, Task, drawn, tasks

import arbornet as an

ROOT = Path(__file__).resolve().parents[2]
#: The figures of a comparison; arrowheads against the true class, as data determine no more.
FIGURES = {"f1": "f1", "shd": "shd", "ahp": "ahp_cpdag", "ahr": "ahr_cpdag"}
#: Trees over more parents take long, and no good graph here has them.
MOST_PARENTS = 6


def figures(drawn: Drawn, graph: Any, seconds: float) -> Run:
    """The figures of a run."""
    try:
        seen = an.metrics.compare(drawn.made.dag, graph).to_dict()
    except an.ParameterError as error:
        raise Refused(str(error).splitlines()[0]) from None
    run: Run = {name: None if math.isnan(seen[of]) else round(seen[of], 4) for name, of in FIGURES.items()}
    run["seconds"] = round(seconds, 4)
    dag = graph if isinstance(graph, nx.Graph) else getattr(graph, "dag", None) or graph.graph
    if nx.is_directed_acyclic_graph(dag) and max(dict(dag.in_degree).values()) <= MOST_PARENTS:
        plain: nx.DiGraph[str] = nx.DiGraph(dag.edges)
        plain.add_nodes_from(drawn.made.dag)
        net = an.fit(drawn.table, plain, an.PCART())
        run["density"] = round(float(net.log_likelihood(drawn.fresh).mean()), 4)
    return run


def peers(options: argparse.Namespace) -> tuple[dict[str, Any], dict[str, str]]:
    """The available learners of other programs, and the versions of their packages."""
    found: dict[str, Any] = {}
    versions: dict[str, str] = {}
    for maker, command in ((PythonPeers, options.peers), (Bnlearn, options.rscript)):
        try:
            peer = maker(command, options.limit)
        except (OSError, Refused, TooSlow, subprocess.SubprocessError) as error:
            print(f"{maker.__name__} is left out: {error}", file=sys.stderr)
            continue
        versions |= peer.versions
        found |= dict.fromkeys(peer.versions, peer)
    return found, versions


def run(task: Task, learner: str, own: dict[str, Any], others: dict[str, Any]) -> Run:
    data = drawn(task)
    try:
        if learner == TRUTH:
            return figures(data, data.made.dag, 0.0)
        graph, seconds = learned(own[learner], data) if learner in own else others[learner].learned(learner, data)
        return figures(data, graph, seconds)
    except (Refused, TooSlow) as error:
        return {"failed": str(error)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--quick", action="store_true", help="one network per style, 300 rows; journal and page in /tmp"
    )
    parser.add_argument("--networks", type=int, default=6, help="networks of each style; 0 only writes the page")
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS), help="sizes of the tables")
    parser.add_argument("--only", nargs="+", metavar="LEARNER", help="run only these learners")
    parser.add_argument("--forget", nargs="+", default=[], metavar="LEARNER", help="run these learners again")
    parser.add_argument("--peers", default=os.environ.get("ARBORNET_PEERS", sys.executable), help="a Python")
    parser.add_argument("--rscript", default="Rscript", help="an Rscript whose R has bnlearn")
    parser.add_argument("--limit", type=float, default=60.0, help="wall seconds for one graph of another program")
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "results" / "structure.jsonl")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "structure.md")
    options = parser.parse_args()
    if options.quick:
        options.networks, options.rows = 1, [300]
        folder = Path(tempfile.gettempdir()) / "arbornet-structure"
        options.results, options.page = folder / "structure.jsonl", folder / "structure.md"
    warnings.simplefilter("ignore", an.ArbornetWarning)
    journal = Journal(options.results)
    if options.forget:
        journal.forget(options.forget)
    own, missing = learners()
    for name in missing:
        print(f"{name} is left out: this version does not have it", file=sys.stderr)
    others, versions = peers(options) if options.networks else ({}, {})
    names = [name for name in (TRUTH, *own, *others) if not options.only or name in options.only]
    try:
        for task in tasks(options.networks, tuple(options.rows)):
            for name in names:
                if not journal.has(task, name):
                    journal.add(
                        task, name, run(task, name, own, others) | {"version": versions.get(name, an.__version__)}
                    )
            print(f"{task}: done", flush=True)
    finally:
        for peer in {id(peer): peer for peer in others.values()}.values():
            peer.close()
    write(options.page, journal)


if __name__ == "__main__":
    main()
