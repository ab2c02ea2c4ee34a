"""Models of the methods of dicts and of the builtin classes made on them."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import Any

from minijit.interpreter.effects import (
    as_runtime,
    ask,
    change,
    described,
    example_of,
    key_operand,
    own,
    replay,
    settled,
)
from minijit.interpreter.models.lists import empty
from minijit.interpreter.models.types import Arguments, exactly
from minijit.interpreter.ops.containers import known_mapping
from minijit.interpreter.protocols import call, lookup, promote, storage, subscript
from minijit.interpreter.protocols.bind import Keywords
from minijit.interpreter.protocols.call import model
from minijit.interpreter.protocols.continuation import Extras, complete
from minijit.interpreter.protocols.lookup import ABSENT
from minijit.interpreter.signals import CommitFirst, Opaque
from minijit.interpreter.state import Then
from minijit.interpreter.tracer import Tracer
from minijit.interpreter.trackers import MISSING, Constant, Mapping, Runtime, Sequence, Tracker, View


@model(dict)
def dict_(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """dict(**keywords) and dict(mapping)."""
    record: Mapping | None = Mapping((), ())
    if arguments:
        exactly(arguments, (), 1)
        record = known_mapping(t, t.state.resolve(arguments[0]))
    if record is None:
        raise Opaque("dict of a mapping that is not known")
    for name, value in keywords:
        record = subscript.with_item(record, name, value)
    return complete(t, then, extras, t.virtual(record))


def real_dict(t: Tracer, tracker: Tracker, method: str) -> tuple[Tracker, Mapping | None]:
    """The dict and its record, or None for one that exists; a subclass's instance is a dict, too."""
    target = t.state.resolve(tracker)
    record = t.state.record(target)
    if isinstance(record, Mapping):
        return target, record
    kind = t.need_type(target)
    if record is not None or kind is None or not issubclass(kind, dict):
        raise Opaque(f"dict.{method} of something that is not a dict")
    return target, None


def constant_key(t: Tracer, tracker: Tracker) -> Any:
    """A key that is known."""
    tracker = t.state.resolve(tracker)
    if not subscript.is_plain_key(tracker):
        raise Opaque("a key that is not known")
    return tracker.value  # type: ignore[attr-defined]


# -- reads ---------------------------------------------------------------------------------------------


@model(dict.get)
def dict_get(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """dict.get(key[, default])."""
    exactly(arguments, keywords, 2, 3)
    source, record = real_dict(t, arguments[0], "get")
    key = t.state.resolve(arguments[1])
    default = arguments[2] if len(arguments) == 3 else Constant(None)
    if record is not None:
        place = record.find(constant_key(t, key))
        return complete(t, then, extras, record.values[place] if place >= 0 else default)
    if isinstance(source, Constant) and subscript.is_plain_key(key):
        known = known_mapping(t, source)
        if known is not None:
            place = known.find(key.value)  # type: ignore[attr-defined]
            return complete(t, then, extras, known.values[place] if place >= 0 else default)
    return complete(t, then, extras, _get(t, source, key, default))


def _get(t: Tracer, source: Tracker, key: Tracker, default: Tracker) -> Tracker:
    known = subscript.known_item(t, source, key)
    if known is not None:
        return known
    settled(t, source)
    found = subscript.held_value(t, example_of(source), example_of(key))
    if found is ABSENT:
        found = example_of(default)
    exact = t.known_type(source) is dict
    if exact and isinstance(source, Runtime) and t.need_type(key) is str and subscript.is_text_dict(t, source):
        subscript.need_unicode_keys(t, source)
    else:
        subscript.need_quiet_key(t, source, key)
    if exact:
        return t.emit("call_method", (source, key, default), ("get", ()), example=found, raises=False)
    return t.emit("call", (Constant(dict.get), source, key, default), (), example=found, raises=False)


@model(dict.copy)
def dict_copy(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """dict.copy()."""
    exactly(arguments, keywords, 1)
    source = t.state.resolve(arguments[0])
    record = known_mapping(t, source)
    if record is not None:
        return complete(t, then, extras, t.virtual(record))
    if t.need_type(source) is not dict:
        raise Opaque("copy of a dict that is not known")
    settled(t, source)
    return complete(t, then, extras, t.emit("call", (Constant(dict.copy), source), (), dict))


def _views(pick: str) -> Any:
    def view(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
        exactly(arguments, keywords, 1)
        source = t.state.resolve(arguments[0])
        if t.need_type(source) is not dict:
            raise Opaque(f"{pick} of something that is not a dict")
        return complete(t, then, extras, t.virtual(View(pick, source)))

    return view


for _name in ("keys", "values", "items"):
    call.MODELS[getattr(dict, _name)] = _views(_name)


# -- changes -------------------------------------------------------------------------------------------


@model(dict.setdefault)
def dict_setdefault(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """dict.setdefault(key[, default]): on an existing dict only where the key is there already."""
    exactly(arguments, keywords, 2, 3)
    target, record = real_dict(t, arguments[0], "setdefault")
    value = arguments[2] if len(arguments) == 3 else Constant(None)
    if record is not None:
        key = constant_key(t, arguments[1])
        place = record.find(key)
        if place >= 0:
            return complete(t, then, extras, record.values[place])
        t.update(target, subscript.with_item(record, key, value))
        return complete(t, then, extras, value)
    known = subscript.known_item(t, target, arguments[1])
    if known is not None:
        return complete(t, then, extras, known)
    settled(t, target)
    found = subscript.held_value(t, example_of(target), example_of(t.state.resolve(arguments[1])))
    if found is MISSING or found is ABSENT:
        raise Opaque("setdefault of a key that is not there")
    loaded = t.load("keyed_item", as_runtime(t, target), (key_operand(t, arguments[1]),), found)
    return complete(t, then, extras, loaded)


@model(dict.pop)
def dict_pop(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """dict.pop(key[, default])."""
    exactly(arguments, keywords, 2, 3)
    target, record = real_dict(t, arguments[0], "pop")
    if record is None:
        return complete(t, then, extras, _take(t, target, arguments))
    place = record.find(constant_key(t, arguments[1]))
    if place < 0:
        if len(arguments) == 2:
            raise Opaque("KeyError")
        return complete(t, then, extras, arguments[2])
    t.update(target, storage.without(record, place))
    return complete(t, then, extras, record.values[place])


def _take(t: Tracer, target: Tracker, arguments: Arguments) -> Tracker:
    """Read an item of an exact dict, then take it out."""
    if t.known_type(target) is not dict:
        raise Opaque("dict.pop of a subclass")
    settled(t, target)
    key = t.state.resolve(arguments[1])
    operand = key_operand(t, key)
    found = subscript.held_value(t, example_of(target), example_of(key))
    if found is ABSENT and len(arguments) == 3:
        ask(t, "no_key", target, operand)
        return arguments[2]
    if found is ABSENT or found is MISSING:
        raise Opaque("pop of a key that is not there")
    ask(t, "has_key", target, operand)
    item = t.emit("item", (target, key), None, None, found)
    own(t, item)
    change(t, "del_item", (target, key), None, described(t, dict.pop, target), exclusive=True)
    return item


@model(dict.update)
def dict_update(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """dict.update(mapping, **keywords) by what is known."""
    exactly(arguments, (), 1, 2)
    target, record = real_dict(t, arguments[0], "update")
    add = Mapping((), ())
    if len(arguments) == 2:
        known = known_mapping(t, t.state.resolve(arguments[1]))
        if known is None:
            raise Opaque("a mapping that is not known")
        add = known
    for name, value in keywords:
        add = subscript.with_item(add, name, value)
    if record is None and t.known_type(target) not in (dict, OrderedDict, defaultdict):
        raise Opaque("update of a subclass")
    for key, value in zip(add.keys, add.values, strict=True):
        if record is None:
            storage.store_item(t, target, Constant(key), value)
        else:
            record = subscript.with_item(record, key, value)
    if record is not None:
        t.update(target, record)
    return complete(t, then, extras, Constant(None))


@model(dict.clear)
def dict_clear(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """dict.clear(), of plain values where the dict is not new."""
    exactly(arguments, keywords, 1)
    target, record = real_dict(t, arguments[0], "clear")
    if record is None:
        empty(t, target, dict.clear)
    else:
        t.update(target, Mapping((), ()))
    return complete(t, then, extras, Constant(None))


def _own_setitem(base: Any) -> Any:
    """`base.__setitem__(self, key, value)`: past the override that calls it."""

    def setitem(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
        exactly(arguments, keywords, 3)
        target, record = real_dict(t, arguments[0], "__setitem__")
        if record is not None:
            storage.store(t, target, arguments[1], arguments[2])
            return complete(t, then, extras, Constant(None))
        kind: Any = t.known_type(target)
        if base is dict and issubclass(kind, OrderedDict):
            raise Opaque("dict.__setitem__ of an OrderedDict")
        key = t.state.resolve(arguments[1])
        storage.store_item(t, target, key, arguments[2], lambda t, operands: replay(t, base.__setitem__, operands))
        return complete(t, then, extras, Constant(None))

    return setitem


for _base in (dict, OrderedDict):
    call.MODELS[_base.__setitem__] = _own_setitem(_base)


@model(dict.__getitem__)
def dict_getitem(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """dict.__getitem__(self, key): past the override that calls it."""
    exactly(arguments, keywords, 2)
    source, record = real_dict(t, arguments[0], "__getitem__")
    kind = t.known_type(source)
    if record is not None or kind is dict:
        return subscript.load(t, source, arguments[1], then, extras)
    assert kind is not None
    t.assume_class(kind)
    return subscript.mapping_item(t, source, kind, t.state.resolve(arguments[1]), then, extras)


# -- OrderedDict, defaultdict, Counter ---------------------------------------------------------------------


@model(OrderedDict.move_to_end)
def move_to_end(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """OrderedDict.move_to_end(key, last=True)."""
    given = dict(keywords)
    last = given.pop("last", arguments[2] if len(arguments) == 3 else Constant(True))
    if given or len(arguments) not in (2, 3) or t.need_type(last) is not bool:
        raise Opaque("arguments that are not modelled")
    target = t.state.resolve(arguments[0])
    kind = t.need_type(target)
    if kind is None or not issubclass(kind, OrderedDict):
        raise Opaque("move_to_end of something that is not an OrderedDict")
    settled(t, target)
    key = t.state.resolve(arguments[1])
    operand = key_operand(t, key)
    if subscript.held_value(t, example_of(target), example_of(key)) is ABSENT:
        raise Opaque("KeyError")
    ask(t, "has_key", target, operand)
    replay(t, OrderedDict.move_to_end, (target, key, last))
    return complete(t, then, extras, Constant(None))


PLAIN_FACTORIES: dict[Any, Any] = {int: 0, float: 0.0, str: "", bool: False}


def missing_item(t: Tracer, owner: Tracker, kind: type, key: Tracker, then: Then, extras: Extras) -> bool:
    """`__missing__`: inlined where it is a Python function, known where a defaultdict makes a builtin."""
    if lookup.in_class(kind, "__missing__") is not defaultdict.__missing__:
        return call.invoke_special(t, kind, "__missing__", [owner, key], then, extras)
    made = _made(t, owner)
    storage.store_item(t, owner, key, made, lambda t, operands: replay(t, dict.__setitem__, operands))
    return complete(t, then, extras, made)


def _made(t: Tracer, owner: Tracker) -> Tracker:
    """What the default factory makes, if it is a builtin class that does nothing else."""
    example = example_of(owner)
    if not issubclass(type(example), defaultdict):
        raise Opaque("a default factory that is not known")
    if t.pending_on("attr", "default_factory", t.state.base(owner)):
        raise CommitFirst
    read = t.emit("attr", (owner,), "default_factory", None, example.default_factory)
    factory = promote.by_identity(t, read)
    value = factory.value if factory is not None else None
    if value is list:
        return t.virtual(Sequence(list, ()))
    if value is dict:
        return t.virtual(Mapping((), ()))
    if value is set:
        return t.emit("set", (), None, set, fresh=True)
    if type(value) is type and value in PLAIN_FACTORIES:
        return Constant(PLAIN_FACTORIES[value])
    raise Opaque("a default factory that is not known")


subscript.MISSING_ITEM.append(missing_item)
