"""Figure 7: how long step 1 and step 2 take, one fit of each table; and what the rest would take."""

from __future__ import annotations

import argparse
import time
from typing import Any

import uci
from common import markdown
from pictures import panels
from talvitie.budget import MOST_PARENTS, cheapest_first, effort, size
from talvitie.kept import Kept, say
from talvitie.models import SCORES, penalised

import arbornet as an

#: Tables that took less than this tell nothing of how good estimates are.
LEAST_SECONDS = 1.0


def run(options: argparse.Namespace) -> None:
    """CPU seconds of step 1 and step 2 by table, model and most parents, cheapest tables first.

    What is to do is told before, by counted steps. With `--within`, a table is not begun if it is told to take longer
    than what is left of it.
    """
    kept = Kept(options.results / "time.json")
    to_do: dict[str, tuple[int, float]] = {}
    for name in cheapest_first(options.tables or uci.names(), options.results):
        of = size(name, options.results)
        most = effort(of, options.max_minutes, fits=1).max_parents
        seconds = sum(
            of.seconds[model, most]
            for model in ("FT", "PCART")
            if any(f"{name} {form} {most}" not in kept for form in (model, f"{model}p"))
        )
        if seconds:
            to_do[name] = most, seconds
            say(f"to do: {name} D={most}, about {_long(seconds)} of one core")
    say(f"to do in all: {len(to_do)} tables, about {_long(sum(seconds for _, seconds in to_do.values()))} of one core")
    begun = time.process_time()
    for name, (most, told) in to_do.items():
        if time.process_time() - begun + told > 60 * options.within:
            say(f"not begun within {options.within:g} minutes: {name} and what is dearer")
            break
        data = uci.prepared(name)
        table = an.Table(data.frame, schema=data.schema)
        for model in ("FT", "PCART"):
            if all(f"{name} {form} {most}" in kept for form in (model, f"{model}p")):
                continue
            began = time.process_time()
            candidates = an.score_parents(table, SCORES[model](), max_parents=most, n_jobs=1)
            for form in (model, f"{model}p"):
                if form != model:
                    candidates = penalised(candidates)
                between = time.process_time()
                found = an.search.exact(candidates, time_limit=60 * min(options.max_minutes, 2))
                kept[f"{name} {form} {most}"] = {
                    "step 1": round(between - began, 3),
                    "step 2": round(time.process_time() - between, 3),
                    "evaluated": candidates.n_evaluated,
                    "kept": candidates.n_kept,
                    "stopped": found.stopped,
                    "gap": found.gap,
                }
                began = time.process_time()
        say(f"time {name} D={most}")


def page(options: argparse.Namespace) -> str:
    """Figure 7 from what is kept, and what the rest would take."""
    kept = Kept(options.results / "time.json")
    rows, spent, beyond, off = [], 0.0, [], [1.0]
    for name in cheapest_first(uci.names(), options.results):
        most, about = _most(kept, name), size(name, options.results)
        told = (name, about.rows, about.variables, about.families, _long(about.all_models(MOST_PARENTS)))
        if not most:
            beyond.append(name)
            rows.append((*told, "not run", *[""] * (len(SCORES) + 1), ""))
            continue
        of = [kept[f"{name} {model} {most}"] for model in SCORES]
        unproven = sum(entry["stopped"] != "proven" for entry in of)
        if most == MOST_PARENTS:
            spent += sum(entry["step 1"] + entry["step 2"] for entry in of)
            took = sum(entry["step 1"] for model, entry in zip(SCORES, of, strict=True) if not model.endswith("p"))
            if took > LEAST_SECONDS:
                ratio = took / about.all_models(MOST_PARENTS)
                off.append(max(ratio, 1 / ratio))
        else:
            beyond.append(name)
        second = max(entry["step 2"] for entry in of)
        note = f"{unproven} not proven" if unproven else ""
        rows.append((*told, f"D={most}", *(entry["step 1"] for entry in of), second, note))
    if len(beyond) == len(rows) and not len(list(kept)):
        return ""
    about_table = ("data", "rows", "variables", "families, D=4", "all models, D=4: estimate", "run")
    head = (*about_table, *(f"step 1 {model}, s" for model in SCORES), "longest step 2, s", "")
    rest = {name: size(name, options.results).all_models(MOST_PARENTS) for name in beyond}
    told_rest = ", ".join(f"{name} ({_long(seconds)})" for name, seconds in rest.items())
    return (
        "\n## Figure 7: step 1 and step 2, one fit of each table\n\n"
        "CPU seconds of one thread on a shared machine; five halvings, seven bins. Step 2 is exact search. For a "
        "penalised form, step 1 only adds the prior to the candidates of its model (`Candidates.with_prior`). The "
        "estimate counts the steps of a sample of families at a nanosecond each, before the run; of the tables "
        f"that took more than {LEAST_SECONDS:.0f} s it was right within a factor of {max(off):.1f}. The paper: "
        "*within a few hours for each data set* on a cluster.\n\n"
        f"**{len(rows) - len(beyond)} of {len(rows)} tables in full (at most {MOST_PARENTS} parents, all four models): "
        f"{spent / 60:,.1f} CPU minutes in all.** The other {len(beyond)} were fitted with fewer parents or not at "
        f"all, as the column *run* says; with {MOST_PARENTS} parents they would take about {_long(sum(rest.values()))} "
        f"of one core together: {told_rest}. The expensive families are full tables of four discretised parents "
        "(1,296 joint choices of bins per family) and trees over four columns of several levels each, times the "
        "number of families (column *families*).\n\n"
        + markdown(rows, head)
        + panels(options.pages / "talvitie2019" / "figure7.svg", list(SCORES), lambda m, axis: _draw(axis, kept, m), 4)
    )


def _long(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.0f} min"


def _most(kept: Kept, name: str) -> int:
    """The most parents with which all four models were fitted."""
    return max(
        (most for most in range(1, MOST_PARENTS + 1) if all(f"{name} {model} {most}" in kept for model in SCORES)),
        default=0,
    )


def _draw(axis: Any, kept: Kept, model: str) -> None:
    """Step 2 against step 1, all tables with four parents dark and the others light."""
    for most in range(1, MOST_PARENTS + 1):
        of = [kept[key] for key in kept if key.split()[1:] == [model, str(most)]]
        colour = "black" if most == MOST_PARENTS else "lightgrey"
        axis.plot([e["step 1"] for e in of], [max(e["step 2"], 1e-3) for e in of], ".", color=colour)
    axis.plot([1e-3, 1e3], [1e-3, 1e3], linewidth=0.5, color="grey")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("step 1, CPU s")
    axis.set_ylabel("step 2, CPU s")
