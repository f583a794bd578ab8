"""What every reader in Python is held to: what it documents as its errors, or something that works.

The fuzzer runs these functions (`readers.py`), and so do the tests, on what it kept.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from pathlib import Path

import arbornet as an
from arbornet.data.schema import Schema
from arbornet.evaluate.journal import Journal
from arbornet.network.net import from_text

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


def held(target: str, data: bytes) -> None:
    """Gives an input to a reader, which may refuse it in the ways that it documents."""
    try:
        TARGETS[target](data)
    except (an.FormatError, an.ParameterError):
        pass
    except an.ArbornetError:
        assert target in ("csv", "schema")
    except OSError as error:
        assert target == "manifest" and "manifest" in str(error), error
