"""`minijit.compile` and what goes with it."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from types import FunctionType, MethodType
from typing import Any, TypeVar, overload

from minijit import _shim
from minijit.install import Installation, install
from minijit.options import Options, Replay
from minijit.originals import installation_of
from minijit.stats import Stats

__all__ = ["compile", "disable", "enable", "reset", "stats"]

Target = TypeVar("Target")


@overload
def compile(target: Target, /) -> Target: ...


@overload
def compile(
    *, static: Iterable[str] = (), strict: bool = False, replay: Replay = "silent", warmup: int = 1
) -> Callable[[Target], Target]: ...


def compile(
    target: Any = None,
    /,
    *,
    static: Iterable[str] = (),
    strict: bool = False,
    replay: Replay = "silent",
    warmup: int = 1,
) -> Any:
    """Compile a function, or all methods of a class; returns the very same object.

    `static`: names of parameters whose values are taken as fixed, their contents under a guard.
    `strict`: raise `Unsupported` where a function would be left as it is.
    `replay`: "log" reports effects that callers can see, "error" refuses functions that have any.
    `warmup`: calls that run the original before the function is compiled; 0 compiles at the first.

    Works on functions, lambdas, methods, static and class methods, properties and classes. Raises
    TypeError for anything else, ValueError for an option that makes no sense.
    """
    options = Options(static if isinstance(static, str) else tuple(static), strict, replay, warmup)  # type: ignore[arg-type]
    if target is None:
        return functools.partial(_compile, options=options)
    return _compile(target, options=options)


def _compile(target: Any, options: Options) -> Any:
    functions = functions_of(target)
    if os.environ.get("MINIJIT") != "0":
        for function in functions:
            _check_static(function, options)
            install(function, options)
    return target


def _check_static(function: FunctionType, options: Options) -> None:
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    for name in options.static:
        if name not in names:
            raise ValueError(f"static= names {name!r}, which is no parameter of {function.__qualname__}")


def functions_of(target: Any) -> list[FunctionType]:
    """The Python functions behind what a user decorates."""
    if isinstance(target, FunctionType):
        return [target]
    if isinstance(target, (staticmethod, classmethod, MethodType)):
        return functions_of(target.__func__)
    if isinstance(target, property):
        return [f for f in (target.fget, target.fset, target.fdel) if isinstance(f, FunctionType)]
    if isinstance(target, functools.cached_property):
        return functions_of(target.func)
    if isinstance(target, type):
        members = (FunctionType, staticmethod, classmethod, property)
        return [f for member in vars(target).values() if isinstance(member, members) for f in functions_of(member)
                if f.__module__ == target.__module__]
    kind = type(target).__name__
    raise TypeError(f"minijit.compile takes a Python function or a class, not {target!r} of type {kind}")


def stats(function: Any) -> Stats:
    """Counts and state of a function given to `compile`; TypeError if it was not."""
    return _installation(function).stats()


def reset(function: Any) -> None:
    """Forget all that was compiled for a function; it starts cold again."""
    _installation(function).reset()


def _installation(function: Any) -> Installation:
    functions = functions_of(function)
    found = installation_of(functions[0]) if len(functions) == 1 else None
    if found is None:
        raise TypeError(f"{function!r} was not given to minijit.compile")
    return found


def disable() -> None:
    """From now on every compiled function runs its original code."""
    _shim.enable(False)


def enable() -> None:
    """Undo `disable`."""
    _shim.enable(True)
