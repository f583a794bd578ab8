import json
import pickle

import numpy as np
import polars as pl
import pytest

import arbornet as an
from small_tables import BIC, chain


@pytest.fixture(scope="module")
def candidates():
    return an.score_parents(chain(6, 150), BIC(), max_parents=3, constraints=an.Constraints(required=[("v0", "v1")]))


def test_a_child_is_a_frame_best_first(candidates):
    frame = candidates.child("v3")
    assert frame.schema == {"parents": pl.List(pl.String), "score": pl.Float64}
    assert frame["score"].is_sorted(descending=True)
    assert frame["parents"].null_count() == 0
    assert [] in frame["parents"].to_list()


def test_an_unknown_child_is_told(candidates):
    with pytest.raises(an.ColumnError, match="no variable 'w'; the variables are 'v0', 'v1'"):
        candidates.child("w")


def test_parquet_gives_everything_back_exactly(candidates, tmp_path):
    candidates.save(tmp_path / "c.parquet")
    back = an.Candidates.load(tmp_path / "c.parquet")
    assert back == candidates
    mine, theirs = ({k: v for k, v in vars(c).items() if k != "handle"} for c in (candidates, back))
    assert mine == theirs
    for child in candidates:
        assert back.child(child).equals(candidates.child(child))


@pytest.mark.parametrize("name", ["c.jkl", "c.jkl.gz", "c.jkl.xz"])
def test_jkl_gives_sets_and_scores_back(candidates, tmp_path, name):
    candidates.save(tmp_path / name)
    assert an.Candidates.load(tmp_path / name) == candidates


def test_other_names_of_files_are_refused(candidates, tmp_path):
    with pytest.raises(an.ParameterError, match=r"\.parquet"):
        candidates.save(tmp_path / "c.csv")


def test_pickling_gives_everything_back(candidates):
    back = pickle.loads(pickle.dumps(candidates))
    assert back == candidates
    assert back.table == candidates.table


def test_awkward_names_survive_parquet(tmp_path):
    names = ["M. Work", "größe", "a,b", "[x]", ""]
    arrays = [
        (np.array([-1.5, -2.0]), np.array([0, 1, 1], dtype="uint32"), np.array([(v + 1) % 5], dtype="uint32"))
        for v in range(5)
    ]
    given = an.Candidates(an._core.CandidatesHandle.from_arrays(names, arrays))
    given.save(tmp_path / "c.parquet")
    assert an.Candidates.load(tmp_path / "c.parquet") == given


def test_parquet_of_other_tools_needs_no_metadata(candidates, tmp_path):
    candidates.frame().write_parquet(tmp_path / "c.parquet")
    assert an.Candidates.load(tmp_path / "c.parquet") == candidates


def about(**changes):
    return {"arbornet": json.dumps({"names": ["a", "b"], "format": 1} | changes)}


def rows(**columns):
    given = {"child": ["a", "b"], "parents": [[], ["a"]], "score": [0.0, 1.0]} | columns
    return pl.DataFrame(given, schema_overrides={"parents": pl.List(pl.String)})


@pytest.mark.parametrize(
    ("frame", "metadata", "told"),
    [
        (pl.DataFrame({"x": [1]}), about(), "its columns are"),
        (rows(score=["0", "1"]), about(), "its columns are"),
        (rows(score=[0.0, None]), about(), "1 missing values"),
        (rows(parents=[[], [None]]), about(), "missing values"),
        (rows(parents=[[], ["c"]]), about(), "not among its variables"),
        (rows(child=["a", "c"]), about(), "not among its variables"),
        (rows(parents=[[], ["b"]]), about(), "cannot be its parent"),
        (rows(score=[0.0, float("nan")]), about(), "not a number"),
        (rows(), about(format=2), "it is of format 2"),
        (rows(), about(colour="red"), "colour"),
        (rows(), {"arbornet": "{"}, "not a readable Parquet file"),
    ],
)
def test_bad_parquet_files_are_told(frame, metadata, told, tmp_path):
    path = tmp_path / "bad.parquet"
    frame.write_parquet(path, metadata=metadata)
    with pytest.raises(an.FormatError, match=told) as error:
        an.Candidates.load(path)
    assert str(path) in str(error.value)


def test_a_torn_parquet_file_is_told(candidates, tmp_path):
    candidates.save(tmp_path / "whole.parquet")
    data = (tmp_path / "whole.parquet").read_bytes()
    (tmp_path / "torn.parquet").write_bytes(data[: len(data) // 2])
    with pytest.raises(an.FormatError, match="not a readable Parquet file"):
        an.Candidates.load(tmp_path / "torn.parquet")
    (tmp_path / "empty.parquet").write_bytes(b"")
    with pytest.raises(an.FormatError):
        an.Candidates.load(tmp_path / "empty.parquet")


def test_it_shows_itself_in_a_line(candidates):
    assert repr(candidates).startswith(f"Candidates(6 variables, {candidates.n_kept} parent sets kept")


@pytest.mark.parametrize(
    ("without", "within"),
    [
        (an.PCART(penalised=False), an.PCART()),
        (an.FullTable(penalised=False, max_bins=3), an.FullTable(max_bins=3)),
        (an.ConditionalGaussian(), an.ConditionalGaussian(prior=an.priors.ParentCount())),
    ],
)
def test_a_prior_added_afterwards_keeps_what_scoring_with_it_keeps(without, within):
    table = an.Table(an.example("penguins"))
    candidates = an.score_parents(table, without, max_parents=2)
    under = candidates.with_prior(an.priors.ParentCount())
    directly = an.score_parents(table, within, max_parents=2)
    assert under == directly
    assert under.score == directly.score
    assert under.n_kept <= candidates.n_kept
    assert under != candidates


def test_a_prior_that_cannot_be_added_afterwards_is_refused(candidates, tmp_path):
    table = an.Table(an.example("penguins"))
    with pytest.raises(an.ParameterError, match=r"include a prior already.*score without it"):
        an.score_parents(table, an.PCART(), max_parents=1).with_prior(an.priors.ParentCount())
    with pytest.raises(
        an.ParameterError, match=r"prior=priors.EBIC\(gamma=0.5\): counts free parameters.*score_parents"
    ):
        candidates.with_prior(an.priors.EBIC())
    with pytest.raises(an.ParameterError, match=r"'parent_count': must be one of arbornet\.priors"):
        candidates.with_prior("parent_count")
    with pytest.raises(an.ParameterError, match="more weight than sets of 3"):
        an.score_parents(chain(6, 150), BIC(), max_parents=4).with_prior(an.priors.ParentCount())
    candidates.save(tmp_path / "c.jkl")  # which does not say how many parents were looked at
    with pytest.raises(an.ParameterError, match="more weight"):
        an.Candidates.load(tmp_path / "c.jkl").with_prior(an.priors.ParentCount())
