"""Subscripts of tuples, lists, dicts and of classes that define them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minijit.interpreter.conflicts import ANY
from minijit.interpreter.effects import INSIDE, as_runtime, ask, example_of, key_operand, tail_of
from minijit.interpreter.ir import Value
from minijit.interpreter.protocols import call, lookup
from minijit.interpreter.protocols.continuation import Extras, complete
from minijit.interpreter.protocols.lookup import ABSENT
from minijit.interpreter.signals import CommitFirst, KeyLocalNeeded, Opaque
from minijit.interpreter.state import Then
from minijit.interpreter.trackers import (
    MISSING,
    PLAIN_TYPES,
    Constant,
    Mapping,
    Runtime,
    Sequence,
    Slice,
    Tracker,
)

if TYPE_CHECKING:
    from minijit.interpreter.tracer import Tracer

MANY = 64
"""Items of the traced call's containers that are looked at, at most."""

INDEXED = (tuple, list, str, bytes, range)


def load(t: Tracer, owner: Tracker, key: Tracker, then: Then, extras: Extras = ()) -> bool:
    """`owner[key]`."""
    owner, key = t.state.resolve(owner), t.state.resolve(key)
    record = t.state.record(owner)
    if isinstance(record, Sequence) and record.cls in (tuple, list):
        found = _of_sequence(t, owner, record, key)
        if found is not None:
            return complete(t, then, extras, found)
    if isinstance(record, Mapping) and is_plain_key(key):
        place = record.find(key.value)  # type: ignore[attr-defined]
        if place >= 0:
            return complete(t, then, extras, record.values[place])
        t.leave("KeyError")
        return True
    if isinstance(owner, Constant):
        return _of_constant(t, owner, key, then, extras)
    kind = t.need_type(owner)
    if kind is None:
        raise Opaque("subscript of a value of unknown type")
    if kind in INDEXED:
        return complete(t, then, extras, _indexed(t, owner, kind, key))
    if lookup.inherits(kind, "__getitem__", lookup.DICT_METHODS):
        t.assume_class(kind)
        return mapping_item(t, owner, kind, key, then, extras)
    return _of_class(t, owner, kind, key, then, extras)


def with_item(record: Mapping, key: Any, value: Tracker) -> Mapping:
    """The dict after a key was set; an equal key keeps its place and its object."""
    place = record.find(key)
    if place < 0:
        return Mapping((*record.keys, key), (*record.values, value))
    return Mapping(record.keys, (*record.values[:place], value, *record.values[place + 1 :]))


def is_plain_key(key: Tracker) -> bool:
    """A constant that may be hashed and compared without running code."""
    return isinstance(key, Constant) and type(key.value) in PLAIN_TYPES


def _of_class(t: Tracer, owner: Tracker, kind: type, key: Tracker, then: Then, extras: Extras) -> bool:
    t.assume_class(kind)
    return call.invoke_special(t, kind, "__getitem__", [owner, key], then, extras)


def _of_sequence(t: Tracer, owner: Tracker, record: Sequence, key: Tracker) -> Tracker | None:
    if isinstance(key, Constant) and type(key.value) in (int, bool):
        place: int = key.value
        if -len(record.items) <= place < len(record.items):
            return record.items[place]
        raise Opaque("IndexError")
    bounds = constant_slice(t, key)
    if bounds is None or record.cls is list:
        return t.virtual(Sequence(list, record.items[bounds])) if bounds is not None else None
    part = record.items[bounds]
    return owner if part is record.items else t.tuple_of(part)


def constant_slice(t: Tracer, key: Tracker) -> slice | None:
    """A slice whose bounds are constants."""
    if isinstance(key, Constant) and type(key.value) is slice:
        return key.value
    record = t.state.record(key)
    if not isinstance(record, Slice) or not all(isinstance(bound, Constant) for bound in record.bounds):
        return None
    values = [bound.value for bound in record.bounds]  # type: ignore[attr-defined]
    if not all(value is None or type(value) is int for value in values) or (len(values) == 3 and values[2] == 0):
        return None
    return slice(*values)


def _of_constant(t: Tracer, owner: Constant, key: Tracker, then: Then, extras: Extras) -> bool:
    value: Any = owner.value
    kind = type(value)
    if kind in (tuple, str, bytes, range) or (kind is list and owner.frozen):
        return complete(t, then, extras, _indexed_constant(t, owner, key))
    if kind is dict and is_plain_key(key) and (owner.frozen or is_text(t, value, key)):
        return complete(t, then, extras, _constant_dict_item(t, owner, key))
    if kind is list:
        return complete(t, then, extras, _indexed(t, owner, kind, key))
    if kind is dict:
        _need_key(t, owner, key)
    if lookup.inherits(kind, "__getitem__", lookup.DICT_METHODS):
        t.assume_class(kind)
        return mapping_item(t, owner, kind, key, then, extras)
    if issubclass(type(value), type):
        raise Opaque("subscript of a class")
    return _of_class(t, owner, kind, key, then, extras)


def is_text(t: Tracer, namespace: Any, key: Tracker) -> bool:
    """A str, asked of a dict whose keys are all str."""
    return type(key.value) is str and t.shim.has_unicode_keys(namespace)  # type: ignore[attr-defined]


def _need_key(t: Tracer, owner: Constant, key: Tracker) -> None:
    """Static data is walked by a local that was generalised: tell its values apart."""
    if owner.static and isinstance(key, Runtime) and key.value in t.origins:
        raise KeyLocalNeeded(t.origins[key.value])


def _part_of_constant(t: Tracer, owner: Constant, part: Any) -> Tracker:
    """A slice is a new object each time, unless it is the whole of an immutable one."""
    if part is owner.value or type(part) not in (tuple, list):
        return owner.derived(part)
    items = tuple(owner.derived(item) for item in part)
    return t.tuple_of(items) if type(part) is tuple else t.virtual(Sequence(list, items))


def _indexed_constant(t: Tracer, owner: Constant, key: Tracker) -> Tracker:
    value: Any = owner.value
    bounds = constant_slice(t, key)
    if bounds is not None:
        return _part_of_constant(t, owner, value[bounds])
    if isinstance(key, Constant) and type(key.value) in (int, bool):
        try:
            return owner.derived(value[key.value])
        except IndexError:
            raise Opaque("IndexError") from None
    _need_key(t, owner, key)
    return _indexed(t, owner, type(value), key)


def _constant_dict_item(t: Tracer, owner: Constant, key: Tracker) -> Tracker:
    namespace: Any = owner.value
    name: Any = key.value  # type: ignore[attr-defined]
    if owner.frozen and any(type(known) not in PLAIN_TYPES for known in namespace):
        raise Opaque("a dict with keys of other types")
    found = namespace.get(name, ABSENT)
    if found is ABSENT:
        raise Opaque("KeyError")
    if not owner.frozen:
        base = t.state.base(owner)
        fact = t.fact(base, "item", name)
        if fact is not None:
            return fact
        t.assume("item_is", (namespace, name, found))
    return Constant(found, owner.static, owner.frozen or t.is_frozen(found))


def _indexed(t: Tracer, owner: Tracker, kind: type, key: Tracker) -> Tracker:
    if t.state.record(owner) is None and t.pending_on("item", None, t.state.base(owner)):
        tail = tail_of(t, owner)
        if tail is None or not isinstance(key, Constant) or type(key.value) is not int or key.value >= 0:
            raise CommitFirst
        if -key.value <= len(tail.added):
            return tail.added[key.value].operands[1]
        key = Constant(key.value + len(tail.added) - tail.gone)
    type_ = str if kind is str else int if kind in (bytes, range) else None
    if t.need_type(key) in (int, bool):
        example = example_item(owner, key)
        constant = isinstance(key, Constant) and isinstance(owner, Runtime) and kind in (list, tuple)
        if constant and example is not MISSING:
            assert isinstance(owner, Runtime)
            assert isinstance(key, Constant)
            return t.load("list_item", owner, (int(key.value),), example)
        return t.emit("item", (owner, key), None, type_, example)
    if constant_slice(t, key) is not None or t.known_type(key) is slice:
        return t.emit("item", (owner, key), None, kind, fresh=kind is list)
    raise Opaque("an index of unknown type")


def example_item(owner: Tracker, key: Tracker) -> object:
    """The item met in the traced call, read without running user code."""
    example, index = example_of(owner), example_of(key)
    if type(example) not in INDEXED or type(index) not in (int, bool, slice):
        return MISSING
    try:
        return example[index]
    except (IndexError, TypeError, ValueError):
        return MISSING


def mapping_item(t: Tracer, owner: Tracker, kind: type, key: Tracker, then: Then, extras: Extras) -> bool:
    """An item of a dict or of an instance of a subclass that reads items as dict does."""
    known = known_item(t, owner, key)
    if known is not None:
        return complete(t, then, extras, known)
    base, name = t.state.base(owner), name_of(t, key)
    if t.pending_on("item", None if name is ANY or isinstance(name, Value) else name, base):
        raise CommitFirst
    if kind is dict and isinstance(owner, Runtime) and t.need_type(key) is str and is_text_dict(t, owner):
        return complete(t, then, extras, text_item(t, owner, key))
    operand = key_operand(t, key)
    example = held_value(t, example_of(owner), example_of(key))
    if example is ABSENT:
        if lookup.in_class(kind, "__missing__") is ABSENT:
            raise Opaque("KeyError")
        ask(t, "no_key", owner, operand)
        done: bool = MISSING_ITEM[0](t, owner, kind, key, then, extras)
        return done
    loaded = t.load("keyed_item", as_runtime(t, owner), (operand,), example)
    if name is not ANY:
        t.learn(base, "item", name, loaded)
    return complete(t, then, extras, loaded)


def name_of(t: Tracer, key: Tracker) -> Any:
    """What a key is called among the facts: itself, or the value that it is at run time."""
    key = t.state.resolve(key)
    if is_plain_key(key) and key.value is not None:  # type: ignore[attr-defined]
        return key.value  # type: ignore[attr-defined]
    return key.value if isinstance(key, Runtime) and t.need_type(key) in INSIDE else ANY


def known_item(t: Tracer, owner: Tracker, key: Tracker) -> Tracker | None:
    """What was written or found under that very key, nothing having come between."""
    name = name_of(t, key)
    return None if name is ANY else t.state.facts.get((t.state.base(owner), "item", name))


MISSING_ITEM: list[Any] = []
"""What happens when a key is not there and the class has a `__missing__`; set by the models of dicts."""


def held_value(t: Tracer, owner: Any, key: Any) -> Any:
    """What a dict met in the traced call has under a key (True: a set has it); MISSING if that is not known."""
    if owner is MISSING or key is MISSING:
        return MISSING
    try:
        return t.shim.quiet_item(owner, key)
    except KeyError:
        return ABSENT
    except LookupError:
        return MISSING


def need_quiet_key(t: Tracer, owner: Tracker, key: Tracker) -> None:
    """Looking the key up runs no code."""
    met, asked = example_of(owner), example_of(t.state.resolve(key))
    operand = key_operand(t, key)
    if met is not MISSING and asked is not MISSING and held_value(t, met, asked) is MISSING:
        raise Opaque("looking the key up may run code")
    ask(t, "quiet_key", owner, operand)


def held(t: Tracer, owner: Any, key: Any) -> type | None:
    """Exact type of that value; None if there is none or it is not known."""
    value = held_value(t, owner, key)
    return None if value is MISSING or value is ABSENT else type(value)


def is_text_dict(t: Tracer, owner: Runtime) -> bool:
    """A dict whose keys are all str, as far as the traced call tells."""
    return owner.value in t.state.fresh or owner.example is MISSING or bool(t.shim.has_unicode_keys(owner.example))


def text_item(t: Tracer, owner: Runtime, key: Tracker) -> Tracker:
    """An item of an exact dict by an exact str, on dicts whose keys are all str."""
    base = t.state.base(owner)
    name = key.value if isinstance(key, Constant) else None
    example = held_value(t, owner.example, example_of(key))
    if example is ABSENT:
        raise Opaque("KeyError")
    if name is not None and example is not MISSING:
        loaded = t.load("item", owner, (name,), example)
        t.learn(base, "item", name, loaded)
        return loaded
    need_unicode_keys(t, owner)
    loaded = t.emit("item", (owner, key), example=example)
    if isinstance(key, Runtime):
        t.learn(base, "item", key.value, loaded)
    return loaded


def need_unicode_keys(t: Tracer, owner: Runtime) -> None:
    """Lookups by str run no code on a dict whose keys are all str."""
    if owner.value in t.state.fresh and owner.value.type is dict:
        return
    if owner.example is not MISSING and not t.shim.has_unicode_keys(owner.example):
        raise Opaque("a dict with keys that are not str")
    base = t.state.base(owner)
    if t.state.facts.get((base, "keys", "unicode")) is None:
        t.test("unicode_keys", owner)
        t.learn(base, "keys", "unicode", Constant(True))
