"""Local and global names."""

from __future__ import annotations

import builtins
from typing import Any

from minijit.interpreter.family import Family
from minijit.interpreter.instruction import Instruction
from minijit.interpreter.opcodes import NULL_BELOW
from minijit.interpreter.protocols import promote
from minijit.interpreter.signals import CommitFirst, Opaque
from minijit.interpreter.tracer import Tracer, is_inert, same
from minijit.interpreter.trackers import (
    DEAD,
    MAYBE,
    NULL_SLOT,
    PLAIN_TYPES,
    UNBOUND,
    Constant,
    Runtime,
    Tracker,
)

ops = Family("names")


@ops("LOAD_FAST", "LOAD_FAST_CHECK")
def load_fast(t: Tracer, inst: Instruction) -> bool | None:
    """(-- value)"""
    tracker = t.frame.locals[inst.arg]
    if tracker is UNBOUND or tracker is DEAD:
        t.leave("an unbound local variable")
        return True
    if tracker is MAYBE:
        raise Opaque("a local variable that may be unbound")
    t.push(tracker)
    return None


@ops("LOAD_FAST_AND_CLEAR")
def load_fast_and_clear(t: Tracer, inst: Instruction) -> None:
    """(-- value or NULL)"""
    tracker = t.frame.locals[inst.arg]
    if tracker is MAYBE:
        t.leave("a local variable that may be unbound")
    t.push(NULL_SLOT if tracker is UNBOUND or tracker is DEAD else tracker)
    t.frame.locals[inst.arg] = UNBOUND


@ops("STORE_FAST")
def store_fast(t: Tracer, inst: Instruction) -> None:
    """(value --)"""
    tracker = t.pop()
    t.frame.locals[inst.arg] = UNBOUND if tracker is NULL_SLOT else tracker
    if t.in_root:
        keep_alive(t, inst.arg, tracker)


def keep_alive(t: Tracer, slot: int, tracker: Tracker) -> None:
    """A value that may die visibly must live in the real slot for as long as it would in CPython."""
    old = _standing(t, slot)
    keep = isinstance(tracker, Runtime) and not is_inert(t, tracker)
    replaced = old in (DEAD, MAYBE) or not (old is UNBOUND or same(old, tracker) or is_inert(t, old))
    if not keep and not replaced:
        t.settle_deaths()
        return
    if t.state.record(tracker) is not None or tracker is NULL_SLOT or tracker is UNBOUND:
        if old in (DEAD, MAYBE):
            t.pend("set_local", (Constant(None),), slot, "")
        else:
            t.pend("del_local", (), slot, "")
    else:
        t.pend("set_local", (tracker,), slot, "")
    if replaced:
        t.flush()
        t.drop_unreachable()
        t.forget_world()
        t.state.stale = True
    else:
        t.settle_deaths()


def _standing(t: Tracer, slot: int) -> Tracker:
    """What the real slot holds once the ledger is replayed."""
    for entry in reversed(t.state.ledger):
        if entry.opcode in ("set_local", "del_local") and entry.payload == slot:
            return t.state.resolve(entry.operands[0]) if entry.operands else UNBOUND
    return t.state.physical.get(slot, UNBOUND)


@ops("DELETE_FAST")
def delete_fast(t: Tracer, inst: Instruction) -> bool | None:
    """(--)"""
    if t.frame.locals[inst.arg] in (UNBOUND, DEAD, MAYBE):
        t.leave("an unbound local variable")
        return True
    t.frame.locals[inst.arg] = UNBOUND
    if t.in_root:
        keep_alive(t, inst.arg, UNBOUND)
    return None


# -- globals ------------------------------------------------------------------------------------------


def namespaces(t: Tracer) -> tuple[dict[str, Any], dict[str, Any]]:
    """Globals and builtins of the running frame."""
    names = t.globals_of(t.frame)
    if type(names) is not dict:
        raise Opaque("globals that are not a plain dict")
    found = names.get("__builtins__", builtins)
    inner: Any = found if isinstance(found, dict) else vars(found)
    return names, inner


@ops("LOAD_GLOBAL")
def load_global(t: Tracer, inst: Instruction) -> bool | None:
    """(-- value) and a NULL where asked"""
    name, push_null = inst.arg
    tracker = global_value(t, name)
    if push_null and NULL_BELOW:
        t.push(NULL_SLOT)
    t.push(tracker)
    if push_null and not NULL_BELOW:
        t.push(NULL_SLOT)
    return None


def global_value(t: Tracer, name: str) -> Tracker:
    """A global or builtin: a constant under a check, or read for real where it changes."""
    names, built = namespaces(t)
    base = ("constant", id(names))
    fact = t.fact(base, "global", name)
    if fact is not None:
        if fact is UNBOUND:
            raise Opaque(f"global {name} was deleted")
        return fact
    if name in names:
        value = names[name]
        if not promote.steady(t, value) and (t.state.looped or is_rebound(t, name)):
            return read_global(t, names, name)
        t.assume("global_is", (names, name, value))
        return Constant(value, frozen=t.is_frozen(value))
    if name not in built:
        raise Opaque(f"global {name} is not defined")
    t.assume("global_absent", (names, name))
    t.assume("global_is", (built, name, built[name]))
    return Constant(built[name])


def is_rebound(t: Tracer, name: str) -> bool:
    """Whether some function being interpreted assigns that global, or it was seen to change."""
    if ("global", name) in t.distrusted:
        return True
    return any(
        inst.op in ("STORE_GLOBAL", "DELETE_GLOBAL") and inst.arg == name
        for frame in t.state.frames
        for inst in frame.unit.decoded.instructions
    )


@ops("STORE_GLOBAL")
def store_global(t: Tracer, inst: Instruction) -> None:
    """(value --)"""
    names = t.globals_of(t.frame)
    value = t.pop()
    need_inert_global(t, names, inst.arg)
    own = names is t.function.__globals__
    text = f"global {inst.arg} = ..." if own else f"global {names.get('__name__')}.{inst.arg} = ..."
    if own:
        t.pend("set_global", (value,), inst.arg, text)
    else:
        t.pend("set_item", (Constant(names), Constant(inst.arg), value), None, text)
    wrote_global(t, names, inst.arg, value)


def wrote_global(t: Tracer, names: dict[str, Any], name: str, value: Tracker) -> None:
    """A global has a new value, or none."""
    base = ("constant", id(names))
    t.wrote(base, "global", name, value)


def need_inert_global(t: Tracer, names: dict[str, Any], name: str) -> None:
    """Nobody notices the death of what the global holds."""
    base = ("constant", id(names))
    old = t.fact(base, "global", name)
    if old is None:
        if name not in names:
            t.assume("global_absent", (names, name))
            return
        old = read_global(t, names, name)
    if old is not UNBOUND and not is_inert(t, old) and t.need_type(old) not in PLAIN_TYPES:
        raise Opaque("what the global held before is not known")


def read_global(t: Tracer, names: dict[str, Any], name: str) -> Tracker:
    """Read a global that changes."""
    value = names[name]
    if names is t.function.__globals__:
        loaded = t.emit("global", (), name, example=value)
    else:
        loaded = t.emit("item", (Constant(names), Constant(name)), example=value)
    t.learn(("constant", id(names)), "global", name, loaded)
    return loaded


@ops("DELETE_GLOBAL")
def delete_global(t: Tracer, inst: Instruction) -> None:
    """(--)"""
    names = t.globals_of(t.frame)
    base = ("constant", id(names))
    if names is not t.function.__globals__:
        raise Opaque("a global of another module is deleted")
    if t.state.facts.get((base, "global", inst.arg)) is UNBOUND or inst.arg not in names:
        raise Opaque("a global that is not there")
    need_inert_global(t, names, inst.arg)
    if t.state.facts.get((base, "global", inst.arg)) is None:
        raise Opaque("a global that is not there")
    t.pend("del_global", (), inst.arg, f"del global {inst.arg}")
    wrote_global(t, names, inst.arg, UNBOUND)


__all__ = ["CommitFirst", "keep_alive", "ops"]
