"""`minijit.compile` and what is asked about its result."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from types import FunctionType, MethodType
from typing import Any, TypeVar, overload

from minijit import _shim
from minijit.capture import capture_watched
from minijit.install import Unit, prepare, unit_of
from minijit.options import Options, Replay
from minijit.stats import Stats

__all__ = ["compile", "disable", "enable", "reset", "stats"]

Target = TypeVar("Target")

_switched_off = os.environ.get("MINIJIT") == "0"


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
    """Compile a function, method, property or all methods of a class; the same object is returned.

    The first `warmup` calls run the original, and the last of them is what compiled code is made
    for. `static` names parameters whose contents compiled code may be made for. `strict` raises
    `Unsupported` instead of leaving a function as it is. `replay` "log" reports and "error" forbids
    effects that the caller can see.
    """
    options = Options(static if isinstance(static, str) else tuple(static), strict, replay, warmup)  # type: ignore[arg-type]
    if target is None:
        return lambda later: _compile(later, options)
    return _compile(target, options)


def _compile(target: Target, options: Options) -> Target:
    functions = functions_of(target)
    for function in functions:
        check_static(function, options)
    if not _switched_off:
        for function in functions:
            prepare(function, options)
        if options.warmup == 0:
            capture_watched()
    return target


def functions_of(target: object) -> list[FunctionType]:
    """The Python functions that `target` is made of."""
    for kind, parts in _PARTS.items():
        if isinstance(target, kind):
            return [function for part in parts(target) for function in functions_of(part)]
    if isinstance(target, FunctionType):
        return [target]
    hint = "; compile the function it wraps" if callable(getattr(target, "__wrapped__", None)) else ""
    raise TypeError(f"minijit.compile takes a Python function or a class, not {_describe(target)}{hint}")


def _describe(target: object) -> str:
    name = getattr(target, "__qualname__", None)
    kind = type(target).__qualname__
    return f"{name} ({kind})" if isinstance(name, str) else kind


def _methods(cls: type) -> list[object]:
    kinds = (FunctionType, staticmethod, classmethod, property, functools.cached_property)
    members = [member for member in vars(cls).values() if isinstance(member, kinds)]
    return [member for member in members if not isinstance(member, (staticmethod, classmethod)) or _is_python(member)]


def _is_python(member: Any) -> bool:
    return isinstance(member.__func__, FunctionType)


_PARTS: dict[type, Callable[[Any], list[object]]] = {
    staticmethod: lambda target: [target.__func__],
    classmethod: lambda target: [target.__func__],
    MethodType: lambda target: [target.__func__],
    functools.cached_property: lambda target: [target.func],
    property: lambda target: [part for part in (target.fget, target.fset, target.fdel) if part is not None],
    type: _methods,
}


def check_static(function: FunctionType, options: Options) -> None:
    """Every name in `static=` is a parameter."""
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    unknown = [name for name in options.static if name not in code.co_varnames[:count]]
    if unknown:
        raise TypeError(f"static={unknown[0]!r}: {function.__qualname__} takes no such parameter")


def _unit(target: object) -> Unit | None:
    functions = functions_of(target)
    if len(functions) != 1:
        raise TypeError(f"{_describe(target)} holds {len(functions)} functions; ask about one of them")
    return unit_of(functions[0])


def stats(target: object) -> Stats:
    """What happened to a function since it was compiled with `minijit.compile`."""
    unit = _unit(target)
    if unit is None:
        return Stats("cold", "not given to minijit.compile", 0, 0, 0, 0, 0, 0.0)
    return unit.stats


def reset(target: object) -> None:
    """Forget what was compiled for a function (or each method of a class) and start counting again."""
    for function in functions_of(target):
        unit = unit_of(function)
        if unit is not None:
            unit.reset()


def disable() -> None:
    """Run every original from the next call on, and compile nothing."""
    _shim.enable(False)


def enable() -> None:
    """Undo `disable`."""
    _shim.enable(True)
