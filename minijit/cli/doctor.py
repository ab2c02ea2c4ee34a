"""`minijit doctor`: is this interpreter fit, is the shim built, does it work, what does it cost here."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import minijit
from minijit import _shim
from minijit.cli.failure import DIFFERENCE, OK

__all__ = ["add_arguments", "command"]

CALLS = 20_000


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    fine: bool
    text: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No options."""


def command(args: argparse.Namespace) -> int:
    """Report; 1 when something is not as it should be."""
    findings = list(examine())
    for finding in findings:
        print(f"{'ok ' if finding.fine else 'BAD'}  {finding.text}")
    return OK if all(finding.fine for finding in findings) else DIFFERENCE


def examine() -> Iterator[Finding]:
    """Everything there is to look at."""
    yield Finding(True, f"CPython {platform.python_version()} on {platform.system()} {platform.machine()}")
    yield Finding(True, f"the shim is {_shim.__file__}")
    yield switch()
    yield tools()
    yield works()
    before, during, after = hook_cost()
    cost = f"{before:.0f} ns; {during:.0f} ns while frames are captured, {after:.0f} ns after"
    yield Finding(True, f"a Python call costs {cost}")
    yield Finding(True, f"a guard of one question costs {guard_cost():.1f} ns")


def switch() -> Finding:
    """Is minijit switched on?"""
    off = os.environ.get("MINIJIT") == "0"
    return Finding(not off, "MINIJIT=0 is set: nothing is compiled" if off else "minijit is switched on")


def tools() -> Finding:
    """Does a tool see every line, which lets all original code run?"""
    busy = sys.gettrace() is not None or sys.getprofile() is not None
    if busy:
        return Finding(False, "a tracer or profiler is active: original code runs")
    return Finding(True, "no tracer or profiler is active")


class Pair:
    """Something that compiled code need not build."""

    def __init__(self, left: int, right: int) -> None:
        self.left = left
        self.right = right

    def total(self) -> int:
        """Both together."""
        return self.left + self.right


def works() -> Finding:
    """Compile a function and compare."""

    def add(left: int, right: int) -> int:
        return Pair(left, right).total()

    expected = add(20, 22)
    minijit.compile(add)
    results = [add(20, 22) for _ in range(4)]
    stats = minijit.stats(add)
    fine = results == [expected] * 4 and stats.state == "compiled" and stats.hits > 0
    state = stats.state if stats.reason is None else f"{stats.state} ({stats.reason})"
    return Finding(fine, f"a small function was {state} and gives the same" if fine else f"a small function is {state}")


def nothing() -> None:
    """What is called to see what a call costs."""


def nanoseconds(function: Callable[[], object]) -> float:
    """Of one call, the best of five runs."""
    best = float("inf")
    for _ in range(5):
        started = time.perf_counter()
        for _ in range(CALLS):
            function()
        best = min(best, time.perf_counter() - started)
    return best / CALLS * 1e9


def hook_cost() -> tuple[float, float, float]:
    """A call before, while and after frames are captured. No frame matches the filter."""
    before = nanoseconds(nothing)
    _shim.capture(lambda function, arguments: None, lambda code: False)
    try:
        during = nanoseconds(nothing)
    finally:
        _shim.release()
    return before, during, nanoseconds(nothing)


def guard_cost() -> float:
    """The truth of an entry that asks nothing but whether a tool is active, above that of None."""
    entry = _shim.Entry((), _shim.Counter(None))
    return max(0.0, nanoseconds(entry.__bool__) - nanoseconds(None.__bool__))
