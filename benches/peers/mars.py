"""What fitting a spline costs, beside R's earth: user CPU milliseconds a fit, both in one run.

    python benches/peers/mars.py

Earth is Debian's package r-cran-earth; without Rscript only our own side is told. Two figures of earth are given: the
whole call of `earth()`, and its forward pass in C with the pruning pass, without R's bookkeeping.
"""

from __future__ import annotations

import math
import random
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path

import polars as pl

import arbornet as an
from arbornet.scores.prepare import prepared

ROWS, DEGREES, MOST = (1000, 5000), (1, 5), 5

SCRIPT = """
library(earth, quietly = TRUE)
files <- commandArgs(TRUE)
ms <- function(work, reps) { t <- system.time(for (i in 1:reps) work()); 1000 * t[["user.self"]] / reps }
for (f in files) {
  d <- read.csv(f); y <- as.matrix(d["y"]); n <- nrow(d); reps <- if (n > 2000) 10 else 40
  for (p in 1:5) for (degree in c(1, 5)) {
    x <- as.matrix(d[paste0("x", 1:p)])
    penalty <- if (degree > 1) 3 else 2
    fit <- function() earth(x, y, degree = degree)
    kernel <- function() {
    fp <- earth:::forward.pass(x, y, NULL, rep(1, n), 0, degree, penalty, 21, 0.001, 0, 0, 0, 20, 1, FALSE, NULL, TRUE,
                                 2, TRUE, TRUE, 0, environment(), 0)
      earth:::pruning.pass(x, y, fp$bx, "backward", penalty, NULL, 0, fp$dirs, FALSE, 1e-10)
    }
    m <- fit()
    kernel_ms <- tryCatch(ms(kernel, reps), error = function(e) NA)
    cat(n, p, degree, ms(fit, reps), kernel_ms, m$gcv, "\\n")
  }
}
"""


def simulated(n: int) -> pl.DataFrame:
    draw = random.Random(n)
    rows = []
    for _ in range(n):
        x = [round(draw.gauss(0, 1), 6) for _ in range(MOST)]
        y = math.sin(2 * x[0]) + 0.5 * x[1] * max(0, x[2]) + 0.3 * abs(x[3]) + 0.4 * x[0] * x[4]
        rows.append([*x, round(y + draw.gauss(0, 0.7), 6)])
    return pl.DataFrame(rows, schema=[*(f"x{j + 1}" for j in range(MOST)), "y"], orient="row")


def ours(table: an.Table, p: int, degree: int, compatible: str | None) -> tuple[float, float]:
    """Milliseconds a fit, and the GCV."""
    score = an.MARS(degree=degree, compatible=compatible)  # type: ignore[arg-type]
    handle = prepared(table, score)
    parents = list(range(p))
    handle.score(MOST, parents)
    reps = 20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    for _ in range(reps):
        handle.score(MOST, parents)
    spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    return 1000 * spent / reps, an.local_model(table, "y", table.names[:p], score).gcv


def main() -> None:
    theirs: dict[tuple[int, int, int], list[float]] = {}
    tables = {n: simulated(n) for n in ROWS}
    if shutil.which("Rscript"):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for n, frame in tables.items():
                paths.append(Path(folder) / f"{n}.csv")
                frame.write_csv(paths[-1])
            script = Path(folder) / "earth.R"
            script.write_text(SCRIPT)
            told = subprocess.run(["Rscript", script, *paths], capture_output=True, text=True, check=True).stdout
        for line in told.splitlines():
            n, p, degree, *figures = line.split()
            theirs[int(n), int(p), int(degree)] = [math.nan if f == "NA" else float(f) for f in figures]
    else:
        print("no Rscript here: only our own side")
    print("    N  p degree  earth()  its kernel  ours as earth  ours   kernel/ours   GCV agrees")
    for n, frame in tables.items():
        table = an.Table(frame)
        for p in range(1, MOST + 1):
            for degree in DEGREES:
                as_earth, gcv = ours(table, p, degree, "earth")
                own, _ = ours(table, p, degree, None)
                whole, kernel, expected = theirs.get((n, p, degree), [math.nan] * 3)
                agrees = "" if math.isnan(expected) else abs(gcv / expected - 1) < 1e-6
                ratio = kernel / max(as_earth, 1e-6)
                print(
                    f"{n:5} {p:2} {degree:6} {whole:8.2f} {kernel:11.2f} {as_earth:14.3f} {own:5.3f} {ratio:13.1f}   "
                    f"{agrees}"
                )


if __name__ == "__main__":
    main()
