"""The time of a call before and after, each call with arguments of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import minijit
from minijit import _shim
from minijit.cli.failure import ARGUMENTS, Failure
from minijit.cli.target import Target, sentence

__all__ = ["Timing", "measure"]

SECONDS = 0.5
MOST_CALLS = 2000
WARMUP = 4


@dataclass(frozen=True, slots=True)
class Timing:
    """Best times of one call, in seconds. `state` says whether it was compiled at all."""

    before: float
    after: float
    state: str

    def __str__(self) -> str:
        times = f"before {self.before * 1e6:.2f} µs, after {self.after * 1e6:.2f} µs"
        return f"{times}: {self.before / self.after:.2f} times as fast ({self.state})"


def measure(target: Target) -> Timing:
    """Time the call with minijit off and on."""
    function, _ = target.slots()
    was_enabled = _shim.enable(False)
    try:
        before = best(target)
    finally:
        _shim.enable(was_enabled)
    minijit.compile(static=target.options.static)(function)
    try:
        after = best(target)
        return Timing(before, after, minijit.stats(function).state)
    finally:
        minijit.reset(function)


def best(target: Target) -> float:
    """The shortest time one call took."""
    times: list[float] = []
    end = time.perf_counter() + SECONDS
    while len(times) < WARMUP or (time.perf_counter() < end and len(times) < MOST_CALLS):
        times.append(once(target.function, *target.arguments()))
    return min(times)


def once(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> float:
    """The time of one call."""
    if isinstance(function, (staticmethod, classmethod)):
        function = function.__func__
    started = time.perf_counter()
    try:
        function(*args, **kwargs)
    except Exception as error:
        raise Failure(ARGUMENTS, f"the call raises {sentence(error)}, so it can't be timed") from None
    return time.perf_counter() - started
