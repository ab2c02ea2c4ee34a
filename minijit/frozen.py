"""`frozen`: the user's promise that an object and all it reaches stay as they are."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["frozen", "is_frozen"]

Object = TypeVar("Object")

_promised: dict[int, object] = {}


def frozen(obj: Object) -> Object:
    """Promise that `obj` and everything it reaches will not change; return it.

    Compiled code then reads it once, at compile time. The promise holds for the life of the process.
    """
    _promised[id(obj)] = obj
    return obj


def is_frozen(obj: object) -> bool:
    """Whether `frozen` was called with this very object."""
    return id(obj) in _promised
