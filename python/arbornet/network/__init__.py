"""A fitted network, to be read, asked, sampled and kept.

`structure` (what it is), `rows` (what it says of rows), `general` (what it says in general) and `net` (how it is kept)
are the parts of `BayesNet`; `evidence` codes what is known, `asked` carries it to the core, `query` reads questions.
"""

from arbornet.network.net import BayesNet
from arbornet.network.origin import Origin

__all__ = ["BayesNet", "Origin"]
