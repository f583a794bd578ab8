"""Coverage-guided fuzzing of the readers written in Python: FormatError, or something that works. Needs atheris.

    python fuzz/readers.py net|xmlbif|schema|json|manifest -max_total_time=300 fuzz/corpus/net

What a reader may raise is what it documents; anything else stops the fuzzer with the input that did it.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import tempfile
import warnings
from pathlib import Path

import atheris

READERS = ["arbornet.io", "arbornet.schema", "arbornet.kinds", "arbornet.levels", "arbornet.coding"]
with atheris.instrument_imports(include=READERS):
    import arbornet as an
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


TARGETS = {"net": net, "xmlbif": xmlbif, "schema": schema, "json": network, "manifest": manifest}


def main() -> None:
    read = TARGETS[sys.argv[1]]

    def one(data: bytes) -> None:
        try:
            read(data)
        except (an.FormatError, an.ParameterError):
            pass
        except an.ColumnError:
            assert read is not manifest
        except OSError as error:
            assert read is manifest and "manifest" in str(error), error

    atheris.Setup([sys.argv[0], *sys.argv[2:]], one)
    atheris.Fuzz()


if __name__ == "__main__":
    os.environ.setdefault("PYTHONFAULTHANDLER", "1")
    main()
