"""The last finished round in a folder, to go on from after an interruption."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arbornet._core import ArbornetError, FormatError, NetworkHandle
from arbornet.data.incomplete import Incomplete
from arbornet.graphs.constraints import Rules
from arbornet.scores.prepare import Score
from arbornet.step1.effort import Budget
from arbornet.system.whole import write_whole

FILE = "rounds.json"
VERSION = 1


@dataclass(frozen=True)
class State:
    """What a round needs of those before it."""

    network: NetworkHandle | None = None
    scores: list[float] = field(default_factory=list)
    noise: float = 0.0
    allowed: list[list[int]] | None = None
    """Of every variable the possible parents of later rounds, if they were narrowed."""


def identity(gaps: Incomplete, score: Score, rules: Rules, most: int | None, budget: Budget) -> str:
    """What the rounds depend on, as a text that is another one for anything else."""
    text = json.dumps(
        [gaps.schema.plain().to_dict(), score.spec(), rules.spec(), most, budget.scoring, budget.searching]
    )
    made = hashlib.blake2b(text.encode(), digest_size=16)
    for cells in gaps.cells:
        made.update(cells.tobytes())
    if gaps.own_weights is not None:
        made.update(gaps.own_weights.tobytes())
    return made.hexdigest()


def save(folder: Path, name: str, state: State) -> None:
    """Writes the state after a round."""
    assert state.network is not None, "a round has a network"
    folder.mkdir(parents=True, exist_ok=True)
    told: dict[str, Any] = {
        "version": VERSION,
        "of": name,
        "network": json.loads(state.network.to_json()),
        "scores": state.scores,
        "noise": state.noise,
        "allowed": state.allowed,
    }
    write_whole(folder / FILE, json.dumps(told))


def load(folder: Path, name: str) -> State | None:
    """The state of an earlier call; None if there is none.

    Raises:
        ArbornetError: If it is of another table, score, constraints or effort.
        FormatError: If it is damaged.
    """
    path = folder / FILE
    if not path.exists():
        return None
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        if told["version"] != VERSION or told["of"] != name:
            raise ArbornetError(
                f"{path} was written for another table, score, constraints or effort; give an empty folder"
            )
        network = NetworkHandle.from_json(json.dumps(told["network"]), str(path))
        return State(network, [float(score) for score in told["scores"]], float(told["noise"]), told["allowed"])
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise FormatError(f"{path} is damaged: {error!r}; give an empty folder") from error
