"""Membership tests."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import TYPE_CHECKING, Any

from minijit.interpreter.effects import settled
from minijit.interpreter.protocols import call, lookup, subscript
from minijit.interpreter.protocols.continuation import complete, continuation
from minijit.interpreter.protocols.truth import of as truth_of
from minijit.interpreter.signals import Opaque
from minijit.interpreter.state import Then
from minijit.interpreter.trackers import PLAIN_TYPES, Constant, Mapping, Runtime, Sequence, Tracker

if TYPE_CHECKING:
    from minijit.interpreter.tracer import Tracer

MAPPINGS = (dict, OrderedDict, defaultdict)
HASHED = (*MAPPINGS, set, frozenset)


def test(t: Tracer, item: Tracker, container: Tracker, then: Then) -> bool:
    """`item in container`, as a bool."""
    known = _fold(t, item, container)
    if known is not None:
        return complete(t, then, (), known)
    kind = t.need_type(container)
    if kind is None:
        raise Opaque("membership in a value of unknown type")
    if kind is str and t.need_type(item) is str:
        return complete(t, then, (), t.emit("contains", (item, container), False, bool))
    if kind in HASHED and t.state.record(container) is None:
        if kind in MAPPINGS and subscript.known_item(t, container, item) is not None:
            return complete(t, then, (), Constant(True))
        settled(t, container)
        text = kind is dict and isinstance(container, Runtime) and t.need_type(item) is str
        if text and subscript.is_text_dict(t, container):  # type: ignore[arg-type]
            subscript.need_unicode_keys(t, container)  # type: ignore[arg-type]
        else:
            subscript.need_quiet_key(t, container, item)
        return complete(t, then, (), t.emit("contains", (item, container), False, bool, raises=False))
    if lookup.in_class(kind, "__contains__") is lookup.ABSENT or kind.__flags__ & 1 << 8:
        raise Opaque(f"membership in a {kind.__name__}")
    t.assume_class(kind)
    return call.invoke_special(t, kind, "__contains__", [container, item], Then("as_bool", then), ())


@continuation("as_bool")
def as_bool(t: Tracer, extras: Any, result: Tracker, payload: Then) -> bool:
    """The answer of `__contains__` counts by its truth."""
    return truth_of(t, result, payload, extras)


@continuation("to_bool")
def to_bool(t: Tracer, extras: Any, result: Tracker, payload: Any) -> bool:
    """A comparison that is asked for its truth at once."""
    return truth_of(t, result, Then("push"), extras)


def _fold(t: Tracer, item: Tracker, container: Tracker) -> Tracker | None:
    keys = _known_keys(t, container)
    if keys is None:
        return None
    if isinstance(item, Constant) and type(item.value) in PLAIN_TYPES:
        return Constant(item.value in keys, item.static)
    if not keys:
        return Constant(False) if t.need_type(item) in PLAIN_TYPES else None
    if t.need_type(item) not in PLAIN_TYPES:
        return None
    whole: Any = frozenset(keys) if _is_hashed(t, container) else tuple(keys)
    return t.emit("contains", (item, Constant(whole)), False, bool, raises=False)


def _is_hashed(t: Tracer, container: Tracker) -> bool:
    return isinstance(t.state.record(container), Mapping) or type(getattr(container, "value", None)) in HASHED


def _known_keys(t: Tracer, container: Tracker) -> tuple[Any, ...] | None:
    """Constant members of plain types, if that is all there are."""
    record = t.state.record(container)
    members: Any = None
    if isinstance(record, Mapping):
        members = record.keys
    elif isinstance(record, Sequence) and all(isinstance(part, Constant) for part in record.items):
        members = tuple(part.value for part in record.items)  # type: ignore[attr-defined]
    elif isinstance(container, Constant):
        kind = type(container.value)
        whole: Any = container.value
        if kind in (tuple, frozenset) or (container.frozen and kind in (list, dict, set)):
            members = tuple(whole)
        elif kind is dict and len(whole) <= 64:
            t.assume("dict_items", (whole, tuple(whole), tuple(whole.values())))
            members = tuple(whole)
    if members is None or any(type(member) not in PLAIN_TYPES for member in members):
        return None
    return tuple(members)
