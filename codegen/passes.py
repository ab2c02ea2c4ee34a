"""Clean-up of a region before it is lowered: small passes, run in the order of `PASSES`.

b0: jump b1(%0)          b0:
b1(%3):                    %4 = binary + %0, 1
  %4 = binary + %3, 1      return %4
  return %4
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from minijit.codegen.purity import cannot_raise
from minijit.interpreter.ir import (
    Block,
    Branch,
    Const,
    Edge,
    Exit,
    Jump,
    Next,
    Operand,
    Operation,
    Region,
    Return,
    Terminator,
    Value,
)
from minijit.interpreter.ir_values import (
    Substitution,
    condition,
    edges,
    operands,
    predecessors,
    resolve,
    snapshot_reads,
    substitute,
    tests,
)


def remove_unreachable_blocks(region: Region) -> None:
    """Keep what some path from the entry reaches."""
    work, seen = [region.blocks[0]], {region.blocks[0].number}
    while work:
        for edge in edges(work.pop()):
            if edge.block.number not in seen:
                seen.add(edge.block.number)
                work.append(edge.block)
    if len(seen) != len(region.blocks):
        region.blocks[:] = [block for block in region.blocks if block.number in seen]


def remove_constant_parameters(region: Region) -> None:
    """A parameter that only ever receives one value, or itself, is that value."""
    mapping: Substitution = {}
    incoming = predecessors(region)
    dropped = {
        operand for block in region.blocks for op in block.operations if op.opcode == "drop" for operand in op.operands
    }
    changing = True
    while changing:
        changing = False
        for block in region.blocks:
            for index, parameter in enumerate(block.parameters):
                if parameter in mapping or parameter in dropped:
                    continue
                same = only_argument(parameter, [edge.arguments[index] for _, edge in incoming[block.number]], mapping)
                if same is not None and same not in dropped:
                    mapping[parameter] = same
                    changing = True
    if mapping:
        for block in region.blocks:
            remove_parameters(block, incoming[block.number], mapping)
        substitute(region, mapping)


def only_argument(parameter: Value, arguments: list[Operand], mapping: Substitution) -> Operand | None:
    """Return the one operand other than itself that a parameter receives, if there is just one."""
    found: Operand | None = None
    for argument in arguments:
        operand = resolve(argument, mapping)
        if operand is parameter or operand is found or is_same_constant(operand, found):
            continue
        if found is not None:
            return None
        found = operand
    return found


def is_same_constant(left: Operand, right: Operand | None) -> bool:
    """Are both the same object, known beforehand?"""
    return isinstance(left, Const) and isinstance(right, Const) and left.value is right.value


def remove_parameters(block: Block, incoming: list[tuple[Block, Edge]], mapping: Substitution) -> None:
    """Take the mapped parameters out of a block and out of the edges to it."""
    kept = [index for index, parameter in enumerate(block.parameters) if parameter not in mapping]
    if len(kept) == len(block.parameters):
        return
    block.parameters[:] = [block.parameters[index] for index in kept]
    for _, edge in incoming:
        edge.arguments = tuple([edge.arguments[index] for index in kept])


def remove_unused_parameters(region: Region) -> None:
    """A parameter that nothing reads, but for itself and other such parameters, need not be passed."""
    used = directly_used(region)
    incoming = predecessors(region)
    work = [value for value in used]
    sources: dict[Value, list[Operand]] = {}
    for block in region.blocks:
        for index, parameter in enumerate(block.parameters):
            sources[parameter] = [edge.arguments[index] for _, edge in incoming[block.number]]
    while work:
        for operand in sources.get(work.pop(), ()):
            if isinstance(operand, Value) and operand not in used:
                used.add(operand)
                work.append(operand)
    unused: Substitution = {parameter: parameter for parameter in sources if parameter not in used}
    if unused:
        for block in region.blocks:
            remove_parameters(block, incoming[block.number], unused)


def directly_used(region: Region) -> set[Value]:
    """Return all values read by anything but edges."""
    used: set[Operand] = set()
    for block in region.blocks:
        for operation in block.operations:
            used.update(operands(operation))
        used.update(condition(block.terminator))
    for snapshot in region.snapshots():
        used.update(snapshot_reads(snapshot))
    return {operand for operand in used if isinstance(operand, Value)}


def thread_jumps(region: Region) -> None:
    """An edge to a block that only jumps on leads to where that one goes."""
    for block in region.blocks:
        for edge in edges(block):
            seen = {block.number}
            while is_trivial(edge.block) and edge.block.number not in seen:
                seen.add(edge.block.number)
                onward = edges(edge.block)[0]
                edge.arguments = onward.arguments
                edge.block = onward.block


def is_trivial(block: Block) -> bool:
    """Does a block do nothing but jump forward? (A loop's back edge stays one place.)"""
    terminator = block.terminator
    return not block.operations and not block.parameters and isinstance(terminator, Jump) and not terminator.backward


def duplicate_returns(region: Region) -> None:
    """A jump to a block that only returns is that return: no value has to meet another in a slot."""
    for block in region.blocks:
        jump = block.terminator
        if not isinstance(jump, Jump):
            continue
        target = jump.target.block
        if isinstance(target.terminator, Return) and not target.operations:
            mapping = dict(zip(target.parameters, jump.target.arguments, strict=True))
            value = target.terminator.value
            returned = mapping.get(value, value) if isinstance(value, Value) else value
            block.terminator = Return(returned, target.terminator.position)


def merge_blocks(region: Region) -> None:
    """Append a block to its only predecessor when that one just jumps to it."""
    counts = {number: len(found) for number, found in predecessors(region).items()}
    mapping: Substitution = {}
    gone: set[int] = set()
    for block in region.blocks:
        if block.number in gone:
            continue
        while (after := only_successor(block)) is not None and counts[after.number] == 1:
            if after is block or after is region.blocks[0]:
                break
            mapping.update(zip(after.parameters, edges(block)[0].arguments, strict=True))
            block.operations += after.operations
            block.terminator = after.terminator
            gone.add(after.number)
    if gone:
        region.blocks[:] = [block for block in region.blocks if block.number not in gone]
        substitute(region, mapping)


def only_successor(block: Block) -> Block | None:
    """Return where a block jumps to, if it jumps."""
    terminator = block.terminator
    return terminator.target.block if isinstance(terminator, Jump) else None


def simplify_branches(region: Region) -> None:
    """Branch on `x` rather than on `not x` or `truth x`."""
    made = {op.results[0]: op for block in region.blocks for op in block.operations if op.opcode in ("unary", "truth")}
    for block in region.blocks:
        terminator = block.terminator
        while isinstance(terminator, Branch) and terminator.kind == "true" and terminator.condition in made:
            step = made[terminator.condition]
            if not is_plain_truth(step, block):
                break
            terminator = branch_on_operand(terminator, step)
        block.terminator = terminator


def is_plain_truth(step: Operation, block: Block) -> bool:
    """May the branch ask for the operand's truth itself? Only where that can't run code or be seen."""
    return (step.opcode == "truth" or step.payload == "not") and cannot_raise(step) and step in block.operations[-4:]


def branch_on_operand(branch: Branch, step: Operation) -> Branch:
    """Return the branch on the operand of `step`, turned round for `not`."""
    then, otherwise = branch.then, branch.otherwise
    if step.opcode == "unary":
        then, otherwise = otherwise, then
    return replace(branch, condition=step.operands[0], then=then, otherwise=otherwise)


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


Pass = Callable[[Region], None]

PASSES: tuple[Pass, ...] = (
    remove_unreachable_blocks,
    remove_constant_parameters,
    remove_unused_parameters,
    thread_jumps,
    duplicate_returns,
    remove_unreachable_blocks,
    merge_blocks,
    simplify_branches,
    remove_dead_operations,
    merge_checks,
)


def clean_up(region: Region) -> Region:
    """Run all passes on a region, in place."""
    for step in PASSES:
        step(region)
    return region


__all__ = ["PASSES", "Exit", "Next", "Terminator", "clean_up"]
