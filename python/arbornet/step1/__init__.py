"""Step 1: scoring parent sets. What it would cost, who is scored at all, the work, and the candidates it leaves.

| room | what it does |
|---|---|
| `planning` | how many parent sets there are, and about how long they take |
| `features` | the few variables per child that are scored as parents, by a random forest |
| `scoring` | `score_parents`: every permitted parent set of every child |
| `machines` | the same on many machines, as tasks of Dask |
| `candidates` | the sets worth keeping, with their scores: what every search reads |
"""
