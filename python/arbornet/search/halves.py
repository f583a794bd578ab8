"""Dividing the graphs by who may be whose parent, where the order search alone has too many states.

The linear program often wants two variables to be each other's parents, half the time each. In one half of the graphs
the first is no parent of the second, in the other the second is none of the first: each half is a search of its own,
with the cuts known so far, and its bound rises once the program may no longer have both. The half with the lowest bound
is next.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbornet._core import SearchComponent
    from arbornet.search.base import Stopped

    # A part, whether to work until it is done, and how many bytes the other parts hold.
    Attempt = Callable[[SearchComponent, bool, float], Stopped | None]


def search_halves(
    root: SearchComponent, slack: int, room: float, attempt: Attempt, note: Callable[[], None]
) -> Stopped:
    """Divides until nothing better than the incumbent is left.

    Args:
        root: the component; it learns what its parts find and prove.
        slack: a gap that may be left.
        room: bytes that the root and the parts may take.
        attempt: works on a part, if told so to the end, and says how that ended; None if it should be divided.
        note: called whenever the root may have learnt something.

    Returns:
        How it ended.
    """
    parts = [(root.bound, 0, root, 0.0)]
    made = 0
    # The root may drop nothing: its sets are what the certificate is told by.
    held = float(root.held)

    def best() -> int:
        assert root.cost is not None
        return root.cost

    while parts:
        bound, _, part, size = heapq.heappop(parts)
        held -= size
        root.prove(bound)
        note()
        if bound >= best() - slack:
            return "proven"
        # A half starts with the sets and the cuts of its part, which is then given up.
        whole = float(part.held)
        if held + (3 if part is not root else 2) * whole > room:
            return "memory"
        halves = part.split()
        # Where no two variables could be each other's parents there is little left to order.
        todo = [part] if halves is None else list(halves)
        while todo:
            half = todo.pop()
            half.learn(best(), root.order or [], 0)
            before = half.progress[0]
            ended = attempt(half, halves is None, held + sum(other.held for other in todo))
            assert half.cost is not None
            root.learn(half.cost, half.order or [], half.progress[0] - before)
            if ended is None:
                made += 1
                heapq.heappush(parts, (max(bound, half.bound), made, half, float(half.held)))
                held += half.held
            elif ended != "proven":
                # What was not looked at keeps the bound of the part.
                left = [bound] if todo else [max(bound, half.bound)]
                root.prove(min(left + [other for other, *_ in parts]))
                note()
                return ended
    root.prove(best())
    note()
    return "proven"
