"""Call a function and keep everything one can see of the call."""

from __future__ import annotations

import contextlib
import gc
import io
import random
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from minijit.harness.reach import Reach, underlying
from minijit.harness.snapshot import Snapshot, snapshot_roots

__all__ = ["Arguments", "Observation", "observe"]

MOST_STEPS = 10_000
"""How many values are taken of a generator that doesn't end."""


@dataclass(frozen=True, slots=True, init=False)
class Arguments:
    """What to call a function with, where a tuple is not enough: `Arguments(1, 2, key=3)`."""

    positional: tuple[Any, ...]
    keywords: dict[str, Any]

    def __init__(self, *positional: Any, **keywords: Any) -> None:
        object.__setattr__(self, "positional", positional)
        object.__setattr__(self, "keywords", keywords)


@dataclass(frozen=True, slots=True)
class Observation:
    """Snapshots: one after each value that a generator gave, one at the end."""

    stages: tuple[Snapshot, ...]


@dataclass(slots=True)
class _Recorder:
    """Mutates while a call runs."""

    function: Callable[..., Any]
    reached: Reach
    arguments: Arguments
    output: io.StringIO = field(default_factory=io.StringIO)
    errors: io.StringIO = field(default_factory=io.StringIO)
    caught: list[warnings.WarningMessage] = field(default_factory=list)
    unraisable: list[str] = field(default_factory=list)
    stages: list[Snapshot] = field(default_factory=list)

    def look(self, name: str, value: object) -> None:
        """Take a snapshot of an outcome and of everything around it."""
        function = underlying(self.function)
        roots: dict[str, object] = {
            name: value,
            "args": self.arguments.positional,
            "kwargs": self.arguments.keywords,
            "stdout": self.output.getvalue(),
            "stderr": self.errors.getvalue(),
            "warnings": [_warning(message) for message in self.caught],
            "unraisable": list(self.unraisable),
            "function": self.function if function is None else function,
            "self": getattr(self.function, "__self__", None),
        }
        roots.update({f"globals of {module}": names for module, names in self.reached.bindings().items()})
        roots["random"] = hash(random.getstate())
        self.stages.append(snapshot_roots(roots))

    def call(self) -> None:
        """Call, and run what the call gave to its end."""
        try:
            result = self.function(*self.arguments.positional, **self.arguments.keywords)
            self.look("result", result)
            for given in DRIVERS.get(type(result), _nothing)(result):
                self.look("yielded", given)
        except BaseException as error:  # whatever the original raises the compiled function must raise
            self.look("exception", error)


def observe(function: Callable[..., Any], reached: Reach, arguments: object) -> Observation:
    """Call once. Garbage is not collected meanwhile, so that finalizers run where they are due."""
    recorder = _Recorder(function, reached, _arguments(arguments))
    with contextlib.ExitStack() as stack:
        recorder.caught = stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        stack.enter_context(contextlib.redirect_stdout(recorder.output))
        stack.enter_context(contextlib.redirect_stderr(recorder.errors))
        stack.enter_context(_without_collector())
        stack.enter_context(_unraisable(recorder.unraisable))
        recorder.call()
    return Observation(tuple(recorder.stages))


def _arguments(made: object) -> Arguments:
    if isinstance(made, Arguments):
        return made
    if type(made) is not tuple:
        raise TypeError(f"make_args must give a tuple or minijit.testing.Arguments, not {type(made).__name__}")
    return Arguments(*made)


def _warning(message: warnings.WarningMessage) -> tuple[object, ...]:
    return message.category, str(message.message), message.filename, message.lineno


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextlib.contextmanager
def _unraisable(seen: list[str]) -> Iterator[None]:
    before = sys.unraisablehook
    sys.unraisablehook = lambda problem: seen.append(f"{problem.exc_type.__name__}: {problem.exc_value}")
    try:
        yield
    finally:
        sys.unraisablehook = before


def _nothing(given: object) -> Iterator[object]:
    return iter(())


def _generator(given: Any) -> Iterator[object]:
    for _ in range(MOST_STEPS):
        try:
            yield next(given)
        except StopIteration as stop:
            yield ("returned", stop.value)
            return


def _coroutine(given: Any) -> Iterator[object]:
    for _ in range(MOST_STEPS):
        try:
            yield given.send(None)
        except StopIteration as stop:
            yield ("returned", stop.value)
            return


def _async_generator(given: Any) -> Iterator[object]:
    for _ in range(MOST_STEPS):
        try:
            yield from _coroutine(given.__anext__())
        except StopAsyncIteration:
            return


DRIVERS: Mapping[type, Callable[[Any], Iterator[object]]] = {
    types.GeneratorType: _generator,
    types.CoroutineType: _coroutine,
    types.AsyncGeneratorType: _async_generator,
}
