"""Which modules hold the program under test: what they define is looked into, the rest is taken by name."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig

__all__ = ["is_own_class", "is_own_module"]

FOREIGN = frozenset({"minijit", "pytest", "_pytest", "pluggy", "hypothesis"})
INSTALLED = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})
HEAP_TYPE = 1 << 9
"""Set in `type.__flags__` when the class was made at run time."""

_flags = type.__dict__["__flags__"].__get__
_namespace = type.__dict__["__dict__"].__get__


@functools.cache
def is_own_module(name: str) -> bool:
    """Tell whether a module is neither installed, nor of the standard library, nor of the test's machinery."""
    root = name.partition(".")[0]
    if root in FOREIGN or (root in sys.stdlib_module_names and root != "__main__"):
        return False
    file = getattr(sys.modules.get(name), "__file__", None)
    return not (isinstance(file, str) and file.startswith(INSTALLED))


def is_own_class(kind: type) -> bool:
    """Tell whether a class was made by the program under test."""
    module = _namespace(kind).get("__module__")
    return bool(_flags(kind) & HEAP_TYPE) and isinstance(module, str) and is_own_module(module)
