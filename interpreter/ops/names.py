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
    old = t.state.physical.get(slot, UNBOUND)
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
    found = names.get("__builtins__", builtins)
    return names, found if isinstance(found, dict) else vars(found)


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
        if not promote.worth_promoting(value) and is_rebound(t, name):
            if names is t.function.__globals__:
                loaded = t.emit("global", (), name, example=value)
            else:
                loaded = t.emit("item", (Constant(names), Constant(name)), example=value)
            t.learn(base, "global", name, loaded)
            return loaded
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
    base = ("constant", id(names))
    old = t.state.facts.get((base, "global", inst.arg))
    if old is None or old is UNBOUND or not is_inert(t, old):
        raise Opaque("what the global held before is not known")
    if names is not t.function.__globals__:
        raise Opaque("a global of another module")
    t.pend("set_global", (value,), inst.arg, f"global {inst.arg} = ...")
    t.state.facts[(base, "global", inst.arg)] = value


__all__ = ["CommitFirst", "keep_alive", "ops"]
