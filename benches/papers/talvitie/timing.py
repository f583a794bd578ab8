"""Figure 7: how long step 1 and step 2 take, one fit of each table; and what the rest would take."""

from __future__ import annotations

import argparse
import time
from typing import Any

import uci
from common import markdown
from talvitie.budget import MOST_PARENTS, Size, cheapest_first, effort, size
from talvitie.draw import panels
from talvitie.kept import Kept, say
from talvitie.models import SCORES

import arbornet as an


def run(options: argparse.Namespace) -> None:
    """CPU seconds of step 1 and step 2 by table, model and most parents, cheapest tables first."""
    kept = Kept(options.results / "time.json")
    for name in cheapest_first(options.tables or uci.names(), options.results):
        most = effort(size(name, options.results), options.max_minutes, fits=1).max_parents
        data = uci.prepared(name)
        table = an.Table(data.frame, schema=data.schema)
        for model, make in SCORES.items():
            key = f"{name} {model} {most}"
            if key in kept:
                continue
            began = time.process_time()
            candidates = an.score_parents(table, make(), max_parents=most, n_jobs=1)
            between = time.process_time()
            found = an.search.exact(candidates, time_limit=60 * min(options.max_minutes, 2))
            kept[key] = {
                "step 1": round(between - began, 3),
                "step 2": round(time.process_time() - between, 3),
                "evaluated": candidates.n_evaluated,
                "kept": candidates.n_kept,
                "stopped": found.stopped,
                "gap": found.gap,
            }
        say(f"time {name} D={most}")


def page(options: argparse.Namespace) -> str:
    """Figure 7 from what is kept, and what the rest would take."""
    kept = Kept(options.results / "time.json")
    names = [name for name in cheapest_first(uci.names(), options.results) if _most(kept, name)]
    if not names:
        return ""
    rows, full, beyond = [], {}, []
    for name in names:
        most = _most(kept, name)
        of = {model: kept[f"{name} {model} {most}"] for model in SCORES}
        about = size(name, options.results)
        first = [entry["step 1"] for entry in of.values()]
        second = max(entry["step 2"] for entry in of.values())
        unproven = sum(entry["stopped"] != "proven" for entry in of.values())
        if most == MOST_PARENTS:
            full[name] = sum(first) + sum(entry["step 2"] for entry in of.values())
        else:
            beyond.append(name)
        estimate = about.all_models(MOST_PARENTS)
        rows.append(
            (
                name,
                about.rows,
                about.variables,
                about.families,
                f"{estimate:,.1f}",
                f"D={most}",
                *first,
                second,
                f"{unproven} not proven" if unproven else "",
            )
        )
    about_table = ("data", "rows", "variables", "families, D=4", "D=4, all models: estimate, s", "run")
    head = (*about_table, *(f"step 1 {model}, s" for model in SCORES), "longest step 2, s", "")
    rest = sum(size(name, options.results).all_models(MOST_PARENTS) for name in beyond) / 3600
    return (
        "\n## Figure 7: step 1 and step 2, one fit of each table\n\n"
        "CPU seconds of one thread on a shared machine; five halvings, seven bins. Step 2 is exact search. The "
        "estimate counts the steps of a sample of families at a nanosecond each, before anything is run. The paper: "
        "*within a few hours for each data set* on a cluster.\n\n"
        f"**{len(full)} of {len(uci.names())} tables in full (at most {MOST_PARENTS} parents, all four models): "
        f"{sum(full.values()) / 60:,.1f} CPU minutes in all.** The other {len(beyond)} were fitted with fewer parents, "
        f"as the column *run* says; with four they would cost about {rest:,.1f} hours of one core together"
        + (": " + ", ".join(f"{name} ({_hours(size(name, options.results))})" for name in beyond) if beyond else "")
        + ".\n\n"
        + markdown(rows, head)
        + panels(options.pages / "talvitie2019" / "figure7.svg", list(SCORES), lambda m, axis: _draw(axis, kept, m), 4)
    )


def _hours(of: Size) -> str:
    seconds = of.all_models(MOST_PARENTS)
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
