"""Which values are computed on the stack right where they are used, and which need a slot.

A value that one operation of its own block uses, once, is computed there if nothing between must
stay behind it (`purity.STAYS_BEHIND`). So `x*y + z*w` becomes one expression tree that leaves
nothing in a local. All other values are stored once, where they are defined, in the original order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from minijit.codegen.purity import STAYS_BEHIND, rank
from minijit.interpreter.ir import Block, Jump, Operand, Operation, Region, Value
from minijit.interpreter.ir_values import condition, edges, operands

STACK_ORDER: dict[str, tuple[int, ...]] = {
    "set_attr": (1, 0),
    "set_item": (2, 0, 1),
    "deref": (),
    "set_deref": (1,),
    "del_deref": (),
    "check": (),
    "drop": (),
}
"""Operands loaded on the stack, in order, where that is not all of them from left to right.

The others are named by their slot."""

IN_SLOT = frozenset({"cell", "check"})
"""Rows whose results are made in their slots."""

DEEPEST = 40
NOTHING = -1
"""The rank of a needless drop: nothing has to stay behind it."""


def stack_operands(operation: Operation) -> Sequence[Operand]:
    """Return what is loaded on the stack for an operation, in order."""
    if operation.opcode == "function":
        return (*operation.operands[1:], operation.operands[0])
    order = STACK_ORDER.get(operation.opcode)
    return operation.operands if order is None else [operation.operands[index] for index in order]


def slot_operands(operation: Operation) -> Sequence[Operand]:
    """Return what an operation names by slot."""
    order = STACK_ORDER.get(operation.opcode)
    if order is None:
        return ()
    return [operand for index, operand in enumerate(operands(operation)) if index not in order]


def final_operands(block: Block) -> Sequence[Operand]:
    """Return what is loaded on the stack at a block's end, in order."""
    terminator = block.terminator
    return terminator.target.arguments if isinstance(terminator, Jump) else condition(terminator)


class Uses:
    """How the region's values are used: how often on the stack, and whether by slot as well."""

    __slots__ = ("count", "natural", "pinned")

    def __init__(self, region: Region, reads: dict[int, list[Value]]) -> None:
        self.count: dict[Operand, int] = {}
        self.pinned: set[Operand] = set()
        self.natural: set[Operation] = set()
        """Drops of values that die there anyway when they are computed where they are used."""
        for block in region.blocks:
            self.natural.update(natural_drops(block.operations))
            for operation in block.operations:
                self.add(stack_operands(operation))
                if operation not in self.natural:
                    self.pinned.update(slot_operands(operation))
            self.add(final_operands(block))
            if not isinstance(block.terminator, Jump):
                self.pinned.update(argument for edge in edges(block) for argument in edge.arguments)
        for values in reads.values():
            self.pinned.update(values)

    def add(self, loaded: Sequence[Operand]) -> None:
        """Count operands loaded on the stack."""
        count = self.count
        for operand in loaded:
            count[operand] = count.get(operand, 0) + 1

    def only_once(self, value: Value) -> bool:
        """Is the value used by one load and nothing else?"""
        return self.count.get(value) == 1 and value not in self.pinned

    def any(self, value: Value) -> bool:
        """Is the value used at all?"""
        return value in self.count or value in self.pinned


def natural_drops(operations: Sequence[Operation]) -> Iterator[Operation]:
    """Yield the drops that come right after an operation that takes the value off the stack."""
    taken: Sequence[Operand] = ()
    for operation in operations:
        if operation.opcode != "drop":
            taken = stack_operands(operation)
        elif operation.operands[0] in taken:
            yield operation


Trees = dict[Operand, Operation]
"""The operations that are computed where their result is used, by result."""


def schedule(region: Region, uses: Uses) -> Trees:
    """Find all operations that can be computed where their result is used."""
    trees: Trees = {}
    for block in region.blocks:
        if block.operations:
            trees |= schedule_block(block, uses)
    return trees


def schedule_block(block: Block, uses: Uses) -> Trees:
    """Schedule a block: again and again while that makes drops needless, which then stand in nobody's way."""
    natural = {drop for drop in block.operations if drop in uses.natural}
    needless: set[Operation] = set()
    while True:
        trees = BlockScheduler(block, uses, needless).run()
        found = {drop for drop in natural if drop.operands[0] in trees}
        if found == needless:
            return trees
        natural -= needless - found
        needless = found & natural


class BlockScheduler:
    """Walks one block backward, collecting trees.

    `limit` is where the next tree goes: everything from there on is known to be emitted later.
    `passed[rank][i]` counts the operations before `i` that one of that rank must not pass; what
    lies between a definition and `limit` is a superset of what delaying it would pass.
    """

    __slots__ = ("candidates", "last", "limit", "operations", "passed", "placed", "ranks", "trees")

    def __init__(self, block: Block, uses: Uses, needless: set[Operation]) -> None:
        self.operations = block.operations
        self.ranks = [NOTHING if step in needless else rank(step) for step in block.operations]
        self.trees: Trees = {}
        self.candidates = candidates(block.operations, uses)
        self.placed = bytearray(len(block.operations))
        self.passed = {
            kind: [0, *accumulate(other in behind for other in self.ranks)] for kind, behind in STAYS_BEHIND.items()
        }
        self.last = final_operands(block)
        self.limit = 0

    def run(self) -> Trees:
        """Grow trees on the block's end and on every operation not part of one already, last to first."""
        self.grow(len(self.operations), self.last)
        for index in range(len(self.operations) - 1, -1, -1):
            if not self.placed[index]:
                self.grow(index, stack_operands(self.operations[index]))
        return self.trees

    def grow(self, root: int, loaded: Sequence[Operand]) -> None:
        """Compute what can be computed for the operation at `root`."""
        self.lower_limit(root)
        self.place(loaded, 0)

    def lower_limit(self, limit: int) -> None:
        """Put the limit below what is known to be emitted later."""
        while limit and self.placed[limit - 1]:
            limit -= 1
        self.limit = limit

    def place(self, loaded: Sequence[Operand], depth: int) -> None:
        """Compute what can be computed here, last operand first, its own operands before it."""
        if depth > DEEPEST:
            return
        for operand in reversed(loaded):
            index = self.candidates.get(operand)
            if index is not None and self.may_move(index):
                self.placed[index] = 1
                self.trees[operand] = self.operations[index]
                self.lower_limit(self.limit)
                self.place(stack_operands(self.operations[index]), depth + 1)

    def may_move(self, index: int) -> bool:
        """Does nothing between the definition and here have to stay behind it?"""
        counts = self.passed[self.ranks[index]]
        return counts[self.limit] == counts[index + 1]


def candidates(operations: Sequence[Operation], uses: Uses) -> dict[Operand, int]:
    """Return the values that could be computed at their use, with the index of their definition."""
    found: dict[Operand, int] = {}
    for index, operation in enumerate(operations):
        if len(operation.results) == 1 and operation.opcode not in IN_SLOT and uses.only_once(operation.results[0]):
            found[operation.results[0]] = index
    return found
