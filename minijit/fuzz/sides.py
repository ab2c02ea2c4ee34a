"""The two ways to load a program: as it is, and with minijit."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any

import minijit
from minijit.fuzz.prelude import NAMES
from minijit.fuzz.program import MODULE, Program, code_of

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
    namespace = load(program.source, minijit.compile)
    for name in program.targets:
        target = namespace.get(name)
        if target is None:
            continue
        options: dict[str, Any] = dict(program.options) if name == "run" else {}
        result = minijit.compile(**options)(target) if options else minijit.compile(target)
        if result is not target:
            raise AssertionError(f"minijit.compile returned another object for {name}")
    return namespace
