"""Versions of a program point: which states meet, and in which order blocks are traced."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from minijit.interpreter.ir import Block, Value
from minijit.interpreter.state import Frame, State
from minijit.interpreter.trackers import (
    DEAD,
    PLAIN_TYPES,
    Constant,
    Enumerate,
    Generator,
    Iterator,
    Record,
    Sequence,
    Tracker,
    Zip,
)

if TYPE_CHECKING:
    from minijit.interpreter.tracer import Tracer

WALKERS = (Iterator, Enumerate, Zip, Generator)


@dataclass(eq=False, slots=True)
class Incoming:
    """A state that reaches a version, and the block in which it is brought into form."""

    state: State
    block: Block
    backward: bool


@dataclass(eq=False, slots=True)
class Version:
    """One program point in one static state. Mutates until the states that reach it agree.

    `sticky`: paths that are parameters for good, with the type they are known to have;
    `buried`: paths that hold nothing any more; `exposed`: root locals that live in their real slots, bound or not;
    `unfresh`, `loud`: parameters that somebody else may know, whose death may show;
    `displaced`: real slots of the root frame that hold one thing or another;
    `loop`: a back edge was seen; `commit`: the states did not share a commit point;
    `signature`: the entry state that `block` was traced from; `sent`: the edges that its block made.
    """

    key: tuple[Any, ...]
    order: tuple[tuple[int, int], ...]
    incoming: dict[tuple[int, int], Incoming] = field(default_factory=dict)
    entry: State | None = None
    block: Block | None = None
    parameters: list[Value] = field(default_factory=list)
    sticky: dict[tuple[Any, ...], type | None] = field(default_factory=dict)
    buried: set[tuple[Any, ...]] = field(default_factory=set)
    exposed: set[int] = field(default_factory=set)
    unfresh: set[tuple[Any, ...]] = field(default_factory=set)
    loud: set[tuple[Any, ...]] = field(default_factory=set)
    displaced: set[int] = field(default_factory=set)
    loop: bool = False
    commit: bool = False
    signature: tuple[Any, ...] | None = None
    visits: int = 0
    number: int = 0
    sent: list[tuple[Version, tuple[int, int]]] = field(default_factory=list)


def order_of(state: State) -> tuple[tuple[int, int], ...]:
    """Where the state stands in program order; unrolled iterations come after one another."""
    return tuple((frame.generation, frame.pc) for frame in state.frames)


def key_of(t: Tracer, state: State) -> tuple[Any, ...]:
    """States with equal keys meet: same places, same static values, same walks under way."""
    places = tuple(frame.place() for frame in state.frames)
    static: list[Any] = []
    for depth, frame in enumerate(state.frames):
        for slot, tracker in enumerate(frame.locals):
            if tracker is not DEAD:
                _static(t, state, (depth, slot), frame, slot, tracker, static)
        for slot, tracker in enumerate((*frame.stack, *frame.extras, frame.function)):
            _static(t, state, (depth, -1 - slot), frame, -1, tracker, static)
    ledger = tuple(entry.shape() for entry in state.ledger) if len(state.frames) > 1 else ()
    return (places, tuple(static), ledger)


def _static(t: Tracer, state: State, path: Any, frame: Frame, slot: int, tracker: Tracker, found: list[Any]) -> None:
    if isinstance(tracker, Constant):
        if tracker.static or (id(frame.unit.code), slot) in t.key_locals:
            found.append((path, constant_key(tracker.value)))
        return
    record = state.record(tracker)
    if isinstance(record, WALKERS):
        found.append((path, *walk_key(state, record)))


def walk_key(state: State, record: Record) -> list[Any]:
    """Positions of an iterator and of those below it."""
    keys: list[Any] = [record.shape()]
    for part in record.parts():
        inner = state.record(part)
        if isinstance(inner, WALKERS):
            keys.extend(walk_key(state, inner))
        elif isinstance(record, Iterator) and isinstance(inner, Sequence):
            keys.append(len(inner.items))
    return keys


def constant_key(value: object) -> tuple[Any, ...]:
    """Plain values by type and bits, all else by identity."""
    if type(value) in PLAIN_TYPES:
        return (type(value), repr(value) if isinstance(value, (float, complex)) else value)
    return ("id", id(value))
