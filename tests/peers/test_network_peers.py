"""Networks against other programs: the same answers from the same files."""

from __future__ import annotations

import os
from pathlib import Path

import networkx as nx
import numpy as np
import polars as pl
import pytest

import arbornet as an

DATA = Path(os.environ.get("ARBORNET_DATA", Path(__file__).parents[2] / "benches" / "data"))
NETWORKS = DATA / "networks"
ASIA = DATA / "examples" / "bnlearn-asia.csv.gz"
ARCS = ["AT", "TE", "LE", "SL", "SB", "EX", "ED", "BD"]


@pytest.fixture
def asia() -> an.BayesNet:
    return an.fit(an.Table(pl.read_csv(ASIA)), nx.DiGraph([tuple(arc) for arc in ARCS]), an.BIC())


def evidence_of(net: an.BayesNet, seed: int, share: float) -> dict[str, str]:
    (row,) = net.sample(1, seed).to_dicts()
    rng = np.random.default_rng(seed)
    return {name: value for name, value in row.items() if rng.random() < share}


@pytest.mark.parametrize("name", ["asia", "sachs", "insurance", "alarm", "hailfinder", "win95pts"])
def test_answers_are_those_of_pyagrum(name, tmp_path):
    gum = pytest.importorskip("pyagrum")
    import gzip

    net = an.read_bif(NETWORKS / f"{name}.bif.gz")
    (tmp_path / "x.bif").write_bytes(gzip.decompress((NETWORKS / f"{name}.bif.gz").read_bytes()))
    theirs = gum.loadBN(str(tmp_path / "x.bif"))
    for seed in range(5):
        known = evidence_of(net, seed, 0.3)
        engine = gum.LazyPropagation(theirs)
        engine.setEvidence(known)
        for target in [v for v in net.names if v not in known][:6]:
            ours = net.query(target, given=known, method="exact")["probability"].to_numpy()
            labels = theirs.variable(target).labels()
            expected = dict(zip(labels, engine.posterior(target).toarray(), strict=True))
            levels = net.graph.nodes[target]["levels"]
            np.testing.assert_allclose(ours, [expected[level] for level in levels], atol=1e-6)


def test_pyagrum_reads_what_was_written_and_predicts_the_same(asia, tmp_path):
    gum = pytest.importorskip("pyagrum")
    asia.to_bif(tmp_path / "asia.bif")
    theirs = gum.loadBN(str(tmp_path / "asia.bif"))
    for seed in range(5):
        known = evidence_of(asia, seed, 0.4)
        engine = gum.LazyPropagation(theirs)
        engine.setEvidence(known)
        for target in [v for v in asia.names if v not in known]:
            ours = asia.query(target, given=known)["probability"].to_numpy()
            np.testing.assert_allclose(ours, engine.posterior(target).toarray(), atol=1e-7)


def test_pyagrums_file_comes_in(asia, tmp_path):
    gum = pytest.importorskip("pyagrum")
    asia.to_bif(tmp_path / "asia.bif")
    gum.loadBN(str(tmp_path / "asia.bif")).saveBIF(str(tmp_path / "theirs.bif"))
    back = an.read_bif(tmp_path / "theirs.bif")
    frame = asia.sample(100)
    np.testing.assert_allclose(back.log_likelihood(frame), asia.log_likelihood(frame), rtol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_pgmpy_reads_what_was_written_and_writes_what_is_read(asia, tmp_path):
    pytest.importorskip("pgmpy")
    from pgmpy.inference import VariableElimination
    from pgmpy.readwrite import BIFReader, BIFWriter

    asia.to_bif(tmp_path / "asia.bif")
    theirs = BIFReader(str(tmp_path / "asia.bif")).get_model()
    engine = VariableElimination(theirs)
    for target, known in [("L", {"X": "yes"}), ("T", {"D": "yes", "S": "no"}), ("A", {"E": "yes"})]:
        factor = engine.query([target], evidence=known, show_progress=False)
        expected = dict(zip(factor.state_names[target], factor.values, strict=True))
        ours = dict(asia.query(target, given=known).iter_rows())
        np.testing.assert_allclose([ours[level] for level in expected], list(expected.values()), atol=1e-7)
    BIFWriter(theirs).write(str(tmp_path / "theirs.bif"))
    back = an.read_bif(tmp_path / "theirs.bif")
    frame = asia.sample(100)
    np.testing.assert_allclose(back.log_likelihood(frame), asia.log_likelihood(frame), rtol=1e-4)


@pytest.mark.parametrize("ending", ["bifxml", "net"])
def test_pyagrum_reads_the_other_formats_and_ours_reads_its(asia, ending, tmp_path):
    gum = pytest.importorskip("pyagrum")
    (asia.to_xmlbif if ending == "bifxml" else asia.to_net)(tmp_path / f"asia.{ending}")
    theirs = gum.loadBN(str(tmp_path / f"asia.{ending}"))
    for seed in range(5):
        known = evidence_of(asia, seed, 0.4)
        engine = gum.LazyPropagation(theirs)
        engine.setEvidence(known)
        for target in [v for v in asia.names if v not in known]:
            ours = asia.query(target, given=known)["probability"].to_numpy()
            np.testing.assert_allclose(ours, engine.posterior(target).toarray(), atol=1e-7)
    gum.saveBN(theirs, str(tmp_path / f"theirs.{ending}"))
    back = an.read_network(tmp_path / f"theirs.{ending}")
    frame = asia.sample(100)
    np.testing.assert_allclose(back.log_likelihood(frame), asia.log_likelihood(frame), rtol=1e-4)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ending", ["xmlbif", "net"])
def test_pgmpy_reads_the_other_formats_and_ours_reads_its(asia, ending, tmp_path):
    pytest.importorskip("pgmpy")
    from pgmpy.inference import VariableElimination
    from pgmpy.readwrite import NETReader, NETWriter, XMLBIFReader, XMLBIFWriter

    read, write = (XMLBIFReader, XMLBIFWriter) if ending == "xmlbif" else (NETReader, NETWriter)
    (asia.to_xmlbif if ending == "xmlbif" else asia.to_net)(tmp_path / "asia")
    theirs = read(str(tmp_path / "asia")).get_model()
    engine = VariableElimination(theirs)
    for target, known in [("L", {"X": "yes"}), ("T", {"D": "yes", "S": "no"}), ("A", {"E": "yes"})]:
        factor = engine.query([target], evidence=known, show_progress=False)
        expected = dict(zip(factor.state_names[target], factor.values, strict=True))
        ours = dict(asia.query(target, given=known).iter_rows())
        np.testing.assert_allclose([ours[level] for level in expected], list(expected.values()), atol=1e-6)
    write(theirs).write(str(tmp_path / f"theirs.{ending}"))
    back = an.read_network(tmp_path / f"theirs.{ending}")
    frame = asia.sample(100)
    np.testing.assert_allclose(back.log_likelihood(frame), asia.log_likelihood(frame), rtol=1e-4)
