"""The order to read a set in. Its own order counts, except where that depends on addresses."""

from __future__ import annotations

import types
import weakref
from collections.abc import Iterable

__all__ = ["ordered"]


def ordered(values: Iterable[object]) -> list[object]:
    """Keep the set's order unless an element is hashed by its address; then sort by what can be seen."""
    elements = list(values)
    if not any(is_hashed_by_address(element) for element in elements):
        return elements
    return sorted(elements, key=lambda element: (type(element).__qualname__, _visible(element)))


def is_hashed_by_address(value: object) -> bool:
    """Tell whether no two runs hash this object alike."""
    kind = type(value)
    if kind is tuple or kind is frozenset:
        return any(is_hashed_by_address(item) for item in value)  # type: ignore[attr-defined]
    if kind is weakref.ref:
        return is_hashed_by_address(value())  # type: ignore[operator]
    return kind.__hash__ is object.__hash__ or issubclass(kind, ADDRESSED)


ADDRESSED = (type, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
"""Their hash comes from addresses although the type has a function of its own for it."""


def _visible(value: object) -> str:
    """Describe an element by name and plain attributes, without running the program."""
    kind = type(value)
    if kind in PLAIN:
        return repr(value)
    if issubclass(kind, (type, types.FunctionType, types.BuiltinFunctionType)):
        return str(type(value).__dict__["__qualname__"].__get__(value) if kind in NAMED else "")
    attributes = getattr(value, "__dict__", None) if kind.__getattribute__ is object.__getattribute__ else None
    if type(attributes) is dict:
        return repr([(name, item) for name, item in attributes.items() if type(item) in PLAIN])
    return ""


PLAIN = frozenset({str, int, float, bytes, bool, type(None)})
NAMED = frozenset({type, types.FunctionType, types.BuiltinFunctionType})
