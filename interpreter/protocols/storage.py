"""Item stores and deletes: `owner[key] = value`, `del owner[key]`.

On an existing container they go to the ledger once it is shown that they can't fail, that looking the
key up runs no code, and that nobody notices the old value's death.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minijit.interpreter import naming
from minijit.interpreter.conflicts import ANY
from minijit.interpreter.effects import (
    as_runtime,
    ask,
    change,
    example_of,
    is_fresh,
    key_operand,
    overwritable,
    settled,
)
from minijit.interpreter.ir import Value, constant_text
from minijit.interpreter.protocols import call, lookup, subscript
from minijit.interpreter.protocols.lookup import ABSENT
from minijit.interpreter.signals import Opaque
from minijit.interpreter.state import Then
from minijit.interpreter.tracer import same
from minijit.interpreter.trackers import MISSING, PLAIN_TYPES, Constant, Mapping, Runtime, Sequence, Tracker

if TYPE_CHECKING:
    from minijit.interpreter.tracer import Tracer


def store(t: Tracer, owner: Tracker, key: Tracker, value: Tracker) -> bool:
    """`owner[key] = value`. True: control was moved."""
    owner, key = t.state.resolve(owner), t.state.resolve(key)
    record = t.state.record(owner)
    if isinstance(record, Sequence) and record.cls is list:
        return _store_sequence(t, owner, record, key, value)
    if isinstance(record, Mapping) and subscript.is_plain_key(key):
        t.update(owner, subscript.with_item(record, key.value, value))  # type: ignore[attr-defined]
        return False
    if record is not None:
        t.operand(owner)
        owner = t.state.resolve(owner)
    kind = t.need_type(owner)
    if kind is not None and lookup.inherits(kind, "__setitem__", lookup.DICT_METHODS):
        t.assume_class(kind)
        store_item(t, owner, key, value)
        return False
    if kind is list and t.need_type(key) is int:
        _store_list(t, owner, key, value)
        return False
    if kind is None or lookup.in_class(kind, "__setitem__") is ABSENT:
        raise Opaque("item store to a value of unknown type")
    t.assume_class(kind)
    return call.invoke_special(t, kind, "__setitem__", [owner, key, value], Then("discard"), ())


def _store_sequence(t: Tracer, owner: Tracker, record: Sequence, key: Tracker, value: Tracker) -> bool:
    if isinstance(key, Constant) and type(key.value) is int and -len(record.items) <= key.value < len(record.items):
        items = list(record.items)
        items[key.value] = value
        t.update(owner, Sequence(list, tuple(items)))
        return False
    raise Opaque("item store by an index that is not known")


# -- dicts -------------------------------------------------------------------------------------------


def store_item(t: Tracer, owner: Tracker, key: Tracker, value: Tracker, base_type: Any = None) -> None:
    """Set a key of a dict; `base_type`: by that class's own method, past an override."""
    require_inert_item(t, owner, key, value)
    name = subscript.name_of(t, key)
    shown = constant_text(key.value) if isinstance(key, Constant) else naming.path(t, key)
    text = f"{naming.path(t, owner)}[{shown}] = ..."
    if base_type is None:
        change(t, "set_item", (owner, key, value), None, text)
    else:
        base_type(t, (owner, key, value))
    if name is not ANY:
        t.learn(t.state.base(owner), "item", name, value)


def require_inert_item(t: Tracer, owner: Tracker, key: Tracker, value: Tracker) -> None:
    """Looking the key up runs no code, nor does the death of the value that is there."""
    fact = subscript.known_item(t, owner, key)
    if fact is not None and (t.known_type(fact) in PLAIN_TYPES or same(t.state.resolve(fact), t.state.resolve(value))):
        if t.known_type(owner) is dict and isinstance(owner, Runtime) and subscript.is_text_dict(t, owner):
            subscript.need_unicode_keys(t, owner)
        else:
            subscript.need_quiet_key(t, owner, key)
        return
    operand = key_operand(t, key)
    if subscript.held(t, example_of(owner), example_of(key)) not in (*PLAIN_TYPES, None):
        raise Opaque("the overwritten item may have a finalizer")
    if not is_fresh(t, owner):
        name = subscript.name_of(t, key)
        overwritable(t, owner, "item", ANY if isinstance(name, Value) else name)
    ask(t, "inert_item", owner, operand)


# -- lists -------------------------------------------------------------------------------------------


def _store_list(t: Tracer, owner: Tracker, key: Tracker, value: Tracker) -> None:
    if not is_fresh(t, owner):
        overwritable(t, owner)
    _require_inert_element(t, owner, key)
    change(t, "set_item", (owner, key, value), None, f"{naming.path(t, owner)}[{naming.path(t, key)}] = ...")


def _require_inert_element(t: Tracer, owner: Tracker, key: Tracker) -> None:
    """The index is in range, and what is there dies unseen."""
    example = subscript.example_item(owner, key)
    if isinstance(key, Constant) and example is not MISSING:
        old: Tracker = t.load("list_item", as_runtime(t, owner), (key.value,), example)
    else:
        old = t.emit("item", (owner, key), None, None, example)
    if t.need_type(old) not in PLAIN_TYPES:
        raise Opaque("the overwritten item may have a finalizer")


# -- deletes -----------------------------------------------------------------------------------------


def delete(t: Tracer, owner: Tracker, key: Tracker) -> bool:
    """`del owner[key]`."""
    owner, key = t.state.resolve(owner), t.state.resolve(key)
    record = t.state.record(owner)
    if isinstance(record, Mapping) and subscript.is_plain_key(key):
        place = record.find(key.value)  # type: ignore[attr-defined]
        if place < 0:
            raise Opaque("KeyError")
        t.update(owner, without(record, place))
        return False
    if record is not None:
        raise Opaque("item delete")
    kind = t.need_type(owner)
    if kind is not None and lookup.inherits(kind, "__delitem__", lookup.DICT_METHODS):
        t.assume_class(kind)
        _delete_item(t, owner, key)
        return False
    if kind is list and t.need_type(key) is int:
        settled(t, owner)
        _require_inert_element(t, owner, key)
        change(t, "del_item", (owner, key), None, f"del {naming.path(t, owner)}[{naming.path(t, key)}]")
        return False
    if kind is None or lookup.in_class(kind, "__delitem__") is ABSENT:
        raise Opaque("item delete")
    t.assume_class(kind)
    return call.invoke_special(t, kind, "__delitem__", [owner, key], Then("discard"), ())


def without(record: Mapping, place: int) -> Mapping:
    """The dict without the key at that place."""
    return Mapping(record.keys[:place] + record.keys[place + 1 :], record.values[:place] + record.values[place + 1 :])


def _delete_item(t: Tracer, owner: Tracker, key: Tracker) -> None:
    settled(t, owner)
    example = subscript.held_value(t, example_of(owner), example_of(key))
    if example is ABSENT:
        raise Opaque("KeyError")
    old = t.load("keyed_item", as_runtime(t, owner), (key_operand(t, key),), example)
    if t.need_type(old) not in PLAIN_TYPES:
        raise Opaque("the deleted item may have a finalizer")
    text = f"del {naming.path(t, owner)}[{naming.path(t, key)}]"
    change(t, "del_item", (owner, key), None, text)
