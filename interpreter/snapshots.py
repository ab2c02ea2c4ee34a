"""Filling in the snapshots that were used: what to build, store and push to be in the original."""

from __future__ import annotations

from typing import TYPE_CHECKING

from minijit.interpreter.ir import Block, Operand, Region
from minijit.interpreter.state import Draft, State
from minijit.interpreter.tracer import is_cell_slot, same
from minijit.interpreter.trackers import DEAD, UNBOUND, Mark

if TYPE_CHECKING:
    from minijit.interpreter.tracer import Tracer


def fill(t: Tracer, region: Region) -> None:
    """Work out every snapshot the region refers to."""
    wanted = {snapshot.number for snapshot in region.snapshots()}
    for draft in t.drafts:
        if draft.snapshot.number in wanted:
            _fill(t, draft)


def _fill(t: Tracer, draft: Draft) -> None:
    state = State([draft.frame.clone()], draft, heap=draft.heap.copy(), stale=True)
    block = Block(-1)
    t.state, t.block = state, block
    root = draft.frame
    live = root.unit.flow.live[root.pc]
    found: list[tuple[int, Operand | None]] = []
    for slot in range(root.unit.code.co_nlocals):
        tracker = state.resolve(root.locals[slot])
        if is_cell_slot(root, slot) or tracker is DEAD or not live >> slot & 1:
            continue
        if same(tracker, draft.physical.get(slot, UNBOUND)):
            continue
        found.append((slot, None if isinstance(tracker, Mark) else t.operand(tracker)))
    draft.snapshot.stack = tuple(t.operand(tracker) for tracker in root.stack)
    draft.snapshot.locals = tuple(found)
    draft.snapshot.operations = block.operations
