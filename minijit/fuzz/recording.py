"""Call a program's `run` again and again; record everything that can be seen."""

from __future__ import annotations

import gc
import io
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from minijit.fuzz.canonical import Snapshot
from minijit.fuzz.prelude import NAMES
from minijit.fuzz.program import Program
from minijit.fuzz.sides import ENTRY, Namespace, Side

PLAIN_NAMES = frozenset((*NAMES, "jit", ENTRY, "__warningregistry__", "__builtins__", "__name__"))
SECONDS = 2.0

Part = tuple[str, int, tuple[object, ...]]
"""What was looked at, after which call, and how it looked."""


class TimeUp(BaseException):
    """The program ran too long."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What could be seen of a program, part by part; `entry` is its `run`."""

    parts: tuple[Part, ...]
    expired: bool
    entry: object

    def mentions(self, word: str) -> bool:
        """Tell whether the word occurs in some part."""
        return any(word in words for _, _, words in self.parts)


def record(program: Program, side: Side) -> Recording:
    """Load one instance of the program and drive it."""
    parts: list[Part] = []
    entry: object = None
    with _alarm() as clock, _streams() as (output, unraisable):
        gc.disable()
        try:
            namespace = side(program)
            entry = namespace["run"]
            parts = _calls(program, namespace, output, clock)
        finally:
            gc.enable()
        parts.append(("output", program.calls, (output.getvalue(),)))
        parts.append(("unraisable", program.calls, tuple(unraisable)))
    return Recording(tuple(parts), clock.expired, entry)


def _calls(program: Program, namespace: Namespace, output: io.StringIO, clock: _Clock) -> list[Part]:
    held: list[tuple[Any, ...]] = []
    parts: list[Part] = []
    known: list[list[object]] = []  # compiled code keeps the globals alive that its guards compare with
    for i in range(program.calls):
        known.append(list(namespace.values()))
        namespace["change"](i)
        held.append(_call(namespace, i))
        if clock.expired:
            break
        if program.eager or i == program.calls - 1:
            parts += _look(namespace, held, i, output)
    return parts


def _call(namespace: Namespace, i: int) -> tuple[Any, ...]:
    try:
        positional, keywords = namespace["make"](i)
        positional, keywords = (*positional,), {**keywords}
    except Exception as error:
        return "no arguments", error
    try:
        value = (namespace.get(ENTRY) or namespace["run"])(*positional, **keywords)
    except TimeUp:
        return ("time up",)
    except BaseException as error:
        return "raised", error, positional, keywords
    return "returned", value, positional, keywords


def _look(namespace: Namespace, held: list[tuple[Any, ...]], i: int, output: io.StringIO) -> list[Part]:
    """Take one snapshot in parts: aliases between the parts count too."""
    snapshot, parts, begin = Snapshot(), [], 0
    shared = {name: value for name, value in namespace.items() if name not in PLAIN_NAMES and name != "LOG"}
    for name, roots in (("outcome", [h[:2] for h in held]), ("log", namespace.get("LOG")), ("arguments", [h[2:] for h in held]), ("globals", shared)):
        if type(roots) is dict:
            snapshot.pairs(roots.items())
        else:
            snapshot.each(roots)  # type: ignore[arg-type]
        parts.append((name, i, tuple(snapshot.words[begin:])))
        begin = len(snapshot.words)
    return parts


class _Clock:
    """Whether the time is up. Mutates once, from the signal handler."""

    expired = False

    def ring(self, number: int, frame: FrameType | None) -> None:
        """Interrupt the program; again and again, as it may swallow the exception."""
        self.expired = True
        raise TimeUp


@contextmanager
def _alarm() -> Iterator[_Clock]:
    clock = _Clock()
    before = signal.signal(signal.SIGALRM, clock.ring)
    signal.setitimer(signal.ITIMER_REAL, SECONDS, 0.3)
    try:
        yield clock
    except TimeUp:
        clock.expired = True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _streams() -> Iterator[tuple[io.StringIO, list[str]]]:
    """Catch what is printed and what finalizers raise."""
    output, unraisable = io.StringIO(), list[str]()
    before = sys.stdout, sys.unraisablehook
    sys.stdout = output
    sys.unraisablehook = lambda problem: unraisable.append(problem.exc_type.__name__)
    try:
        yield output, unraisable
    finally:
        sys.stdout, sys.unraisablehook = before
