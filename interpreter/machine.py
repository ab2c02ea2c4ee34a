"""The loop: takes versions in program order and traces a block for each. Knows no opcode."""

from __future__ import annotations

from typing import Any

from minijit.interpreter import dispatch
from minijit.interpreter.instruction import Instruction
from minijit.interpreter.ir import Block, Branch, Edge, Jump, Next, Region
from minijit.interpreter.join import join
from minijit.interpreter.opaque import run_original
from minijit.interpreter.protocols.continuation import complete
from minijit.interpreter.signals import CallForReal, CommitFirst, Leave, Opaque, OverBudget
from minijit.interpreter.state import Frame, State, Then
from minijit.interpreter.tracer import Tracer
from minijit.interpreter.trackers import Constant, Runtime
from minijit.interpreter.versions import Incoming, Version, key_of, order_of

VERSIONS_PER_PLACE = 512
LEDGERS_PER_STATE = 8
"""Versions of one place and one static state inside a call: more means a loop that adds to the ledger."""
VISITS = 12
ARRIVALS = 20_000
"""States joined in one attempt: about a second's work."""
LONG_LEDGER = 24
QUIET = frozenset(
    {"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_CONST", "PUSH_NULL", "COPY", "SWAP", "NOP", "RESUME", "LOAD_CLOSURE"}
)
"""Opcodes that read and change nothing outside of their frame."""


class Machine:
    """All versions of one region under way. Mutates."""

    def __init__(self, t: Tracer) -> None:
        self.t = t
        self.versions: dict[tuple[Any, ...], Version] = {}
        self.numbered: dict[int, Version] = {}
        self.by_place: dict[tuple[Any, ...], int] = {}
        self.by_static: dict[tuple[Any, ...], int] = {}
        self.dirty: set[Version] = set()
        self.current: Version | None = None
        self.edges = 0
        self.arrivals = 0
        t.machine = self

    def run(self, entry: State) -> Region:
        """Trace from the entry state until nothing changes."""
        start = self.t.new_block()
        self.t.block = start
        self.arrive(entry, start, False)
        while self.dirty:
            version = min(self.dirty, key=lambda version: (version.order, version.number))
            self.dirty.discard(version)
            if version.incoming:
                self.settle(version)
        return Region(self.t.code, (), self.t.entry_tests, self._reachable(start))

    def release(self) -> None:
        """Break the cycles between versions, states and tracer."""
        for version in self.versions.values():
            version.incoming.clear()
            version.sent.clear()
            version.entry = None
        self.versions.clear()
        self.numbered.clear()
        self.current = None
        self.t.machine = None

    # -- states in -------------------------------------------------------------------------------

    def goto(self, state: State, backward: bool = False) -> Edge:
        """An edge to the version that this state belongs to."""
        block = self.t.new_block()
        self.arrive(state, block, backward)
        return Edge(block)

    def arrive(self, state: State, block: Block, backward: bool) -> None:
        """Register a state at its version."""
        state.bury_dead()
        key = key_of(self.t, state)
        version = self.versions.get(key)
        if version is None:
            version = self._new_version(key, state)
        if backward and version.visits and self._leads_to_current(version):
            version.loop = True
        source = self.current.number if self.current is not None else -1
        self.edges += 1
        edge = (source, self.edges)
        version.incoming[edge] = Incoming(state, block, backward)
        if self.current is not None:
            self.current.sent.append((version, edge))
        self.dirty.add(version)

    def _new_version(self, key: tuple[Any, ...], state: State) -> Version:
        places = key[0]
        self.by_place[places] = count = self.by_place.get(places, 0) + 1
        if count > VERSIONS_PER_PLACE:
            raise OverBudget("versions of one place")
        self.by_static[key[:2]] = ledgers = self.by_static.get(key[:2], 0) + 1
        if ledgers > LEDGERS_PER_STATE:
            raise CallForReal(self.t.blame(), "effects of a loop inside a call pile up")
        version = self.versions[key] = Version(key, order_of(state))
        version.number = len(self.versions)
        self.numbered[version.number] = version
        return version

    def _leads_to_current(self, version: Version) -> bool:
        """Whether the block being traced is reached from that version: then this edge closes a loop."""
        current = self.current
        seen: set[int] = set()
        work = [current.number] if current is not None else []
        while work:
            number = work.pop()
            if number == version.number:
                return True
            if number not in seen and number in self.numbered:
                seen.add(number)
                work.extend(source for source, _ in self.numbered[number].incoming)
        return False

    # -- versions --------------------------------------------------------------------------------

    def settle(self, version: Version) -> None:
        """Join what arrived; trace again if that is not what was traced before."""
        self.current = version
        self.arrivals += len(version.incoming)
        if self.arrivals > ARRIVALS:
            raise OverBudget("states that meet")
        old = version.block
        version.block = version.block or self.t.new_block()
        entry, signature, parameters = join(self.t, version)
        if old is not None and signature == version.signature:
            return
        version.visits += 1
        if version.visits > VISITS:
            raise OverBudget("a loop does not settle")
        self._withdraw(version)
        version.signature = signature
        version.entry = entry
        version.block.parameters = parameters
        version.block.poll = entry.snapshot.snapshot if version.loop else None
        version.block.operations.clear()
        version.block.terminator = None
        self.t.saved.pop(version.block, None)
        self.trace(version, entry.clone())

    def _withdraw(self, version: Version) -> None:
        """Take back what the old trace of a version sent to others."""
        work = [version]
        while work:
            source = work.pop()
            for other, edge in source.sent:
                if other.incoming.pop(edge, None) is None:
                    continue
                if other.incoming:
                    self.dirty.add(other)
                elif other is not version:
                    other.signature = None
                    self.dirty.discard(other)
                    work.append(other)
            source.sent.clear()

    def trace(self, version: Version, state: State) -> None:
        """Interpret from the version's entry to the end of its block."""
        t = self.t
        assert version.block is not None
        t.state, t.block, t.open = state, version.block, True
        first = True
        while t.open:
            frame = t.state.frames[-1]
            if not first and frame.pc in frame.unit.flow.leaders:
                self.close(Jump(self.goto(t.state)))
                return
            first = False
            self.execute(frame.unit.decoded.instructions[frame.pc])

    def close(self, terminator: Jump | Branch | Next) -> None:
        """End the block by going on elsewhere."""
        self.t.end(terminator)

    # -- instructions ------------------------------------------------------------------------------

    def execute(self, inst: Instruction) -> None:
        """One instruction: modelled, or run as it is, or the reason to start again."""
        t = self.t
        t.step()
        if t.state.owned and inst.op not in QUIET and not self._settle_deaths():
            return
        root = t.in_root
        if root and t.state.stale and inst.offset is not None:
            t.renew()
            t.state.stale = False
        if root and inst.offset is not None and any(entry.site >= 0 for entry in t.state.ledger):
            t.commit()
        frame = t.frame
        saved = frame.stack.copy()
        if root and inst.offset is not None and self._begins_anew(frame):
            t.commit()
        try:
            if root and frame.pc in t.blocked and inst.op in dispatch.CALLING:
                raise Opaque(t.blocked[frame.pc])
            self._attempt(inst, saved, root)
        except Opaque as opaque:
            if root and t.in_root:
                frame.stack[:] = saved
                self._run_original(inst, saved, opaque.reason)
            elif self._is_side_path():
                t.exit(opaque.reason)
            else:
                raise CallForReal(t.blame(), opaque.reason) from None
        except Leave as leave:
            self._leave(root, saved, leave.reason)

    def _settle_deaths(self) -> bool:
        """What the last instruction let go of dies before the next one; False: compiled code is left here."""
        t = self.t
        if t.in_root:
            t.settle_deaths()
        elif t.dying():
            reason = "something that may have a finalizer dies inside a call"
            if not self._is_side_path():
                raise CallForReal(t.blame(), reason)
            t.exit(reason)
        return t.open

    def _begins_anew(self, frame: Frame) -> bool:
        """Whether an exception that arrives from here on would find another handler than the last commit point's.

        A long ledger is committed as well: every read has to look through it.
        """
        t = self.t
        if len(t.state.ledger) > LONG_LEDGER:
            return True
        covered = frame.unit.flow.covered
        since = t.state.snapshot.frame.pc
        return covered[frame.pc] != covered[since] or (frame.pc in t.commits and frame.pc != since)

    def _run_original(self, inst: Instruction, saved: list[Any], reason: str) -> None:
        try:
            run_original(self.t, inst, reason)
        except Leave as leave:
            self._leave(True, saved, leave.reason)

    def _leave(self, root: bool, saved: list[Any], reason: str) -> None:
        """An instruction of the root frame is left before it begins; one inside a call is done again."""
        t = self.t
        here = root and t.in_root
        if here:
            t.frame.stack[:] = saved
            t.commit()
        t.exit(reason, redo=not here)

    def _is_side_path(self) -> bool:
        """Inside a call, past a branch: this path is taken to be rare, and redone by the original."""
        return not self.t.pessimistic and any(frame.branched for frame in self.t.state.frames[1:])

    def _attempt(self, inst: Instruction, saved: list[Any], root: bool) -> None:
        t = self.t
        frame = t.frame
        for _ in range(3):
            try:
                moved = dispatch.HANDLERS[inst.op](t, inst)
            except CommitFirst:
                if not root or not t.in_root:
                    raise CallForReal(t.blame(), "reads what the call may have changed") from None
                frame.stack[:] = saved
                t.commit()
                continue
            if not moved:
                frame.pc += 1
            return
        raise Opaque("may read what is written here")

    def fork(self, condition_kind: str, condition: Any, then: State, otherwise: State, failure: Any = None) -> None:
        """End the block with a branch."""
        t = self.t
        position = t.position
        for state in (then, otherwise):
            state.unconditional = False
            for frame in state.frames:
                frame.branched = True
        then_edge = self.goto(then, self._is_backward(then))
        otherwise_edge = self.goto(otherwise, self._is_backward(otherwise))
        t.end(Branch(condition_kind, condition, then_edge, otherwise_edge, failure, position))

    def jump(self, target: int) -> bool:
        """Continue the running frame elsewhere; a backward jump closes the block."""
        t = self.t
        frame = t.frame
        backward = target <= frame.pc
        frame.pc = target
        if backward:
            t.keep_exclusive()
            frame.generation += 1
            self.close(Jump(self.goto(t.state, True), False, t.position))
        return True

    def fork_next(
        self, walk: Runtime, item: Runtime, body: State, over: State, then: Then, done: Then, extras: Any, failure: Any
    ) -> None:
        """End the block with an iterator's next; each way goes on with its continuation."""
        t = self.t
        ended, position = t.block, t.position
        edges = []
        for state, following, result in ((body, then, item), (over, done, Constant(None))):
            t.state, t.block, t.open = state, t.new_block(), True
            block = t.block
            try:
                if not complete(t, following, extras, result):
                    t.frame.pc += 1
            except Leave as leave:
                if t.state.stale:
                    raise CallForReal(t.blame(), leave.reason) from None
                t.exit(leave.reason)
            if t.open:
                t.end(Jump(self.goto(t.state)))
            edges.append(Edge(block))
        t.block, t.open = ended, False
        ended.terminator = Next(walk.value, item.value, edges[0], edges[1], failure, position)

    def _is_backward(self, state: State) -> bool:
        return state.frame.pc <= self.t.frame.pc and len(state.frames) == len(self.t.state.frames)

    def _reachable(self, start: Block) -> list[Block]:
        order: dict[Block, tuple[Any, ...]] = {}
        for version in self.versions.values():
            if version.block is not None:
                order[version.block] = version.order
        found: list[Block] = []
        seen: set[int] = set()
        work = [start]
        while work:
            block = work.pop()
            if block.number in seen:
                continue
            seen.add(block.number)
            found.append(block)
            work.extend(reversed(targets(block)))
        return found


def targets(block: Block) -> list[Block]:
    """Blocks that may follow."""
    end = block.terminator
    if isinstance(end, Jump):
        return [end.target.block]
    if isinstance(end, Branch):
        return [end.then.block, end.otherwise.block]
    if isinstance(end, Next):
        return [end.body.block, end.done.block]
    return []


def interpret_once(t: Tracer, entry: State) -> Region:
    """One attempt at a region."""
    return Machine(t).run(entry)
