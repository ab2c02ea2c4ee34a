"""How close compiled functions come to hand-written ones: original, compiled, guarded, ideal.

    python benchmarks/limits.py [words of a case's name]

"speed" is that of the compiled function as a share of the guarded one's: 1.00 is as fast.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import limit_programs as programs
from measure import interleaved, medians, ratio

import minijit


def twin(function: types.FunctionType) -> types.FunctionType:
    """The same function again, to be compiled beside the original."""
    made = types.FunctionType(
        function.__code__.replace(co_name=function.__name__ + "_"),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def compiled_twin(function: types.FunctionType, arguments: tuple[Any, ...]) -> types.FunctionType:
    """A compiled copy, warmed up."""
    made = minijit.compile(twin(function))
    for _ in range(3):
        made(*arguments)
    return made


def agree(left: Any, right: Any) -> bool:
    """Whether two results are the same (vectors by their components)."""
    if isinstance(left, programs.Vec3):
        return (left.x, left.y, left.z) == (right.x, right.y, right.z)
    return bool(left == right)


def row(name: str, base: Any, ideal: Callable[..., Any], guarded: Callable[..., Any], arguments: Any) -> str:
    """One line of the table."""
    made = compiled_twin(base, arguments)
    if not agree(base(*arguments), made(*arguments)):
        raise SystemExit(f"{name}: the compiled function gives another result")
    samples = interleaved([base, made, guarded, ideal], arguments)
    times = medians(samples)
    facts = minijit.stats(made)
    return (
        f"{name:<34} {times[0]:>9.0f} {times[1]:>9.0f} {times[2]:>9.0f} {times[3]:>9.0f}"
        f" {ratio(samples[0], samples[1]):>8.2f}x {ratio(samples[2], samples[1]):>7.2f}"
        f" {facts.compile_seconds * 1e3:>9.1f}  {facts.state}"
    )


def main(words: list[str]) -> None:
    """Print the table."""
    for promised in (programs.TREE, programs.PROG, programs.SCHEMA):
        minijit.frozen(promised)
    print(f"Python {sys.version.split()[0]}; CPU nanoseconds a call, medians of interleaved rounds")
    titles = f"{'original':>9} {'compiled':>9} {'guarded':>9} {'ideal':>9} {'speed-up':>9} {'speed':>7} {'ms':>9}"
    print(f"{'':<34} {titles}")
    for case in programs.CASES:
        if not words or any(word in case[0] for word in words):
            print(row(*case), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
