"""Tables that the tests of Step 1 score."""

import numpy as np

from arbornet import _core


class BIC:
    """BIC by its JSON."""

    def spec(self):
        return '{"score":"likelihood","penalty":"bic"}'


def chain(n_vars, n_rows, seed=0, n_levels=3):
    """Categorical columns v0, v1, ..., each a noisy copy of one before it."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, n_levels, n_rows).astype("uint32")]
    for i in range(1, n_vars):
        parent = columns[rng.integers(0, i)]
        noise = rng.integers(0, n_levels, n_rows).astype("uint32")
        columns.append(np.where(rng.random(n_rows) < 0.6, parent, noise).astype("uint32"))
    names = [f"v{i}" for i in range(n_vars)]
    levels = [list(range(n_levels))] * n_vars
    return _core.TableHandle.from_columns(names, ["categorical"] * n_vars, levels, columns)


def with_numbers(n_vars, n_rows, seed=0):
    """As chain, with a column of numbers x at the end."""
    rng = np.random.default_rng(seed)
    levels = [rng.integers(0, 2, n_rows).astype("uint32") for _ in range(n_vars)]
    names = [f"v{i}" for i in range(n_vars)] + ["x"]
    kinds = ["categorical"] * n_vars + ["continuous"]
    columns = [*levels, rng.normal(size=n_rows)]
    return _core.TableHandle.from_columns(names, kinds, [[0, 1]] * n_vars + [None], columns)
