"""What code a function had before minijit rewrote it."""

from __future__ import annotations

from types import CodeType, FunctionType

__all__ = ["original_code", "remember"]

_originals: dict[int, tuple[CodeType, CodeType]] = {}


def remember(installed: CodeType, original: CodeType) -> None:
    """Note that `installed` stands for `original`."""
    _originals[id(installed)] = (installed, original)


def original_code(function: FunctionType) -> CodeType:
    """The code object the user wrote."""
    found = _originals.get(id(function.__code__))
    return found[1] if found is not None else function.__code__
