"""The intermediate form: blocks of operations over values, with snapshots to leave by.

A region prints as text, and that text is what tests compare:

    region add(a: %0, b: %1)
      entry check: type %0 int, type %1 int
    b0:
      %2 = binary + %0, %1            abort s0
      return %2
    s0: at 2
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    ModuleType,
    NoneType,
    WrapperDescriptorType,
)
from typing import Any

Position = tuple[int | None, int | None, int | None, int | None]
"""Line, end line, column, end column, as `code.co_positions()` gives them."""


class Value:
    """One runtime value, assigned once. `type` is its exact type where that is known."""

    __slots__ = ("name", "number", "type")

    def __init__(self, number: int, type: type | None = None, name: str = "") -> None:
        self.number = number
        self.type = type
        self.name = name

    def __repr__(self) -> str:
        return f"%{self.number}"


class Const:
    """An operand known when the region is made; compared by identity, never by equality."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __repr__(self) -> str:
        return constant_text(self.value)


class Null:
    """The empty stack slot that CPython's call sequence pushes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NULL"


NULL = Null()
Operand = Value | Const | Null


def constant_text(value: Any) -> str:
    """Abbreviate a constant, deterministically and without addresses."""
    if type(value) in (NoneType, bool, int, float, complex, str, bytes):
        text = repr(value)
    elif type(value) in (tuple, frozenset) and len(value) <= 8:
        inner = ", ".join(constant_text(item) for item in value)
        text = f"({inner})" if type(value) is tuple else f"frozenset({{{inner}}})"
    else:
        text = f"<{_name(value)}>"
    return text if len(text) <= 60 else text[:57] + "..."


CALLABLES = (BuiltinFunctionType, FunctionType, MethodDescriptorType, WrapperDescriptorType)
NAMED: dict[type, str] = {**dict.fromkeys(CALLABLES, "__qualname__"), ModuleType: "__name__"}
_name_of_type = type.__dict__["__qualname__"].__get__
_short_name_of_type = type.__dict__["__name__"].__get__


def _name(value: object) -> str:
    """What a value is called, without running code of its own."""
    kind = type(value)
    if issubclass(kind, type):
        return str(_name_of_type(value))
    name = getattr(value, NAMED[kind], None) if kind in NAMED else None
    return name if type(name) is str else f"{_short_name_of_type(kind)} object"


@dataclass(frozen=True, slots=True, eq=False)
class Test:
    """One line of a check: a question asked in C that runs no user code.

    `kind` is a row of `minijit._shim.TESTS`; `subject` the value asked about (absent where
    the payload names a constant object); `result` what the test loads for later use.
    """

    kind: str
    subject: Value | None
    payload: tuple[object, ...] = ()
    result: Value | None = None

    def __str__(self) -> str:
        words = [self.kind]
        if self.subject is not None:
            words.append(repr(self.subject))
        words += [repr(p) if isinstance(p, Value) else constant_text(p) for p in self.payload]
        text = " ".join(words)
        return f"{self.result!r} = {text}" if self.result is not None else text


@dataclass(eq=False, slots=True)
class Snapshot:
    """How to be in the original body at byte `offset`: what to build, store and push.

    `locals` lists only slots whose physical content differs (None: unbound there).
    `operations` build the objects that exist only as trackers.
    Filled in once, after interpretation.
    """

    number: int
    offset: int
    operations: list[Operation] = field(default_factory=list)
    locals: tuple[tuple[int, Operand | None], ...] = ()
    stack: tuple[Operand, ...] = ()

    def __str__(self) -> str:
        head = f"s{self.number}: at {self.offset}"
        parts = [f"local {s} = {v!r}" if v is not None else f"local {s} unbound" for s, v in self.locals]
        if self.stack:
            parts.append("stack " + ", ".join(map(repr, self.stack)))
        lines = [head + (": " + "; ".join(parts) if parts else "")]
        return "\n".join(lines + [f"    {op}" for op in self.operations])


@dataclass(frozen=True, slots=True, eq=False)
class Abort:
    """On failure: forget the pending work and do it again in the original body."""

    snapshot: Snapshot

    def __str__(self) -> str:
        return f"abort s{self.snapshot.number}"


@dataclass(frozen=True, slots=True, eq=False)
class Deliver:
    """On failure: hand the exception to the original's handler for the snapshot's offset."""

    snapshot: Snapshot

    def __str__(self) -> str:
        return f"deliver s{self.snapshot.number}"


Failure = Abort | Deliver | None


@dataclass(eq=False, slots=True)
class Operation:
    """One step. `opcode` is a row of the table in docs/architecture.md."""

    opcode: str
    operands: tuple[Operand, ...] = ()
    payload: object = None
    results: tuple[Value, ...] = ()
    failure: Failure = None
    position: Position = (None, None, None, None)
    effect: bool = False

    @property
    def result(self) -> Value:
        """The only result."""
        (value,) = self.results
        return value

    def __str__(self) -> str:
        if self.opcode == "check" and isinstance(self.payload, tuple):
            return with_failure("check " + ", ".join(map(str, self.payload)), self.failure)
        left = ", ".join(map(repr, self.results))
        payload = "" if self.payload is None else " " + payload_text(self.payload)
        operands = " " + ", ".join(map(repr, self.operands)) if self.operands else ""
        return with_failure((f"{left} = " if left else "") + self.opcode + payload + operands, self.failure)


def with_failure(text: str, failure: Failure) -> str:
    """A step's text with what happens when it fails."""
    return text if failure is None else f"{text:<40} {failure}"


def payload_text(payload: object) -> str:
    """Payloads print bare: operator, name, slot number, tests or instruction."""
    if isinstance(payload, str):
        return payload
    if isinstance(payload, tuple):
        return "(" + ", ".join(payload_text(p) for p in payload) + ")"
    if isinstance(payload, (Test, int)) or type(payload).__name__ == "Instruction":
        return str(payload)
    return constant_text(payload)


@dataclass(eq=False, slots=True)
class Edge:
    """A way to a block, with a value for each of its parameters.

    `moved`: arguments that live on only in the parameter; their old place is cleared.
    """

    block: Block
    arguments: tuple[Operand, ...] = ()
    moved: frozenset[Value] = frozenset()

    def __str__(self) -> str:
        arguments = ", ".join(map(repr, self.arguments))
        return f"b{self.block.number}" + (f"({arguments})" if arguments else "")


@dataclass(frozen=True, slots=True, eq=False)
class Jump:
    """Go to a block. `backward` marks a loop's back edge, where CPython polls for signals."""

    target: Edge
    backward: bool = False
    position: Position = (None, None, None, None)

    def __str__(self) -> str:
        return f"{'loop' if self.backward else 'jump'} {self.target}"


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """Go by `condition`: 'true' tests truth of a value of plain type, 'none' tests `is None`."""

    kind: str
    condition: Operand
    then: Edge
    otherwise: Edge
    failure: Failure = None
    position: Position = (None, None, None, None)

    def __str__(self) -> str:
        text = f"branch {self.kind} {self.condition!r} ? {self.then} : {self.otherwise}"
        return with_failure(text, self.failure)


@dataclass(frozen=True, slots=True, eq=False)
class Next:
    """Advance an iterator: its next item is `result` on the way to `body`; else `done`."""

    iterator: Operand
    result: Value
    body: Edge
    done: Edge
    failure: Failure = None
    position: Position = (None, None, None, None)

    def __str__(self) -> str:
        return with_failure(f"{self.result!r} = next {self.iterator!r} ? {self.body} : {self.done}", self.failure)


@dataclass(frozen=True, slots=True, eq=False)
class Return:
    """Leave the function with a value."""

    value: Operand
    position: Position = (None, None, None, None)

    def __str__(self) -> str:
        return f"return {self.value!r}"


@dataclass(frozen=True, slots=True, eq=False)
class Exit:
    """Go on in the original body for good; `redo`: work done since the snapshot is done again there."""

    snapshot: Snapshot
    reason: str = ""
    position: Position = (None, None, None, None)
    redo: bool = False

    def __str__(self) -> str:
        return f"exit s{self.snapshot.number}" + (f" ({self.reason})" if self.reason else "")


Terminator = Jump | Branch | Next | Return | Exit


@dataclass(eq=False, slots=True)
class Block:
    """Operations that run one after another, then one terminator. Mutates while it is traced.

    `poll`, of a loop's head: where in the original an exception is delivered that arrives on a back edge.
    """

    number: int
    parameters: list[Value] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    terminator: Terminator | None = None
    poll: Snapshot | None = None

    def __str__(self) -> str:
        parameters = ", ".join(map(repr, self.parameters))
        head = f"b{self.number}" + (f"({parameters}):" if parameters else ":")
        return "\n".join([head, *(f"  {op}" for op in self.operations), f"  {self.terminator}"])


@dataclass(eq=False, slots=True)
class Region:
    """What interpretation hands to codegen.

    `arguments` maps a local slot of the original code to the value it holds at entry (the cell
    itself where the slot holds one). `blocks` are in emission order, the entry first.
    """

    code: CodeType
    arguments: tuple[tuple[int, Value], ...]
    entry_tests: list[Test]
    blocks: list[Block]

    def snapshots(self) -> list[Snapshot]:
        """Every snapshot some operation may leave by, by number."""
        seen: dict[int, Snapshot] = {}
        for block in self.blocks:
            if block.poll is not None:
                seen[block.poll.number] = block.poll
            steps = [*block.operations, block.terminator]
            for step in steps:
                failure = getattr(step, "failure", None)
                snapshot = failure.snapshot if failure is not None else getattr(step, "snapshot", None)
                if snapshot is not None:
                    seen[snapshot.number] = snapshot
        return [seen[number] for number in sorted(seen)]

    def __str__(self) -> str:
        names = self.code.co_varnames + self.code.co_cellvars + self.code.co_freevars
        arguments = ", ".join(f"{names[s] if s < len(names) else s}: {v!r}" for s, v in self.arguments)
        lines = [f"region {self.code.co_qualname}({arguments})"]
        if self.entry_tests:
            lines.append("  entry check: " + ", ".join(map(str, self.entry_tests)))
        return "\n".join([*lines, *map(str, self.blocks), *map(str, self.snapshots())])
