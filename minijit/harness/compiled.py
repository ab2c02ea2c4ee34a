"""`assert_compiled`: a test fails when a change to a function stops the optimisation it relied on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minijit

__all__ = ["assert_compiled"]


def assert_compiled(function: Callable[..., Any]) -> None:
    """Raise `AssertionError` unless the function runs compiled."""
    stats = minijit.stats(function)
    if stats.state != "compiled":
        raise AssertionError(f"{function.__qualname__} is {stats.state}: {stats.reason}")
