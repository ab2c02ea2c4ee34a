"""Passes over the operations of blocks."""

from __future__ import annotations

from collections.abc import Iterable

from minijit.codegen.purity import PLAIN_TYPES, cannot_raise
from minijit.interpreter.ir import Operand, Operation, Region, Test, Value
from minijit.interpreter.ir_values import condition, edges, operands, snapshot_reads, tests


def remove_dead_operations(region: Region) -> None:
    """Remove operations that can't fail, change nothing and have no use."""
    counts = use_counts(region)
    for block in region.blocks:
        kept: list[Operation] = []
        for operation in reversed(block.operations):
            if is_dead(operation, counts):
                for operand in operation.operands:
                    counts[operand] -= 1
            else:
                kept.append(operation)
        if len(kept) != len(block.operations):
            block.operations[:] = kept[::-1]


def is_dead(operation: Operation, counts: dict[Operand, int]) -> bool:
    """Would nobody notice the operation missing?"""
    results = operation.results
    if operation.effect or len(results) != 1 or counts.get(results[0], 0):
        return False
    return cannot_raise(operation)


def use_counts(region: Region) -> dict[Operand, int]:
    """Count the uses of each operand; a snapshot's values count once."""
    counts: dict[Operand, int] = {}
    for block in region.blocks:
        for operation in block.operations:
            for operand in operands(operation):
                counts[operand] = counts.get(operand, 0) + 1
        for operand in (*condition(block.terminator), *(a for edge in edges(block) for a in edge.arguments)):
            counts[operand] = counts.get(operand, 0) + 1
    for snapshot in region.snapshots():
        for value in snapshot_reads(snapshot):
            counts[value] = counts.get(value, 0) + 1
    return counts


def merge_checks(region: Region) -> None:
    """Neighbouring checks that leave by the same snapshot become one: one call into C."""
    for block in region.blocks:
        if sum(operation.opcode == "check" for operation in block.operations) > 1:
            block.operations[:] = merged_checks(block.operations)


def merged_checks(steps: list[Operation]) -> list[Operation]:
    """Return the operations with neighbouring checks merged; the first one's position stays."""
    merged: list[Operation] = []
    for operation in steps:
        last = merged[-1] if merged else None
        if last is not None and operation.opcode == "check" and same_exit(last, operation):
            last.operands += operation.operands
            last.payload = tests(last) + tests(operation)
            last.results += operation.results
        else:
            merged.append(operation)
    return merged


def same_exit(last: Operation, check: Operation) -> bool:
    """Is `last` a check that leaves by the same snapshot?"""
    if last.opcode != "check" or last.failure is None or check.failure is None:
        return False
    return last.failure.snapshot is check.failure.snapshot


def learn_types(region: Region) -> None:
    """What a check loads and finds to be of a plain type is of that type wherever it is used.

    The same holds for what the entry asks about, since all of the region comes after it. (Objects
    of plain types never change their type; a value asked about later may be used before.)
    """
    entry = {value for _, value in region.arguments} | loaded(region.entry_tests)
    learn(region.entry_tests, entry)
    for block in region.blocks:
        for operation in block.operations:
            if operation.opcode == "check":
                learn(tests(operation), set(operation.results))


def loaded(lines: Iterable[Test]) -> set[Value]:
    """Return what tests load."""
    return {test.result for test in lines if test.result is not None}


def learn(lines: Iterable[Test], known: set[Value]) -> None:
    """Note the types that tests demand of values that are used only after the tests."""
    for test in lines:
        subject = test.subject
        if test.kind == "type" and subject in known and subject is not None and subject.type is None:
            (kind,) = test.payload
            if isinstance(kind, type) and kind in PLAIN_TYPES:
                subject.type = kind
