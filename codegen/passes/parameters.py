"""Passes over the parameters of blocks."""

from __future__ import annotations

from minijit.interpreter.ir import Block, Const, Edge, Operand, Region, Value
from minijit.interpreter.ir_values import (
    Substitution,
    condition,
    dropped_values,
    operands,
    predecessors,
    resolve,
    snapshot_reads,
    substitute,
)


def remove_constant_parameters(region: Region) -> None:
    """A parameter that only ever receives one value, or itself, is that value."""
    mapping: Substitution = {}
    incoming = predecessors(region)
    dropped = dropped_values(region)
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
            keep_stand_ins(block, incoming[block.number], mapping)
            remove_parameters(block, incoming[block.number], mapping)
        substitute(region, mapping)


def keep_stand_ins(block: Block, incoming: list[tuple[Block, Edge]], mapping: Substitution) -> None:
    """What stands for a parameter from now on lives on in its own place, so no edge clears that."""
    lasting = {resolve(parameter, mapping) for parameter in block.parameters if parameter in mapping}
    for _, edge in incoming:
        edge.moved = edge.moved.difference(lasting)


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
