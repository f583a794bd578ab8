"""Reports made up for the tests of the page: any number of variables, every kind, trees, histograms, awkward names."""

import random

from arbornet.show.arrows import SCALE
from arbornet.show.draw.parts import Arc, Leaf, Node, Split, Tree
from arbornet.show.draw.values import Bars, Histogram
from arbornet.show.report import Report, Rows, Search, Variable

ADVICE = "588 of 600 rows used: 'glucose' is 1% missing; leaving it out keeps 595."
NAMES = ["age", "sex", "smoker", "bmi", "systolic", "glucose"]
NAMES += ["diabetes", "stage", "crp", "treatment", "days in hospital", "readmitted"]
LEVELS = {"categorical": [("no", "yes"), ("surgery", "drug", "both")], "ordinal": [("I", "II", "III", "IV")]}


def made_report(
    n: int, seed: int = 0, arcs_per_variable: float = 1.4, names: list[str] | None = None, chain: bool = False
) -> Report:
    """A report of n variables, with arcs drawn at random or in one chain."""
    source = random.Random(seed)
    names = names or [*NAMES[:n], *(f"measure {i}" for i in range(len(NAMES), n))]
    nodes = []
    for name in names:
        kind = source.choice(["continuous", "categorical", "ordinal"])
        nodes.append(Node(name, kind, source.choice(LEVELS[kind]) if kind != "continuous" else ()))
    arcs: dict[tuple[int, int], Arc] = {}
    for child in range(1, n if chain else 0):
        arcs[child - 1, child] = Arc(names[child - 1], names[child], 0.5, 3.0, child % 2 == 0)
    while not chain and len(arcs) < min(arcs_per_variable * n, n * (n - 1) / 2):
        child = source.randrange(1, n)
        parent = max(0, child - 1 - int(source.expovariate(1 / 4)))
        arcs[parent, child] = Arc(
            names[parent],
            names[child],
            round(source.uniform(0.2, 1), 2),
            source.expovariate(1 / 30),
            (parent + child) % 3 == 0,
        )
    parents = {i: [u for u, v in sorted(arcs) if v == i] for i in range(n)}

    def grow(node: Node, asked: list[Node], rows: int) -> Split | Leaf:
        if asked and rows > 30:
            variable = asked[0]
            if variable.kind == "continuous":
                cut = f"{source.uniform(10, 90):.1f}"
                labels = (f"< {cut}", f"≥ {cut}")
            else:
                labels = (variable.levels[0], ", ".join(variable.levels[1:]))
            part = int(rows * source.uniform(0.2, 0.8))
            counts = (part, rows - part)
            below = [grow(node, asked[source.randrange(1, len(asked) + 1) :], count) for count in counts]
            return Split(variable.name, tuple(zip(labels, below, strict=True)))
        if node.kind == "continuous":
            return Leaf(rows, (), source.gauss(50, 15), source.uniform(3, 12), rows + 1)
        weights = [source.expovariate(1) for _ in node.levels]
        return Leaf(rows, tuple(w / sum(weights) for w in weights))

    variables = []
    for i, node in enumerate(nodes):
        tree = Tree(node, grow(node, [nodes[p] for p in parents[i]] * 2, 588))
        leaves = len(list(tree.leaves()))
        values = (
            Histogram.of([round(source.gauss(50, 15), 1) for _ in range(588)])
            if node.kind == "continuous"
            else Bars(node.levels, tuple(source.randrange(20, 300) for _ in node.levels))
        )
        reason = {
            "continuous": "numbers with 211 distinct values",
            "categorical": "text with few values; no order is known",
            "ordinal": "levels given by the schema file",
        }[node.kind]
        variables.append(
            Variable(
                node,
                reason,
                source.choice([0, 0, 7]),
                values,
                f"tree with {leaves} leaves",
                tree,
                f"{node.name}\n  {leaves} leaves",
                -source.uniform(200, 2000),
                None,
                "0.2 to 1.4" if node.kind == "continuous" else "",
            )
        )
    return Report(
        "Patients",
        tuple(variables),
        tuple(arcs[key] for key in sorted(arcs)),
        Rows(600, 588, (("blank in glucose", 7), ("blank in crp", 5)), ADVICE),
        Search("exact, by dynamic programming over subsets", -12345.678, -12345.678, 0.0, "proven", 1.23),
        (),
        (("Local score", "pcart (max splits 5)"),),
        SCALE,
    )
