"""Coverage-guided fuzzing of the readers written in Python (`targets.py`). Needs atheris.

    python fuzz/readers.py net -max_total_time=300 fuzz/corpus/net

and so for xmlbif, bif, jkl, schema, json, manifest, parquet, journal and csv, from what `fuzz/seeds.py` wrote. The
first input that a reader takes amiss stops the fuzzer and is written down.
"""

from __future__ import annotations

import copy
import functools
import json
import logging
import os
import random
import sys
import warnings
from pathlib import Path
from typing import Any

import atheris
import networkx  # noqa: F401  # what is imported before stays as it is: instrumenting it would take minutes
import numpy  # noqa: F401
import polars  # noqa: F401
import rich.console  # noqa: F401

with atheris.instrument_imports(include=["arbornet"]):
    import targets

START = [path.read_bytes() for path in sorted((Path(__file__).parent / "corpus" / sys.argv[1]).glob("*.json"))]
ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    1,
    2,
    10**30,
    1e308,
    5e-324,
    float("nan"),
    float("inf"),
    "",
    "a",
    "b",
    "\0",
    [],
    [0],
    {},
    [[]],
]


def places(node: Any) -> list[tuple[Any, Any]]:
    """Every container within a JSON value, with every one of its keys."""
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else []
    return [place for key in keys for place in [(node, key), *places(node[key])]]


def changed(data: bytes, most: int, seed: int) -> bytes:
    """JSON with one of its places changed; what is no JSON changes bytewise, and so does every tenth."""
    rng = random.Random(seed)
    if START and rng.random() < (0.9 if sys.argv[1] == "manifest" else 0.2):
        # What is read in the core has no counters here, and nothing is then worth keeping to the fuzzer.
        data = rng.choice(START)
    try:
        told = json.loads(data)
        found = places(told)
    except (ValueError, RecursionError):
        found = []
    if not found or rng.random() < 0.1:
        return bytes(atheris.Mutate(data, most))
    for _ in range(rng.choice([1, 1, 2, 3])):
        node, key = rng.choice(found)
        try:
            value = node[key]
            other = rng.choice(found)
            near = [value * 2, value + 1, -value] if isinstance(value, int | float) else [value, str(value) + "x"]
            node[key] = rng.choice([*ODD, *near, copy.deepcopy(other[0][other[1]]), [value], {"is": value}])
            if rng.random() < 0.2:
                del node[key]
            elif isinstance(node, list) and rng.random() < 0.3:
                node.insert(key, value)
        except (LookupError, TypeError, OverflowError):
            pass  # its container is gone by now
    return json.dumps(told).encode()[:most]


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable()
    by_place = sys.argv[1] in ("schema", "json", "manifest", "parquet")
    held = functools.partial(targets.held, sys.argv[1])
    atheris.Setup([sys.argv[0], *sys.argv[2:]], held, **({"custom_mutator": changed} if by_place else {}))
    atheris.Fuzz()


if __name__ == "__main__":
    os.environ.setdefault("PYTHONFAULTHANDLER", "1")
    main()
