"""What the makers of simulated tables share: a weighted choice, and writing a bundled table."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

DATA = Path(__file__).parents[1] / "python" / "arbornet" / "data" / "examples"
Row = dict[str, object]


def choose(rng: np.random.Generator, levels: Sequence[str], weights: Sequence[float]) -> str:
    """One of the levels, with probability proportional to its weight."""
    shares = np.array(weights, dtype=float)
    return levels[int(rng.choice(len(levels), p=shares / shares.sum()))]


def write(name: str, n_rows: int, seed: int, row: Callable[[np.random.Generator], Row]) -> None:
    """Writes `NAME.csv` from rows made one after another."""
    rng = np.random.default_rng(seed)
    rows = [row(rng) for _ in range(n_rows)]
    with (DATA / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
