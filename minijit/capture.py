"""Capture by the PEP 523 hook, for calls that nothing prepared: `warmup=0` and `minijit run --all`."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType

from minijit import _shim
from minijit.install import prepare, unit_of
from minijit.options import Options

__all__ = ["capture_all", "capture_watched"]


def capture_watched() -> None:
    """Compile a watched function before its call. The hook is in place only while one is watched."""
    _shim.capture(_compile_now)


def _compile_now(function: FunctionType, arguments: tuple[object, ...]) -> BaseException | None:
    unit = unit_of(function)
    return None if unit is None else unit.handle("warm", function, arguments)


def capture_all(wanted: Callable[[CodeType], bool], options: Options) -> None:
    """Compile every function met whose code is wanted, at the first call that meets it."""

    def take(function: FunctionType, arguments: tuple[object, ...]) -> BaseException | None:
        unit = prepare(function, options)
        return unit.handle("warm", function, arguments) if unit.state == "cold" else None

    _shim.capture(take, wanted)
