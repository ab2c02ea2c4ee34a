"""`assert_same`: the compiled function does what the original does, as far as anyone can see."""

from __future__ import annotations

import dis
import io
from collections.abc import Callable, Iterable
from typing import Any

from minijit import _shim
from minijit.decorator import compile
from minijit.harness.observe import Observation, observe
from minijit.harness.reach import reach, underlying
from minijit.harness.snapshot import difference
from minijit.harness.state import State

__all__ = ["Unrepeatable", "assert_same", "first_difference", "record"]

Function = Callable[..., Any]
MakeArguments = Callable[[], object]


class Unrepeatable(AssertionError):
    """The original itself gives two answers, so there is nothing to compare with."""


def assert_same(
    fn: Function,
    make_args: MakeArguments,
    calls: int = 3,
    *,
    make_fn: Callable[[], Function] | None = None,
    **options: Any,
) -> None:
    """Raise `AssertionError` if `fn` compiled differs from `fn` as it is in anything one can see.

    `make_args()` gives fresh arguments for each call: a tuple, or `Arguments` where there are keywords.
    The original is called `calls` times, then the compiled function as often, from the same state: the
    globals, closure cells, defaults and classes that `fn` can reach by name are put back in place in
    between. What can't be put back (a generator or iterator that `fn` keeps) needs `make_fn`, which
    gives a new function with a state of its own for either side; `fn` is then not called.
    After each call the results or exceptions (message, chain, notes, traceback), output, warnings,
    arguments and all that state are compared as graphs. `options` are those of `minijit.compile`.
    """
    original = make_fn() if make_fn else fn
    expected, state = _run_original(original, make_args, calls)
    compiled = compile(**options)(make_fn() if make_fn else fn)
    actual = record(compiled, [make_args] * calls)
    found = first_difference(expected, actual)
    if found is not None:
        state.restore()
        _assert_repeatable(make_fn() if make_fn else fn, make_args, expected)
        raise AssertionError(f"compiled {found}\n\n{_bytecode(compiled)}")


def _run_original(function: Function, make_args: MakeArguments, calls: int) -> tuple[list[Observation], State]:
    """Call the original and leave everything as it was."""
    state = State(reach(function), [function])
    was_enabled = _shim.enable(False)
    try:
        return record(function, [make_args] * calls), state
    finally:
        _shim.enable(was_enabled)
        state.restore()


def record(function: Function, makers: Iterable[MakeArguments]) -> list[Observation]:
    """Call a function once with what each maker gives, and observe each call."""
    reached = reach(function)
    return [observe(function, reached, make_args()) for make_args in makers]


def _assert_repeatable(original: Function, make_args: MakeArguments, expected: list[Observation]) -> None:
    again, _ = _run_original(original, make_args, len(expected))
    found = first_difference(expected, again)
    if found is not None:
        hint = "the original differs from itself; make_fn= gives either side a state of its own"
        raise Unrepeatable(f"{hint}\n{found}")


def first_difference(expected: list[Observation], actual: list[Observation]) -> str | None:
    """Say in which call two recordings first differ, where and how."""
    for number, (left, right) in enumerate(zip(expected, actual, strict=True), 1):
        for stage, (before, after) in enumerate(zip(left.stages, right.stages, strict=False)):
            found = difference(before, after)
            if found is not None:
                step = f", step {stage}" if stage else ""
                return f"call {number} of {len(expected)}{step} differs at {found}"
        if len(left.stages) != len(right.stages):
            return f"call {number} of {len(expected)}: expected {len(left.stages)} steps, got {len(right.stages)}"
    return None


def _bytecode(function: Function) -> str:
    python = underlying(function)
    if python is None:
        return ""
    text = io.StringIO()
    dis.dis(python.__code__, file=text)
    return f"bytecode of {python.__qualname__} now:\n{text.getvalue()}"
