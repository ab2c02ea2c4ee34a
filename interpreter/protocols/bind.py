"""Binding a call's arguments to the slots of the callee, by CPython's rules."""

from __future__ import annotations

from types import CodeType
from typing import TYPE_CHECKING

from minijit.interpreter.signals import Opaque
from minijit.interpreter.state import unbound_slots
from minijit.interpreter.trackers import UNBOUND, Mapping, Tracker

if TYPE_CHECKING:
    from minijit.interpreter.tracer import Tracer

VARARGS, VARKEYWORDS = 0x04, 0x08
Keywords = tuple[tuple[str, Tracker], ...]


def bind(
    t: Tracer,
    code: CodeType,
    arguments: list[Tracker],
    keywords: Keywords,
    defaults: list[Tracker],
    kwdefaults: dict[str, Tracker],
) -> list[Tracker]:
    """Local slots of a new activation. A call that would fail is not modelled."""
    slots = unbound_slots(code)
    count, keyword_only = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames[: count + keyword_only]
    slots[: min(count, len(arguments))] = arguments[:count]
    rest = arguments[count:]
    extra = _keywords(code, slots, keywords, names)
    for place, tracker in enumerate(defaults, count - len(defaults)):
        if slots[place] is UNBOUND:
            slots[place] = tracker
    for place in range(count, count + keyword_only):
        if slots[place] is UNBOUND:
            slots[place] = kwdefaults.get(names[place], UNBOUND)
    if any(slot is UNBOUND for slot in slots[: count + keyword_only]):
        raise Opaque("a required argument is missing")
    place = count + keyword_only
    if code.co_flags & VARARGS:
        slots[place] = t.tuple_of(rest)
        place += 1
    elif rest:
        raise Opaque("too many arguments")
    if code.co_flags & VARKEYWORDS:
        slots[place] = t.virtual(Mapping(tuple(extra), tuple(extra.values())))
    elif extra:
        raise Opaque("an unexpected keyword argument")
    return slots


def _keywords(code: CodeType, slots: list[Tracker], keywords: Keywords, names: tuple[str, ...]) -> dict[str, Tracker]:
    extra: dict[str, Tracker] = {}
    for name, tracker in keywords:
        place = names.index(name) if name in names else -1
        if place < code.co_posonlyargcount:
            if name in extra:
                raise Opaque("a keyword argument is given twice")
            extra[name] = tracker
        elif slots[place] is not UNBOUND:
            raise Opaque("an argument is given twice")
        else:
            slots[place] = tracker
    return extra
