"""The services every handler uses: values, checks, commits, opaque operations.

The tracer mutates: it holds the block being written and the state being interpreted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

from minijit.interpreter import conflicts, materialise
from minijit.interpreter.instruction import Instruction
from minijit.interpreter.ir import (
    NULL,
    Abort,
    Block,
    Const,
    Deliver,
    Exit,
    Operand,
    Operation,
    Position,
    Snapshot,
    Terminator,
    Test,
    Value,
)
from minijit.interpreter.notes import Notes
from minijit.interpreter.signals import CallForReal, CommitFirst, Leave, Opaque, OverBudget
from minijit.interpreter.state import CodeKey, Draft, Frame, Pending, State
from minijit.interpreter.trackers import (
    DEAD,
    MISSING,
    NULL_SLOT,
    PLAIN_TYPES,
    RECORD_TYPES,
    UNBOUND,
    Constant,
    Exception_,
    Function,
    Generator,
    Instance,
    Record,
    Runtime,
    Sequence,
    Tracker,
    Virtual,
)

IMMUTABLE_TYPE = 1 << 8
"""Py_TPFLAGS_IMMUTABLETYPE: the class can't be changed, so nothing need be checked."""


SAVED_NANOSECONDS = {"inlined": 25.0, "removed": 60.0, "folded": 6.0}
"""About what a Python call, the making of an object and a decision cost (medians of three versions)."""

FAILURES = 2
"""Calls of one function that had to be made for real, after which no more are inlined from the root."""


@dataclass(eq=False, slots=True)
class Plan:
    """What earlier attempts at a region have taught. Mutates.

    `blocked`: root instructions that must not inline anything, and why; `key_locals`: locals whose
    values tell versions apart; `commits`: root instructions that begin at a commit point; `failures`:
    how often a function called by the root needed a frame.
    """

    blocked: dict[int, str] = field(default_factory=dict)
    key_locals: set[tuple[int, int]] = field(default_factory=set)
    commits: set[int] = field(default_factory=set)
    failures: dict[CodeKey, int] = field(default_factory=dict)

    def failed(self, t: Tracer) -> None:
        """The outermost inlined call of this attempt must be made for real."""
        if len(t.state.frames) > 1:
            key = CodeKey(t.state.frames[1].unit.code)
            self.failures[key] = self.failures.get(key, 0) + 1

    def hopeless(self) -> frozenset[CodeKey]:
        """Functions that are not worth another try."""
        return frozenset(key for key, count in self.failures.items() if count >= FAILURES)

POLLS = frozenset({"call", "call_method", "call_ex", "new"})
"""Operations at which signal handlers and other threads may run."""


class Tracer:
    """One attempt at a region."""

    def __init__(
        self, function: FunctionType, code: CodeType, plan: Plan, world: Any, budget: int
    ) -> None:
        self.function = function
        self.code = code
        self.blocked = plan.blocked
        self.key_locals = plan.key_locals
        self.commits = plan.commits
        self.hopeless = plan.hopeless()
        self.budget = budget
        self.distrusted = world.distrusted
        self.pessimistic = world.pessimistic
        self.shim = world.shim
        self.is_frozen = world.is_frozen
        self.original_code = world.original_code
        self.notes = Notes(code.co_filename)
        self.root_cells: dict[Value, int] = {}
        self.cell_examples: dict[Value, object] = {}
        self.walks: dict[Value, type] = {}
        self.examples: dict[Value, object] = {}
        self.machine: Any = None
        self.entry_tests: list[Test] = []
        self.entry_keys: dict[tuple[Any, ...], Test] = {}
        self.entry_values: set[Value] = set()
        self.entry_types: dict[Value, type] = {}
        self.drafts: list[Draft] = []
        self.origins: dict[Value, tuple[int, int]] = {}
        self.silent: set[Value] = set()
        self.keepalive: list[Any] = []
        self.building: set[int] = set()
        self.saved: dict[Block, float] = {}
        self.steps = 0
        self.values = 0
        self.numbers = 0
        self.blocks = 0
        self.state: State
        self.block: Block
        self.open = True

    def gain(self, kind: str, text: str, origin: str = "") -> None:
        """Note something that the block being traced no longer has to do."""
        self.notes.add(kind, self.position, text, origin=origin)
        self.saved[self.block] = self.saved.get(self.block, 0.0) + SAVED_NANOSECONDS[kind]

    # -- the running instruction ---------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        """The running frame."""
        return self.state.frames[-1]

    @property
    def in_root(self) -> bool:
        """Whether the running frame is the compiled function's own."""
        return len(self.state.frames) == 1

    def push(self, tracker: Tracker) -> None:
        """Push on the running frame's stack."""
        self.state.frames[-1].stack.append(tracker)

    def pop(self) -> Tracker:
        """Pop from the running frame's stack."""
        frame = self.state.frames[-1]
        return self.state.resolve(frame.stack.pop())

    def pop_many(self, count: int) -> list[Tracker]:
        """Pop `count` trackers, bottom first."""
        if not count:
            return []
        stack = self.state.frames[-1].stack
        items = [self.state.resolve(tracker) for tracker in stack[-count:]]
        del stack[-count:]
        return items

    def peek(self, depth: int = 1) -> Tracker:
        """The stack item `depth` from the top."""
        return self.state.resolve(self.state.frames[-1].stack[-depth])

    @property
    def position(self) -> Position:
        """Source position in the root function of what is being interpreted."""
        root = self.state.frames[0]
        instructions = root.unit.decoded.instructions
        return instructions[min(root.pc, len(instructions) - 1)].position

    def step(self) -> None:
        """Count an instruction against the budget."""
        self.steps += 1
        if self.steps > self.budget:
            raise OverBudget("instructions")

    def globals_of(self, frame: Frame) -> dict[str, Any]:
        """The globals of a frame's function."""
        function = self.state.resolve(frame.function)
        record = self.state.record(function)
        if isinstance(record, Function):
            return record.namespace
        if isinstance(function, Constant) and issubclass(type(function.value), FunctionType):
            namespace: dict[str, Any] = function.value.__globals__
            return namespace
        raise Opaque("a function that is not known")

    def is_cell(self, frame: Frame, slot: int) -> bool:
        """Whether a local slot holds a cell."""
        return is_cell_slot(frame, slot)

    def blame(self) -> int:
        """The root frame's instruction that must not inline what is running now."""
        return self.blame_of(self.state)

    def blame_of(self, state: State) -> int:
        """The same for what is running in that state."""
        frames = state.frames
        if len(frames) > 1 and frames[1].then.name == "generator_return" and frames[1].extras:
            walk = frames[1].extras[0]
            record = state.heap[walk.number] if isinstance(walk, Virtual) else None
            if isinstance(record, Generator):
                return record.site
        return frames[0].pc

    # -- values ----------------------------------------------------------------------------------

    def new_value(self, type_: type | None = None, name: str = "") -> Value:
        """A value not seen before."""
        self.values += 1
        return Value(self.values, type_, name)

    def new_block(self) -> Block:
        """An empty block."""
        self.blocks += 1
        return Block(self.blocks)

    def virtual(self, record: Record) -> Virtual:
        """A new virtual object."""
        self.numbers += 1
        self.state.heap[self.numbers] = record
        return Virtual(self.numbers)

    def update(self, tracker: Tracker, record: Record) -> None:
        """A mutation of a virtual object."""
        assert isinstance(tracker, Virtual)
        self.state.heap[tracker.number] = record

    def packed(self, items: Iterable[Tracker]) -> Virtual:
        """Several trackers as one; never seen by the program."""
        return self.virtual(Sequence(tuple, tuple(items)))

    def tuple_of(self, items: Iterable[Tracker]) -> Tracker:
        """A new virtual tuple; there is only one empty tuple."""
        found = tuple(items)
        return self.virtual(Sequence(tuple, found)) if found else Constant(())

    def abort(self) -> Abort | None:
        """Failure of a pure operation: back to the last commit point.

        None right after a commit whose snapshot is not taken yet: nothing that can fail in a way
        worth redoing is emitted there.
        """
        if self.state.stale:
            return None
        self.state.snapshot.used = True
        return Abort(self.state.snapshot.snapshot)

    def emit(
        self,
        opcode: str,
        operands: Iterable[Tracker],
        payload: object = None,
        type_: type | None = None,
        example: object = MISSING,
        raises: bool = True,
        fresh: bool = False,
    ) -> Runtime:
        """A pure operation: it may read, allocate and raise; its failure aborts."""
        if opcode in POLLS and self.state.ledger:
            self.keep_exclusive()
        sources = tuple(self.operand(tracker) for tracker in operands)
        assignable = type_ is not None and not type_.__flags__ & IMMUTABLE_TYPE
        value = self.new_value(None if assignable else type_)
        if assignable and type_ is not None:
            self.state.types[value] = type_
        failure = self.abort() if raises else None
        self.block.operations.append(Operation(opcode, sources, payload, (value,), failure, self.position))
        if fresh:
            self.state.fresh.add(value)
        else:
            self.borrow(value)
        return Runtime(value, example)

    def emit_fresh_effect(self, opcode: str, operands: Iterable[Tracker], payload: object = None) -> None:
        """An effect on an object of our own that no snapshot knows: thrown away with it on abort."""
        sources = tuple(self.operand(tracker) for tracker in operands)
        self.block.operations.append(Operation(opcode, sources, payload, (), self.abort(), self.position, effect=True))

    def operand(self, tracker: Tracker) -> Operand:
        """The tracker as an operand; a virtual object is built now."""
        tracker = self.state.resolve(tracker)
        if isinstance(tracker, Runtime):
            return tracker.value
        if isinstance(tracker, Constant):
            return Const(tracker.value)
        if isinstance(tracker, Virtual):
            return materialise.build(self, tracker).value
        if tracker is NULL_SLOT:
            return NULL
        raise Opaque(f"no value for {tracker}")

    # -- types ---------------------------------------------------------------------------------

    def known_type(self, tracker: Tracker) -> type | None:
        """The exact type where it is certain, without a check."""
        tracker = self.state.resolve(tracker)
        if isinstance(tracker, Constant):
            return type(tracker.value)
        if isinstance(tracker, Runtime):
            return self._base_type(tracker.value)
        record = self.state.record(tracker)
        if isinstance(record, (Sequence, Instance, Exception_)):
            return record.cls
        if isinstance(record, Function):
            return FunctionType
        return record_type(record)

    def need_type(self, tracker: Tracker) -> type | None:
        """The exact type, established by a check on the type met in the traced call if need be."""
        tracker = self.state.resolve(tracker)
        if isinstance(tracker, Runtime) and tracker.example is not MISSING:
            self.examples.setdefault(tracker.value, tracker.example)
        known = self.known_type(tracker)
        if known is not None:
            return known
        if not isinstance(tracker, Runtime) or tracker.example is MISSING:
            return None
        type_ = type(tracker.example)
        if self.site("type") in self.distrusted:
            return None
        lasting = type_ is not type(None) and type_.__flags__ & IMMUTABLE_TYPE  # None is asked for where it is needed
        if type_ is type(None):
            self.test("is", tracker, (None,))
        else:
            self.test("type", tracker, (type_,))
        if tracker.value in self.entry_values and (self.state.opened or lasting):
            self.entry_types[tracker.value] = type_
        self.state.types[tracker.value] = type_
        return type_

    def site(self, kind: str) -> tuple[Any, ...]:
        """Name of a speculation, the same in the next attempt."""
        frame = self.frame
        return (kind, frame.unit.code.co_qualname, frame.pc)

    # -- checks --------------------------------------------------------------------------------

    def test(self, kind: str, subject: Runtime, payload: tuple[Any, ...] = ()) -> None:
        """Ask something of a value; at entry where that is early enough, else here."""
        key = (kind, subject.value, *map(identity, payload))
        line = Test(kind, subject.value, payload)
        lasting = kind == "type" and bool(payload[0].__flags__ & IMMUTABLE_TYPE)
        asked = {subject.value, *(item for item in payload if isinstance(item, Value))}
        if asked <= self.entry_values and (self.state.opened or lasting):
            if key not in self.entry_keys:
                self.entry_keys[key] = line
                self.entry_tests.append(line)
            return
        self._check(line)

    def load(self, kind: str, subject: Runtime | None, payload: tuple[Any, ...], example: object = MISSING) -> Runtime:
        """A test that also loads what it found."""
        asked = subject.value if subject is not None else None
        key = (kind, asked, *map(identity, payload))
        values = {item for item in (asked, *payload) if isinstance(item, Value)}
        early = self.state.unconditional and values <= self.entry_values
        if self.state.opened and early:
            line = self.entry_keys.get(key)
            if line is None:
                value = self.new_value()
                line = Test(kind, asked, payload, value)
                self.entry_keys[key] = line
                self.entry_tests.append(line)
                self.entry_values.add(value)
            assert line.result is not None
            self.borrow(line.result)
            return Runtime(line.result, example)
        value = self.new_value()
        self.borrow(value)
        self._check(Test(kind, asked, payload, value))
        return Runtime(value, example)

    def assume(self, kind: str, payload: tuple[Any, ...]) -> None:
        """A check on the world (a global, a class, a function) unless it is known to hold."""
        key = (kind, *map(identity, payload))
        if conflicts.assumption_pending(self, kind, payload):
            raise CommitFirst
        if self.state.opened:
            if key not in self.entry_keys:
                line = Test(kind, None, payload)
                self.entry_keys[key] = line
                self.entry_tests.append(line)
            return
        if key not in self.state.assumed:
            self._check(Test(kind, None, payload))
            self.state.assumed.add(key)

    def _check(self, line: Test) -> None:
        """Ask as early in the block as may be: between commit points memory stays as it is.

        Effects and the making of what is asked about hold a check back; so does what leaves from an
        earlier commit point, as a later one relies on its success.
        """
        subjects = (line.subject,) if line.subject is not None else ()
        asked = subjects + tuple(item for item in line.payload if isinstance(item, Value))
        results = (line.result,) if line.result is not None else ()
        abort = self.abort()
        operations = self.block.operations
        place = len(operations)
        while place and not operations[place - 1].effect:
            before = operations[place - 1]
            if before.opcode == "check" and same_exit(before, abort):
                assert isinstance(before.payload, tuple)
                before.payload = (*before.payload, line)
                before.operands += tuple(value for value in asked if value not in before.results)
                before.results += results
                return
            elsewhere = before.failure is not None and not same_exit(before, abort)
            if elsewhere or any(value in before.results for value in asked):
                break
            place -= 1
        check = Operation("check", asked, (line,), results, abort, self.position)
        operations.insert(place, check)

    def assume_class(self, cls: type) -> None:
        """The class and its bases stay as they are."""
        if cls.__flags__ & IMMUTABLE_TYPE:
            return
        tag = self.shim.type_version(cls)
        if not tag:
            raise Opaque(f"class {cls.__name__} has no version")
        self.assume("version", (cls, tag))

    # -- aliasing and facts ------------------------------------------------------------------------

    def may_alias(self, left: Any, right: Any) -> bool:
        """Whether two fact bases may be one object."""
        if left is right or left == right:
            return True
        if isinstance(left, tuple) and isinstance(right, tuple):
            return False
        fresh = self.state.fresh
        if left in fresh or right in fresh:
            return False
        known = [self._base_type(base) for base in (left, right)]
        return known[0] is None or known[1] is None or known[0] is known[1]

    def _base_type(self, base: Any) -> type | None:
        """A class that a program can assign to `__class__` is only known until other code has run."""
        if not isinstance(base, Value):
            return None
        known = base.type or self.state.types.get(base)
        if known is None:
            known = self.entry_types.get(base)
            if known is not None and not self.state.opened and not known.__flags__ & IMMUTABLE_TYPE:
                return None
        return known

    def fact(self, base: Any, kind: str, name: Any) -> Tracker | None:
        """What is known to be at a location. Raises CommitFirst when a pending write may be there."""
        found = self.state.facts.get((base, kind, name))
        if found is None and self.pending_on(kind, name, base):
            raise CommitFirst
        return found

    def learn(self, base: Any, kind: str, name: Any, tracker: Tracker) -> None:
        """Remember what a read found."""
        self.state.facts[(base, kind, name)] = tracker

    def wrote(self, base: Any, kind: str, name: Any, tracker: Tracker | None) -> None:
        """A write (pending or done) to a location: forget what may have been there. None: any name, any value."""
        conflicts.forget_facts(self, base, kind, name)
        if tracker is not None:
            self.state.facts[(base, kind, name)] = tracker

    def pend(
        self, opcode: str, operands: tuple[Tracker, ...], payload: Any, text: str, exclusive: bool = False
    ) -> None:
        """Enter an effect on the outside world into the ledger."""
        frame = self.frame
        inst = frame.unit.decoded.instructions[frame.pc]
        site = self.state.root.pc if exclusive else -1
        self.state.ledger.append(
            Pending(opcode, operands, payload, inst.position, frame.unit.code.co_filename, text, site)
        )
        for tracker in operands:
            self.escape(tracker)

    def keep_exclusive(self) -> None:
        """What follows lets others run: nothing may have been read that is to be taken out later."""
        for entry in self.state.ledger:
            if entry.site >= 0:
                raise CallForReal(entry.site, "another thread must not come between")

    def pending_on(self, kind: str, name: Any, base: Any) -> bool:
        """Whether the ledger holds an effect on what may be that location."""
        return conflicts.pending_on(self, kind, name, base)

    def escape(self, tracker: Tracker) -> None:
        """Somebody else may come to know this object."""
        tracker = self.state.resolve(tracker)
        if isinstance(tracker, Runtime) and tracker.value in self.state.fresh:
            self.state.fresh.discard(tracker.value)
            self.state.owned.add(tracker.value)

    def borrow(self, value: Value) -> None:
        """A reference was read: it is kept no longer than the program keeps it."""
        if value.type not in PLAIN_TYPES:
            self.state.borrowed.add(value)

    # -- commit points ------------------------------------------------------------------------------

    def flush(self) -> None:
        """Replay the ledger here, in program order. Building comes first: it may still abort."""
        state = self.state
        if not state.ledger:
            return
        entries = [(entry, tuple(self.operand(tracker) for tracker in entry.operands)) for entry in state.ledger]
        for entry, operands in entries:
            operation = Operation(entry.opcode, operands, entry.payload, (), None, self.position, effect=True)
            self.block.operations.append(operation)
            self.notes.effect(entry, operation)
            conflicts.forget_assumed(self, entry)
            if entry.opcode == "set_local":
                state.physical[entry.payload] = state.resolve(entry.operands[0])
            elif entry.opcode == "del_local":
                state.physical[entry.payload] = UNBOUND
        state.ledger.clear()
        state.opened = False

    def commit(self) -> None:
        """Make the state before the running instruction of the root frame the place to go back to."""
        if not self.in_root:
            raise CallForReal(self.blame(), "an effect inside a call must be visible at once")
        self.flush()
        self.renew()

    def renew(self) -> None:
        """Take a snapshot at the root frame's instruction."""
        state = self.state
        state.snapshot = self.draft(state)
        state.owned |= state.fresh
        state.fresh.clear()
        self.opened_end()

    def opened_end(self) -> None:
        """From here on the world may differ from what it was at entry."""
        self.state.opened = False
        self.state.unconditional = False

    def draft(self, state: State) -> Draft:
        """A snapshot of the root frame as it is now."""
        root = state.root
        inst = root.unit.decoded.instructions[root.pc]
        snapshot = Snapshot(len(self.drafts), inst.offset if inst.offset is not None else -1)
        draft = Draft(snapshot, root.clone(), state.heap.copy(), state.physical.copy())
        self.drafts.append(draft)
        return draft

    def forget_world(self) -> None:
        """Arbitrary code may have run: nothing read from memory is known any more."""
        forget(self.state)
        self.opened_end()

    # -- opaque operations ---------------------------------------------------------------------------

    def expose_locals(self) -> None:
        """Put every local of the root frame where a frame inspector or handler would look for it."""
        state = self.state
        root = state.root
        wanted: list[tuple[int, Tracker]] = []
        for slot in range(root.unit.code.co_nlocals):
            tracker = state.resolve(root.locals[slot])
            if tracker is DEAD or same(tracker, state.physical.get(slot, UNBOUND)) or is_cell_slot(root, slot):
                continue
            if tracker is not UNBOUND:
                self.operand(tracker)
            wanted.append((slot, state.resolve(tracker)))
        self.flush()
        for slot, tracker in wanted:
            if same(tracker, state.physical.get(slot, UNBOUND)):
                continue
            opcode = "del_local" if tracker is UNBOUND else "set_local"
            operands = () if tracker is UNBOUND else (self.operand(tracker),)
            self.block.operations.append(Operation(opcode, operands, slot, (), None, self.position, effect=True))
            state.physical[slot] = tracker

    def expose_local(self, slot: int) -> None:
        """Enter into the ledger what brings one root local into its real slot."""
        state = self.state
        tracker = state.resolve(state.root.locals[slot])
        if tracker is DEAD or same(tracker, state.physical.get(slot, UNBOUND)):
            return
        if tracker is UNBOUND:
            self.pend("del_local", (), slot, "")
        else:
            self.pend("set_local", (tracker,), slot, "")

    def drop_unreachable(self) -> None:
        """Values that CPython would have let go by now die before anybody can look."""
        state = self.state
        held = state.owned | state.borrowed
        if not held:
            return
        for value in sorted(held - reachable_values(state), key=lambda value: value.number):
            if self._death_shows(value):
                self.block.operations.append(Operation("drop", (value,), None, (), None, self.position, effect=True))
            state.owned.discard(value)
            state.borrowed.discard(value)

    def leave_to_locals(self, result: Operand) -> None:
        """At a return the real local slots hold the last references: what is in them dies in their order."""
        arguments = in_slots(self.drafts[0].physical)
        for value in sorted(self.state.owned, key=lambda value: value.number):
            if value is result or value in arguments or not self._death_shows(value):
                continue
            self.block.operations.append(Operation("drop", (value,), None, (), None, self.position, effect=True))

    def dying(self) -> set[Value]:
        """Values whose last reference is gone, and whose death may show."""
        state = self.state
        loose = state.owned - in_slots(state.physical)
        if not loose:
            return loose
        return {value for value in loose - reachable_values(state) if self._death_shows(value)}

    def is_silent(self, tracker: Tracker) -> bool:
        """Whether letting go of it runs no code: constants (the code holds them), plain values, tuples of such."""
        tracker = self.state.resolve(tracker)
        return isinstance(tracker, Constant) or (isinstance(tracker, Runtime) and not self._death_shows(tracker.value))

    def _death_shows(self, value: Value) -> bool:
        return self._base_type(value) not in PLAIN_TYPES and value not in self.silent

    def settle_deaths(self) -> None:
        """If something that may have a finalizer has just become unreachable, it dies here and now."""
        state = self.state
        if not self.in_root or not self.dying():
            return
        self.flush()
        self.drop_unreachable()
        self.forget_world()
        state.stale = True

    def before_opaque(self) -> Deliver:
        """Commit; what follows may run any code, in the root frame."""
        if not self.in_root:
            raise CallForReal(self.blame(), "runs code that may look at frames")
        self.expose_locals()
        self.state.facts.clear()  # what is only remembered is not held by the program
        self.drop_unreachable()
        self.state.owned |= self.state.borrowed
        self.state.borrowed.clear()
        self.renew()
        self.state.snapshot.used = True
        return Deliver(self.state.snapshot.snapshot)

    def original(self, inst: Instruction, pops: int, pushes: int, reason: str, settled: bool = True) -> None:
        """Run the root frame's instruction as it is; not `settled`: what it pushes is put right by the caller."""
        self.notes.opaque(self.position, inst, reason)
        for tracker in self.frame.stack[len(self.frame.stack) - pops :]:
            if self.state.resolve(tracker) is not NULL_SLOT:
                self.operand(tracker)
        deliver = self.before_opaque()
        operands = tuple(self.operand(tracker) for tracker in self.pop_many(pops))
        results = tuple(self.new_value() for _ in range(pushes))
        self.block.operations.append(
            Operation("original", operands, inst, results, deliver, self.position, effect=True)
        )
        self.forget_world()
        self.state.stale = True
        for value in results:
            self.state.owned.add(value)
            self.push(Runtime(value))
        if settled:
            self.drop_unreachable()

    def opaque_value(
        self,
        opcode: str,
        operands: tuple[Tracker, ...],
        payload: object,
        deliver: Deliver,
        reason: str,
        inst: Instruction,
    ) -> Runtime:
        """An operation in the place of an instruction that may run any code; `before_opaque` came first."""
        self.notes.opaque(self.position, inst, reason)
        sources = tuple(self.operand(tracker) for tracker in operands)
        value = self.new_value()
        self.block.operations.append(
            Operation(opcode, sources, payload, (value,), deliver, self.position, effect=True)
        )
        self.forget_world()
        self.state.stale = True
        self.state.owned.add(value)
        self.push(Runtime(value))
        self.drop_unreachable()
        self.pop()
        return Runtime(value)

    def end(self, terminator: Terminator) -> None:
        """Close the block."""
        self.block.terminator = terminator
        self.open = False

    def leave(self, reason: str) -> None:
        """Go on in the original: from this instruction in the root frame, else from the last commit point."""
        raise Leave(reason)

    def exit(self, reason: str, redo: bool = True) -> None:
        """Close the block by going to the last commit point in the original; going back is counted."""
        self.state.snapshot.used = True
        self.notes.left(self.position, reason)
        if redo:
            never = (Test("never", None),)
            self.block.operations.append(Operation("check", (), never, (), self.abort(), self.position))
        self.end(Exit(self.state.snapshot.snapshot, reason, self.position, redo))


def same_exit(operation: Operation, abort: Abort | None) -> bool:
    """Whether an operation's failure goes to the same snapshot."""
    failure = operation.failure
    return isinstance(failure, Abort) and abort is not None and failure.snapshot is abort.snapshot


def forget(state: State) -> None:
    """Arbitrary code may have run: contents, assumptions and assignable classes are not known any more."""
    state.facts.clear()
    state.assumed.clear()
    state.owned |= state.fresh
    state.fresh.clear()
    forget_classes(state)


def forget_classes(state: State) -> None:
    """`__class__` of an object that others know may have been assigned."""
    for value in [v for v, kind in state.types.items() if not kind.__flags__ & IMMUTABLE_TYPE]:
        del state.types[value]


def record_type(record: Record | None) -> type | None:
    """Exact type by kind of record."""
    return RECORD_TYPES.get(type(record)) if record is not None else None


def identity(item: Any) -> Any:
    """A key by identity; payloads may be unhashable or compare strangely."""
    return item if isinstance(item, (int, str)) and type(item) in (int, str) else ("id", id(item))


def same(left: Tracker, right: Tracker) -> bool:
    """Whether two trackers certainly stand for the same object."""
    if left is right:
        return True
    if isinstance(left, Runtime) and isinstance(right, Runtime):
        return left.value is right.value
    if isinstance(left, Constant) and isinstance(right, Constant):
        return left.value is right.value
    return isinstance(left, Virtual) and isinstance(right, Virtual) and left.number == right.number


def is_cell_slot(frame: Frame, slot: int) -> bool:
    """Whether the slot of the code holds a cell."""
    return frame.unit.cells >> slot & 1 == 1


def draft_values(draft: Draft) -> set[Value]:
    """Values that going back to a snapshot needs."""
    held = State([draft.frame], draft, heap=draft.heap, physical=draft.physical)
    return reachable_values(held)


def in_slots(physical: dict[int, Tracker]) -> set[Value]:
    """Values that stand in real local slots."""
    return {tracker.value for tracker in physical.values() if isinstance(tracker, Runtime)}


def reachable_values(state: State) -> set[Value]:
    """Values that the program itself could still reach through its frames and objects."""
    found: set[Value] = set()
    seen: set[int] = set()
    work: list[Tracker] = [part for frame in state.frames for part in frame.parts()]
    work += [tracker for entry in state.ledger for tracker in entry.operands]
    work += state.physical.values()
    work += state.facts.values()
    while work:
        tracker = state.resolve(work.pop())
        if isinstance(tracker, Runtime):
            found.add(tracker.value)
        elif isinstance(tracker, Virtual) and tracker.number not in seen:
            seen.add(tracker.number)
            record = state.record(tracker)
            if record is not None:
                work.extend(record.parts())
    return found


def is_inert(t: Tracer, tracker: Tracker) -> bool:
    """Whether dropping a reference to this value certainly runs no code."""
    seen: set[int] = set()
    work = [tracker]
    while work:
        tracker = t.state.resolve(work.pop())
        if isinstance(tracker, Runtime):
            if t.known_type(tracker) not in PLAIN_TYPES and tracker.value not in t.state.fresh:
                return False
        elif isinstance(tracker, Virtual) and tracker.number not in seen:
            seen.add(tracker.number)
            record = t.state.record(tracker)
            if record is not None:
                work.extend(record.parts())
    return True
