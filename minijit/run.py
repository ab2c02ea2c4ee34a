"""Run a script or a module as `python` would, under minijit. Like runpy, but in a `__main__` that stays."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType, ModuleType
from typing import Any

from minijit.takeover import Takeover

__all__ = ["CannotRun", "Program", "execute", "load_module", "load_script"]


class CannotRun(Exception):
    """There is no such script or module; the text is for the user."""


@dataclass(frozen=True, slots=True)
class Program:
    """What becomes `__main__`: its code, its attributes, and what sys.path starts with."""

    code: CodeType
    attributes: dict[str, object]
    path: str


def load_script(path: str) -> Program:
    """Compile a file; OSError and SyntaxError as they come."""
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    attributes: dict[str, object] = dict.fromkeys(("__spec__", "__cached__", "__package__", "__loader__"))
    attributes["__file__"] = path
    return Program(code, attributes, os.path.dirname(os.path.abspath(path)))


def load_module(name: str) -> Program:
    """Find a module, of a package its `__main__`; it may be in the current folder."""
    _set_first_path(os.getcwd())
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError) as error:
        raise CannotRun(f"{name}: {error}") from error
    if spec is not None and spec.submodule_search_locations is not None:
        return load_module(f"{name}.__main__")
    loader: Any = spec.loader if spec is not None else None
    code = loader.get_code(spec.name) if spec is not None and hasattr(loader, "get_code") else None
    if spec is None or code is None:
        raise CannotRun(f"there is no module {name} that could be run")
    attributes: dict[str, object] = {"__file__": spec.origin, "__spec__": spec, "__cached__": spec.cached,
                                     "__package__": spec.parent, "__loader__": loader}
    return Program(code, attributes, os.getcwd())


def _set_first_path(folder: str) -> None:
    if not sys.flags.safe_path:
        sys.path[0] = folder


def execute(program: Program, arguments: Sequence[str], takeover: Takeover | None) -> None:
    """Run it as `__main__`, with every function it calls taken over if asked to."""
    main = ModuleType("__main__")
    vars(main).update(program.attributes, __builtins__=sys.modules["builtins"])
    sys.modules["__main__"] = main
    sys.argv[:] = [str(program.attributes["__file__"]), *arguments]
    _set_first_path(program.path)
    with takeover if takeover is not None else contextlib.nullcontext():
        exec(program.code, vars(main))
