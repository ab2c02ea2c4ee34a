"""The two ways to load a program: as it is, and with minijit."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any

from minijit.decorator import functions_of
from minijit.fuzz.prelude import NAMES
from minijit.fuzz.program import MODULE, Program, code_of
from minijit.install import install
from minijit.options import Options

Namespace = dict[str, Any]
Side = Callable[[Program], Namespace]
ENTRY = "__entry__"
"""Where a side may put what is to be called instead of `run`."""


def _identity(function: Any) -> Any:
    return function


def load(source: str | ast.Module, jit: Callable[[Any], Any] = _identity) -> Namespace:
    """Run a program's module in a namespace of its own."""
    namespace: Namespace = {"__name__": MODULE, "__builtins__": builtins, **NAMES, "jit": jit}
    exec(code_of(source), namespace)
    return namespace


def plain(program: Program) -> Namespace:
    """Load the program as it is."""
    return load(program.source)


def compiled(program: Program) -> Namespace:
    """Load the program and give its targets to the compiler."""
    namespace = load(program.source, take_over)
    for name in program.targets:
        if namespace.get(name) is not None:
            take_over(namespace[name], **(dict(program.options) if name == "run" else {}))
    return namespace


def take_over(target: Any, **options: Any) -> Any:
    """Do as `minijit.compile` does, but compile also what does not gain: bugs must not hide there."""
    for function in functions_of(target):
        install(function, Options(gainless=True, **options))
    return target
