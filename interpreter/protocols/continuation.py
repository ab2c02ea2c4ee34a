"""What happens with the result of something that may have been inlined.

A protocol that can finish at once calls `complete`; one that entered a frame returns True, and the
frame's `then` is completed when it returns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minijit.interpreter.signals import Opaque
from minijit.interpreter.state import PUSH, Then
from minijit.interpreter.trackers import NULL_SLOT, Constant, Method, Runtime, Tracker

if TYPE_CHECKING:
    from minijit.interpreter.tracer import Tracer

Extras = tuple[Tracker, ...]
Continuation = Callable[["Tracer", Extras, Tracker, Any], bool]
TABLE: dict[str, Continuation] = {}


def continuation(name: str) -> Callable[[Continuation], Continuation]:
    """Register what `Then(name, payload)` does. True: control was moved."""

    def register(function: Continuation) -> Continuation:
        TABLE[name] = function
        return function

    return register


def complete(t: Tracer, then: Then, extras: Extras, result: Tracker) -> bool:
    """Hand a result on."""
    return TABLE[then.name](t, extras, result, then.payload)


@continuation("push")
def push(t: Tracer, extras: Extras, result: Tracker, payload: Any) -> bool:
    """The result is the instruction's."""
    t.push(result)
    return False


@continuation("method")
def method(t: Tracer, extras: Extras, result: Tracker, payload: Any) -> bool:
    """The result is called next: a method as function and self, all else beside a NULL."""
    record = t.state.record(result)
    if isinstance(record, Method):
        t.push(record.function)
        t.push(record.owner)
    elif payload:
        t.push(NULL_SLOT)
        t.push(result)
    else:
        t.push(result)
        t.push(NULL_SLOT)
    return False


@continuation("discard")
def discard(t: Tracer, extras: Extras, result: Tracker, payload: Any) -> bool:
    """The result is not used."""
    return False


@continuation("constructed")
def constructed(t: Tracer, extras: Extras, result: Tracker, payload: Then) -> bool:
    """`__init__` has returned: the object itself is the result."""
    if not (isinstance(result, Constant) and result.value is None):
        raise Opaque("__init__ returned something")
    return complete(t, payload, extras[1:], extras[0])


@continuation("truth")
def truth(t: Tracer, extras: Extras, result: Tracker, payload: Then) -> bool:
    """`__bool__` must return a bool; `__len__` a number."""
    if t.known_type(result) is not bool:
        raise Opaque("__bool__ did not return a bool")
    return complete(t, payload, extras, result)


@continuation("invert")
def invert(t: Tracer, extras: Extras, result: Tracker, payload: Then) -> bool:
    """The opposite of a bool."""
    if isinstance(result, Constant) and issubclass(type(result.value), bool):
        return complete(t, payload, extras, Constant(not result.value, result.static))
    if isinstance(result, Runtime) and t.known_type(result) is bool:
        return complete(t, payload, extras, t.emit("unary", (result,), "not", bool, raises=False))
    raise Opaque("the opposite of something that is not a bool")


@continuation("done")
def done(t: Tracer, extras: Extras, result: Tracker, payload: Then) -> bool:
    """Something was called for its effect: the result is None."""
    return complete(t, payload, extras, Constant(None))


__all__ = ["PUSH", "TABLE", "Extras", "complete", "continuation"]
