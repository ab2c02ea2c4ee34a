"""Where the steps of a region leave to when they fail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from minijit.codegen.emitter import Emitter
from minijit.codegen.purity import cannot_raise
from minijit.interpreter.ir import Abort, Block, Exit, Operation, Region, Snapshot, Terminator, Value
from minijit.interpreter.ir_values import edges, failure, snapshot_reads


class Exits:
    """The snapshots a region is really left by, and what each reads.

    `polls` has the state at the back edge for the head of each loop, where that is known and the
    original has a handler for what a signal may raise there.
    """

    __slots__ = ("emitter", "handled", "known", "polls", "reads")

    def __init__(self, region: Region, emitter: Emitter) -> None:
        self.emitter = emitter
        self.handled: dict[int, bool] = {}
        self.known: dict[Operation | Terminator, Snapshot | None] = {}
        self.polls = {number: s for number, s in head_snapshots(region).items() if self.is_handled(s)}
        left = [self.of(step) for step in known_steps(region)]
        found = {s.number: s for s in (*left, *self.polls.values()) if s is not None}
        again = {s.number for s in map(gone_back_to, known_steps(region)) if s is not None}
        self.reads = {n: snapshot_reads(s if n in again else self.cut(s)) for n, s in found.items()}

    def cut(self, snapshot: Snapshot) -> Snapshot:
        """Return what a handler finds of a snapshot: the stack above its depth is gone."""
        handler = self.emitter.original_handler(snapshot.offset)
        return snapshot if handler is None else replace(snapshot, stack=snapshot.stack[: handler.depth])

    def of(self, step: Operation | Terminator) -> Snapshot | None:
        """Return what a step leaves by; nothing where nothing can be raised, or nobody would handle it."""
        if step not in self.known:
            self.known[step] = self.find(step)
        return self.known[step]

    def find(self, step: Operation | Terminator) -> Snapshot | None:
        """Answer `of` anew."""
        if isinstance(step, Exit):
            return step.snapshot
        fails = failure(step)
        if fails is None:
            return None
        if isinstance(fails, Abort):
            harmless = isinstance(step, Operation) and step.opcode != "check" and cannot_fail(step)
            return None if harmless else fails.snapshot
        return fails.snapshot if self.is_handled(fails.snapshot) else None

    def is_handled(self, snapshot: Snapshot) -> bool:
        """Has the original a handler there?"""
        known = self.handled.get(snapshot.offset)
        if known is None:
            known = self.handled[snapshot.offset] = self.emitter.original_handler(snapshot.offset) is not None
        return known


def known_steps(region: Region) -> Iterator[Operation | Terminator]:
    """Yield all operations and terminators."""
    for block in region.blocks:
        yield from block.operations
        if block.terminator is not None:
            yield block.terminator


def gone_back_to(step: Operation | Terminator) -> Snapshot | None:
    """Return the snapshot whose instruction a step may go on with."""
    if isinstance(step, Exit):
        return step.snapshot
    fails = failure(step)
    return fails.snapshot if isinstance(fails, Abort) else None


def cannot_fail(operation: Operation) -> bool:
    """Is an operation without effect and unable to raise?"""
    return not operation.effect and cannot_raise(operation)


def head_snapshots(region: Region) -> dict[int, Snapshot]:
    """Return for each loop's head the snapshot that describes its back edges, where one is known."""
    order = {block.number: index for index, block in enumerate(region.blocks)}
    heads: dict[int, Block] = {}
    for block in region.blocks:
        for edge in edges(block):
            if order[edge.block.number] <= order[block.number]:
                heads[edge.block.number] = edge.block
    found = {number: block.poll or head_snapshot(block) for number, block in heads.items()}
    return {number: snapshot for number, snapshot in found.items() if snapshot is not None}


def head_snapshot(block: Block) -> Snapshot | None:
    """Return the first snapshot a block may leave by, if it describes the block's very start."""
    made: set[Value] = set()
    for step in (*block.operations, block.terminator):
        fails = failure(step)
        if fails is not None:
            return fails.snapshot if made.isdisjoint(snapshot_reads(fails.snapshot)) else None
        if isinstance(step, Operation):
            if step.effect or step.opcode == "drop":
                return None
            made.update(step.results)
    return None
