"""From regions to a code object: guards, blocks, pads, and the original behind them.

    LOAD_CONST <entry>; POP_JUMP_IF_FALSE next     for each region
    blocks                                         values on the stack or in temporaries
    edges that move values out of line, pads       see `pads.py`
    the original body                              see `layout.py`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import CodeType

from minijit.codegen.buffer import NO_POSITION, Handler, Label, Resolve
from minijit.codegen.emitter import Emitter
from minijit.codegen.operations import ROWS
from minijit.codegen.pads import Pads, forget
from minijit.codegen.passes import clean_up
from minijit.codegen.plan import Plan, make_plan
from minijit.codegen.purity import type_of
from minijit.codegen.questions import rows
from minijit.codegen.runtime import Runtime
from minijit.interpreter.ir import (
    Block,
    Branch,
    Const,
    Deliver,
    Edge,
    Exit,
    Jump,
    Next,
    Operand,
    Operation,
    Position,
    Region,
    Return,
    Value,
)
from minijit.interpreter.ir_values import operands, tests
from minijit.interpreter.opcodes import OPCODE
from minijit.interpreter.raw import read


def lower(regions: Sequence[Region], code: CodeType, runtime: Runtime) -> CodeType:
    """Make the code object that tries each region in turn, then runs the original body of `code`."""
    return emit(regions, code, runtime).finish()


def emit(regions: Sequence[Region], code: CodeType, runtime: Runtime) -> Emitter:
    """Emit all of the generated part; not laid out yet, so one can still see what each instruction is for."""
    emitter = Emitter(code)
    plans = [make_plan(clean_up(region), emitter) for region in regions]
    slots = [emitter.temporary() for _ in range(max((plan.registers.count for plan in plans), default=0))]
    raw = read(code)
    positions = dict(zip(raw.offsets, raw.positions(code), strict=False))
    for number, plan in enumerate(plans):
        plan.place(slots)
        RegionLowering(emitter, plan, runtime, positions).run(last=number == len(plans) - 1)
    emitter.position, emitter.handler = NO_POSITION, None
    emitter.jump_original(raw.offsets[raw.prologue()])
    return emitter


class RegionLowering:
    """Emits one region. Mutates its emitter."""

    __slots__ = ("emitter", "labels", "late", "latest", "moving", "pads", "placed", "plan", "runtime", "trees")

    def __init__(self, emitter: Emitter, plan: Plan, runtime: Runtime, positions: dict[int, Position]) -> None:
        self.emitter = emitter
        self.plan = plan
        self.trees = plan.trees
        self.runtime = runtime
        self.labels: dict[int, Label] = {}
        self.placed: set[int] = set()
        self.moving: frozenset[Operand] = frozenset()
        """Values that the operation under way takes with it: only the stack holds them while it runs."""
        self.late: list[tuple[Label, Edge, Position, bool]] = []
        self.latest: Position = (region_line(plan), region_line(plan), None, None)
        """A traceback entry without a line would break its readers, so what may raise takes this one at least."""
        self.pads = Pads(self, positions)

    def run(self, last: bool) -> None:
        """Emit guard, blocks, late edges and pads; what comes next is reached when the guard says no."""
        after = self.emitter.label()
        self.guard(last, after)
        blocks = self.plan.region.blocks
        for block, following in zip(blocks, [*blocks[1:], None], strict=True):
            self.block(block, following)
        for label, edge, position, backward in self.late:
            self.start(position, None)
            self.emitter.place(label)
            self.move(edge)
            self.go(edge.block, backward)
        self.pads.emit()
        self.start(NO_POSITION, None)
        self.emitter.place(after)
        forget(self.emitter, self.runtime, self.plan.loaded_at_entry())

    def start(self, position: Position, handler: Handler) -> None:
        """Let what is emitted next have this position and handler."""
        self.emitter.position, self.emitter.handler = position, handler
        if position[0] is not None:
            self.latest = position

    # -- the entry --

    def guard(self, last: bool, after: Label) -> None:
        """Ask the entry, then put constants and arguments that need a temporary into theirs."""
        emitter, plan, runtime = self.emitter, self.plan, self.runtime
        self.start(NO_POSITION, None)
        lines, preloads = plan.region.entry_tests, plan.preloads

        def entry(resolve: Resolve) -> object:
            """The guard also puts constants that operations want in a slot where they belong."""
            constants = tuple(("constant", value, resolve(slot)) for value, slot in preloads)
            return runtime.entry(constants + rows(lines, plan.entry_slot, resolve), runtime.counter, last)

        emitter.load_const_later(entry)
        emitter.pop_jump_if_false(after)
        for original, slot in plan.copies:
            emitter.load_fast(original)
            emitter.store_fast(slot)

    # -- operands and operations --

    def slot(self, operand: Operand) -> int:
        """Return the slot that holds an operand."""
        return self.plan.slot(operand)

    def load(self, operand: Operand) -> None:
        """Push an operand, computing it here if it was scheduled so."""
        operation = self.trees.get(operand)
        if operation is not None:
            emitter = self.emitter
            position, handler = emitter.position, emitter.handler
            self.operation(operation)
            self.start(position, handler)
        elif type(operand) is Value:
            self.emitter.load_fast(self.plan.slots[operand])
            if operand in self.moving:
                self.emitter.load_const(None)
                self.emitter.store_fast(self.plan.slots[operand])
        elif type(operand) is Const:
            self.emitter.load_const(operand.value)
        else:
            self.emitter.push_null()

    def operation(self, operation: Operation) -> None:
        """Emit an operation; its results stay on the stack."""
        self.start(operation.position, self.pads.handler(operation))
        ROWS[operation.opcode](self, operation)

    def statement(self, operation: Operation) -> None:
        """Emit an operation and store its results."""
        self.operation(operation)
        if operation.opcode not in ("check", "cell"):
            for value in reversed(operation.results):
                self.store(value)

    def store(self, value: Value) -> None:
        """Pop into a value's slot, or away when nothing uses it."""
        slot = self.plan.slots.get(value)
        if slot is None:
            self.emitter.pop()
        else:
            self.emitter.store_fast(slot)

    def check(self, operation: Operation) -> None:
        """Emit a check that leaves by its pad when it fails."""
        runtime, lines = self.runtime, tests(operation)
        self.start(NO_POSITION, None)
        self.emitter.load_const_later(lambda resolve: runtime.check(rows(lines, self.slot, resolve), runtime.counter))
        assert operation.failure is not None
        self.emitter.pop_jump_if_false(self.pads.restore(operation.failure.snapshot))

    def drop(self, operand: Operand) -> None:
        """Let go of a value: an argument's own slot is left unbound, a temporary holds None."""
        slot = self.plan.slots.get(operand)
        if slot is None:
            return
        self.emitter.load_const(None)
        self.emitter.store_fast(slot)
        if operand in self.plan.homes:
            self.emitter.delete_fast(slot)

    # -- blocks and edges --

    def label(self, block: Block) -> Label:
        """Return the label of a block's start."""
        label = self.labels.get(block.number)
        if label is None:
            label = self.labels[block.number] = self.emitter.label()
        return label

    def block(self, block: Block, following: Block | None) -> None:
        """Emit a block; `following` is emitted next."""
        self.loop_head(block)
        self.emitter.place(self.label(block))
        self.placed.add(block.number)
        trees = self.trees
        for index, operation in enumerate(block.operations):
            if not operation.results or operation.results[0] not in trees:
                self.moving = self.taken(block, index)
                self.statement(operation)
                self.moving = frozenset()
        TERMINATORS[type(block.terminator)](self, block.terminator, following)

    def taken(self, block: Block, index: int) -> frozenset[Operand]:
        """Find what an operation that runs any code is the last to hold: it must be able to let go of it."""
        operation = block.operations[index]
        if not isinstance(operation.failure, Deliver):
            return frozenset()
        loaded = list(self.loads(operation))
        found: list[Operand] = []
        for step in block.operations[index + 1 :]:
            if step.opcode != "drop":
                break
            found += step.operands
        snapshot = self.plan.exits.of(operation)
        kept = self.plan.exits.reads[snapshot.number] if snapshot is not None else ()
        return frozenset(x for x in found if x not in kept and x in self.plan.slots and loaded.count(x) == 1)

    def loads(self, operation: Operation) -> Iterator[Operand]:
        """Yield all operands that are loaded for an operation, also by what is computed there."""
        for operand in operands(operation):
            yield operand
            if operand in self.trees:
                yield from self.loads(self.trees[operand])

    def loop_head(self, block: Block) -> None:
        """Cover the instruction before a loop's head: some versions report there what a back edge raises."""
        snapshot = self.plan.exits.polls.get(block.number)
        if snapshot is not None:
            self.start(NO_POSITION, self.pads.deliver(snapshot))
            self.emitter.raw(OPCODE["NOP"], 0)

    def move(self, edge: Edge) -> None:
        """Give a block's parameters their values: all are loaded before the first is stored."""
        stores: list[int] = []
        slots = self.plan.slots
        taken = {slots.get(parameter) for parameter in edge.block.parameters}
        for argument, parameter in zip(edge.arguments, edge.block.parameters, strict=True):
            target = slots.get(parameter)
            if target is None or slots.get(argument) == target:
                self.discard(argument)
                continue
            self.load(argument)
            stores.append(target)
        for target in reversed(stores):
            self.emitter.store_fast(target)
        taken = {slots.get(parameter) for parameter in edge.block.parameters}
        for argument in edge.arguments:
            if argument in edge.moved and slots.get(argument) not in taken:
                self.drop(argument)

    def discard(self, argument: Operand) -> None:
        """Compute an argument that nobody wants, for what computing it may raise."""
        if argument in self.trees:
            self.load(argument)
            self.emitter.pop()

    def moves(self, edge: Edge) -> bool:
        """Does an edge have anything to move?"""
        slots = self.plan.slots
        return any(
            argument in self.trees
            or argument in edge.moved
            or (parameter in slots and slots.get(argument) != slots[parameter])
            for argument, parameter in zip(edge.arguments, edge.block.parameters, strict=True)
        )

    def follow(self, edge: Edge, following: Block | None) -> None:
        """Move an edge's values and go where it leads."""
        self.move(edge)
        if edge.block is not following:
            self.go(edge.block, edge.block.number in self.placed)

    def go(self, block: Block, backward: bool) -> None:
        """Jump to a block; a loop's back edge polls for signals, and what they raise finds its handler."""
        if not backward:
            self.emitter.jump(self.label(block))
            return
        snapshot = self.plan.exits.polls.get(block.number)
        handler = None if snapshot is None else self.pads.deliver(snapshot)
        self.start(self.emitter.position if self.emitter.position[0] is not None else self.latest, handler)
        self.emitter.jump_backward(self.label(block))

    def way(self, edge: Edge) -> Label:
        """Return a label to jump to for an edge: its block, or a place out of line where its values move."""
        backward = edge.block.number in self.placed
        if not backward and not self.moves(edge):
            return self.label(edge.block)
        label = self.emitter.label()
        self.late.append((label, edge, self.emitter.position, backward))
        return label

    # -- terminators --

    def jump(self, jump: Jump, following: Block | None) -> None:
        """Go to a block."""
        self.start(jump.position, None)
        self.follow(jump.target, following)

    def branch(self, branch: Branch, following: Block | None) -> None:
        """Jump to one block, fall or jump to the other."""
        self.start(branch.position, self.pads.handler(branch))
        swapped = branch.then.block is following
        stays, leaves = (branch.then, branch.otherwise) if swapped else (branch.otherwise, branch.then)
        self.conditional(branch, not swapped, leaves)
        self.start(branch.position, None)
        self.follow(stays, following)

    def conditional(self, branch: Branch, sense: bool, leaves: Edge) -> None:
        """Jump to where `leaves` leads when the condition is `sense`."""
        emitter = self.emitter
        if branch.kind == "none":
            self.load(branch.condition)
            (emitter.pop_jump_if_none if sense else emitter.pop_jump_if_not_none)(self.way(leaves))
            return
        is_bool = self.load_condition(branch.condition)
        (emitter.pop_jump_if_true if sense else emitter.pop_jump_if_false)(self.way(leaves), is_bool)

    def load_condition(self, operand: Operand) -> bool:
        """Push what a branch asks about; is it a bool?"""
        self.load(operand)
        return type_of(operand) is bool

    def next(self, step: Next, following: Block | None) -> None:
        """Advance an iterator; it is kept in its slot and only copied to the stack."""
        emitter = self.emitter
        self.start(step.position, self.pads.handler(step))
        self.load(step.iterator)
        emitter.for_iter(self.way(step.done))
        self.store(step.result)
        emitter.pop()
        self.start(step.position, None)
        self.follow(step.body, following)

    def leave(self, leave: Return, following: Block | None) -> None:
        """Return a value."""
        self.start(leave.position, None)
        self.load(leave.value)
        self.emitter.return_value()

    def exit(self, leave: Exit, following: Block | None) -> None:
        """Go on in the original."""
        self.start(NO_POSITION, None)
        self.emitter.jump(self.pads.restore(leave.snapshot))


def region_line(plan: Plan) -> int:
    """Return the first line of a region's function."""
    return plan.region.code.co_firstlineno


TERMINATORS: dict[type, Callable[..., None]] = {
    Jump: RegionLowering.jump,
    Branch: RegionLowering.branch,
    Next: RegionLowering.next,
    Return: RegionLowering.leave,
    Exit: RegionLowering.exit,
}
