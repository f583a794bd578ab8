"""Files of SAS: transport files, written here by hand, and data sets, which pandas reads."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import arbornet as an


def of_ibm(x: float) -> bytes:
    """A number as IBM's machines had it: a sign, a power of 16 and 56 bits."""
    if math.isnan(x):
        return b"." + bytes(7)
    if x == 0:
        return bytes(8)
    fraction, power = math.frexp(abs(x))
    power16 = -(-power // 4)
    bits = round(fraction * 2.0 ** (power - 4 * power16 + 56))
    return bytes([(0x80 if x < 0 else 0) | (power16 + 64)]) + bits.to_bytes(7, "big")


def header(kind: str, rest: str = "0" * 30) -> bytes:
    return f"HEADER RECORD*******{kind:<8}HEADER RECORD!!!!!!!{rest}  ".encode()


def padded(data: bytes) -> bytes:
    return data + b" " * (-len(data) % 80)


def transport(columns: dict[str, list[float] | list[str]], encoding: str = "utf-8") -> bytes:
    """A transport file of version 5."""
    made = "01JAN20:00:00:00"
    width = 12
    out = header("LIBRARY") + f"SAS     SAS     SASLIB  9.4     LINUX   {'':24}{made}".encode() + f"{made:<80}".encode()
    out += header("MEMBER", "000000000000000001600000000140") + header("DSCRPTR")
    out += f"SAS     TABLE   SASDATA 9.4     LINUX   {'':24}{made}".encode() + f"{made}{'':64}".encode()
    out += header("NAMESTR", f"000000{len(columns):04d}00000000000000000000")
    names, at = b"", 0
    for i, (name, values) in enumerate(columns.items()):
        is_text = isinstance(values[0], str)
        length = width if is_text else 8
        names += struct.pack(
            ">hhhh8s40s8shhh2s8shhl52s",
            2 if is_text else 1, 0, length, i + 1, name.ljust(8).encode(), b" " * 40, b" " * 8,
            0, 0, 0, b"  ", b" " * 8, 0, 0, at, bytes(52),
        )  # fmt: skip
        at += length
    rows = b""
    for row in zip(*columns.values(), strict=True):
        rows += b"".join(x.encode(encoding).ljust(width) if isinstance(x, str) else of_ibm(float(x)) for x in row)
    return out + padded(names) + header("OBS") + padded(rows)


ROWS = {
    "SEQN": [109263.0, 109264.0, 109265.0, 109266.0],
    "BPXSY": [118.5, math.nan, 131.25, -0.1],
    "ALCOHOL": [0.0, 2.0, 0.0, math.nan],
    "SITE": ["Genève", "Bern", "", "Zürich"],
}


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_transport_file_is_read_as_it_is_meant(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "BPX.xpt").write_bytes(transport(ROWS, encoding))
    read = an.read(tmp_path / "BPX.xpt")
    assert read.columns == list(ROWS) and read["SEQN"].dtype == pl.Int64
    assert read["SEQN"].to_list() == [109263, 109264, 109265, 109266]
    assert read["BPXSY"].to_list() == pytest.approx([118.5, None, 131.25, -0.1])
    # Zeros are zeros, and not 5.4e-79.
    assert read["ALCOHOL"].to_list() == [0, 2, 0, None]
    assert read["SITE"].to_list() == ["Genève", "Bern", None, "Zürich"]


def test_a_network_is_learned_from_one_and_the_shell_reads_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from arbornet.cli import main

    rng = np.random.default_rng(1)
    age = rng.integers(20, 80, 200).astype(float)
    rows = {"AGE": age.tolist(), "SBP": np.round(90 + 0.7 * age + rng.normal(0, 5, 200), 1).tolist()}
    (tmp_path / "t.XPT").write_bytes(transport(rows))
    assert main(["learn", str(tmp_path / "t.XPT"), "-o", str(tmp_path / "net.json")]) == 0
    assert an.load(tmp_path / "net.json").graph.number_of_edges() == 1
    assert "200 used" in capsys.readouterr().out


def test_a_data_set_is_read_by_pandas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({"id": [1.0, 2.0], "visit": pd.to_datetime(["2020-03-01", None]), "sex": ["f", None]})
    asked = {}

    def read_sas(path: Path, **options: object) -> pd.DataFrame:
        asked.update(options)
        return frame

    monkeypatch.setattr(pd, "read_sas", read_sas)
    (tmp_path / "f.sas7bdat").write_bytes(b"")
    read = an.read(tmp_path / "f.sas7bdat")
    assert asked == {"encoding": "infer"} and read["id"].dtype == pl.Int64
    assert read["visit"].dtype.is_temporal() and read["sex"].to_list() == ["f", None]


@pytest.mark.parametrize("name", ["f.xpt", "f.sas7bdat"])
def test_what_is_none_is_refused_by_its_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"a,b\n1,2\n" * 50)
    with pytest.raises(an.ArbornetError, match=name):
        an.read(tmp_path / name)
