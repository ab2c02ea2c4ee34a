"""Truth: folded where it is known, tested by the value itself where that runs no code."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING

from minijit.interpreter import effects
from minijit.interpreter.protocols import call, lookup
from minijit.interpreter.protocols.continuation import Extras, complete, continuation
from minijit.interpreter.signals import Opaque
from minijit.interpreter.state import Then
from minijit.interpreter.trackers import (
    PLAIN_TYPES,
    Constant,
    Instance,
    Mapping,
    Runtime,
    Sequence,
    Tracker,
)

if TYPE_CHECKING:
    from minijit.interpreter.tracer import Tracer

ALWAYS_TRUE = (FunctionType, BuiltinFunctionType, MethodType, ModuleType, type)
TESTED_TYPES = PLAIN_TYPES | {list, tuple, dict, set, frozenset, range, bytearray}
"""Types whose truth test runs no user code."""


def fold(t: Tracer, tracker: Tracker) -> bool | None:
    """The truth of a value where it is known at once; None where it is not."""
    if isinstance(tracker, Constant):
        return _fold_constant(t, tracker)
    record = t.state.record(tracker)
    if isinstance(record, Sequence):
        return bool(record.items) if record.cls in (list, tuple) else None
    if isinstance(record, Mapping):
        return bool(record.keys)
    if record is not None and not isinstance(record, Instance):
        return True
    return None


def _fold_constant(t: Tracer, tracker: Constant) -> bool | None:
    value = tracker.value
    if type(value) in PLAIN_TYPES or type(value) in (tuple, frozenset, range):
        return bool(value)
    if issubclass(type(value), ALWAYS_TRUE) and type(type(value)) is type and type(value) in ALWAYS_TRUE:
        return True
    if tracker.frozen and type(value) in (list, dict, set):
        return bool(value)
    if value is Ellipsis:
        return True
    return None


def of(t: Tracer, tracker: Tracker, then: Then, extras: Extras) -> bool:
    """Hand on the truth value as a bool: a constant or a runtime bool."""
    known = fold(t, tracker)
    if known is not None:
        return complete(t, then, extras, Constant(known, isinstance(tracker, Constant) and tracker.static))
    cls = t.need_type(tracker)
    if cls is None:
        raise Opaque("truth of a value of unknown type")
    if cls in TESTED_TYPES:
        if cls is bool and isinstance(tracker, Runtime):
            return complete(t, then, extras, tracker)
        effects.settled(t, tracker)
        return complete(t, then, extras, t.emit("truth", (tracker,), None, bool, raises=False))
    t.assume_class(cls)
    function = lookup.in_class(cls, "__bool__")
    if function is not lookup.ABSENT:
        return call.invoke_special(t, cls, "__bool__", [tracker], Then("truth", then), extras)
    if lookup.in_class(cls, "__len__") is lookup.ABSENT:
        return complete(t, then, extras, Constant(True))
    return call.invoke_special(t, cls, "__len__", [tracker], Then("length_truth", then), extras)


@continuation("length_truth")
def length_truth(t: Tracer, extras: Extras, result: Tracker, payload: Then) -> bool:
    """`__len__` decides truth."""
    if isinstance(result, Constant) and type(result.value) is int and result.value >= 0:
        return complete(t, payload, extras, Constant(result.value != 0))
    if t.known_type(result) is int and isinstance(result, Runtime):
        return complete(t, payload, extras, t.emit("truth", (result,), None, bool, raises=False))
    raise Opaque("truth by a length that is not an int")
