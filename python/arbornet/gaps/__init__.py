"""Networks from rows with missing values: available cases to start from, then Monte Carlo structural EM.

Friedman 1998 with draws instead of expected counts (Wei and Tanner 1990): every incomplete row is completed by a draw
from its conditional distribution under the present network, parent sets are scored and a graph is searched anew, and so
on until the score gains less than the noise of the draws. A row keeps its random numbers from round to round, so the
rounds settle, and the result is the same at any number of threads and for any order of the rows.
"""

from arbornet.gaps.families import with_families
from arbornet.gaps.rounds import Way, learned

__all__ = ["Way", "learned", "with_families"]
