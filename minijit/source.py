"""A region as Python source that runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from minijit.interpreter.ir import Region
from minijit.words import Names

__all__ = ["Source", "render_source"]


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Compiled code as Python. `function` runs it; None, with the `reason`, where it can't be run."""

    text: str
    complete: bool
    reason: str
    function: Callable[..., Any] | None


def render_source(region: Region, function: FunctionType, names: Names) -> Source:
    """Write a region as Python."""
    return Source("", False, "not written yet", None)
