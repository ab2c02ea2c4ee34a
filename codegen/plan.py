"""All that is decided about a region before its first instruction is emitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from minijit.codegen.emitter import Emitter
from minijit.codegen.exits import Exits
from minijit.codegen.registers import Registers, allocate, bound_numbers
from minijit.codegen.schedule import IN_SLOT, Trees, Uses, schedule, slot_operands
from minijit.interpreter.ir import (
    Const,
    Next,
    Operand,
    Region,
    Snapshot,
    Value,
)
from minijit.interpreter.ir_values import test_operands


@dataclass(slots=True)
class Plan:
    """Where values live, what is computed on the stack, where the steps of a region fail to."""

    region: Region
    trees: Trees
    registers: Registers
    homes: dict[Operand, int]
    """Arguments that stay in their original slot."""
    copied: list[tuple[int, Value]]
    """Arguments that are copied from that slot to a temporary, where something uses them."""
    arguments: dict[Operand, int]
    """The original slot of each argument."""
    constants: dict[int, Const]
    """Constants that must be in a slot, by identity of the object."""
    constant_numbers: dict[int, int]
    exits: Exits
    bound: dict[int, int]
    """For each snapshot, as bits, the temporaries that may hold something where it is left by."""
    exception: int
    """Temporary of the exception in pads."""
    slots: dict[Operand, int] = field(default_factory=dict)
    """The slot of each value, once temporaries are known."""
    temporaries: Sequence[int] = ()

    def place(self, temporaries: Sequence[int]) -> None:
        """Learn the slots of the temporaries."""
        self.temporaries = temporaries
        self.slots = {operand: temporaries[number] for operand, number in self.registers.number.items()}
        self.slots.update(self.homes)

    def slot(self, operand: Operand) -> int:
        """Return the slot of a value, or of a constant that must have one."""
        if isinstance(operand, Const):
            return self.temporaries[self.constant_numbers[id(operand.value)]]
        return self.slots[operand]

    def entry_slot(self, operand: Operand) -> int:
        """Return the slot of an operand while the entry is asked: arguments are not copied yet."""
        return self.arguments[operand] if operand in self.arguments else self.slot(operand)

    def held(self, snapshot: Snapshot) -> list[int]:
        """Return the slots that may be bound when leaving by a snapshot: what they hold could be seen to live on."""
        bound, registers = self.bound[snapshot.number], self.registers
        numbers = [number for number in range(bound.bit_length()) if bound >> number & 1]
        built = [registers.number[value] for operation in snapshot.operations for value in operation.results]
        every = dict.fromkeys([*numbers, *self.constant_numbers.values(), *built])
        return [self.temporaries[number] for number in every]

    def loaded_at_entry(self) -> list[int]:
        """Return the slots that an entry may have bound before it said no."""
        results = [self.slots[test.result] for test in self.region.entry_tests if test.result is not None]
        return [*results, *(slot for _, slot in self.preloads)]

    @property
    def preloads(self) -> list[tuple[object, int]]:
        """Constants to be stored at entry, with their slots."""
        return [(constant.value, self.slot(constant)) for constant in self.constants.values()]

    @property
    def copies(self) -> list[tuple[int, int]]:
        """Slots of arguments to be copied at entry, with the slots to copy them to."""
        return [(slot, self.slots[value]) for slot, value in self.copied if value in self.slots]


def make_plan(region: Region, emitter: Emitter) -> Plan:
    """Decide where everything goes."""
    exits = Exits(region, emitter)
    uses = Uses(region, exits.reads)
    trees = schedule(region, uses)
    homes, copied = argument_homes(region, emitter)
    wanted = wanted_values(region, uses, trees, homes)
    entering = [value for _, value in copied] + [t.result for t in region.entry_tests if t.result is not None]
    registers = allocate(region, exits, trees, wanted, entering)
    bound = bound_numbers(region, exits, registers, entering)
    constants = constants_in_slots(region)
    arguments: dict[Operand, int] = {value: emitter.slot(slot) for slot, value in region.arguments}
    plan = Plan(region, trees, registers, homes, copied, arguments, constants, {}, exits, bound, 0)
    add_extra_registers(plan)
    return plan


def add_extra_registers(plan: Plan) -> None:
    """Add temporaries for constants and for pads; what different pads build shares temporaries."""
    registers = plan.registers
    plan.constant_numbers = {key: registers.add(True) for key in plan.constants}
    plan.exception = registers.add(True)
    scratch: list[int] = []
    for snapshot in plan.region.snapshots():
        values = [value for operation in snapshot.operations for value in operation.results]
        while len(scratch) < len(values):
            scratch.append(registers.add(True))
        registers.number.update(zip(values, scratch, strict=False))


def argument_homes(region: Region, emitter: Emitter) -> tuple[dict[Operand, int], list[tuple[int, Value]]]:
    """Split arguments into those that stay in their slot and those whose slot is written to."""
    written = {
        operation.payload
        for block in region.blocks
        for operation in block.operations
        if operation.opcode in ("set_local", "del_local")
    }
    homes: dict[Operand, int] = {v: emitter.slot(slot) for slot, v in region.arguments if slot not in written}
    copied = [(emitter.slot(slot), value) for slot, value in region.arguments if slot in written]
    return homes, copied


def wanted_values(region: Region, uses: Uses, trees: Trees, homes: dict[Operand, int]) -> list[Value]:
    """Return the values that need a temporary, in order of definition."""
    wanted = [value for _, value in region.arguments if uses.any(value) and value not in homes]
    wanted += [test.result for test in region.entry_tests if test.result is not None]
    for block in region.blocks:
        wanted += [value for value in block.parameters if uses.any(value)]
        for operation in block.operations:
            must = operation.opcode in IN_SLOT
            wanted += [v for v in operation.results if must or (uses.any(v) and v not in trees)]
        if isinstance(block.terminator, Next) and uses.any(block.terminator.result):
            wanted.append(block.terminator.result)
    return wanted


def constants_in_slots(region: Region) -> dict[int, Const]:
    """Return the constants that some operation or test names by slot."""
    named: list[Operand] = list(test_operands(region.entry_tests))
    for block in region.blocks:
        for operation in block.operations:
            named += slot_operands(operation)
    for snapshot in region.snapshots():
        for operation in snapshot.operations:
            named += slot_operands(operation)
    return {id(operand.value): operand for operand in named if isinstance(operand, Const)}
