"""What generated code calls at run time: made by the shim, or by stand-ins in tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

TestRow = tuple[object, ...]
"""A test as the shim wants it: `("type", index into the frame's locals, type)`."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """Constructors of guards and checks, and the question that an abort asks."""

    entry: Callable[..., object]
    """`entry(tests, counter, last)`: its truth says whether the region may run."""
    check: Callable[..., object]
    """`check(tests, counter)`: its truth says whether the speculation holds."""
    is_redo: Callable[..., bool]
    """`is_redo(exception, counter)`: may an abort drop the exception?"""
    counter: object
