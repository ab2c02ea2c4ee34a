"""What a function can reach by name: its globals, and those of the functions and classes it names."""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from minijit.harness.atoms import UNSET
from minijit.harness.describe import namespace
from minijit.harness.owned import is_own_module

__all__ = ["Reach", "reach", "underlying"]

ALL_NAMES = frozenset({"globals", "exec", "eval", "vars"})
"""Who calls one of these may reach every global."""


@dataclass(slots=True)
class Reach:
    """Mutates while functions are followed: the functions met, and the names used in each module."""

    functions: list[types.FunctionType] = field(default_factory=list)
    modules: list[tuple[dict[str, Any], list[str]]] = field(default_factory=list)

    def bindings(self) -> dict[str, dict[str, object]]:
        """Give what the names are bound to now, by module."""
        return {
            str(names.get("__name__")): {name: names.get(name, UNSET) for name in used} for names, used in self.modules
        }

    def add(self, function: types.FunctionType) -> None:
        """Follow one function, once."""
        if any(function is known for known in self.functions) or not is_own_module(function.__module__ or ""):
            return
        self.functions.append(function)
        used = self._names_of(function.__globals__)
        for cell in function.__closure__ or ():
            self._follow(_content(cell))
        for name in _names(function.__code__, function.__globals__):
            if name not in used:
                used.append(name)
                self._follow(function.__globals__.get(name))

    def _names_of(self, names: dict[str, Any]) -> list[str]:
        for known, used in self.modules:
            if known is names:
                return used
        self.modules.append((names, []))
        return self.modules[-1][1]

    def _follow(self, value: object) -> None:
        if isinstance(value, type):
            if is_own_module(str(namespace(value).get("__module__"))):
                for member in namespace(value).values():
                    self._follow_function(member)
        else:
            self._follow_function(value)

    def _follow_function(self, value: object) -> None:
        function = underlying(value)
        if function is not None:
            self.add(function)


def reach(function: object) -> Reach:
    """Follow a function or what wraps one."""
    reached = Reach()
    start = underlying(function)
    if start is not None:
        reached.add(start)
    return reached


WRAPPERS = {types.MethodType: "__func__", staticmethod: "__func__", classmethod: "__func__", property: "fget"}


def underlying(value: object) -> types.FunctionType | None:
    """Get the Python function behind a method, a descriptor, a partial or a wrapper."""
    while not isinstance(value, types.FunctionType):
        attribute = next((name for kind, name in WRAPPERS.items() if isinstance(value, kind)), None)
        if attribute is None:
            return None
        value = getattr(value, attribute)
    return value


def _names(code: types.CodeType, names: dict[str, Any]) -> Iterator[str]:
    """Give the global names that a code object and those nested in it use."""
    if ALL_NAMES.intersection(code.co_names):
        yield from [name for name in names if not name.startswith("__")]
    for name in code.co_names:
        if name in names or not _is_builtin(name, names):
            yield name
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant, names)


def _is_builtin(name: str, names: dict[str, Any]) -> bool:
    builtins = names.get("__builtins__")
    return name in (builtins if isinstance(builtins, dict) else vars(builtins))


def _content(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return None
