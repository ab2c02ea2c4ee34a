"""The abstract state at one point of the program: frames, heap, pending ledger, facts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType
from typing import Any

from minijit.interpreter.decode import Decoded, decode
from minijit.interpreter.ir import Position, Snapshot, Value
from minijit.interpreter.liveness import Flow, analyse
from minijit.interpreter.signals import Opaque
from minijit.interpreter.trackers import DEAD, UNBOUND, Constant, Record, Runtime, Tracker, Virtual


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """A code object with what is known of it statically.

    `cells` is the bit set of slots that hold cells; `late_cells`: an inlined comprehension makes or hides some.
    """

    code: CodeType
    decoded: Decoded
    flow: Flow
    cells: int
    late_cells: bool


class CodeKey:
    """Identity of a code object (code objects themselves compare by value)."""

    __slots__ = ("code",)

    def __init__(self, code: CodeType) -> None:
        self.code = code

    def __hash__(self) -> int:
        return id(self.code)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CodeKey) and other.code is self.code


def cell_slots(code: CodeType) -> int:
    """Bit set of the slots that hold cells once the prologue has run."""
    names = code.co_varnames
    bits = 0
    extra = len(names)
    for name in code.co_cellvars:
        if name in names:
            bits |= 1 << names.index(name)
        else:
            bits |= 1 << extra
            extra += 1
    for _ in code.co_freevars:
        bits |= 1 << extra
        extra += 1
    return bits


@lru_cache(maxsize=512)
def _unit(key: CodeKey) -> Unit:
    decoded = decode(key.code)
    cells = cell_slots(key.code)
    return Unit(key.code, decoded, analyse(decoded), cells, _has_late_cells(decoded, cells))


def _has_late_cells(decoded: Decoded, cells: int) -> bool:
    """Whether an inlined comprehension makes cells, or puts a variable of its own in a cell's place."""
    body = decoded.instructions[decoded.prologue :]
    return any(i.op == "MAKE_CELL" or (i.op == "LOAD_FAST_AND_CLEAR" and cells >> i.arg & 1) for i in body)


def unit_of(code: CodeType) -> Unit:
    """Decode and analyse a code object, once."""
    return _unit(CodeKey(code))


@dataclass(frozen=True, slots=True)
class Then:
    """What to do with an inlined call's result: a row of `continuations.TABLE` and its payload."""

    name: str
    payload: Any = None


PUSH = Then("push")


class Frame:
    """One activation. Mutates while it runs; a suspended generator's frame is never changed."""

    __slots__ = ("branched", "extras", "function", "generation", "locals", "pc", "stack", "then", "unit")

    def __init__(self, unit: Unit, function: Tracker, slots: list[Tracker], then: Then = PUSH) -> None:
        self.unit = unit
        self.function = function
        self.pc = 0
        self.generation = 0
        self.branched = False
        self.locals = slots
        self.stack: list[Tracker] = []
        self.then = then
        self.extras: tuple[Tracker, ...] = ()

    def clone(self) -> Frame:
        """A copy that can run on its own."""
        copy = Frame(self.unit, self.function, self.locals.copy(), self.then)
        copy.pc = self.pc
        copy.generation = self.generation
        copy.branched = self.branched
        copy.stack = self.stack.copy()
        copy.extras = self.extras
        return copy

    def parts(self) -> tuple[Tracker, ...]:
        """All trackers of the frame in a fixed order."""
        return (self.function, *self.locals, *self.stack, *self.extras)

    def rebuilt(self, parts: tuple[Tracker, ...]) -> Frame:
        """A copy with other trackers in the same places."""
        copy = self.clone()
        locals_end = 1 + len(self.locals)
        stack_end = locals_end + len(self.stack)
        copy.function = parts[0]
        copy.locals = list(parts[1:locals_end])
        copy.stack = list(parts[locals_end:stack_end])
        copy.extras = parts[stack_end:]
        return copy

    def place(self) -> tuple[Any, ...]:
        """Where the frame is: what must be equal for two states to meet."""
        return (id(self.unit.code), self.pc, self.then, len(self.stack), len(self.extras))

    def bury_dead(self, keeping: Callable[[Tracker], bool]) -> None:
        """Forget locals that can't be read any more, but for those that are to be kept alive."""
        live = self.unit.flow.live[self.pc] | self.unit.cells
        for slot, tracker in enumerate(self.locals):
            if tracker is not DEAD and not live >> slot & 1 and not keeping(tracker):
                self.locals[slot] = DEAD


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """A ledger entry: an effect that waits for the next commit point.

    `site`: where the root frame stood, for an effect that took something out (`list.pop`): threads
    share such work by it, so nothing may run between the reading of what is taken and the taking.
    """

    opcode: str
    operands: tuple[Tracker, ...]
    payload: Any
    position: Position
    filename: str = ""
    text: str = ""
    site: int = -1

    def shape(self) -> tuple[Any, ...]:
        """What two entries must share for their ledgers to meet."""
        return (self.opcode, self.payload, self.position, self.filename)


@dataclass(eq=False, slots=True)
class Draft:
    """A snapshot before its contents are worked out: the root frame as it was. Filled at the end."""

    snapshot: Snapshot
    frame: Frame
    heap: dict[int, Record | Runtime]
    physical: dict[int, Tracker]
    used: bool = False


@dataclass(eq=False, slots=True)
class State:
    """Everything known at one point. Mutates as instructions are interpreted; `clone` to fork.

    `facts`: contents of locations of real objects; `types`: exact types established by checks;
    `assumed`: keys of checks on the world that still hold; `fresh`: real objects made since the
    last commit that nobody else has seen; `owned`: values whose last reference may be ours;
    `borrowed`: values read since other code last ran, which somebody else still holds;
    `physical`: what the root frame's real local slots hold; `opened`: nothing but pure work was
    done since the function was entered; `unconditional`: nor was any branch taken; `stale`: the
    snapshot must be renewed before anything may abort; `looped`: a loop was entered.
    """

    frames: list[Frame]
    snapshot: Draft
    heap: dict[int, Record | Runtime] = field(default_factory=dict)
    ledger: list[Pending] = field(default_factory=list)
    facts: dict[tuple[Any, ...], Tracker] = field(default_factory=dict)
    types: dict[Value, type] = field(default_factory=dict)
    assumed: set[tuple[Any, ...]] = field(default_factory=set)
    fresh: set[Value] = field(default_factory=set)
    owned: set[Value] = field(default_factory=set)
    borrowed: set[Value] = field(default_factory=set)
    physical: dict[int, Tracker] = field(default_factory=dict)
    opened: bool = True
    unconditional: bool = True
    stale: bool = False
    looped: bool = False

    def clone(self) -> State:
        """An independent copy; trackers and records are shared, they never change."""
        return State(
            [frame.clone() for frame in self.frames],
            self.snapshot,
            self.heap.copy(),
            self.ledger.copy(),
            self.facts.copy(),
            self.types.copy(),
            self.assumed.copy(),
            self.fresh.copy(),
            self.owned.copy(),
            self.borrowed.copy(),
            self.physical.copy(),
            self.opened,
            self.unconditional,
            self.stale,
            self.looped,
        )

    @property
    def frame(self) -> Frame:
        """The running frame."""
        return self.frames[-1]

    @property
    def root(self) -> Frame:
        """The frame of the function that is compiled."""
        return self.frames[0]

    def resolve(self, tracker: Tracker) -> Tracker:
        """A virtual object that was built is the value it was built into."""
        if isinstance(tracker, Virtual):
            record = self.heap[tracker.number]
            if isinstance(record, Runtime):
                return record
        return tracker

    def bury_dead(self) -> None:
        """Forget what can't be read; a call's locals keep alive what may die visibly until it returns."""
        loose = self.owned - {x.value for x in self.physical.values() if isinstance(x, Runtime)}

        def keeping(tracker: Tracker) -> bool:
            tracker = self.resolve(tracker)
            held = isinstance(tracker, Runtime) and tracker.value in loose
            return bool(loose) and (isinstance(tracker, Virtual) or held)

        self.root.bury_dead(lambda tracker: False)
        for frame in self.frames[1:]:
            frame.bury_dead(keeping)

    def record(self, tracker: Tracker) -> Record | None:
        """The record of an object that is still virtual."""
        if isinstance(tracker, Virtual):
            record = self.heap[tracker.number]
            return record if isinstance(record, Record) else None
        return None

    def base(self, tracker: Tracker) -> Any:
        """Identity of a real object as a key for facts."""
        tracker = self.resolve(tracker)
        if isinstance(tracker, Runtime):
            return tracker.value
        if isinstance(tracker, Constant):
            return ("constant", id(tracker.value))
        raise Opaque("an object that is not built yet is treated like any other")


def unbound_slots(code: CodeType) -> list[Tracker]:
    """Local slots of a new activation, all unbound."""
    return [UNBOUND] * (
        len(code.co_varnames) + len(set(code.co_cellvars) - set(code.co_varnames)) + len(code.co_freevars)
    )
