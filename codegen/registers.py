"""Which temporary holds each value that is not computed where it is used.

Every value has one interval of positions, from its definition to its last use, stretched over the
blocks it lives through; values whose intervals do not meet may share a temporary. A value handed to
a block's parameter is given the parameter's own temporary where that is free, so that most edges
move nothing. A value that a snapshot needs is used wherever an operation may leave by that snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from minijit.codegen.exits import Exits
from minijit.codegen.purity import is_plain
from minijit.codegen.schedule import Trees, final_operands, slot_operands, stack_operands
from minijit.interpreter.ir import Block, Jump, Next, Operand, Operation, Region, Snapshot, Value
from minijit.interpreter.ir_values import edges


@dataclass(slots=True)
class Registers:
    """`number` of the temporary of each value; `count` of them; `plain[i]`: holds only values of plain types."""

    number: dict[Operand, int] = field(default_factory=dict)
    plain: list[bool] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many temporaries there are."""
        return len(self.plain)

    def add(self, is_plain_value: bool) -> int:
        """Add a temporary."""
        self.plain.append(is_plain_value)
        return len(self.plain) - 1


class Intervals:
    """Where each value lives. Mutates while the blocks are walked in emission order."""

    __slots__ = ("bits", "defined", "end", "exits", "exposed", "first", "last", "position", "start", "trees", "wanted")

    def __init__(self, wanted: list[Value], trees: Trees, exits: Exits) -> None:
        self.exits = exits
        self.wanted = wanted
        self.bits: dict[Operand, int] = {value: 1 << index for index, value in enumerate(self.wanted)}
        self.trees = trees
        self.first: dict[Operand, int] = {}
        self.last: dict[Operand, int] = {}
        self.start: dict[int, int] = {}
        self.end: dict[int, int] = {}
        self.exposed: dict[int, int] = {}
        self.defined: dict[int, int] = {}
        self.position = 0

    def use(self, number: int, operand: Operand) -> None:
        """A step of block `number` reads the operand here."""
        bit = self.bits.get(operand)
        if bit is not None:
            self.last[operand] = self.position
            self.first.setdefault(operand, self.position)
            if not self.defined[number] & bit:
                self.exposed[number] |= bit

    def define(self, number: int, value: Value, position: int) -> None:
        """Block `number` gives the value its content."""
        bit = self.bits.get(value)
        if bit is not None:
            self.defined[number] |= bit
            self.first[value] = min(position, self.first.get(value, position))
            self.last[value] = max(position, self.last.get(value, position))

    def use_tree(self, number: int, operand: Operand) -> None:
        """Read an operand, or all that computing it reads."""
        operation = self.trees.get(operand)
        if operation is None:
            self.use(number, operand)
        else:
            self.use_step(number, operation)

    def use_step(self, number: int, operation: Operation) -> None:
        """Read all that an operation and its snapshot read."""
        for operand in stack_operands(operation):
            self.use_tree(number, operand)
        for operand in slot_operands(operation):
            self.use(number, operand)
        self.use_snapshot(number, self.exits.of(operation))

    def use_snapshot(self, number: int, snapshot: Snapshot | None) -> None:
        """Read what a snapshot reads."""
        if snapshot is not None:
            for value in self.exits.reads[snapshot.number]:
                self.use(number, value)

    def walk(self, block: Block) -> None:
        """Number a block's steps and note what they read and define."""
        number = block.number
        self.defined[number] = self.exposed[number] = 0
        self.position += 2
        self.start[number] = self.position
        for value in block.parameters:
            self.define(number, value, self.position)
        self.use_snapshot(number, self.exits.polls.get(number))
        for operation in block.operations:
            if operation.results and operation.results[0] in self.trees:
                continue
            self.position += 2
            self.use_step(number, operation)
            # A check stores results before it asks its last question; others store when they are done.
            for value in operation.results:
                self.define(number, value, self.position + (operation.opcode != "check"))
        self.position += 2
        self.walk_end(block)
        self.position += 1
        self.end[number] = self.position

    def walk_end(self, block: Block) -> None:
        """Note what a block's end reads and defines."""
        number, terminator = block.number, block.terminator
        for operand in final_operands(block):
            self.use_tree(number, operand)
        if terminator is not None:
            self.use_snapshot(number, self.exits.of(terminator))
        if isinstance(terminator, Next):
            self.define(number, terminator.result, self.position + 1)
        if not isinstance(terminator, Jump):
            for edge in edges(block):
                for operand in edge.arguments:
                    self.use(number, operand)

    def stretch(self, blocks: list[Block]) -> None:
        """Let intervals span the blocks their values live through."""
        entering = live_in(blocks, self.exposed, self.defined)
        for block in blocks:
            leaving = 0
            for edge in edges(block):
                leaving |= entering[edge.block.number]
            start, end = self.start[block.number], self.end[block.number]
            for value in self.values(entering[block.number]):
                self.first[value] = min(self.first[value], start)
                self.last[value] = max(self.last[value], start)
            for value in self.values(leaving):
                self.first[value] = min(self.first[value], end)
                self.last[value] = max(self.last[value], end)

    def values(self, mask: int) -> Iterator[Value]:
        """Yield the values whose bits are set."""
        while mask:
            low = mask & -mask
            yield self.wanted[low.bit_length() - 1]
            mask ^= low


def live_in(blocks: list[Block], exposed: dict[int, int], defined: dict[int, int]) -> dict[int, int]:
    """Return, as bits, what is live at the start of each block."""
    entering = dict(exposed)
    changing = True
    while changing:
        changing = False
        for block in reversed(blocks):
            number = block.number
            leaving = 0
            for edge in edges(block):
                leaving |= entering[edge.block.number]
            live = exposed[number] | (leaving & ~defined[number])
            if live != entering[number]:
                entering[number] = live
                changing = True
    return entering


def assign(intervals: Intervals, blocks: list[Block], at_entry: Iterable[Value]) -> Registers:
    """Give each value a temporary, in the order in which they come to life."""
    for value in at_entry:
        if value in intervals.bits:
            intervals.first[value] = 0
            intervals.last.setdefault(value, 0)
    friends = passed_to(blocks)
    registers = Registers()
    free_after: list[int] = []
    for value in sorted((v for v in intervals.wanted if v in intervals.first), key=intervals.first.__getitem__):
        first = intervals.first[value]
        number = pick([registers.number.get(friend) for friend in friends.get(value, ())], free_after, first)
        if number is None:
            number = registers.add(True)
            free_after.append(-1)
        registers.number[value] = number
        registers.plain[number] &= is_plain(value)
        free_after[number] = intervals.last[value]
    return registers


def pick(preferred: list[int | None], free_after: list[int], first: int) -> int | None:
    """Choose a temporary that is free from `first` on, a preferred one if possible."""
    for number in preferred:
        if number is not None and free_after[number] < first:
            return number
    for number, after in enumerate(free_after):
        if after < first:
            return number
    return None


def passed_to(blocks: list[Block]) -> dict[Operand, list[Operand]]:
    """Map parameters to the values passed to them, and these to the parameters."""
    friends: dict[Operand, list[Operand]] = {}
    for block in blocks:
        for edge in edges(block):
            for parameter, argument in zip(edge.block.parameters, edge.arguments, strict=True):
                if isinstance(argument, Value):
                    friends.setdefault(parameter, []).append(argument)
                    friends.setdefault(argument, []).append(parameter)
    return friends


def allocate(
    region: Region, exits: Exits, trees: Trees, wanted: list[Value], at_entry: Iterable[Value]
) -> Registers:
    """Find the temporaries of all wanted values."""
    intervals = Intervals(wanted, trees, exits)
    for block in region.blocks:
        intervals.walk(block)
    intervals.stretch(region.blocks)
    return assign(intervals, region.blocks, at_entry)


def bound_numbers(region: Region, exits: Exits, registers: Registers, at_entry: Iterable[Value]) -> dict[int, int]:
    """Return for each snapshot, as bits, the temporaries that may be bound where some step leaves by it."""
    entering = dict.fromkeys((block.number for block in region.blocks), 0)
    entering[region.blocks[0].number] = bits(registers, at_entry)
    stored = {block.number: bits(registers, stored_values(block)) for block in region.blocks}
    work = list(region.blocks)
    while work:
        block = work.pop()
        leaving = entering[block.number] | stored[block.number]
        for edge in edges(block):
            if leaving & ~entering[edge.block.number]:
                entering[edge.block.number] |= leaving
                work.append(edge.block)
    bound: dict[int, int] = {}
    for block in region.blocks:
        here = entering[block.number] | stored[block.number]
        left = [exits.of(step) for step in (*block.operations, block.terminator) if step is not None]
        for snapshot in (*left, exits.polls.get(block.number)):
            if snapshot is not None:
                bound[snapshot.number] = bound.get(snapshot.number, 0) | here
    return bound


def bits(registers: Registers, values: Iterable[Value]) -> int:
    """Return the temporaries of values, as bits."""
    mask = 0
    for value in values:
        number = registers.number.get(value)
        if number is not None:
            mask |= 1 << number
    return mask


def stored_values(block: Block) -> Iterator[Value]:
    """Yield what a block stores, its parameters included."""
    yield from block.parameters
    for operation in block.operations:
        yield from operation.results
    if isinstance(block.terminator, Next):
        yield block.terminator.result
