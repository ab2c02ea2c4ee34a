"""Which code objects minijit made, and what each stands for.

Nothing here keeps a code object or an installation alive: a function's code does, through its guards.
"""

from __future__ import annotations

import functools
import weakref
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from minijit import _shim

if TYPE_CHECKING:
    from minijit.install import Installation

__all__ = ["installation_of", "original_code", "register"]

_known: dict[int, list[tuple[weakref.ref[CodeType], weakref.ref[Any]]]] = {}


def register(code: CodeType, installation: Installation) -> None:
    """Note that a code object, original or made, belongs to an installation."""
    key = id(code)

    if code is not installation.original:
        _shim.stand_in(code, installation.original)
    gone = functools.partial(_shim.forget_stand_in, _known, key)  # C all through: tracers would see a Python function
    entry = (weakref.ref(code, gone), weakref.ref(installation))
    entries = [(c, i) for c, i in _known.get(key, ()) if c() is code and i() is not None]
    _known[key] = [*entries, entry]


def installation_of(function: FunctionType) -> Installation | None:
    """What minijit did with the function: one installation for each code object and globals."""
    code = function.__code__
    for made, found in _known.get(id(code), ()):
        installation: Installation | None = found()
        if made() is code and installation is not None and installation.namespace is function.__globals__:
            return installation
    return None


def original_code(function: FunctionType) -> CodeType:
    """The code object the user wrote."""
    found = installation_of(function)
    return found.original if found is not None else function.__code__
