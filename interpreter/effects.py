"""Changing a container: at once where it is our own, else through the ledger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from minijit.interpreter import naming
from minijit.interpreter.conflicts import ANY, VIEWS, WRITES, may_be_walked, touches
from minijit.interpreter.ir import Operand
from minijit.interpreter.signals import CommitFirst, Opaque
from minijit.interpreter.state import Pending
from minijit.interpreter.trackers import MISSING, PLAIN_TYPES, Constant, Runtime, Tracker

if TYPE_CHECKING:
    from minijit.interpreter.tracer import Tracer

VALUES = {"set_item": 2, "set_attr": 1, "set_global": 0, "set_deref": 1}
"""Ledger entries that put one value in the place of another: which operand is the value."""

SHOWN: tuple[Any, ...] = ([], {}, set(), {}.keys(), {}.values(), {}.items())
INDIRECT = frozenset({*VIEWS, *(type(iter(shown)) for shown in SHOWN)})
"""Types of objects that show the contents of another."""

UNCHANGING = frozenset({*PLAIN_TYPES, tuple, range, frozenset})
"""Types whose contents no effect changes."""

INSIDE = frozenset({*PLAIN_TYPES, tuple})
"""Types of values that may die in an inlined call: at most what hides behind them has a finalizer."""


def is_fresh(t: Tracer, owner: Tracker) -> bool:
    """A real object of our own that nobody else has seen."""
    return isinstance(owner, Runtime) and owner.value in t.state.fresh


def change(
    t: Tracer, opcode: str, operands: tuple[Tracker, ...], payload: Any, text: str, exclusive: bool = False
) -> None:
    """Do something to the first operand that can't fail; what was known of its contents is forgotten."""
    owner = operands[0]
    if is_fresh(t, owner):
        t.emit_fresh_effect(opcode, operands, payload)
        for operand in operands[1:]:
            t.escape(operand)
    else:
        t.pend(opcode, operands, payload, text, exclusive)
    name: Any = ANY
    key = operands[1] if opcode in ("set_item", "del_item") else None
    if isinstance(key, Constant) and type(key.value) in PLAIN_TYPES and key.value is not None and is_mapping(t, owner):
        name = key.value
    t.wrote(t.state.base(owner), "item", name, None)


def is_mapping(t: Tracer, owner: Tracker) -> bool:
    """A dict: one key is one place."""
    kind = t.known_type(owner)
    return kind is not None and issubclass(kind, dict)


def replay(
    t: Tracer, function: Callable[..., Any], operands: tuple[Tracker, ...], exclusive: bool = False
) -> None:
    """Call a builtin method of the first operand, past whatever a subclass overrides."""
    effect = _effect(t.shim.Effect, function)
    change(t, "effect_call", operands, effect, described(t, function, operands[0]), exclusive)


@lru_cache(maxsize=256)
def _effect(kind: Any, function: Callable[..., Any]) -> Any:
    return kind(function)


def described(t: Tracer, function: Any, owner: Tracker) -> str:
    """`list.append on self.items`."""
    return f"{function.__qualname__} on {naming.path(t, owner)}"


def settled(t: Tracer, owner: Tracker) -> None:
    """A read of contents must see pending effects."""
    owner = t.state.resolve(owner)
    if not isinstance(owner, (Runtime, Constant)) or t.known_type(owner) in UNCHANGING:
        return
    if t.known_type(owner) in INDIRECT or t.known_type(owner) is None:
        walked = t.walks.get(owner.value) if isinstance(owner, Runtime) else None
        if may_be_walked(t, walked):
            raise CommitFirst
    if t.pending_on("item", None, t.state.base(owner)):
        raise CommitFirst


def overwritable(t: Tracer, owner: Tracker, kind: str = "item", name: Any = ANY) -> None:
    """What pending effects put there may die as well: that must be inert, or be there first."""
    base = t.state.base(owner)
    for entry in t.state.ledger:
        if entry.opcode not in WRITES or not touches(t, entry, kind, name, base):
            continue
        place = VALUES.get(entry.opcode)
        if place is None or t.need_type(entry.operands[place]) not in PLAIN_TYPES:
            raise CommitFirst


@dataclass(frozen=True, slots=True)
class Tail:
    """What pending appends and pops have done to the end of a list: so many items taken off, these put on."""

    gone: int
    added: tuple[Pending, ...]


def tail_of(t: Tracer, owner: Tracker) -> Tail | None:
    """The end of a list as the ledger leaves it; None where something else may have been done to it."""
    if t.known_type(owner) is not list:
        return None
    base, gone = t.state.base(owner), 0
    added: list[Pending] = []
    for entry in t.state.ledger:
        if entry.opcode not in WRITES or not touches(t, entry, "item", ANY, base):
            continue
        if t.state.base(entry.operands[0]) != base:
            return None
        if entry.opcode == "append":
            added.append(entry)
        elif is_pop(entry) and not added:
            gone += 1
        elif is_pop(entry):
            added.pop()
        else:
            return None
    return Tail(gone, tuple(added))


def is_pop(entry: Pending) -> bool:
    """The last item is taken out."""
    if entry.opcode != "del_item" or entry.site < 0:
        return False
    key = entry.operands[1]
    return isinstance(key, Constant) and type(key.value) is int and key.value == -1


def own(t: Tracer, item: Runtime) -> None:
    """What was taken out of a container may die where the program lets it go."""
    if t.in_root:
        if t.known_type(item) not in PLAIN_TYPES:
            t.state.owned.add(item.value)
    elif t.need_type(item) not in INSIDE:
        raise Opaque("what is taken out may have a finalizer")


def example_of(tracker: Tracker) -> Any:
    """What was met in the traced call."""
    return tracker.value if isinstance(tracker, Constant) else getattr(tracker, "example", MISSING)


def need_index(t: Tracer, index: Tracker) -> Tracker:
    """An index that fits a machine word."""
    if t.need_type(index) is not int:
        raise Opaque("an index that is not an int")
    if isinstance(index, Constant):
        if not -(1 << 31) < index.value < 1 << 31:
            raise Opaque("an index out of range")
    else:
        assert isinstance(index, Runtime)
        t.test("index", index)
    return index


def key_operand(t: Tracer, key: Tracker) -> Operand:
    """A key that a quiet lookup may ask for; whether it is quiet is asked at run time."""
    if t.need_type(key) not in INSIDE:
        raise Opaque("a key that is not of a plain type")
    return t.operand(key)


def ask(t: Tracer, question: str, owner: Tracker, *rest: Operand | type) -> None:
    """A test of a real object, a constant one included."""
    t.test(question, as_runtime(t, owner), rest)


def as_runtime(t: Tracer, owner: Tracker) -> Runtime:
    """A constant that a test asks about must be in a slot."""
    owner = t.state.resolve(owner)
    if isinstance(owner, Runtime):
        return owner
    if not isinstance(owner, Constant):
        raise Opaque("an object that is not built yet is asked about")
    loaded = t.load("constant", None, (owner.value,), owner.value)
    t.state.types[loaded.value] = type(owner.value)
    return loaded
