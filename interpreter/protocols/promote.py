"""Promotion: a value met in the traced call becomes a constant, under a check."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING

from minijit.interpreter.protocols import lookup
from minijit.interpreter.trackers import MISSING, PLAIN_TYPES, Constant, Runtime, Tracker

if TYPE_CHECKING:
    from minijit.interpreter.tracer import Tracer

CHANGING = (int, float, complex, bytes, bytearray)


def worth_promoting(value: object) -> bool:
    """Whether this kind of value tends to stay: all but numbers, byte strings and what has a finalizer.

    Compiled code keeps its constants alive.
    """
    if lookup.in_class(type(value), "__del__") is not lookup.ABSENT:
        return False
    return issubclass(type(value), bool) or not issubclass(type(value), CHANGING)


def steady(t: Tracer, value: object) -> bool:
    """The same where the value is met: flags and names may be changed by others while a loop runs."""
    return worth_promoting(value) and not (t.state.looped and type(value) in PLAIN_TYPES)


CALLABLES = (FunctionType, BuiltinFunctionType, MethodType, ModuleType, type)


def by_identity(t: Tracer, tracker: Tracker) -> Constant | None:
    """A function, class, module or None as a constant, if the traced call had one here."""
    tracker = t.state.resolve(tracker)
    if isinstance(tracker, Constant):
        return tracker
    if not isinstance(tracker, Runtime) or tracker.example is MISSING:
        return None
    example = tracker.example
    if not (example is None or issubclass(type(example), CALLABLES)):
        return None
    if t.site("identity") in t.distrusted:
        return None
    t.test("is", tracker, (example,))
    return Constant(example)
