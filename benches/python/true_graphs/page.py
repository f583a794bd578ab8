"""The page of results: tables, and pictures of the distance to the true graph over the rows."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from true_graphs.journal import Journal, mean_and_error
from true_graphs.tables import FRESH, STYLES, Task

TRUTH = "the true graph"
HIDDEN = "hidden"
#: In every picture of all styles, and in the tables: "hidden" is shown alone, as most learners find nothing there.
TOLD = tuple(style for style in STYLES if style != HIDDEN)
#: Tones that can be read on white and on black.
INK = "#808080"
TONES = ("#0d9488", "#3b82f6", "#a855f7", "#65a30d", "#ec4899", "#0891b2", "#6366f1", "#16a34a", "#d946ef")
PEER_TONES = ("#f97316", "#ef4444", "#b45309", "#ca8a04")
PEERS = ("pyAgrum", "pgmpy", "pybnesian", "bnlearn")

HEAD = """# Who finds the true graph?

The searches of arbornet and other programs, compared on random networks with a known graph. Written by
`benches/python/structure.py`, which runs what is missing and writes this page again.

**Networks.** {networks} of each style of [`an.simulate.network`](guide/simulate.md#styles), with 20 to 30 variables,
1.5 arcs per variable, at most 3 parents, 60% of the columns numbers. Fewer rows are the first of more.

**Learners.** All on one thread.

{learners}

**Figures.**

* *F1* of the adjacencies.
* *SHD*: the structural Hamming distance of the two [equivalence classes](guide/glossary.md#equivalence-class). Lower
  is better. After ± is the standard error of the mean.
* *Arrowheads*: precision is the share of learned arrowheads that are in the true class; recall the share of
  arrowheads of the true class that were learned, among adjacent pairs of the learned graph.
* *Log density* of a new row ({fresh:,} of each network) under trees (`PCART`) fitted to the graph: how well the
  graph predicts. It is missing where a graph has more than 6 parents of a variable, or where a program returns a class
  and no graph.
* *Seconds* of user CPU from table to graph.
"""

NOTES = {
    "exact PCART": "* Exact PCART: the best network of trees, at most 2 parents per variable, within a minute.",
    "BOSS": "* BOSS: 11 starts, prior Binomial(1), numbers as normal scores.",
    "PC PCART": "* PC PCART: independent if the Bayes factor of trees is below 2; separating sets of at most 2.",
    "hybrid": "* Hybrid: `an.search.hybrid` by default.",
    "pyAgrum": "* pyAgrum and pgmpy get numbers in 5 bins of equal frequency.",
    "bnlearn": "* bnlearn and pybnesian get the mixed columns and score conditional Gaussian networks.",
}

FAILS = """
## What fails

* **Hidden effects** (style "hidden"). In xor, in slopes whose sign depends on another parent, and in waves, parent and
  child are uncorrelated. Scores that add up lines or curves cannot find the first two, nor can pairwise tests. Trees
  can, as they split twice.
* **Products** of two parents are hard for lines and curves for the same reason, but each parent also has some
  effect of its own.
* **Straight lines, for trees.** A tree needs many splits to follow a line, so in the linear and heavy-tailed styles one
  Gaussian is closer to the true graph, above all with few rows.
* **Arrowheads of trees.** Trees join the right pairs, but of two directions that no data can distinguish they prefer
  one, so a smaller share of their arrowheads than of their adjacencies is right
  ([why](guide/which-way.md)). With lines in the leaves, as `learn` takes them, trees predict better and
  are no nearer to the graph: SHD 8.4 instead of 7.1 (18 networks of six styles, 24 variables, 1,000 rows, skewed
  numbers by their logarithm, at most 2 parents).
* **More rows do not always help.** Where a score's model is wrong for the table (lines for curves, say), it
  explains the residuals by further parents, and adds more of them with more rows.
* **Bins** hide weak effects when there are few rows.
* **These are simulated networks**, and some styles suit some scores by construction (lines suit Gaussians). Take the
  ranking of the learners as a hint, and simulate tables like yours.
"""


#: Densities that differ by less are level.
LEVEL = 0.02
WAYS = """
## Which arcs for trees?

Trees (`PCART`) over all arcs, up to 2 parents; over those that the hybrid finds, an arc that independence directs
only that way, up to 3; over these and the arcs of the best trees over the columns of levels alone; and over these and
the arcs of the first row's trees. {n} tables of the UCI repository, two thirds of the rows to learn from
(`benches/python/defaults.py`).

"""
WAYS_SAY = """
**On most of these tables trees use arcs that the hybrid does not find**, above all where one column follows nearly from
others, as in energy-efficiency. So `learn` proves trees over all arcs by default, and `learn(search="hybrid")` is for
those who want the arcs themselves. With the arcs of both, trees are among the best most often, in the time of both. The
means hang on yeast, where trees over all arcs fit a few rows too closely; without it they are -8.38, -8.86, -8.85 and
-8.36.
"""


def write(page: Path, journal: Journal) -> None:
    """The page and its pictures, of all that the journal holds."""
    known = [Task(*_parts(task)) for task, learner in journal.runs if learner == TRUTH]
    if not known:
        print("nothing is measured yet, so no page is written")
        return
    learners = [name for name in dict.fromkeys(learner for _, learner in journal.runs) if name != TRUTH]
    learners.sort(key=_is_peer)
    sizes = sorted({task.rows for task in known})
    told = [task for task in known if task.style != HIDDEN]
    pictures = page.with_suffix("") / "shd.svg"
    parts = [_head(known, learners, journal), _picture(pictures, page, known, learners, journal)]
    parts += [f"\n## {len(TOLD)} styles together\n", "F1 / SHD:\n"]
    parts.append(_table(told, sizes, learners, journal, _f1_and_shd))
    parts += ["Arrowheads, precision / recall:\n", _table(told, sizes, learners, journal, _arrowheads)]
    with_truth = [TRUTH, *learners]
    parts += ["Log density of a new row:\n", _table(told, sizes, with_truth, journal, _density)]
    parts += ["Seconds:\n", _table(told, sizes, learners, journal, _seconds)]
    for n_rows in sizes:
        parts += [f"\n## SHD by style, {n_rows:,} rows\n", _by_style(known, n_rows, learners, journal)]
    parts += [
        _ways(journal.path.with_name("defaults.jsonl")),
        FAILS,
        _failures(known, learners, journal),
        _versions(journal),
    ]
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(part for part in parts if part), encoding="utf-8")
    print(f"wrote {page} and {pictures}")


def _parts(task: str) -> tuple[str, int, int]:
    style, network, rows = task.split(" ")
    return style, int(network), int(rows)


def _is_peer(learner: str) -> bool:
    return learner.startswith(PEERS)


def _head(known: Sequence[Task], learners: Sequence[str], journal: Journal) -> str:
    counts = {len({task.network for task in known if task.style == style}) for style in STYLES}
    networks = str(counts.pop()) if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
    notes = [note for start, note in NOTES.items() if any(name.startswith(start) for name in learners)]
    return HEAD.format(networks=networks, learners="\n".join(notes), fresh=FRESH)


def _cell(values: Sequence[float], of: int, digits: int) -> str:
    if not values:
        return "-"
    mean, error = mean_and_error(values)
    sure = "" if math.isnan(error) else f" ± {error:.{digits}f}"
    return f"{mean:.{digits}f}{sure}" + (f" ({len(values)} of {of})" if len(values) < of else "")


def _f1_and_shd(tasks: Sequence[Task], learner: str, journal: Journal) -> str:
    f1, _ = mean_and_error(journal.figures(tasks, learner, "f1"))
    shown = "" if math.isnan(f1) else f"{f1:.3f} / ".lstrip("0")
    return shown + _cell(journal.figures(tasks, learner, "shd"), len(tasks), 1)


def _arrowheads(tasks: Sequence[Task], learner: str, journal: Journal) -> str:
    both = [mean_and_error(journal.figures(tasks, learner, name))[0] for name in ("ahp", "ahr")]
    return " / ".join("-" if math.isnan(share) else f"{share:.2f}" for share in both)


def _density(tasks: Sequence[Task], learner: str, journal: Journal) -> str:
    """Without an error: networks differ far more than graphs of the same network do."""
    values = journal.figures(tasks, learner, "density")
    if len(values) < len(tasks):
        return "-"
    return f"{mean_and_error(values)[0]:.2f}"


def _seconds(tasks: Sequence[Task], learner: str, journal: Journal) -> str:
    mean, _ = mean_and_error(journal.figures(tasks, learner, "seconds"))
    return "-" if math.isnan(mean) else f"{mean:.2g}"


def _table(tasks: Sequence[Task], sizes: Sequence[int], learners: Sequence[str], journal: Journal, cell: Any) -> str:
    by_size = {n_rows: [task for task in tasks if task.rows == n_rows] for n_rows in sizes}
    rows = [[name, *(cell(of, name, journal) for of in by_size.values())] for name in learners]
    return _markdown(["", *(f"{n_rows:,} rows" for n_rows in sizes)], rows)


def _by_style(known: Sequence[Task], n_rows: int, learners: Sequence[str], journal: Journal) -> str:
    rows = []
    for name in learners:
        cells = []
        for style in STYLES:
            tasks = [task for task in known if task.style == style and task.rows == n_rows]
            values = journal.figures(tasks, name, "shd")
            cells.append(_cell(values, len(tasks), 1) if values else "-")
        rows.append([name, *cells])
    return _markdown(["", *STYLES], rows)


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def _ways(path: Path) -> str:
    """What each way to the arcs of trees predicts of new rows of public tables."""
    if not path.exists():
        return ""
    runs = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    ways = list(dict.fromkeys(run["way"] for run in runs))
    tables: dict[str, dict[str, dict[str, Any]]] = {}
    for run in runs:
        tables.setdefault(run["table"], {})[run["way"]] = run
    whole = [of for of in tables.values() if len(of) == len(ways)]
    rows = []
    for way in ways:
        density = [of[way]["density"] for of in whole]
        best = sum(of[way]["density"] >= max(each["density"] for each in of.values()) - LEVEL for of in whole)
        arcs, seconds = ([of[way][name] for of in whole] for name in ("arcs", "seconds"))
        means = [f"{mean_and_error(density)[0]:.3f}", f"{best}", f"{mean_and_error(arcs)[0]:.1f}"]
        rows.append([way, *means, f"{sum(seconds):.1f}"])
    head = ["arcs from", "log density of a new row, mean", f"within {LEVEL} of the best", "arcs", "seconds, all tables"]
    one_by_one = [
        [name, *(f"{of[way]['density']:.3f}" if way in of else "-" for way in ways)]
        for name, of in sorted(tables.items())
    ]
    tables_told = _markdown(head, rows) + "\nTable by table:\n\n" + _markdown(["", *ways], one_by_one)
    return WAYS.format(n=len(whole)) + tables_told + WAYS_SAY


def _failures(known: Sequence[Task], learners: Sequence[str], journal: Journal) -> str:
    lines = []
    for name in learners:
        why = journal.failed(known, name)
        lines += [f"* {name}: {why.count(reason)} of {len(known)}: {reason}" for reason in dict.fromkeys(why)]
    return "\nRuns without a graph, left out of the means:\n\n" + "\n".join(lines) + "\n" if lines else ""


def _versions(journal: Journal) -> str:
    versions = sorted({run["version"] for run in journal.runs.values() if " " in run["version"]})
    return f"\nVersions: {', '.join(versions)}.\n" if versions else ""


def _drawn(learners: Sequence[str], known: Sequence[Task], journal: Journal) -> dict[str, tuple[str, str]]:
    """The learners in the pictures, with tone and line: all of ours, and the best of every other program."""
    tones = iter(TONES)
    shown = {name: (next(tones, INK), "-") for name in learners if not _is_peer(name)}
    told = [task for task in known if task.style != HIDDEN]
    for program, tone in zip(PEERS, PEER_TONES, strict=True):
        means = {
            name: mean_and_error(journal.figures(told, name, "shd"))[0] for name in learners if name.startswith(program)
        }
        means = {name: mean for name, mean in means.items() if not math.isnan(mean)}
        if means:
            shown[min(means, key=means.__getitem__)] = (tone, "--")
    return shown


def _picture(path: Path, page: Path, known: Sequence[Task], learners: Sequence[str], journal: Journal) -> str:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    shown = _drawn(learners, known, journal)
    panels = {f"{len(TOLD)} styles": TOLD, **{style: (style,) for style in STYLES}}
    sizes = sorted({task.rows for task in known})
    ink = {"text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK, "xtick.color": INK, "ytick.color": INK}
    # Text as text keeps the file small, and nothing in it depends on the day.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "structure", "font.size": 9, **ink}):
        figure = Figure(figsize=(11, 6.6), layout="constrained")
        axes = figure.subplots(2, 4, sharey=True)
        for axis, (title, styles) in zip(axes.flat, panels.items(), strict=True):
            for name, (tone, line) in shown.items():
                points = []
                for n_rows in sizes:
                    tasks = [task for task in known if task.rows == n_rows and task.style in styles]
                    values = journal.figures(tasks, name, "shd")
                    if values:
                        points.append((n_rows, *mean_and_error(values)))
                if points:
                    x, mean, error = zip(*points, strict=True)
                    axis.plot(x, mean, line, color=tone, label=name, marker="o", markersize=3, linewidth=1.6)
                    if title not in STYLES:
                        axis.errorbar(x, mean, error, fmt="none", ecolor=tone, elinewidth=1, capsize=2)
            axis.set_xscale("log")
            axis.set_xticks(sizes, [f"{n_rows:,}" for n_rows in sizes])
            axis.minorticks_off()
            axis.set_title(title)
            axis.patch.set_alpha(0)
            axis.spines[["top", "right"]].set_visible(False)
        axes[0, 0].set_ylim(bottom=0)
        for row in axes:
            row[0].set_ylabel("SHD")
        for axis in axes[-1]:
            axis.set_xlabel("rows")
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None}, transparent=True)
    alone = "Solid: arbornet. Dashed: the best learner of every other program. Bars: standard errors."
    title = "SHD by number of rows, one line per learner, one panel per style"
    return f"\n![{title}]({path.relative_to(page.parent)})\n\n*{alone}*\n"
