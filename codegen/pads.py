"""Pads: how the compiled blocks are left for the original body.

For each snapshot there are up to three ways in, which share what they can:

    redo      [exception]  may it be dropped? then go to `restore`, else to `deliver`
    restore   []           build, set locals, push the stack, jump to the original instruction
    deliver   [exception]  the same, but enter the original's handler for that instruction, or raise

Pads are outside of all handlers, and never make the exception the handled one, so that
`sys.exc_info()` stays as the original would have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from minijit.codegen.buffer import NO_POSITION, Label, Resolve
from minijit.codegen.emitter import Emitter
from minijit.codegen.operations import unbind
from minijit.codegen.plan import Plan
from minijit.codegen.runtime import Runtime
from minijit.interpreter.exception_table import Region as Handler
from minijit.interpreter.ir import Abort, Operand, Operation, Position, Snapshot, Terminator
from minijit.interpreter.ir_values import failure


class Lowering(Protocol):
    """What pads need of the code generator."""

    emitter: Emitter
    plan: Plan
    runtime: Runtime

    def load(self, operand: Operand) -> None:
        """Push an operand."""

    def statement(self, operation: Operation) -> None:
        """Emit an operation and store its results."""


class Pad:
    """The ways out by one snapshot; those somebody asked for have labels."""

    __slots__ = ("deliver", "redo", "restore", "snapshot")

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.redo: Label | None = None
        self.restore: Label | None = None
        self.deliver: Label | None = None


class Pads:
    """Collects the ways out while blocks are emitted, then emits them. Mutates the emitter."""

    __slots__ = ("emitter", "low", "pads", "plan", "positions")

    def __init__(self, low: Lowering, positions: dict[int, Position]) -> None:
        self.low = low
        self.positions = positions
        self.emitter = low.emitter
        self.plan = low.plan
        self.pads: dict[int, Pad] = {}

    def pad(self, snapshot: Snapshot) -> Pad:
        """Return the pad of a snapshot."""
        return self.pads.setdefault(snapshot.number, Pad(snapshot))

    def handler(self, step: Operation | Terminator) -> Label | None:
        """Return where the exceptions of a step go; None: out of the function."""
        fails = failure(step)
        if fails is None or self.plan.exits.of(step) is None:
            return None
        return self.redo(fails.snapshot) if isinstance(fails, Abort) else self.deliver(fails.snapshot)

    def redo(self, snapshot: Snapshot) -> Label:
        """Return where an exception that may be dropped goes."""
        pad = self.pad(snapshot)
        pad.redo = pad.redo or self.emitter.label()
        return pad.redo

    def restore(self, snapshot: Snapshot) -> Label:
        """Return where to jump to go on in the original."""
        pad = self.pad(snapshot)
        pad.restore = pad.restore or self.emitter.label()
        return pad.restore

    def deliver(self, snapshot: Snapshot) -> Label:
        """Return where an exception goes that the original has to see."""
        pad = self.pad(snapshot)
        pad.deliver = pad.deliver or self.emitter.label()
        return pad.deliver

    def emit(self) -> None:
        """Emit all pads that were asked for."""
        emitter = self.emitter
        emitter.handler = None
        for number in sorted(self.pads):
            pad = self.pads[number]
            emitter.position = self.positions.get(pad.snapshot.offset, NO_POSITION)
            self.emit_pad(pad)

    def emit_pad(self, pad: Pad) -> None:
        """Emit one pad."""
        emitter, exception, deliver_it = self.emitter, self.plan.temporaries[self.plan.exception], None
        if pad.redo is not None:
            deliver_it = emitter.label()
            emitter.place(pad.redo)
            emitter.store_fast(exception)
            self.ask(exception, self.deliver(pad.snapshot))
            emitter.pop_jump_if_false(deliver_it)
            emitter.delete_fast(exception)
        if pad.restore is not None or pad.redo is not None:
            emitter.place(self.restore(pad.snapshot))
            self.rebuild(pad.snapshot, pad.snapshot.stack)
            emitter.jump_original(pad.snapshot.offset)
        if pad.deliver is not None:
            emitter.place(pad.deliver)
            emitter.store_fast(exception)
            if deliver_it is not None:
                emitter.place(deliver_it)
            self.hand_over(pad.snapshot, exception)

    def ask(self, exception: int, interrupted: Label) -> None:
        """Ask whether the exception may be dropped. A signal that arrives meanwhile is delivered instead."""
        emitter, runtime = self.emitter, self.low.runtime
        emitter.before_callable()
        emitter.load_const(runtime.is_redo)
        emitter.after_callable()
        emitter.load_fast(exception)
        emitter.load_const(runtime.counter)
        emitter.handler = interrupted
        emitter.call(2)
        emitter.handler = None

    def hand_over(self, snapshot: Snapshot, exception: int) -> None:
        """Enter the original's handler with the exception, or let it leave the function."""
        emitter = self.emitter
        handler: Handler | None = emitter.original_handler(snapshot.offset)
        if handler is None:
            self.push_exception(exception)
            emitter.reraise()
            return
        self.rebuild(snapshot, snapshot.stack[: handler.depth])
        if handler.lasti:
            emitter.load_original_lasti(snapshot.offset)
        self.push_exception(exception)
        emitter.jump_original(handler.target)

    def push_exception(self, exception: int) -> None:
        """Move the exception from its temporary to the stack."""
        self.emitter.load_fast(exception)
        self.emitter.delete_fast(exception)

    def rebuild(self, snapshot: Snapshot, stack: tuple[Operand, ...]) -> None:
        """Bring about the snapshot's state: all new values are loaded before the first local changes."""
        emitter, low, plan = self.emitter, self.low, self.plan
        for operation in snapshot.operations:
            low.statement(operation)
        for operand in stack:
            low.load(operand)
        stores: list[int] = []
        for slot, value in snapshot.locals:
            if value is not None and plan.slots.get(value) != emitter.slot(slot):
                low.load(value)
                stores.append(emitter.slot(slot))
        for slot in reversed(stores):
            emitter.store_fast(slot)
        for slot, value in snapshot.locals:
            if value is None:
                unbind(emitter, emitter.slot(slot))
        self.forget(snapshot)

    def forget(self, snapshot: Snapshot) -> None:
        """Let go of what only the compiled blocks hold; the original would not keep it alive."""
        forget(self.emitter, self.low.runtime, self.plan.held(snapshot))


def forget(emitter: Emitter, runtime: Runtime, slots: Sequence[int]) -> None:
    """Leave temporaries unbound. One call into C for all; its answer, always true, means nothing."""
    if not slots:
        return

    def unbinding(resolve: Resolve) -> object:
        return runtime.check(tuple(("unbind", resolve(slot)) for slot in slots), runtime.counter)

    after = emitter.label()
    emitter.load_const_later(unbinding)
    emitter.pop_jump_if_false(after)
    emitter.place(after)
