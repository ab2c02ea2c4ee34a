"""Joining the states that reach a version, slot by slot, object by object.

Equal trackers stay; different ones become block parameters; virtual objects of one shape stay
virtual and are joined part by part, as long as the pairing of objects is one to one; all others are
built on the edges. The walk is repeated until nothing more has to be built.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from minijit.interpreter.ir import Edge, Jump, Operand, Value
from minijit.interpreter.signals import CallForReal, CommitNeeded
from minijit.interpreter.state import Frame, State
from minijit.interpreter.tracer import IMMUTABLE_TYPE, draft_values, forget_classes, reachable_values, same
from minijit.interpreter.trackers import (
    DEAD,
    MAYBE,
    MISSING,
    UNBOUND,
    Constant,
    Mark,
    Record,
    Runtime,
    Tracker,
    Virtual,
)

if TYPE_CHECKING:
    from minijit.interpreter.tracer import Tracer
    from minijit.interpreter.versions import Incoming, Version

Path = tuple[Any, ...]


class Undecided:
    """Stands for the type of a parameter that has not been made yet."""


class Expose(Exception):
    """A root local is bound on some paths only: it must be in its real slot."""


class Conflict(Exception):
    """These virtual objects can't stay virtual: one list of numbers for each state."""

    def __init__(self, numbers: list[tuple[int, int]]) -> None:
        super().__init__(numbers)
        self.numbers = numbers


@dataclass(eq=False, slots=True)
class Joint:
    """One walk over the states. Mutates: collects parameters, pairs of objects and the signature."""

    t: Tracer
    version: Version
    states: list[State]
    result: State
    parameters: list[tuple[Value, list[Tracker]]] = field(default_factory=list)
    pairs: dict[tuple[int, ...], int] = field(default_factory=dict)
    partners: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    signature: list[Any] = field(default_factory=list)

    def unify(self, path: Path, trackers: list[Tracker]) -> Tracker:
        """The tracker that stands for all of these."""
        trackers = [state.resolve(tracker) for state, tracker in zip(self.states, trackers, strict=True)]
        first = trackers[0]
        if path in self.version.buried:
            self.signature.append(DEAD)
            return DEAD
        if path[:2] == (0, "local") and path[2] in self.version.exposed:
            self.signature.append(MAYBE)
            return MAYBE
        if isinstance(first, Mark) or any(isinstance(tracker, Mark) for tracker in trackers):
            return self._marks(path, trackers)
        if path not in self.version.sticky:
            if isinstance(first, Virtual):
                joined = self._virtual(path, trackers)
                if joined is not None:
                    return joined
            elif all(same(first, tracker) for tracker in trackers):
                self.signature.append(first.value if isinstance(first, Runtime) else ("c", id(first.value)))  # type: ignore[attr-defined]
                return first
        return self._parameter(path, trackers)

    def _marks(self, path: Path, trackers: list[Tracker]) -> Tracker:
        if all(tracker is trackers[0] for tracker in trackers):
            self.signature.append(trackers[0])
            return trackers[0]
        if path[:2] == (0, "local") and DEAD not in trackers:
            self.version.exposed.add(path[2])
            raise Expose
        if any(tracker is DEAD for tracker in trackers):
            self.version.buried.add(path)
            self.signature.append(DEAD)
            return DEAD
        raise CallForReal(self.t.blame(), "a variable may be unbound")

    def _virtual(self, path: Path, trackers: list[Tracker]) -> Tracker | None:
        records = [state.record(tracker) for state, tracker in zip(self.states, trackers, strict=True)]
        shapes = {record.shape() if record is not None else None for record in records}
        if len(shapes) != 1 or None in shapes:
            return None
        numbers = tuple(tracker.number for tracker in trackers if isinstance(tracker, Virtual))
        known = self.pairs.get(numbers)
        if known is not None:
            self.signature.append(("again", list(self.pairs).index(numbers)))
            return Virtual(known)
        for index, number in enumerate(numbers):
            other = self.partners.setdefault((index, number), numbers)
            if other != numbers:
                raise Conflict([*enumerate(numbers), *enumerate(other)])
        return self._record(path, numbers, [record for record in records if record is not None])

    def _record(self, path: Path, numbers: tuple[int, ...], records: list[Record]) -> Tracker:
        self.t.numbers += 1
        number = self.t.numbers
        self.pairs[numbers] = number
        first = records[0]
        self.signature.append(("object", first.shape()))
        self.result.heap[number] = first
        columns = zip(*(record.parts() for record in records), strict=True)
        parts = tuple(self.unify((*path, place), list(column)) for place, column in enumerate(columns))
        self.result.heap[number] = first.rebuilt(parts)
        return Virtual(number)

    def _parameter(self, path: Path, trackers: list[Tracker]) -> Tracker:
        left = [(index, x.number) for index, x in enumerate(trackers) if isinstance(x, Virtual)]
        if left:
            self.version.sticky.setdefault(path, Undecided)
            raise Conflict(left)
        kinds = {self._type(state, tracker) for state, tracker in zip(self.states, trackers, strict=True)}
        type_ = kinds.pop() if len(kinds) == 1 else None
        if self.version.sticky.get(path, Undecided) not in (Undecided, type_):
            type_ = None
        self.version.sticky[path] = type_
        assignable = type_ is not None and not type_.__flags__ & IMMUTABLE_TYPE
        value = self.t.new_value(None if assignable else type_)
        if assignable and type_ is not None:
            self.result.types[value] = type_
        self._lifetime(path, value, trackers)
        self.parameters.append((value, trackers))
        self.signature.append(("p", type_, value in self.result.fresh, value in self.t.silent))
        if len(path) == 3 and path[1] == "local":
            self.t.origins[value] = (id(self.result.frames[path[0]].unit.code), path[2])
        return Runtime(value, example_of(trackers))

    def _lifetime(self, path: Path, value: Value, trackers: list[Tracker]) -> None:
        """Who holds what the parameter stands for, and whether its death shows; what was given up once stays so."""
        if all(
            isinstance(x, Runtime) and x.value in state.fresh for state, x in zip(self.states, trackers, strict=True)
        ):
            if path not in self.version.unfresh:
                self.result.fresh.add(value)
        else:
            self.version.unfresh.add(path)
        if any(isinstance(x, Runtime) and x.value in s.owned for s, x in zip(self.states, trackers, strict=True)):
            self.result.owned.add(value)
        elif any(isinstance(x, Runtime) and x.value in s.borrowed for s, x in zip(self.states, trackers, strict=True)):
            self.result.borrowed.add(value)
        if all(isinstance(x, Constant) or (isinstance(x, Runtime) and x.value in self.t.silent) for x in trackers):
            if path not in self.version.loud:
                self.t.silent.add(value)
        else:
            self.version.loud.add(path)

    def _type(self, state: State, tracker: Tracker) -> type | None:
        self.t.state = state
        return self.t.known_type(tracker)


def example_of(trackers: list[Tracker]) -> object:
    """Some value met in the traced call."""
    for tracker in trackers:
        if isinstance(tracker, Constant):
            return tracker.value
        if isinstance(tracker, Runtime) and tracker.example is not MISSING:
            return tracker.example
    return MISSING


def join(t: Tracer, version: Version) -> tuple[State, tuple[Any, ...], list[Value]]:
    """Bring all incoming states into one; fills the edge blocks (their terminators included).

    Returns the entry state, its signature and the block parameters.
    """
    arrivals = list(version.incoming.values())
    if len(arrivals) == 1 and not (version.sticky or version.loop or version.commit):
        return _pass_on(t, version, arrivals[0])
    for arrival in arrivals:
        arrival.block.operations.clear()
    while True:
        states = [arrival.state.clone() for arrival in arrivals]
        _meet_commits(t, version, states)
        try:
            joint = _settle(t, version, states)
            break
        except Expose:
            for arrival in arrivals:
                arrival.block.operations.clear()
    result = joint.result
    _join_knowledge(version, states, joint)
    if version.commit:
        t.state = result
        t.renew()
        result.stale = False
    for index, arrival in enumerate(arrivals):
        t.state, t.block = states[index], arrival.block
        arguments = tuple(t.operand(trackers[index]) for _, trackers in joint.parameters)
        target = version.block
        assert target is not None
        edge = Edge(target, arguments, _moved_out(t, joint, arguments))
        result.owned -= edge.moved
        result.borrowed -= edge.moved
        result.fresh -= edge.moved
        arrival.block.terminator = Jump(edge, arrival.backward and version.loop, t.position)
    signature = (tuple(joint.signature), version.loop, version.commit, knowledge(result))
    return result, signature, [value for value, _ in joint.parameters]


def _moved_out(t: Tracer, joint: Joint, arguments: tuple[Operand, ...]) -> frozenset[Value]:
    """Owned values that become parameters and must not live on in the place they come from."""
    held = t.state.owned | t.state.borrowed | t.state.fresh
    kept = reachable_values(joint.result) | {x.value for x in t.state.physical.values() if isinstance(x, Runtime)}
    if not joint.version.commit:
        kept |= draft_values(t.state.snapshot)
    return frozenset(x for x in arguments if isinstance(x, Value) and x in held and x not in kept)


def _pass_on(t: Tracer, version: Version, arrival: Incoming) -> tuple[State, tuple[Any, ...], list[Value]]:
    """A state that comes alone stays as it is."""
    target = version.block
    assert target is not None
    arrival.block.terminator = Jump(Edge(target))
    return arrival.state, ("alone", arrival), []


def knowledge(state: State) -> tuple[Any, ...]:
    """The part of a state that is not in its slots, for comparison."""
    return (
        frozenset(
            (key, id(state.resolve(x)) if not isinstance(x, Virtual) else None) for key, x in state.facts.items()
        ),
        frozenset(state.assumed),
        frozenset(state.types.items()),
        state.opened,
        state.stale,
        tuple(_standing(state, slot) for slot in sorted(state.physical) if state.physical[slot] is not UNBOUND),
    )


def _standing(state: State, slot: int) -> tuple[int, object]:
    """What a real slot of the root frame holds, told without naming values that each join makes anew."""
    content = state.resolve(state.physical[slot])
    if same(content, state.resolve(state.root.locals[slot])):
        return (slot, "local")
    return (slot, id(content.value) if isinstance(content, (Constant, Runtime)) else content)


def _meet_commits(t: Tracer, version: Version, states: list[State]) -> None:
    first = states[0]
    shapes = [tuple(entry.shape() for entry in state.ledger) for state in states]
    if any(state.snapshot is not first.snapshot or state.stale != first.stale for state in states[1:]) or (
        len(first.frames) == 1 and (len(set(shapes)) > 1 or (version.loop and first.ledger))
    ):
        version.commit = True
    version.commit = version.commit or bool(version.exposed) or (version.loop and len(first.frames) == 1)
    if version.loop:
        _meet_polls(t, version, first)
    if not version.commit:
        return
    if len(first.frames) > 1:
        raise CallForReal(t.blame(), "effects that differ by path inside a call")
    for state, arrival in zip(states, version.incoming.values(), strict=True):
        t.state, t.block = state, arrival.block
        for slot in sorted(version.exposed):
            t.expose_local(slot)
        t.flush()


def _meet_polls(t: Tracer, version: Version, first: State) -> None:
    """What polls at a back edge must find all effects done, and a handler everything as it is."""
    if len(first.frames) == 1:
        return
    root = first.root
    covered = root.unit.flow.covered[root.pc] != 0
    if first.ledger or (covered and first.snapshot.frame.pc != root.pc):
        pc = t.blame_of(first)
        if pc in t.commits:
            raise CallForReal(pc, "effects inside a loop of a call")
        raise CommitNeeded(pc)


def _settle(t: Tracer, version: Version, states: list[State]) -> Joint:
    blocks = [arrival.block for arrival in version.incoming.values()]
    while True:
        first = states[0]
        result = State([], first.snapshot, opened=first.opened, unconditional=first.unconditional, stale=first.stale)
        joint = Joint(t, version, states, result)
        try:
            _join_frames(joint)
            _join_ledger(joint)
            return joint
        except Conflict as conflict:
            for index, number in conflict.numbers:
                t.state, t.block = states[index], blocks[index]
                t.operand(Virtual(number))


def _join_frames(joint: Joint) -> None:
    for depth, frames in enumerate(zip(*(state.frames for state in joint.states), strict=True)):
        first = frames[0].clone()
        first.generation = max(frame.generation for frame in frames)
        joint.result.frames.append(first)
        first.function = joint.unify((depth, "function"), [frame.function for frame in frames])
        _join_slots(joint, depth, first, frames)


def _join_slots(joint: Joint, depth: int, first: Frame, frames: tuple[Frame, ...]) -> None:
    for slot in range(len(first.locals)):
        first.locals[slot] = joint.unify((depth, "local", slot), [frame.locals[slot] for frame in frames])
    for slot in range(len(first.stack)):
        first.stack[slot] = joint.unify((depth, "stack", slot), [frame.stack[slot] for frame in frames])
    first.extras = tuple(
        joint.unify((depth, "extra", slot), [frame.extras[slot] for frame in frames])
        for slot in range(len(first.extras))
    )


def _join_ledger(joint: Joint) -> None:
    for place, entries in enumerate(zip(*(state.ledger for state in joint.states), strict=True)):
        columns = zip(*(entry.operands for entry in entries), strict=True)
        operands = tuple(joint.unify(("ledger", place, n), list(column)) for n, column in enumerate(columns))
        first = entries[0]
        joint.result.ledger.append(replace(first, operands=operands))


def _join_knowledge(version: Version, states: list[State], joint: Joint) -> None:
    result, first = joint.result, states[0]
    result.opened = all(state.opened for state in states) and not version.loop
    result.unconditional = len(states) == 1 and first.unconditional and not version.loop
    result.stale = any(state.stale for state in states)
    for value in first.types:
        if all(state.types.get(value) is first.types[value] for state in states):
            result.types[value] = first.types[value]
    result.fresh |= set.intersection(*(state.fresh for state in states))
    result.owned |= set.intersection(*(state.owned for state in states))
    result.borrowed |= set.intersection(*(state.owned | state.borrowed for state in states)) - result.owned
    result.looped = version.loop or any(state.looped for state in states)
    if version.loop and len(result.frames) == 1:  # no effect becomes visible while a call is inlined
        result.owned |= result.borrowed
        result.borrowed.clear()
    for slot in version.displaced.union(*(state.physical for state in states)):
        result.physical[slot] = _physical(slot, states, joint)
    if version.loop:
        forget_classes(result)
    else:
        result.assumed = set.intersection(*(state.assumed for state in states))
        for key, tracker in first.facts.items():
            moved = _moved(joint, [state.facts.get(key) for state in states])
            if moved is not None and tracker is not None:
                result.facts[key] = moved


def _moved(joint: Joint, trackers: list[Tracker | None]) -> Tracker | None:
    """A tracker's counterpart in the joined state, if it has one already."""
    present = [s.resolve(x) if x is not None else None for s, x in zip(joint.states, trackers, strict=True)]
    first = present[0]
    if first is None or any(x is None for x in present):
        return None
    if isinstance(first, Virtual):
        numbers = tuple(x.number if isinstance(x, Virtual) else -1 for x in present)
        known = joint.pairs.get(numbers)
        return Virtual(known) if known is not None else None
    if all(x is not None and same(first, x) for x in present):
        return first
    for value, columns in joint.parameters:
        if all(x is not None and same(x, y) for x, y in zip(present, columns, strict=True)):
            return Runtime(value)
    return None


def _physical(slot: int, states: list[State], joint: Joint) -> Tracker:
    if joint.result.root.locals[slot] is MAYBE:
        return MAYBE
    displaced = joint.version.displaced
    if slot not in displaced:
        contents = [state.physical.get(slot, UNBOUND) for state in states]
        roots = [state.resolve(state.root.locals[slot]) for state in states]
        if all(same(content, root) for content, root in zip(contents, roots, strict=True)):
            return joint.result.root.locals[slot]
        if all(same(contents[0], content) for content in contents) and not isinstance(contents[0], Virtual):
            return contents[0]
        displaced.add(slot)
    return DEAD
