"""What a command is about: `FILE:FUNCTION` or `module:function`, and the arguments of `--call`."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

from minijit.cli.failure import ARGUMENTS, NOT_FOUND, NOT_PYTHON, USAGE, Failure
from minijit.explain import Explanation, bind, explain_call, underlying
from minijit.options import Options

__all__ = ["Target", "add_target", "find", "target_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A function with the text of a call."""

    module: ModuleType
    function: Any
    call: str
    options: Options

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Evaluate the argument expressions, and nothing else, in the module's namespace."""
        collect = {"__minijit_call__": lambda *args, **kwargs: (args, kwargs)}
        try:
            code = compile(f"__minijit_call__({self.call})", "<--call>", "eval")
        except SyntaxError as error:
            raise Failure(ARGUMENTS, f"--call {self.call!r} is not Python: {error.msg}") from None
        try:
            args, kwargs = eval(code, vars(self.module), collect)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            raise Failure(ARGUMENTS, f"--call {self.call!r} raises {sentence(error)}") from None
        return args, kwargs

    def slots(self) -> tuple[FunctionType, tuple[object, ...]]:
        """The Python function, and a value for each of its parameters."""
        args, kwargs = self.arguments()
        try:
            function, args = underlying(self.function, args)
        except TypeError as error:
            raise Failure(NOT_PYTHON, str(error)) from None
        try:
            return function, bind(function, args, kwargs)
        except TypeError as error:
            raise Failure(ARGUMENTS, f"--call {self.call!r} does not fit: {error}") from None

    def explain(self) -> Explanation:
        """Explain the call; nothing of the function runs."""
        return explain_call(*self.slots(), self.options)


def sentence(error: BaseException) -> str:
    """An exception in a sentence."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def add_target(parser: argparse.ArgumentParser) -> None:
    """Add what every command about a function takes."""
    parser.add_argument("target", metavar="FILE:FUNCTION", help="also module:function, file:Class.method, file:line")
    parser.add_argument("--call", default="", metavar="ARGS", help='arguments of the call, as in "points, scale=2.0"')
    parser.add_argument("--static", action="append", default=[], metavar="NAME", help="a parameter to take as fixed")


def target_of(args: argparse.Namespace) -> Target:
    """Find what the command line names."""
    module, function = find(args.target)
    return Target(module, function, args.call, Options(tuple(args.static)))


def find(text: str) -> tuple[ModuleType, Any]:
    """The module and the function that `where:what` names."""
    where, colon, what = text.rpartition(":")
    if not colon or not where or not what:
        raise Failure(USAGE, f"{text!r} does not name a function: write FILE:FUNCTION or module:function")
    module = load(where)
    if what.isdigit():
        return module, at_line(module, int(what), where)
    found: Any = module
    for name in what.split("."):
        found = member(found, name, where, what)
    return module, found


def member(owner: Any, name: str, where: str, what: str) -> Any:
    """One step of a dotted name; a class's own members are taken as they stand in it."""
    for namespace in [vars(owner)] if not isinstance(owner, type) else [vars(cls) for cls in type.mro(owner)]:
        if name in namespace:
            return namespace[name]
    raise Failure(NOT_FOUND, f"there is no function {what} in {where}")


def load(where: str) -> ModuleType:
    """Import a file or a module."""
    is_file = where.endswith(".py") or os.sep in where
    if is_file and not os.path.isfile(where):
        raise Failure(NOT_FOUND, f"there is no file {where}")
    try:
        return load_file(where) if is_file else load_module(where)
    except ModuleNotFoundError as error:
        raise Failure(NOT_FOUND, f"{where} can't be imported: {error}") from None
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise Failure(NOT_FOUND, f"{where} can't be imported: {sentence(error)}") from None


def load_module(name: str) -> ModuleType:
    """Import by name; modules of the current folder are found."""
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    return importlib.import_module(name)


def load_file(path: str) -> ModuleType:
    """Import a file as a module of its own name, not as `__main__`; its neighbours are found."""
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Failure(NOT_FOUND, f"{path} is not a Python file")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(name, module)
    spec.loader.exec_module(module)
    return module


def at_line(module: ModuleType, line: int, where: str) -> FunctionType:
    """The one function that begins at a line."""
    found = {id(f.__code__): f for f in functions(module) if f.__code__.co_firstlineno == line}
    if not found:
        raise Failure(NOT_FOUND, f"no function that can be reached begins at line {line} of {where}")
    if len(found) > 1:
        names = ", ".join(sorted(f.__qualname__ for f in found.values()))
        advice = "put each on its own line"
        raise Failure(NOT_PYTHON, f"line {line} of {where} has {len(found)} functions ({names}): {advice}")
    return next(iter(found.values()))


def functions(module: ModuleType) -> Iterator[FunctionType]:
    """Functions that a module's names, classes and containers lead to."""
    path, seen = module.__dict__.get("__file__"), set()
    work: list[Any] = list(vars(module).values())
    while work:
        item = work.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, FunctionType):
            if item.__code__.co_filename == path:
                yield item
            continue
        inside = INSIDE.get(type(item))
        if inside is not None and (type(item) is not type or item.__module__ == module.__name__):
            work.extend(inside(item))


INSIDE: dict[type, Callable[[Any], Iterator[Any]]] = {
    type: lambda cls: iter(list(vars(cls).values())),
    list: iter,
    tuple: iter,
    dict: lambda items: iter(list(items.values())),
    staticmethod: lambda item: iter((item.__func__,)),
    classmethod: lambda item: iter((item.__func__,)),
    property: lambda item: iter((item.fget, item.fset, item.fdel)),
}
