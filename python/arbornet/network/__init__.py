"""A fitted network: read it, query it, sample from it, save it.

`structure` (graph and models), `rows` (predictions), `general` (queries and samples) and `net` (files and pictures) are
the parts of `BayesNet`; `evidence` codes what is known, `asked` passes it to the core, `query` reads queries.
"""

from arbornet.io.origin import Origin
from arbornet.network.net import BayesNet

__all__ = ["BayesNet", "Origin"]
