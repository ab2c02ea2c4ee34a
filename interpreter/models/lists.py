"""Models of the methods of lists: at once on new ones, through the ledger on others."""

from __future__ import annotations

from typing import Any

from minijit.interpreter.effects import (
    ask,
    change,
    described,
    example_of,
    is_fresh,
    need_index,
    own,
    replay,
    settled,
    tail_of,
)
from minijit.interpreter.models.types import Arguments, exactly
from minijit.interpreter.ops.containers import append, items_of
from minijit.interpreter.protocols import operators, storage, subscript
from minijit.interpreter.protocols.bind import Keywords
from minijit.interpreter.protocols.call import model
from minijit.interpreter.protocols.continuation import Extras, complete
from minijit.interpreter.signals import Opaque
from minijit.interpreter.state import Then
from minijit.interpreter.tracer import Tracer
from minijit.interpreter.trackers import PLAIN_TYPES, Constant, Sequence, Tracker

COPIED = (list, tuple, range, str, bytes, dict, set, frozenset)
"""Exact types whose items are walked without running code."""

ORDERED = (int, float, str, bytes)
"""Types whose values can always be compared with each other, quietly."""

FEW = 8


def real_list(t: Tracer, tracker: Tracker, method: str) -> tuple[Tracker, Sequence | None]:
    """The list and its record, or None for one that exists; a subclass's instance is a list, too."""
    target = t.state.resolve(tracker)
    record = t.state.record(target)
    if isinstance(record, Sequence) and record.cls is list:
        return target, record
    kind = t.need_type(target)
    if record is not None or kind is None or not issubclass(kind, list):
        raise Opaque(f"list.{method} of something that is not a list")
    return target, None


@model(list.append)
def list_append(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """list.append(item)."""
    exactly(arguments, keywords, 2)
    target, _ = real_list(t, arguments[0], "append")
    append(t, target, arguments[1])
    return complete(t, then, extras, Constant(None))


@model(list.pop)
def list_pop(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """list.pop([index])."""
    exactly(arguments, keywords, 1, 2)
    target, record = real_list(t, arguments[0], "pop")
    index = t.state.resolve(arguments[1]) if len(arguments) == 2 else Constant(-1)
    if record is None:
        return complete(t, then, extras, take(t, target, index))
    if not isinstance(index, Constant) or type(index.value) is not int:
        raise Opaque("an index that is not known")
    if not -len(record.items) <= index.value < len(record.items):
        raise Opaque("IndexError")
    items = list(record.items)
    item = items.pop(index.value)
    t.update(target, Sequence(list, tuple(items)))
    return complete(t, then, extras, item)


def take(t: Tracer, target: Tracker, index: Tracker) -> Tracker:
    """Read an item of an exact list, then take it out."""
    if t.known_type(target) is not list:
        raise Opaque("list.pop of a subclass")
    need_index(t, index)
    tail = tail_of(t, target) if isinstance(index, Constant) and index.value == -1 else None
    if tail is None:
        settled(t, target)
    elif tail.added:
        last = tail.added[-1]
        t.pend("del_item", (target, index), None, described(t, list.pop, target), exclusive=True)
        return last.operands[1]
    place = index if tail is None else Constant(-1 - tail.gone)
    item = t.emit("item", (target, place), None, None, subscript.example_item(target, place))
    own(t, item)
    change(t, "del_item", (target, index), None, described(t, list.pop, target), exclusive=True)
    return item


@model(list.extend)
def list_extend(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """list.extend(iterable)."""
    exactly(arguments, keywords, 2)
    target, _ = real_list(t, arguments[0], "extend")
    extend(t, target, arguments[1])
    return complete(t, then, extras, Constant(None))


def extend(t: Tracer, target: Tracker, source: Tracker) -> None:
    """Append what an iterable gives that is walked without running code."""
    record = t.state.record(target)
    source = t.state.resolve(source)
    items = items_of(t, source)
    if isinstance(record, Sequence):
        if items is None:
            raise Opaque("an iterable that is not known")
        t.update(target, Sequence(list, record.items + items))
        return
    if items is not None and len(items) <= FEW:
        for item in items:
            append(t, target, item)
        return
    if items is not None:
        source = t.tuple_of(items)
    elif t.state.record(source) is not None or t.need_type(source) not in COPIED:
        raise Opaque("an iterable that is not known")
    if is_fresh(t, target):
        settled(t, source)
    change(t, "list_extend", (target, source), None, described(t, list.extend, target))


@operators.inplace("+", list)
def list_iadd(t: Tracer, left: Tracker, right: Tracker, then: Then, extras: Extras) -> bool:
    """list += iterable: the same list."""
    extend(t, left, right)
    return complete(t, then, extras, left)


@model(list.insert)
def list_insert(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """list.insert(index, item)."""
    exactly(arguments, keywords, 3)
    target, record = real_list(t, arguments[0], "insert")
    index = need_index(t, t.state.resolve(arguments[1]))
    if record is None:
        replay(t, list.insert, (target, index, arguments[2]))
        return complete(t, then, extras, Constant(None))
    if not isinstance(index, Constant):
        raise Opaque("an index that is not known")
    items = list(record.items)
    items.insert(index.value, arguments[2])
    t.update(target, Sequence(list, tuple(items)))
    return complete(t, then, extras, Constant(None))


@model(list.reverse)
def list_reverse(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """list.reverse()."""
    exactly(arguments, keywords, 1)
    target, record = real_list(t, arguments[0], "reverse")
    if record is None:
        replay(t, list.reverse, (target,))
    else:
        t.update(target, Sequence(list, record.items[::-1]))
    return complete(t, then, extras, Constant(None))


@model(list.sort)
def list_sort(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """list.sort() of a list of numbers or texts of one kind."""
    exactly(arguments, keywords, 1)
    target, record = real_list(t, arguments[0], "sort")
    example = example_of(target)
    kind = type(example[0]) if type(example) is list and example else None
    if record is not None or t.known_type(target) is not list or kind not in ORDERED:
        raise Opaque("sort of values that are not known")
    assert kind is not None
    settled(t, target)
    ask(t, "all_of", target, kind)
    replay(t, list.sort, (target,))
    return complete(t, then, extras, Constant(None))


@model(list.clear)
def list_clear(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """list.clear(), of a list of plain values where it is not new."""
    exactly(arguments, keywords, 1)
    target, record = real_list(t, arguments[0], "clear")
    if record is None:
        empty(t, target, list.clear)
    else:
        t.update(target, Sequence(list, ()))
    return complete(t, then, extras, Constant(None))


def empty(t: Tracer, target: Tracker, method: Any) -> None:
    """Let go of all items, if that runs no code."""
    example = example_of(target)
    if t.known_type(target) not in (list, dict, set) or type(example) not in (list, dict, set):
        raise Opaque("clear of values that are not known")
    items = example.values() if type(example) is dict else example
    if len(items) <= subscript.MANY and not all(type(item) in (*PLAIN_TYPES, tuple) for item in items):
        raise Opaque("clear of values that may have finalizers")
    settled(t, target)
    ask(t, "all_plain", target)
    replay(t, method, (target,))


@model(list.copy)
def list_copy(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """list.copy()."""
    exactly(arguments, keywords, 1)
    target, record = real_list(t, arguments[0], "copy")
    if record is not None:
        return complete(t, then, extras, t.virtual(Sequence(list, record.items)))
    settled(t, target)
    return complete(t, then, extras, t.emit("call", (Constant(list.copy), target), (), list, fresh=True))


@model(list.__setitem__)
def list_setitem(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """list.__setitem__(self, index, value), of a list or what overrides it and calls on."""
    exactly(arguments, keywords, 3)
    target, _ = real_list(t, arguments[0], "__setitem__")
    if t.known_type(target) is not list:
        raise Opaque("list.__setitem__ of a subclass")
    storage.store(t, target, arguments[1], arguments[2])
    return complete(t, then, extras, Constant(None))
