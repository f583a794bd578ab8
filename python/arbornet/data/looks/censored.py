"""Times until something happens, beside a column that says whether it did: where it did not, the time is only longer.

Names and values tell both together; neither alone would do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from arbornet.data.frames import Raw
from arbornet.data.infer import Profile
from arbornet.data.looks.finding import Finding
from arbornet.data.looks.look import Look
from arbornet.data.looks.seen import Seen

_TIME = re.compile(
    r"(?:(?:fu|follow[ _.-]?up|surv|survival|s|rfs|dfs|pfs|os|efs|event|obs|observation|failure|death)[ _.-]?)?"
    r"(?:time|days|months|weeks|years)|t?stop|tte|time[ _.-]to[ _.-]\w+|follow[ _.-]?up|survival|duration"
)
_HAPPENED = re.compile(
    r"(?:(?:fu|os|pfs|dfs|rfs|vital|surv|survival|event|death|censor)[ _.-]?)?(?:status|stat|event)|"
    r"cens|censor|censored|censoring|delta|deaths?|dead|died|failed|failure|relapsed?|deceased|uncensored"
)
_ENDS = frozenset({
    "0", "1", "2", "3", "true", "false", "yes", "no", "y", "n", "alive", "dead", "died", "death", "deceased", "living",
    "censored", "event", "lost", "lost to follow-up", "failed", "failure", "relapse", "relapsed",
})  # fmt: skip
_FEWEST = 10
"""Different times."""
_MOST_ENDS = 4


def censored(raw: Raw, profiles: Sequence[Profile], seen: Sequence[Seen], looks: Sequence[Look]) -> Finding | None:
    """The column of such times, if there is one beside a column of what ended them."""
    used = [at for at, look in enumerate(looks) if look.left_out is None and look.looks_like != "date"]
    ends = [at for at in used if _says_how_it_ended(seen[at])]
    times = [at for at in used if ends and at not in ends and _is_time(profiles[at], seen[at])]
    if not times:
        return None
    time, end = raw.names[times[0]], raw.names[ends[0]]
    told = f"looks like a time until what {end!r} tells of; where that did not happen, the time is only known to be "
    told += "longer (censored), which a network does not know"
    mend = f"schema.without({time!r}, {end!r}) leaves them out; or ask whether it happened within a fixed time, of the "
    return Finding(time, told, raw.n_rows, mend + "rows that were followed so long")


def _is_time(one: Profile, seen: Seen) -> bool:
    if _TIME.fullmatch(seen.name.strip().lower()) is None or one.class_ not in ("integer", "number"):
        return False
    return one.range_ is not None and one.range_[0] >= 0 and seen.n_distinct > _FEWEST


def _says_how_it_ended(seen: Seen) -> bool:
    if _HAPPENED.fullmatch(seen.name.strip().lower()) is None or not 2 <= seen.n_distinct <= _MOST_ENDS:
        return False
    return all(str(value).strip().lower().removesuffix(".0") in _ENDS for value in seen.values.to_list())
