"""What a user may ask for at `minijit.compile`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

__all__ = ["Options", "Replay"]

Replay = Literal["silent", "log", "error"]


@dataclass(frozen=True, slots=True)
class Options:
    """Checked when made: a wrong option fails at the decorator, not at the first call."""

    static: tuple[str, ...] = ()
    strict: bool = False
    replay: Replay = "silent"
    warmup: int = 1
    gainless: bool = False
    """Compile also where nothing can be removed: for tests of minijit itself."""

    def __post_init__(self) -> None:
        if isinstance(self.static, str) or not all(isinstance(name, str) for name in self.static):
            raise TypeError("static= takes a sequence of parameter names")
        object.__setattr__(self, "static", tuple(self.static))
        if self.replay not in get_args(Replay):
            raise ValueError(f"replay= takes one of {', '.join(get_args(Replay))}, not {self.replay!r}")
        if not isinstance(self.warmup, int) or self.warmup < 0:
            raise ValueError(f"warmup= takes a number of calls, not {self.warmup!r}")
