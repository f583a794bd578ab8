"""Which layer each node of an acyclic graph stands on, so that the arcs are short in sum.

Gansner, Koutsofios, North and Vo, "A technique for drawing directed graphs" (1993), section 2: the layers minimise
the total length of the arcs, found by the network simplex method on a spanning tree of tight arcs. One pivot costs
O(nodes + arcs); graphs of a hundred nodes take a few dozen pivots. Afterwards layers that would be too wide are
folded: nodes with little below them wait for the next layer.
"""

from __future__ import annotations

from collections.abc import Sequence

Edge = tuple[int, int]


def ranks(n: int, edges: Sequence[Edge], most: int | None = None) -> list[int]:
    """Layers from 0, heads below tails, the sum of arc lengths minimal in each connected graph.

    Args:
        n: Number of nodes; they are 0 to n - 1.
        edges: Pairs (tail, head) of an acyclic, connected graph.
        most: If given, no layer holds more nodes than this, at the price of longer arcs.
    """
    rank = longest_paths(n, edges)
    if n > 1:
        tree = _tight_tree(n, edges, rank)
        for _ in range(20 * n + 200):  # far above what is needed; a guard against cycling only
            if not _pivot(n, edges, tree, rank):
                break
        lowest = min(rank)
        rank = [r - lowest for r in rank]
        _balance(n, edges, rank)
    return _folded(n, edges, rank, most) if most else rank


def longest_paths(n: int, edges: Sequence[Edge]) -> list[int]:
    """The longest path to each node, in arcs."""
    below: list[list[int]] = [[] for _ in range(n)]
    waiting_for = [0] * n
    for u, v in edges:
        below[u].append(v)
        waiting_for[v] += 1
    rank = [0] * n
    ready = [v for v in range(n) if not waiting_for[v]]
    for u in ready:
        for v in below[u]:
            rank[v] = max(rank[v], rank[u] + 1)
            waiting_for[v] -= 1
            if not waiting_for[v]:
                ready.append(v)
    return rank


def _slack(edge: Edge, rank: Sequence[int]) -> int:
    return rank[edge[1]] - rank[edge[0]] - 1


def _tight_tree(n: int, edges: Sequence[Edge], rank: list[int]) -> list[int]:
    """A spanning tree of arcs of length one; moves nodes to make it so."""
    inside = [False] * n
    inside[0] = True
    tree: list[int] = []
    while len(tree) < n - 1:
        crossing = [(_slack(e, rank), i) for i, e in enumerate(edges) if inside[e[0]] != inside[e[1]]]
        slack, i = min(crossing)
        u, v = edges[i]
        shift = slack if inside[u] else -slack
        for w in range(n):
            if not inside[w]:
                rank[w] -= shift
        inside[u] = inside[v] = True
        tree.append(i)
    return tree


def _pivot(n: int, edges: Sequence[Edge], tree: list[int], rank: list[int]) -> bool:
    """Exchanges one tree arc for a better one; false when none is worth it."""
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for i in tree:
        u, v = edges[i]
        neighbours[u].append((v, i))
        neighbours[v].append((u, i))
    order, up = [0], [-1] * n
    for u in order:
        for v, i in neighbours[u]:
            if i != up[u]:
                up[v] = i
                order.append(v)
    # Cut value of a tree arc: arcs along it minus arcs against it, between the two sides it parts. Arcs within a side
    # cancel out, so it is the sum of (out - in) over the tail's side.
    surplus = [0] * n
    for u, v in edges:
        surplus[u] += 1
        surplus[v] -= 1
    worst, leaving, root = 0, -1, -1
    for u in reversed(order[1:]):
        i = up[u]
        tail, head = edges[i]
        value = surplus[u] if tail == u else -surplus[u]
        surplus[head if tail == u else tail] += surplus[u]
        if value < worst or (value == worst < 0 and i < leaving):
            worst, leaving, root = value, i, u
    if leaving < 0:
        return False
    side = [False] * n  # the subtree cut off
    side[root] = True
    for u in order[1:]:
        tail, head = edges[up[u]]
        if up[u] != leaving and side[head if tail == u else tail]:
            side[u] = True
    tail_side = side[edges[leaving][0]]
    slack, entering = min(
        (_slack(e, rank), i) for i, e in enumerate(edges) if side[e[0]] != tail_side and side[e[1]] == tail_side
    )
    for u in range(n):
        if side[u]:
            rank[u] += -slack if tail_side else slack
    tree[tree.index(leaving)] = entering
    return True


def _balance(n: int, edges: Sequence[Edge], rank: list[int]) -> None:
    """Moves nodes with as many arcs in as out, which cost the same anywhere between, to the emptiest layer."""
    above: list[list[int]] = [[] for _ in range(n)]
    below: list[list[int]] = [[] for _ in range(n)]
    for u, v in edges:
        below[u].append(v)
        above[v].append(u)
    count = [0] * (max(rank) + 1)
    for r in rank:
        count[r] += 1
    for v in range(n):
        if above[v] and len(above[v]) == len(below[v]):
            first = max(rank[u] for u in above[v]) + 1
            last = min(rank[u] for u in below[v]) - 1
            best = min(range(first, last + 1), key=lambda r: (count[r] - (r == rank[v]), r))
            count[rank[v]] -= 1
            count[best] += 1
            rank[v] = best


def _folded(n: int, edges: Sequence[Edge], rank: list[int], most: int) -> list[int]:
    """Pushes nodes down from layers with more than `most`; those with the least below them go first."""
    if all(rank.count(r) <= most for r in set(rank)):
        return rank
    height = [-r for r in longest_paths(n, [(v, u) for u, v in edges])]
    below: list[list[int]] = [[] for _ in range(n)]
    for u, v in edges:
        below[u].append(v)
    out = list(rank)
    layer = 0
    while layer <= max(out):
        here = sorted((v for v in range(n) if out[v] == layer), key=lambda v: (height[v], -len(below[v]), v))
        for v in here[most:]:
            out[v] = layer + 1
        for v in sorted(range(n), key=lambda v: (out[v], v)):
            for w in below[v]:
                out[w] = max(out[w], out[v] + 1)
        layer += 1
    return out
