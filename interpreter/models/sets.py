"""Models of the methods of sets."""

from __future__ import annotations

from typing import Any

from minijit.interpreter.effects import ask, change, described, example_of, key_operand, replay, settled
from minijit.interpreter.models.lists import empty
from minijit.interpreter.models.types import Arguments, exactly
from minijit.interpreter.ops.containers import items_of
from minijit.interpreter.protocols import subscript
from minijit.interpreter.protocols.bind import Keywords
from minijit.interpreter.protocols.call import model
from minijit.interpreter.protocols.continuation import Extras, complete
from minijit.interpreter.protocols.lookup import ABSENT
from minijit.interpreter.signals import Opaque
from minijit.interpreter.state import Then
from minijit.interpreter.tracer import Tracer
from minijit.interpreter.trackers import Constant, Tracker

FEW = 16


def real_set(t: Tracer, tracker: Tracker, method: str) -> Tracker:
    """A set; a subclass's instance is one, too."""
    target = t.state.resolve(tracker)
    kind = t.need_type(target)
    if kind is None or not issubclass(kind, set):
        raise Opaque(f"set.{method} of something that is not a set")
    return target


def add(t: Tracer, target: Tracker, item: Tracker) -> None:
    """Add an element that is compared without running code."""
    subscript.need_quiet_key(t, target, item)
    change(t, "set_add", (target, item), None, described(t, set.add, target))


@model(set.add)
def set_add(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """set.add(element)."""
    exactly(arguments, keywords, 2)
    add(t, real_set(t, arguments[0], "add"), arguments[1])
    return complete(t, then, extras, Constant(None))


@model(set.discard)
def set_discard(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """set.discard(element)."""
    exactly(arguments, keywords, 2)
    target = real_set(t, arguments[0], "discard")
    subscript.need_quiet_key(t, target, arguments[1])
    replay(t, set.discard, (target, arguments[1]))
    return complete(t, then, extras, Constant(None))


@model(set.remove)
def set_remove(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """set.remove(element) of one that is there."""
    exactly(arguments, keywords, 2)
    target = real_set(t, arguments[0], "remove")
    settled(t, target)
    item = t.state.resolve(arguments[1])
    operand = key_operand(t, item)
    if subscript.held_value(t, example_of(target), example_of(item)) is ABSENT:
        raise Opaque("KeyError")
    ask(t, "has_key", target, operand)
    replay(t, set.remove, (target, item))
    return complete(t, then, extras, Constant(None))


@model(set.update)
def set_update(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """set.update(elements) by what is known."""
    exactly(arguments, keywords, 2)
    target = real_set(t, arguments[0], "update")
    items: Any = items_of(t, arguments[1])
    if items is None or len(items) > FEW:
        raise Opaque("an iterable that is not known")
    for item in items:
        add(t, target, item)
    return complete(t, then, extras, Constant(None))


@model(set.clear)
def set_clear(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """set.clear() of plain elements."""
    exactly(arguments, keywords, 1)
    empty(t, real_set(t, arguments[0], "clear"), set.clear)
    return complete(t, then, extras, Constant(None))
