"""Run a program both ways and say what differs."""

from __future__ import annotations

import traceback
from dataclasses import dataclass

from minijit.fuzz.program import Program
from minijit.fuzz.recording import Part, Recording, record
from minijit.fuzz.sides import Side, compiled, plain


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing that differs: its kind, after which call, and the two sides in words."""

    kind: str
    call: int
    detail: str

    def __str__(self) -> str:
        return f"{self.kind} differs after call {self.call}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a comparison ended. `unfit` programs (too slow, too deep) say nothing about the compiler."""

    difference: Difference | None = None
    unfit: str | None = None
    entry: object = None


def compare(program: Program, side: Side = compiled) -> Verdict:
    """Run the program as it is and through `side`; the first difference decides."""
    expected = _expected(program)
    if isinstance(expected, Verdict):
        return expected
    try:
        actual = record(program, side)
    except Exception:
        return Verdict(Difference("error", 0, traceback.format_exc(limit=-8)))
    difference = Difference("hang", 0, "still running") if actual.expired else first_difference(expected.parts, actual.parts)
    if difference is not None and not _is_stable(program, expected):
        return Verdict(unfit="unstable")
    return Verdict(difference, entry=actual.entry)


def _expected(program: Program) -> Recording | Verdict:
    try:
        expected = record(program, plain)
    except Exception as error:
        return Verdict(unfit=f"does not load: {type(error).__name__}: {error}")
    if expected.expired:
        return Verdict(unfit="slow")
    deep = next((word for word in ("RecursionError", "MemoryError") if expected.mentions(word)), None)
    return Verdict(unfit=deep) if deep else expected


def _is_stable(program: Program, expected: Recording) -> bool:
    """Tell whether the program does the same each time; text that shows addresses may not."""
    again = [record(program, plain) for _ in range(5)]
    return not any(other.expired or first_difference(expected.parts, other.parts) for other in again)


def first_difference(expected: tuple[Part, ...], actual: tuple[Part, ...]) -> Difference | None:
    """Find the first part that differs, and the first word in it."""
    for (kind, call, left), (_, _, right) in zip(expected, actual, strict=False):
        if left != right:
            index = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
            return Difference(kind, call, f"expected {_around(left, index)}, got {_around(right, index)}")
    if len(expected) != len(actual):
        return Difference("calls", 0, f"expected {len(expected)} parts, got {len(actual)}")
    return None


def _around(words: tuple[object, ...], index: int) -> str:
    near = words[max(0, index - 6) : index + 6]
    return "[... " + " ".join(str(word) for word in near)[:160] + " ...]"
