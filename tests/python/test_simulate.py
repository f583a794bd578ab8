"""Simulated networks keep what they promise."""

import networkx as nx
import numpy as np
import pytest

import arbornet as an

KINDS = ["linear", "nonlinear", "lee-hastie"]


@pytest.mark.parametrize("kind", KINDS)
def test_graph_frame_and_schema_fit_together(kind):
    dag, frame, schema = an.simulate.mixed_network(60, 2, 500, kind=kind, seed=3)
    assert nx.is_directed_acyclic_graph(dag)
    assert list(dag) == frame.columns == [f"X{v}" for v in range(1, 61)]
    assert dag.number_of_edges() == 60 and frame.height == 500
    assert max(dict(dag.degree).values()) <= 5
    continuous = [c for c in frame.columns if schema[c].word == "continuous"]
    assert 15 < len(continuous) < 45
    for name in frame.columns:
        values = frame[name].to_numpy()
        if name in continuous:
            assert abs(values.mean()) < 1e-12 and abs(values.std(ddof=1) - 1) < 1e-12
            assert np.abs(values).max() < 25
        else:
            levels = schema[name].levels
            assert 2 <= len(levels) <= 5 and set(values) <= set(levels)
    assert an.Table(frame, schema=schema).n_rows == 500


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_says_everything(kind):
    one, same, other = (an.simulate.mixed_network(30, 3, 200, kind=kind, seed=s) for s in (1, 1, 2))
    assert one.frame.equals(same.frame) and list(one.dag.edges) == list(same.dag.edges)
    assert not one.frame.equals(other.frame)


@pytest.mark.parametrize("kind", KINDS)
def test_children_depend_on_their_parents(kind):
    # Every true arc between continuous variables should mostly show in a correlation of some transform.
    dag, frame, _ = an.simulate.mixed_network(40, 2, 4000, kind=kind, discrete=0.0, seed=4)
    strength = []
    for a, b in dag.edges:
        x, y = frame[a].to_numpy(), frame[b].to_numpy()
        strength.append(max(abs(np.corrcoef(f, y)[0, 1]) for f in (x, x**2, x**3, np.sqrt(np.abs(x)), np.cbrt(x))))
    assert np.mean(np.array(strength) > 0.1) > 0.9
    apart = [(a, b) for a in dag for b in dag if a < b and not nx.has_path(dag.to_undirected(), a, b)]
    false = [abs(np.corrcoef(frame[a].to_numpy(), frame[b].to_numpy())[0, 1]) for a, b in apart]
    assert np.mean(np.array(false) < 0.05) > 0.97


def test_degrees_up_to_the_maximum_can_be_reached():
    for average in (0, 1, 4, 5):
        dag = an.simulate.mixed_network(12, average, 10, seed=0).dag
        assert dag.number_of_edges() == 6 * average
        assert max(dict(dag.degree).values()) <= 5
    assert an.simulate.mixed_network(1, 0, 10).frame.shape == (10, 1)


def test_all_discrete_and_all_continuous_are_possible():
    assert all(c.word == "categorical" for c in an.simulate.mixed_network(10, 2, 50, discrete=1.0).schema.columns)
    assert all(c.word == "continuous" for c in an.simulate.mixed_network(10, 2, 50, discrete=0.0).schema.columns)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_variables": 0}, "n_variables=0"),
        ({"kind": "cubic"}, "kind='cubic'"),
        ({"average_degree": 6}, "average_degree=6"),
        ({"discrete": 2}, "discrete=2"),
        ({"levels": (1, 3)}, r"levels=\(1, 3\)"),
        ({"n_rows": 1.5}, "n_rows=1.5"),
    ],
)
def test_wrong_settings_are_told(settings, message):
    with pytest.raises(an.ParameterError, match=message):
        an.simulate.mixed_network(**settings)
