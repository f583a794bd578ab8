"""The prior over parent sets that `learn` takes for a wide table."""

from __future__ import annotations

import pytest

import arbornet as an
from arbornet.step1.by_width import WIDE, for_width


def simulated(n_variables: int) -> tuple[an.simulate.SimulatedNetwork, an.Table]:
    made = an.simulate.network(n_variables, 200, style="linear", seed=4)
    return made, an.Table(made.frame, schema=made.schema)


@pytest.mark.parametrize(
    "score", [an.ConditionalGaussian(), an.DegenerateGaussian(), an.BasisFunctions(), an.MixedPolynomial()]
)
def test_a_wide_table_takes_a_prior_and_learn_says_so(score, capsys) -> None:
    made, table = simulated(60)
    net = an.learn(table, score, "fges")
    told = " ".join(capsys.readouterr().out.split())
    assert "(its prior chosen for 60 variables; prior=an.priors.Uniform() for none)" in told
    without = an.learn(table, score.replace(prior=an.priors.Uniform()), "fges", verbose=False)
    assert net.graph.edges == an.search.fges(table, score.replace(prior=an.priors.Binomial(1))).dag.edges
    assert an.metrics.compare(made.dag, net.graph).shd <= an.metrics.compare(made.dag, without.graph).shd


def test_a_narrow_table_other_scores_and_a_prior_of_yours_stay_as_they_are() -> None:
    for score, n in (
        (an.ConditionalGaussian(), WIDE - 1),
        (an.BlockGaussian(), 100),
        (an.PCART(), 100),
        (an.DegenerateGaussian(prior=an.priors.EBIC()), 100),
        (an.DegenerateGaussian(prior=an.priors.Uniform()), 100),
        (an.ConditionalGaussian(published=True), 100),
        (lambda table, child, parents: 0.0, 100),
    ):
        assert for_width(score, n) == (score, "")
