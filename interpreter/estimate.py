"""What a region is expected to save a call: removed work against checks and moves, loops weighted.

The weights are nanoseconds measured on CPython 3.11 to 3.13, rounded; only their order matters.
"""

from __future__ import annotations

from minijit.interpreter.ir import Block, Branch, Edge, Exit, Jump, Next, Operation, Region, Return

LOOP_FACTOR = 8.0
"""Expected iterations of a loop."""
BRANCH_FACTOR = 0.6
"""Expected share of times that one side of a branch is taken."""
WASTED = 20.0
"""What a block costs whose work the original does again."""
ENTRY, CHECK, TEST, MOVE, STORE, OPAQUE = 8.0, 8.0, 1.5, 1.5, 1.5, 3.0


def estimate(region: Region, saved: dict[Block, float]) -> float:
    """Saved minus added nanoseconds for one call."""
    weights = block_weights(region)
    total = -ENTRY - 0.5 * len(region.entry_tests)
    useful = useful_blocks(region)
    for block in region.blocks:
        gained = saved.get(block, 0.0) if block in useful else -WASTED
        total += weights[block] * (gained - added(block))
    return total


def useful_blocks(region: Region) -> set[Block]:
    """Blocks whose work is not done again for certain."""
    useful = {
        block
        for block in region.blocks
        if isinstance(block.terminator, Return) or (isinstance(block.terminator, Exit) and not block.terminator.redo)
    }
    changed = True
    while changed:
        before = len(useful)
        useful |= {block for block in region.blocks if any(edge.block in useful for edge in edges(block))}
        changed = len(useful) > before
    return useful


def added(block: Block) -> float:
    """Nanoseconds of what the original would not do."""
    cost = sum(cost_of(operation) for operation in block.operations)
    end = block.terminator
    if isinstance(end, Jump):
        cost += MOVE * len(end.target.arguments)
    return cost


def cost_of(operation: Operation) -> float:
    """Nanoseconds that one operation adds."""
    if operation.opcode == "check":
        assert isinstance(operation.payload, tuple)
        return CHECK + TEST * len(operation.payload)
    if operation.opcode == "original":
        return OPAQUE
    return STORE if operation.opcode in ("set_local", "del_local", "drop") else 0.0


def block_weights(region: Region) -> dict[Block, float]:
    """How often each block is expected to run in a call."""
    depths = loop_depths(region)
    weights = {region.blocks[0]: 1.0}
    work = [region.blocks[0]]
    while work:
        block = work.pop()
        ways = edges(block)
        share = BRANCH_FACTOR if isinstance(block.terminator, Branch) else 1.0
        for edge in ways:
            target = edge.block
            if target not in weights:
                deeper = LOOP_FACTOR ** (depths[target] - depths[block])
                weights[target] = weights[block] * share * deeper
                work.append(target)
    return weights


def edges(block: Block) -> list[Edge]:
    """Ways out of a block."""
    end = block.terminator
    if isinstance(end, Jump):
        return [end.target]
    if isinstance(end, Branch):
        return [end.then, end.otherwise]
    return [end.body, end.done] if isinstance(end, Next) else []


def loop_depths(region: Region) -> dict[Block, int]:
    """Nesting depth of each block: in how many natural loops it is."""
    predecessors: dict[Block, list[Block]] = {block: [] for block in region.blocks}
    for block in region.blocks:
        for edge in edges(block):
            predecessors[edge.block].append(block)
    depths = dict.fromkeys(region.blocks, 0)
    for block in region.blocks:
        end = block.terminator
        if isinstance(end, Jump) and end.backward:
            for member in natural_loop(end.target.block, block, predecessors):
                depths[member] += 1
    return depths


def natural_loop(header: Block, last: Block, predecessors: dict[Block, list[Block]]) -> set[Block]:
    """The blocks from which `last` is reached without passing the header."""
    members = {header}
    work = [last]
    while work:
        block = work.pop()
        if block not in members:
            members.add(block)
            work.extend(predecessors[block])
    return members
