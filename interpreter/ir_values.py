"""Which values a step of a region reads, which it defines, and where it may lead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import cast

from minijit.interpreter.ir import (
    Block,
    Branch,
    Const,
    Edge,
    Exit,
    Failure,
    Jump,
    Next,
    Operand,
    Operation,
    Region,
    Return,
    Snapshot,
    Terminator,
    Test,
    Value,
)

NO_EDGES: tuple[Edge, ...] = ()

EDGES: dict[type, Callable[..., tuple[Edge, ...]]] = {
    Jump: lambda jump: (jump.target,),
    Branch: lambda branch: (branch.then, branch.otherwise),
    Next: lambda step: (step.body, step.done),
    Return: lambda _: NO_EDGES,
    Exit: lambda _: NO_EDGES,
}

CONDITIONS: dict[type, Callable[..., tuple[Operand, ...]]] = {
    Jump: lambda _: (),
    Branch: lambda branch: (branch.condition,),
    Next: lambda step: (step.iterator,),
    Return: lambda leave: (leave.value,),
    Exit: lambda _: (),
}


def edges(block: Block) -> tuple[Edge, ...]:
    """Return the ways out of a block to other blocks."""
    return EDGES[type(block.terminator)](block.terminator)


def condition(terminator: Terminator | None) -> tuple[Operand, ...]:
    """Return what a terminator itself reads, its edges' arguments not included."""
    return CONDITIONS[type(terminator)](terminator)


def failure(step: Operation | Terminator | None) -> Failure:
    """Return how a step fails; a terminator that can't fail has no such field."""
    return getattr(step, "failure", None)


def tests(operation: Operation) -> tuple[Test, ...]:
    """Return the tests of a check, nothing for other operations."""
    return cast("tuple[Test, ...]", operation.payload) if operation.opcode == "check" else ()


def test_operands(lines: Iterable[Test]) -> Iterator[Operand]:
    """Yield what tests ask about, in order."""
    for test in lines:
        if test.subject is not None:
            yield test.subject
        for item in test.payload:
            if isinstance(item, (Value, Const)):
                yield item


def operands(operation: Operation) -> tuple[Operand, ...]:
    """Return all an operation reads; of a check also what only its tests name."""
    if operation.opcode == "check":
        return (*operation.operands, *test_operands(tests(operation)))
    return operation.operands


def snapshot_operands(snapshot: Snapshot) -> Iterator[Operand]:
    """Yield all a snapshot reads, what its own operations build included."""
    for operation in snapshot.operations:
        yield from operands(operation)
    for _, value in snapshot.locals:
        if value is not None:
            yield value
    yield from snapshot.stack


def snapshot_reads(snapshot: Snapshot) -> list[Value]:
    """Return the region's values a snapshot needs, each once, in order."""
    built = {result for operation in snapshot.operations for result in operation.results}
    read = (operand for operand in snapshot_operands(snapshot) if isinstance(operand, Value))
    return [value for value in dict.fromkeys(read) if value not in built]


def dropped_values(region: Region) -> set[Operand]:
    """Return what is let go of somewhere: whatever else stands for the same object must outlive it."""
    steps = (step for block in region.blocks for step in block.operations)
    return {operand for step in steps if step.opcode == "drop" for operand in step.operands}


def predecessors(region: Region) -> dict[int, list[tuple[Block, Edge]]]:
    """Map each block's number to the edges that lead there, with the blocks they leave."""
    found: dict[int, list[tuple[Block, Edge]]] = {block.number: [] for block in region.blocks}
    for block in region.blocks:
        for edge in edges(block):
            found[edge.block.number].append((block, edge))
    return found


Substitution = dict[Value, Operand]


def substitute(region: Region, mapping: Substitution) -> None:
    """Put other operands in the place of values, everywhere in the region."""
    if not mapping:
        return
    final = {value: resolve(value, mapping) for value in mapping}
    for block in region.blocks:
        for operation in block.operations:
            substitute_operation(operation, final)
        block.terminator = substitute_terminator(block.terminator, final)
    for snapshot in region.snapshots():
        substitute_snapshot(snapshot, final)


def resolve(operand: Operand, mapping: Substitution) -> Operand:
    """Follow a chain of substitutions to its end."""
    while isinstance(operand, Value) and operand in mapping:
        operand = mapping[operand]
    return operand


def changed(items: tuple[Operand, ...], mapping: Substitution) -> tuple[Operand, ...]:
    """Substitute in a tuple of operands."""
    return tuple([mapping.get(item, item) if type(item) is Value else item for item in items])


def substitute_operation(operation: Operation, mapping: Substitution) -> None:
    """Substitute in one operation."""
    if operation.operands:
        operation.operands = changed(operation.operands, mapping)
    if operation.opcode == "check":
        operation.payload = tuple([substitute_test(test, mapping) for test in tests(operation)])


def substitute_test(test: Test, mapping: Substitution) -> Test:
    """Substitute in one test; a constant subject is stored to a temporary by the generator."""
    subject = test.subject if test.subject is None else mapping.get(test.subject, test.subject)
    payload = tuple(mapping.get(item, item) if isinstance(item, Value) else item for item in test.payload)
    return replace(test, subject=cast("Value | None", subject), payload=payload)


def substitute_terminator(terminator: Terminator | None, mapping: Substitution) -> Terminator | None:
    """Substitute in what a terminator reads and in its edges' arguments."""
    for edge in EDGES[type(terminator)](terminator):
        edge.arguments = changed(edge.arguments, mapping)
    if isinstance(terminator, Branch):
        return replace(terminator, condition=resolve(terminator.condition, mapping))
    if isinstance(terminator, Next):
        return replace(terminator, iterator=resolve(terminator.iterator, mapping))
    if isinstance(terminator, Return):
        return replace(terminator, value=resolve(terminator.value, mapping))
    return terminator


def substitute_snapshot(snapshot: Snapshot, mapping: Substitution) -> None:
    """Substitute in what a snapshot builds, stores and pushes."""
    for operation in snapshot.operations:
        substitute_operation(operation, mapping)
    snapshot.locals = tuple((slot, value and resolve(value, mapping)) for slot, value in snapshot.locals)
    snapshot.stack = changed(snapshot.stack, mapping)
