"""Building, extending and unpacking containers."""

from __future__ import annotations

from typing import Any

from minijit.interpreter import effects
from minijit.interpreter.family import Family
from minijit.interpreter.instruction import Instruction
from minijit.interpreter.protocols import subscript
from minijit.interpreter.signals import Opaque
from minijit.interpreter.tracer import Tracer
from minijit.interpreter.trackers import (
    MISSING,
    PLAIN_TYPES,
    Constant,
    Mapping,
    Runtime,
    Sequence,
    Tracker,
)

ops = Family("containers")


@ops("BUILD_TUPLE")
def build_tuple(t: Tracer, inst: Instruction) -> None:
    """(items -- tuple)"""
    t.push(t.tuple_of(t.pop_many(inst.arg)))


@ops("BUILD_LIST")
def build_list(t: Tracer, inst: Instruction) -> None:
    """(items -- list)"""
    t.push(t.virtual(Sequence(list, tuple(t.pop_many(inst.arg)))))


@ops("BUILD_SET")
def build_set(t: Tracer, inst: Instruction) -> None:
    """(items -- set)"""
    items = t.pop_many(inst.arg)
    if not all(t.need_type(item) in PLAIN_TYPES for item in items):
        raise Opaque("a set of values that are not of plain types")
    t.push(t.emit("set", items, None, set, fresh=True))


@ops("BUILD_MAP")
def build_map(t: Tracer, inst: Instruction) -> None:
    """(key, value, ... -- dict)"""
    parts = t.pop_many(2 * inst.arg)
    record = Mapping((), ())
    for key, value in zip(parts[::2], parts[1::2], strict=True):
        record = _with(record, key, value)
    t.push(t.virtual(record))


def _with(record: Mapping, key: Tracker, value: Tracker) -> Mapping:
    if not subscript.is_plain_key(key):
        raise Opaque("a dict with a key that is not known")
    return subscript.with_item(record, key.value, value)  # type: ignore[attr-defined]


@ops("BUILD_CONST_KEY_MAP")
def build_const_key_map(t: Tracer, inst: Instruction) -> None:
    """(values, keys -- dict)"""
    keys: Any = t.pop()
    values = t.pop_many(inst.arg)
    record = Mapping((), ())
    for key, value in zip(keys.value, values, strict=True):
        record = _with(record, Constant(key), value)
    t.push(t.virtual(record))


@ops("LIST_TO_TUPLE")
def list_to_tuple(t: Tracer, inst: Instruction) -> None:
    """(list -- tuple)"""
    source = t.pop()
    record = t.state.record(source)
    if isinstance(record, Sequence):
        t.push(t.tuple_of(record.items))
    else:
        effects.settled(t, source)
        t.push(t.emit("list_to_tuple", (source,), None, tuple))


@ops("LIST_APPEND")
def list_append(t: Tracer, inst: Instruction) -> None:
    """(list, ..., item -- list, ...)"""
    item = t.pop()
    append(t, t.peek(inst.arg), item)


def append(t: Tracer, target: Tracker, item: Tracker) -> None:
    """`target.append(item)` on an exact list."""
    record = t.state.record(target)
    if isinstance(record, Sequence):
        t.update(target, Sequence(list, (*record.items, item)))
        return
    effects.change(t, "append", (target, item), None, effects.described(t, list.append, target))


@ops("SET_ADD")
def set_add(t: Tracer, inst: Instruction) -> None:
    """(set, ..., item -- set, ...)"""
    item = t.pop()
    target = t.peek(inst.arg)
    fresh = isinstance(target, Runtime) and target.value in t.state.fresh
    if not fresh or t.need_type(item) not in PLAIN_TYPES:
        raise Opaque("a set element that is not of a plain type")
    t.emit_fresh_effect("set_add", (target, item))


@ops("MAP_ADD")
def map_add(t: Tracer, inst: Instruction) -> None:
    """(dict, ..., key, value -- dict, ...)"""
    key, value = t.pop_many(2)
    target = t.peek(inst.arg)
    record = t.state.record(target)
    if isinstance(record, Mapping) and subscript.is_plain_key(key):
        t.update(target, _with(record, key, value))
        return
    if t.need_type(key) not in PLAIN_TYPES:
        raise Opaque("a dict key that is not of a plain type")
    if record is not None:
        t.operand(target)
        target = t.state.resolve(target)
    if not (isinstance(target, Runtime) and target.value in t.state.fresh):
        raise Opaque("a dict that is not new")
    t.emit_fresh_effect("set_item", (target, key, value))
    t.escape(value)


def items_of(t: Tracer, source: Tracker) -> tuple[Tracker, ...] | None:
    """The items of a tuple or list of known length."""
    source = t.state.resolve(source)
    record = t.state.record(source)
    if isinstance(record, Sequence) and record.cls in (tuple, list):
        return record.items
    if isinstance(source, Constant):
        value: Any = source.value
        if type(value) is tuple or (type(value) is list and source.frozen):
            return tuple(source.derived(item) for item in value)
    return None


@ops("LIST_EXTEND")
def list_extend(t: Tracer, inst: Instruction) -> None:
    """(list, ..., iterable -- list, ...)"""
    source = t.pop()
    target = t.peek(inst.arg)
    record = t.state.record(target)
    items = items_of(t, source)
    if isinstance(record, Sequence) and items is not None:
        t.update(target, Sequence(list, record.items + items))
        return
    if t.need_type(source) not in (list, tuple, range, str):
        raise Opaque("an iterable that is not known")
    if t.state.record(source) is None and not isinstance(source, Constant):
        raise_if_pending(t, source)
    t.operand(target)
    target = t.state.resolve(target)
    if not (isinstance(target, Runtime) and target.value in t.state.fresh):
        raise Opaque("a list that is not new")
    t.emit_fresh_effect("list_extend", (target, source))


def raise_if_pending(t: Tracer, source: Tracker) -> None:
    """A read of the whole contents must see pending effects."""
    from_ledger = t.pending_on("item", None, t.state.base(source))
    if from_ledger:
        raise Opaque("reads what is written here")


@ops("DICT_UPDATE", "DICT_MERGE")
def dict_update(t: Tracer, inst: Instruction) -> None:
    """(dict, ..., mapping -- dict, ...)"""
    source = t.pop()
    target = t.peek(inst.arg)
    into, add = t.state.record(target), known_mapping(t, source)
    if not isinstance(into, Mapping) or add is None:
        raise Opaque("a mapping that is not known")
    if inst.op == "DICT_MERGE" and any(into.find(key) >= 0 for key in add.keys):
        raise Opaque("a keyword argument is given twice")
    for key, value in zip(add.keys, add.values, strict=True):
        into = subscript.with_item(into, key, value)
    t.update(target, into)


def known_mapping(t: Tracer, source: Tracker) -> Mapping | None:
    """A dict whose keys are all known."""
    record = t.state.record(source)
    if isinstance(record, Mapping):
        return record
    if isinstance(source, Constant) and type(source.value) is dict:
        whole: Any = source.value
        if len(whole) <= 64 and all(type(key) in PLAIN_TYPES for key in whole):
            if not source.frozen:
                t.assume("dict_items", (whole, tuple(whole), tuple(whole.values())))
            return Mapping(tuple(whole), tuple(source.derived(value) for value in whole.values()))
    return None


# -- unpacking -----------------------------------------------------------------------------------------


@ops("UNPACK_SEQUENCE")
def unpack_sequence(t: Tracer, inst: Instruction) -> None:
    """(sequence -- items, first on top)"""
    source = t.pop()
    items = items_of(t, source)
    if items is None:
        items = _unpack_real(t, source, inst.arg)
    if len(items) != inst.arg:
        raise Opaque("the wrong number of values to unpack")
    t.frame.stack.extend(reversed(items))


def _unpack_real(t: Tracer, source: Tracker, count: int) -> tuple[Tracker, ...]:
    if t.need_type(source) not in (tuple, list) or not isinstance(source, Runtime):
        raise Opaque("unpacking a value that is not a tuple or list")
    raise_if_pending(t, source)
    t.test("len", source, (count,))
    example: Any = source.example
    known = example is not MISSING and len(example) == count
    if not known:
        return tuple(t.emit("item", (source, Constant(place)), raises=False) for place in range(count))
    return tuple(t.load("list_item", source, (place,), example[place]) for place in range(count))


@ops("UNPACK_EX")
def unpack_ex(t: Tracer, inst: Instruction) -> None:
    """(sequence -- items, first on top; the rest as a list)"""
    before, after = inst.arg
    items = items_of(t, t.pop())
    if items is None or len(items) < before + after:
        raise Opaque("unpacking a sequence of unknown length")
    end = len(items) - after
    middle = t.virtual(Sequence(list, items[before:end]))
    t.frame.stack.extend(reversed((*items[:before], middle, *items[end:])))


@ops("GET_LEN")
def get_len(t: Tracer, inst: Instruction) -> None:
    """(sequence -- sequence, length)"""
    items = items_of(t, t.peek())
    if items is None:
        raise Opaque("the length of a value that is not known")
    t.push(Constant(len(items)))
