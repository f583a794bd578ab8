"""Coverage-guided fuzzing of the readers written in Python: FormatError, or something that works. Needs atheris.

    python fuzz/readers.py net -max_total_time=300 fuzz/corpus/net

and so for xmlbif, bif, jkl, schema, json, manifest, parquet, journal and csv, from what `fuzz/seeds.py` wrote.

What a reader may raise is what it documents; anything else stops the fuzzer with the input that did it.
"""

from __future__ import annotations

import contextlib
import copy
import json
import logging
import os
import random
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import atheris
import networkx  # noqa: F401  # what is imported before stays as it is: instrumenting it would take minutes
import numpy  # noqa: F401
import polars  # noqa: F401
import rich.console  # noqa: F401

with atheris.instrument_imports(include=["arbornet"]):
    import arbornet as an
    from arbornet.evaluate.journal import Journal
    from arbornet.io.json import from_text
    from arbornet.schema import Schema

warnings.simplefilter("ignore")
logging.disable()
ROOM = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
TABLE = an.Table({"a": ["x", "y", "x"], "b": ["u", "u", "v"]})
FRAME = {"a": ["yes", "no", "yes"], "b": ["I", "II", None], "x": [0.5, 1e300, None], "y": [1.0, -1.0, 0.0]}


def written(data: bytes, name: str) -> Path:
    path = ROOM / name
    path.write_bytes(data)
    return path


def used(net: an.BayesNet) -> None:
    if len(net.names) > 40:
        return
    try:
        net.sample(2, seed=1)
        repr(net)
    except an.ArbornetError:
        pass


def net(data: bytes) -> None:
    used(an.read_net(written(data, "x.net")))


def xmlbif(data: bytes) -> None:
    used(an.read_xmlbif(written(data, "x.xml")))


def bif(data: bytes) -> None:
    used(an.read_bif(written(data, "x.bif")))


def jkl(data: bytes) -> None:
    read = an.Candidates.load(written(data, "x.jkl"))
    read.save(ROOM / "again.jkl")
    assert an.Candidates.load(ROOM / "again.jkl") == read


def parquet(data: bytes) -> None:
    """The whole file, or only what stands beside the sets in it."""
    if data.startswith(b"PAR1"):
        read = an.Candidates.load(written(data, "x.parquet"))
    else:
        about = data.decode("utf-8", "replace")
        SETS.write_parquet(ROOM / "x.parquet", metadata={"arbornet": about})
        read = an.Candidates.load(ROOM / "x.parquet")
    repr(read)
    with contextlib.suppress(an.ArbornetError):
        an.search.hill_climb(read)


def journal(data: bytes) -> None:
    Journal(written(data, "x.jsonl"), {"of": "fuzz", "n": 2}, 5)


def csv(data: bytes) -> None:
    read = an.read(written(data, "x.csv"))
    if read.height and read.width:
        an.infer_schema(read)


def schema(data: bytes) -> None:
    read = Schema.load(written(data, "schema.json"))
    text = json.dumps(read.to_dict())
    assert Schema.from_dict(json.loads(text)) == read or "NaN" in text
    str(read)
    with contextlib.suppress(an.ArbornetError):
        an.Table(FRAME, schema=read)


def network(data: bytes) -> None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return
    read = from_text(text, "x.json")
    used(read)


def manifest(data: bytes) -> None:
    folder = ROOM / "checkpoint"
    folder.mkdir(exist_ok=True)
    for left in folder.iterdir():
        left.unlink()
    (folder / "manifest.json").write_bytes(data)
    an.score_parents(TABLE, an.BIC(), 1, n_jobs=1, checkpoint=folder)


SETS = an.score_parents(TABLE, an.BIC(), 1, n_jobs=1).frame()
TARGETS = {
    "bif": bif,
    "jkl": jkl,
    "parquet": parquet,
    "journal": journal,
    "csv": csv,
    "net": net,
    "xmlbif": xmlbif,
    "schema": schema,
    "json": network,
    "manifest": manifest,
}


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
    read = TARGETS[sys.argv[1]]

    def one(data: bytes) -> None:
        try:
            read(data)
        except (an.FormatError, an.ParameterError):
            pass
        except an.ArbornetError:
            assert read in (csv, schema)
        except OSError as error:
            assert read is manifest and "manifest" in str(error), error

    by_place = read in (schema, network, manifest, parquet)
    atheris.Setup([sys.argv[0], *sys.argv[2:]], one, **({"custom_mutator": changed} if by_place else {}))
    atheris.Fuzz()


if __name__ == "__main__":
    os.environ.setdefault("PYTHONFAULTHANDLER", "1")
    main()
