import math
import pickle

import numpy as np
import pytest

import arbornet as an
from arbornet import _core

BIC = '{"score":"likelihood","penalty":"bic"}'


def table():
    codes = [np.array([0, 0, 1, 1, 1], dtype="uint32"), np.array([0, 1, 1, 1, 1], dtype="uint32")]
    return _core.TableHandle.from_columns(["x", "y"], ["categorical"] * 2, [["a", "b"]] * 2, codes)


def test_a_prepared_score_gives_hand_counted_bic():
    score = _core.ScoreHandle(table(), BIC)
    assert score.score(1, [0]) == pytest.approx(2 * math.log(0.5) - math.log(5), abs=1e-12)


def test_a_prepared_score_survives_pickling():
    score = _core.ScoreHandle(table(), BIC)
    assert pickle.loads(pickle.dumps(score)).score(1, [0]) == score.score(1, [0])


@pytest.mark.parametrize(("child", "parents"), [(2, []), (0, [0]), (0, [1, 1]), (0, [7])])
def test_impossible_families_are_refused(child, parents):
    with pytest.raises(an.ArbornetError):
        _core.ScoreHandle(table(), BIC).score(child, parents)


def test_an_unknown_score_is_refused():
    with pytest.raises(an.ParameterError):
        _core.ScoreHandle(table(), '{"score":"likelyhood"}')
