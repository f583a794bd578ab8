"""`arbornet score`: scores parent sets (step 1), without a search."""

from __future__ import annotations

import argparse

from arbornet.cli.advice import in_shell
from arbornet.cli.parser import Options, json_option, learning_options, table_options
from arbornet.text.terminal import wrapped

HELP = "score parent sets (step 1 of learning), without a search"
ABOUT = """\
Scores every permitted parent set of every variable, drops those that a subset
beats, and writes the rest: as .jkl for other solvers, or as .parquet, which
keeps everything exactly. With --child and --parents it prints one score."""
EXAMPLES = """\
examples:
  # how many parent sets there are, and about how long they take
  arbornet score patients.csv --plan
  arbornet score patients.csv --max-parents 3 -o patients.jkl
  # interrupted, the same line continues where it was
  arbornet score patients.csv -o patients.parquet --checkpoint work
  arbornet score binned.csv --score 'BDeu(10)' -o binned.jkl
  arbornet score genes.csv --score 'MARS()' --parents forest -o genes.jkl
  # one score
  arbornet score patients.csv --child readmitted --parents diabetes,days"""


#: What selects parents.
FOREST = "forest"


def options(command: argparse.ArgumentParser) -> None:
    """Adds the options."""
    table_options(command)
    learning_options(command)
    command.add_argument("-o", "--output", metavar="FILE", help="where to write: .parquet or .jkl (.jkl.gz)")
    command.add_argument(
        "--checkpoint", metavar="DIRECTORY", help="keep scores in this folder, and continue from it next time"
    )
    command.add_argument(
        "--no-prune",
        dest="prune",
        action="store_false",
        help="also keep sets that a subset beats: for arcs required in a later search, or the k best of all networks",
    )
    command.add_argument("--plan", action="store_true", help="print how many sets there are and how long, and stop")
    command.add_argument("--child", metavar="NAME", help="print one score: the child")
    command.add_argument(
        "--parents",
        metavar="A,B",
        default="",
        help="and its parents; without --child, 'forest': only subsets of the parents that a random forest selects",
    )
    json_option(command)


def run(asked: Options) -> None:
    """Runs the command."""
    import arbornet as an
    from arbornet.cli import files, words
    from arbornet.cli.outputs import Output, tried

    tried(
        [Output("-o", asked.output, "candidates"), Output("--checkpoint", asked.checkpoint, "folder")],
        [asked.table, asked.schema],
    )
    score = words.chosen(asked.score, asked.leaf, "PCART()")
    rules = words.constraints(asked.require, asked.forbid, asked.tier)
    most = words.max_parents(asked.max_parents)
    table = files.read_table(asked, files.read_frame(asked.table, asked))
    if table.dropped:
        files.say(wrapped(str(table.dropped)))
    if asked.child is not None:
        parents = [name.strip() for name in asked.parents.split(",") if name.strip()]
        value = an.local_score(table, asked.child, parents, score)
        told = {"child": asked.child, "parents": parents, "score": value}
        files.print_json(told) if asked.json else print(f"{value:.6f}")
        return
    if asked.parents not in ("", FOREST):
        raise an.ParameterError(f"--parents {asked.parents!r}: give --child too, or '{FOREST}'")
    chosen = asked.parents or None
    if asked.plan:
        if chosen:
            raise an.ParameterError(f"--plan grows no forests, so it cannot say; leave out --parents {chosen}")
        plan = an.plan(table, score, most, rules)
        told = {"max_parents": plan.max_parents, "n_sets": plan.n_sets, "seconds": plan.seconds, "memory": plan.memory}
        files.print_json(told) if asked.json else print(in_shell(str(plan)))
        return
    found = an.score_parents(
        table,
        score,
        most,
        rules,
        n_jobs=asked.jobs,
        progress=not asked.quiet,
        checkpoint=asked.checkpoint,
        parents=chosen,
        n_candidates=asked.n_candidates,
        child_time_limit=asked.child_time_limit,
        prune=asked.prune,
    )
    if asked.output:
        found.save(asked.output)
        files.wrote(asked.output)
    if asked.json:
        files.print_json(
            {
                "n_sets": found.n_sets,
                "n_evaluated": found.n_evaluated,
                "n_kept": found.n_kept,
                "n_skipped": found.n_skipped,
                "seconds": found.seconds,
            }
        )
    else:
        print(found)
        for skipped in found.skipped[:5]:
            files.say(wrapped(in_shell(f"not scored: {skipped.reason}")))
        if not asked.output:
            files.say("the parent sets were not saved; add -o patients.parquet (or .jkl)")
