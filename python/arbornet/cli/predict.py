"""`arbornet predict`: predict one column from the others."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from arbornet.cli.parser import Options, cell_options, jobs_option, output_option, unseen_option

if TYPE_CHECKING:
    import polars as pl

HELP = "predict a column from the other values of each row"
ABOUT = """\
Adds to a table the most probable level of a variable (or the median of a
number), given the other values of each row. Missing values and missing columns
are marginalised. The variable's own column, if there is one, is not used."""
EXAMPLES = """\
examples:
  arbornet predict patients.json new.csv readmitted -o predicted.csv
  # the probability of each level
  arbornet predict patients.json new.csv readmitted --proba
  # the interval that holds the middle 90% of a number
  arbornet predict patients.json new.csv systolic --interval 0.9
  # the log-likelihood of each row; outliers have low ones
  arbornet predict patients.json new.csv --log-likelihood"""


def options(command: argparse.ArgumentParser) -> None:
    """Adds the options."""
    command.add_argument("network", metavar="NETWORK", help="the network: .json, .bif, .xmlbif or .net")
    command.add_argument("table", metavar="TABLE", help="the rows")
    cell_options(command)
    command.add_argument("target", metavar="VARIABLE", nargs="?", help="what to predict")
    how = command.add_mutually_exclusive_group()
    how.add_argument("--proba", action="store_true", help="the probability of each level")
    how.add_argument("--interval", type=float, metavar="MASS", help="the central interval of this probability")
    how.add_argument("--log-likelihood", action="store_true", help="the log-likelihood of each row instead")
    command.add_argument("--only", action="store_true", help="write the predictions without the table's own columns")
    unseen_option(command, "a level the network does not know")
    output_option(command, "the table with the predictions")
    jobs_option(command)


def run(asked: Options) -> None:
    """Runs the command."""
    import polars as pl

    import arbornet as an
    from arbornet.cli import digits, files
    from arbornet.cli.outputs import Output, tried

    tried([Output("-o", asked.output, "table")], [asked.network])
    net = files.read_network(asked.network)
    frame = files.read_frame(asked.table, asked, net)
    how = {"unseen": asked.unseen, "n_jobs": asked.jobs}
    text = digits.as_text(asked.output, asked.json)
    if asked.log_likelihood:
        new = pl.DataFrame({"log_likelihood": net.log_likelihood(frame, **how)})
        new = digits.log_likelihoods(new) if text else new
    elif asked.target is None:
        raise an.ParameterError(f"name the variable to predict: {', '.join(net.names)}")
    elif asked.proba:
        new = net.predict_proba(frame, asked.target, **how)
        new = new.rename({level: f"{asked.target}={level}" for level in new.columns})
        new = digits.probabilities(new) if text else new
    elif asked.interval is not None:
        new = net.predict_interval(frame, asked.target, asked.interval, **how)
        new = new.rename({end: f"{asked.target} {end}" for end in new.columns})
    else:
        new = net.predict(frame, asked.target, **how).alias(f"predicted {asked.target}").to_frame()
    if text and asked.target is not None and not asked.log_likelihood and not asked.proba:
        new = digits.numbers(new, net.schema, dict.fromkeys(new.columns, asked.target))
    files.write_table(new if asked.only else _beside(frame, new), asked.output, asked.json)


def _beside(frame: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """The table with the predictions, which take the place of earlier ones of their names."""
    from arbornet.cli.out import say

    for name in new.columns:
        if name in frame.columns:
            say(f"column '{name}' was in the table already, and is replaced")
    return frame.drop(new.columns, strict=False).hstack(new)
