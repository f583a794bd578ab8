"""`arbornet evaluate`: how well networks predict rows that they were not learned from."""

from __future__ import annotations

import argparse

from arbornet.cli.parser import (
    MOST_SEED,
    Options,
    count,
    effort_option,
    jobs_option,
    json_option,
    missing_option,
    table_options,
)

HELP = "measure how well networks predict unseen rows"
ABOUT = """\
Learns networks from parts of a table and measures how well they predict the
rest (cross-validation): the mean log density of a row, higher is better, by
score and by variable. Several scores are compared on the same parts."""
EXAMPLES = """\
examples:
  arbornet evaluate patients.csv
  arbornet evaluate patients.csv --score 'PCART()' --score cg --folds 5
  # 5 networks of a few seconds each
  arbornet evaluate wide.csv --folds 5 --effort quick
  # several rows of each patient, which belong in one part
  arbornet evaluate visits.csv --groups patient_id
  arbornet evaluate patients.csv --search hill_climb --by-variable"""


def options(command: argparse.ArgumentParser) -> None:
    """Adds the options."""
    from arbornet.search.registry import searches

    table_options(command)
    command.add_argument(
        "--score",
        metavar="SCORE",
        action="append",
        default=[],
        help="a local score, as in Python (default: PCART(leaf='linear')); may be given several times",
    )
    command.add_argument("--search", choices=tuple(searches()), metavar="METHOD", default="exact", help="as for learn")
    command.add_argument("--max-parents", default="auto", metavar="N", help="most parents of a variable")
    effort_option(command, "of each network; default: normal")
    command.add_argument("--folds", type=count(2, 1 << 31), default=10, metavar="N", help="parts (default: 10)")
    command.add_argument(
        "--repeats", type=count(1, 1_000_000), default=1, metavar="N", help="how often the rows are split (default: 1)"
    )
    command.add_argument("--groups", metavar="COLUMN", help="rows with the same value of this column stay in one part")
    command.add_argument("--seed", type=count(0, MOST_SEED), default=0, metavar="N", help="random seed (default: 0)")
    command.add_argument("--by-variable", action="store_true", help="also print a line for every variable")
    missing_option(command, learned=True)
    json_option(command)
    jobs_option(command)
    command.add_argument("--quiet", action="store_true", help="no progress bar")


def run(asked: Options) -> None:
    """Runs the command."""
    import arbornet as an
    from arbornet.cli import files, words
    from arbornet.scores.usual import USUAL
    from arbornet.text.visible import visible

    scores = {text: words.score(text) for text in asked.score} or {repr(USUAL): USUAL}
    frame = files.read_frame(asked.table, asked)
    schema = words.typed(files.read_schema(frame, asked.schema, "auto"), asked.set)
    made = an.evaluate.cross_validate(
        frame,
        scores,
        asked.folds,
        asked.repeats,
        asked.seed,
        groups=asked.groups,
        search=asked.search,
        max_parents=words.max_parents(asked.max_parents),
        schema=schema,
        missing=asked.missing or "drop",
        n_jobs=asked.jobs,
        progress=not asked.quiet,
        effort=asked.effort,
        weights=asked.weights,
        weights_are=asked.weights_are,
    )
    if asked.json:
        files.print_json({"summary": made.summary.to_dicts(), "by_variable": made.by_variable.to_dicts()})
        return
    print("log density of an unseen row; higher is better:")
    wide = max(map(len, scores))
    for row in made.summary.iter_rows(named=True):
        left = f", {row['n_left_out']:,} rows left out for missing values" if row["n_left_out"] else ""
        print(visible(f"  {row['method'].ljust(wide)}  {_figure(row)}  ({row['n_folds']} parts{left})"))
    if asked.by_variable:
        wide = max(map(len, made.by_variable["variable"]))
        for name in scores:
            print(visible(f"by variable, {name}:"))
            for row in made.by_variable.filter(method=name).iter_rows(named=True):
                print(visible(f"  {row['variable'].ljust(wide)}  {_figure(row)}"))


def _figure(row: dict[str, object]) -> str:
    error, density = row["standard_error"], row["log_density"]
    told = "unknown" if density is None else f"{density:.5g}"
    return told + (f" ± {error:.2g}" if error is not None else "")
