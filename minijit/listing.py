"""The generated instructions, each with its source line and what it is for."""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import CodeType
from typing import Any

from minijit import _shim
from minijit.codegen.buffer import Emitted
from minijit.codegen.lower import emit
from minijit.codegen.runtime import Runtime
from minijit.interpreter.ir import Operation, Region, Terminator
from minijit.interpreter.ir_values import tests
from minijit.interpreter.notes import Note
from minijit.interpreter.raw import read
from minijit.words import Names, in_brief, shown

__all__ = ["Instruction", "Listing", "listing", "original_instructions"]

Describe = Callable[[Operation | Terminator], str]
CONSTANT_LOADS = frozenset({"LOAD_CONST", "RETURN_CONST", "KW_NAMES"})
LEAVES = "the way back into the original body"


@dataclass(frozen=True, slots=True)
class Instruction:
    """One line of `minijit dump`.

    `part`: guard, body, or leave (where compiled code goes back to the original half-way).
    `purpose`: the guard, the ledger entry or the operation it belongs to, where that begins.
    """

    offset: int
    opname: str
    argument: str
    line: int | None
    part: str = "body"
    purpose: str = ""
    is_target: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """Generated code: the code object, and its generated part in readable form."""

    code: CodeType
    instructions: tuple[Instruction, ...]


def listing(
    region: Region,
    code: CodeType,
    names: Names,
    replayed: Sequence[tuple[Operation, Note]],
    describe: Callable[[Region], Describe],
) -> Listing:
    """Generate code as `minijit.compile` would, keeping track of what each instruction is for. Cleans the region."""
    mark(region)
    emitter = emit([region], code, Runtime(_shim.Entry, _shim.Check, _shim.is_redo, _shim.Counter(None)))
    finished = emitter.finish()
    first = read(code).prologue()
    whole = [i for i in dis.get_instructions(finished) if i.opname not in ("EXTENDED_ARG", "CACHE")]
    pairs = list(zip(whole[first : first + len(emitter.emitted)], emitter.emitted, strict=True))
    purposes = Purposes(region, names, replayed, describe(region))
    return Listing(finished, tuple(_listed(pairs, purposes, names)))


def _listed(pairs: list[tuple[dis.Instruction, Emitted]], purposes: Purposes, names: Names) -> Iterator[Instruction]:
    last = ""
    end = max((n for n, (_, item) in enumerate(pairs) if isinstance(item.position, Origin)), default=1)
    for number, (found, item) in enumerate(pairs):
        part = "guard" if number < 2 else "body" if number <= end else "leave"
        purpose = LEAVES if part == "leave" else purposes.of(found, item)
        made = _instruction(found, item.position[0], names)
        yield replace(made, part=part, purpose=purpose if purpose != last else "")
        last = purpose or last


def original_instructions(code: CodeType) -> tuple[Instruction, ...]:
    """A code object as it is."""
    return tuple(
        _instruction(found, found.positions.lineno if found.positions else None, None)
        for found in dis.get_instructions(code)
    )


def _instruction(found: dis.Instruction, line: int | None, names: Names | None) -> Instruction:
    argument = _constant(found.argval, names) if found.opname in CONSTANT_LOADS else found.argrepr
    if isinstance(found.argval, int) and found.argrepr.startswith("to "):
        argument = f"to {found.argval}"
    return Instruction(found.offset, found.opname, argument, line, is_target=found.is_jump_target)


def _constant(value: object, names: Names | None) -> str:
    if isinstance(value, (_shim.Entry, _shim.Check)):
        count = len(value.tests or ())
        return f"<{type(value).__name__.lower()}: {count} test{'s' if count != 1 else ''}>"
    return shown(value) if names is None else names.constant(value)


# -- what an instruction is for ------------------------------------------------------------------------


class Origin(tuple):  # type: ignore[type-arg]
    """A source position that remembers whose it is."""

    step: Operation | Terminator


def mark(region: Region) -> None:
    """Let every position of the region remember its step."""
    for block in region.blocks:
        for operation in block.operations:
            operation.position = origin(operation)
        if block.terminator is not None:
            block.terminator = replace(block.terminator, position=origin(block.terminator))


def origin(step: Operation | Terminator) -> Any:
    """The step's position, marked with it."""
    marked = Origin(step.position)
    marked.step = step
    return marked


class Purposes:
    """Finds out what each emitted instruction is for. Mutates: checks are met in the order of the region."""

    def __init__(
        self, region: Region, names: Names, replayed: Sequence[tuple[Operation, Note]], describe: Describe
    ) -> None:
        self.names = names
        self.describe = describe
        self.ledger = {id(operation): note for operation, note in replayed}
        steps = [step for block in region.blocks for step in (*block.operations, block.terminator)]
        self.steps = {id(step.position): step for step in steps if step is not None}
        self.checks = [operation for block in region.blocks for operation in block.operations if tests(operation)]

    def of(self, found: dis.Instruction, item: Emitted) -> str:
        """The purpose of one instruction, empty when nothing is known."""
        if isinstance(found.argval, _shim.Entry):
            return "the guards"
        if isinstance(found.argval, _shim.Check):
            return self._check([str(row[0]) for row in found.argval.tests])
        return self._step(item.position) if isinstance(item.position, Origin) else ""

    def _check(self, kinds: list[str]) -> str:
        for number, operation in enumerate(self.checks):
            asked = tests(operation)
            if [test.kind for test in asked] == kinds:
                del self.checks[: number + 1]
                return "check: " + in_brief(asked, self.names)
        return "check"

    def _step(self, position: Origin) -> str:
        """What clean-up made of the step counts; an edge that it removed says nothing."""
        note = self.ledger.get(id(position.step))
        if note is not None and note.text:
            return f"ledger: {note.text} (line {note.position[0]})"
        step = self.steps.get(id(position))
        return self.describe(step) if step is not None else ""
