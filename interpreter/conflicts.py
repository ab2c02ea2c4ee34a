"""Which reads a pending effect could change: one place may be reached in several ways.

An instance's attributes are the items of its `__dict__`, a module's globals those of its namespace.
So a write of one kind is held against reads of the others, unless a check made in the shim, or the
names and types at hand, prove that it is another place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minijit.interpreter.ir import Value
from minijit.interpreter.state import Pending
from minijit.interpreter.trackers import MISSING, PLAIN_TYPES, Constant, Runtime, Tracker

if TYPE_CHECKING:
    from minijit.interpreter.tracer import Tracer

WRITES = {
    "set_attr": "attr",
    "del_attr": "attr",
    "set_item": "item",
    "del_item": "item",
    "append": "item",
    "set_add": "item",
    "list_extend": "item",
    "set_update": "item",
    "dict_update": "item",
    "dict_merge": "item",
    "effect_call": "item",
    "set_deref": "cell",
    "del_deref": "cell",
    "set_global": "global",
    "del_global": "global",
}
"""Which kind of location a ledger entry writes, of its first operand if it has one."""

NAMED = ("attr", "item", "global")
"""Kinds of location that may be one place under several names."""

ANY = object()
"""Stands for every name at once."""

ASSUMED: dict[str, tuple[str, int | None]] = {
    "global_is": ("item", 1),
    "global_absent": ("item", 1),
    "item_is": ("item", 1),
    "dict_items": ("item", None),
    "list_items": ("item", None),
    "attr_is": ("attr", 1),
    "attr_absent": ("attr", 1),
    "cell_is": ("cell", None),
}
"""Checks on the world that a program's own writes may falsify: what they read, and which part is the name."""


def written(t: Tracer, entry: Pending) -> tuple[str, Any, Any, Tracker | None]:
    """What a ledger entry writes: kind, base, name, and the object where there is one."""
    kind = WRITES[entry.opcode]
    if kind == "global":
        return kind, ("constant", id(t.function.__globals__)), entry.payload, None
    target = t.state.resolve(entry.operands[0])
    name: Any = entry.payload if kind == "attr" else ANY
    if entry.opcode in ("set_item", "del_item") and isinstance(entry.operands[1], Constant):
        key = entry.operands[1].value
        name = key if type(key) in PLAIN_TYPES else ANY
    return kind, t.state.base(target), name, target


def pending_on(t: Tracer, kind: str, name: Any, base: Any) -> bool:
    """Whether the ledger holds an effect on what may be that location; `name` None: any."""
    for entry in t.state.ledger:
        if entry.opcode in WRITES and touches(t, entry, kind, ANY if name is None else name, base):
            return True
    return False


def touches(t: Tracer, entry: Pending, kind: str, name: Any, base: Any) -> bool:
    """Whether one ledger entry may change what a read of that location finds."""
    other, target, key, owner = written(t, entry)
    if other == kind == "cell":
        return t.may_alias(target, base)
    if other not in NAMED or kind not in NAMED:
        return False
    if name is not ANY and key is not ANY and key != name:
        return indexed(t, other, target) and may_be_one(t, target, base)
    if other == kind:
        return kind == "global" or may_be_one(t, target, base)
    return crosses(t, {other: (target, owner), kind: (base, None)})


def may_be_one(t: Tracer, target: Any, base: Any) -> bool:
    """Whether two objects may be one. May emit a check that they are not, where they were two in the traced call."""
    if not t.may_alias(target, base):
        return False
    if target is base or not (isinstance(target, Value) and isinstance(base, Value)):
        return True
    examples = t.examples.get(target, MISSING), t.examples.get(base, MISSING)
    if examples[0] is examples[1] or any(example is MISSING for example in examples) or t.state.stale:
        return True
    t.test("distinct", Runtime(target), (base,))
    return False


VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))


def may_be_walked(t: Tracer, walked: type | None) -> bool:
    """Whether a pending effect may change what an iterator over an object of that type gives next."""
    for entry in t.state.ledger:
        if entry.opcode not in WRITES:
            continue
        kind, base, _, _ = written(t, entry)
        if kind == "item":
            known = known_type(t, base)
            if walked is None or known is None or walked in (known, *VIEWS):
                return True
        elif kind != "cell" and (walked is None or walked is dict or walked in VIEWS):
            return True
    return False


def indexed(t: Tracer, kind: str, target: Any) -> bool:
    """Items of a sequence: one key may be reached by another (from the end), and deletions move the rest."""
    known = known_type(t, target)
    return kind == "item" and not (known is not None and issubclass(known, dict))


def may_be_namespace(t: Tracer, base: Any) -> bool:
    """Whether an object may be somebody's `__dict__`."""
    known = known_type(t, base)
    return known is None or issubclass(known, dict)


def known_type(t: Tracer, base: Any) -> type | None:
    """Exact type of a real object, if it is certain."""
    return t.known_type(Runtime(base)) if isinstance(base, Value) else None


def crosses(t: Tracer, sides: dict[str, tuple[Any, Tracker | None]]) -> bool:
    """Whether locations of different kinds may be one place. May emit a check that they are not."""
    if "item" in sides:
        base = sides["item"][0]
        if base in t.state.fresh or not may_be_namespace(t, base):
            return False
    if "attr" in sides:
        base = sides["attr"][0]
        kind = known_type(t, base)
        if base in t.state.fresh or (kind is not None and kind.__dictoffset__ == 0):
            return False
    if "global" in sides:
        return not ("item" in sides and is_other_dict(t, *sides["item"], t.function.__globals__))
    return not apart(t, sides["attr"][0], sides["item"][0])


def is_other_dict(t: Tracer, base: Any, tracker: Tracker | None, namespace: dict[str, Any]) -> bool:
    """Whether a dict is certainly not that namespace."""
    if not isinstance(base, Value):
        return bool(base != ("constant", id(namespace)))
    if isinstance(tracker, Runtime) and tracker.example is namespace:
        return False
    t.test("is_not", Runtime(base), (namespace,))
    return True


def apart(t: Tracer, owner: Any, items: Any) -> bool:
    """Whether a dict is certainly not the object's own."""
    if not isinstance(owner, Value) or not isinstance(items, Value) or t.state.stale:
        return False
    examples = t.examples.get(owner, MISSING), t.examples.get(items, MISSING)
    if t.shim.is_dict_of(*examples):
        return False
    t.test("not_dict_of", Runtime(owner), (items,))
    return True


def assumption_pending(t: Tracer, kind: str, payload: tuple[Any, ...]) -> bool:
    """Whether a check on the world asks about something that a pending effect may change."""
    if kind not in ASSUMED or not t.state.ledger:
        return False
    read, place = ASSUMED[kind]
    subject = payload[0]
    name = ANY if place is None else payload[place]
    base = ("constant", id(subject))
    return any(entry.opcode in WRITES and breaks(t, entry, read, name, base, subject) for entry in t.state.ledger)


def breaks(t: Tracer, entry: Pending, kind: str, name: Any, base: Any, subject: Any) -> bool:
    """Whether one ledger entry may change what a check on a constant object asks about."""
    other, target, key, owner = written(t, entry)
    if kind == "cell" or other == "cell":
        return kind == other and t.may_alias(target, base)
    if name is not ANY and key is not ANY and key != name:
        return False
    if other == "global":
        return kind == "item" and subject is t.function.__globals__
    if other == kind:
        return not differs(t, target, owner, subject)
    if kind == "item" and not issubclass(type(subject), dict):
        return False
    return crosses(t, {other: (target, owner), kind: (base, None)})


def differs(t: Tracer, target: Any, owner: Tracker | None, subject: Any) -> bool:
    """Whether the object written to is certainly not that constant."""
    if not isinstance(target, Value):
        return bool(target != ("constant", id(subject)))
    kind = known_type(t, target)
    if target in t.state.fresh or (kind is not None and kind is not type(subject)):
        return True
    if isinstance(owner, Runtime) and owner.example is subject:
        return False
    t.test("is_not", Runtime(target), (subject,))
    return True


def forget_assumed(t: Tracer, entry: Pending) -> None:
    """An effect was done: what was assumed of places it may have changed is asked again."""
    if entry.opcode not in WRITES:
        return
    other, _, key, _ = written(t, entry)
    for assumed in [assumed for assumed in t.state.assumed if assumed[0] in ASSUMED]:
        read, place = ASSUMED[assumed[0]]
        if (read == "cell") is (other == "cell") and (place is None or key is ANY or key == assumed[1 + place]):
            t.state.assumed.discard(assumed)


def forget_facts(t: Tracer, base: Any, kind: str, name: Any) -> None:
    """A write (pending or done): what was known of places that it may have changed is not known any more."""
    facts = t.state.facts
    if kind == "item" and type(name) is not str:
        for location in [found for found in facts if found[1] == "keys" and t.may_alias(found[0], base)]:
            del facts[location]
    for location in [found for found in facts if found[1] == kind or (kind in NAMED and found[1] in NAMED)]:
        other, read, key = location
        if is_known(name) and is_known(key) and key != name:
            continue
        if read == kind:
            gone = t.may_alias(other, base)
        else:
            gone = may_cross(t, (other, read), (base, kind))
            if gone and kind == "item" and read == "attr" and not is_known(name):
                gone = not apart(t, other, base)
        if gone:
            del facts[location]


def is_known(name: Any) -> bool:
    """Whether a name can be told from others: it does not stand for several, nor for a key known at run time only."""
    return name is not ANY and name is not None and not isinstance(name, Value)


def may_cross(t: Tracer, one: tuple[Any, str], two: tuple[Any, str]) -> bool:
    """Whether locations of different kinds may be one place, asked without a check."""
    for base, kind in (one, two):
        known = known_type(t, base)
        if base in t.state.fresh or (kind == "item" and not may_be_namespace(t, base)):
            return False
        if kind == "attr" and known is not None and known.__dictoffset__ == 0:
            return False
    return True
