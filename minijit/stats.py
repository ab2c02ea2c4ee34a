"""What `minijit.stats` answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["State", "Stats"]

State = Literal["cold", "compiled", "refused"]


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of one function (of all functions made by the same `def`).

    `calls` are those that were counted: a refused function runs its original code, uncounted.
    `hits` ran compiled code to its end, `aborts` left it half-way, `misses` never entered it.
    """

    state: State
    reason: str | None
    calls: int
    hits: int
    misses: int
    aborts: int
    entries: int
    compile_seconds: float
