"""Passes over blocks and the ways between them."""

from __future__ import annotations

from dataclasses import replace

from minijit.codegen.purity import cannot_raise
from minijit.interpreter.ir import Block, Branch, Jump, Operation, Region, Return, Value
from minijit.interpreter.ir_values import Substitution, dropped_values, edges, predecessors, substitute


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


def thread_jumps(region: Region) -> None:
    """An edge to a block that only jumps on leads to where that one goes."""
    for block in region.blocks:
        for edge in edges(block):
            seen = {block.number}
            while is_trivial(edge.block) and edge.block.number not in seen:
                seen.add(edge.block.number)
                onward = edges(edge.block)[0]
                edge.arguments, edge.moved = onward.arguments, onward.moved
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
    """Append a block to its only predecessor when that one just jumps to it.

    An argument that is dropped keeps its parameter apart: the parameter outlives it.
    """
    dropped = dropped_values(region)
    counts = {number: len(found) for number, found in predecessors(region).items()}
    mapping: Substitution = {}
    gone: set[int] = set()
    for block in region.blocks:
        if block.number in gone:
            continue
        while (after := only_successor(block)) is not None and counts[after.number] == 1:
            if after is block or after is region.blocks[0] or not dropped.isdisjoint(edges(block)[0].arguments):
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
    """Branch on `x` rather than on `not x` or `truth x`, where asking for x's truth runs no code."""
    operations = [operation for block in region.blocks for operation in block.operations]
    dropped = dropped_values(region)
    made = {step.results[0]: step for step in operations if is_plain_truth(step) and step.operands[0] not in dropped}
    for block in region.blocks:
        terminator = block.terminator
        while isinstance(terminator, Branch) and terminator.kind == "true" and terminator.condition in made:
            terminator = branch_on_operand(terminator, made[terminator.condition])
        block.terminator = terminator


def is_plain_truth(step: Operation) -> bool:
    """Is this `truth x` or `not x` of an x that no code of its own answers for?"""
    return (step.opcode == "truth" or (step.opcode == "unary" and step.payload == "not")) and cannot_raise(step)


def branch_on_operand(branch: Branch, step: Operation) -> Branch:
    """Return the branch on the operand of `step`, turned round for `not`."""
    then, otherwise = branch.then, branch.otherwise
    if step.opcode == "unary":
        then, otherwise = otherwise, then
    return replace(branch, condition=step.operands[0], then=then, otherwise=otherwise)
