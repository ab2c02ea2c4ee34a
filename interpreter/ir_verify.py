"""Is a region well-formed? `verify` answers with a list of sentences, empty when it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from minijit.interpreter.ir import (
    Abort,
    Block,
    Branch,
    Edge,
    Exit,
    Next,
    Operand,
    Operation,
    Region,
    Snapshot,
    Terminator,
    Value,
)
from minijit.interpreter.ir_signatures import SIGNATURES, Signature
from minijit.interpreter.ir_values import (
    EDGES,
    condition,
    edges,
    failure,
    operands,
    snapshot_operands,
    snapshot_reads,
    tests,
)

Problems = list[str]


def verify(region: Region) -> Problems:
    """Return what is wrong with a region."""
    problems = [*structure(region), *shapes(region), *definitions(region)]
    return problems or [*scopes(region), *drops(region)]


def structure(region: Region) -> Problems:
    """Blocks have terminators, edges lead to blocks of the region with an argument for each parameter."""
    if not region.blocks:
        return ["no blocks"]
    problems: Problems = []
    known = {id(block) for block in region.blocks}
    if len({block.number for block in region.blocks}) != len(region.blocks):
        problems.append("two blocks have one number")
    if region.blocks[0].parameters:
        problems.append("the entry block has parameters")
    for block in region.blocks:
        if type(block.terminator) not in EDGES:
            problems.append(f"b{block.number}: no terminator")
            continue
        for edge in edges(block):
            problems += edge_problems(block, edge, known)
    return problems


def edge_problems(block: Block, edge: Edge, known: set[int]) -> Problems:
    """Return what is wrong with one edge."""
    if id(edge.block) not in known:
        return [f"b{block.number}: edge to b{edge.block.number}, which is not in the region"]
    if len(edge.arguments) != len(edge.block.parameters):
        return [
            f"b{block.number}: {edge} has {len(edge.arguments)} arguments for {len(edge.block.parameters)} parameters"
        ]
    return []


def all_operations(region: Region) -> list[tuple[str, Operation]]:
    """Return each operation of blocks and snapshots with the name of its place."""
    found = [(f"b{block.number}", operation) for block in region.blocks for operation in block.operations]
    for snapshot in region.snapshots():
        found += [(f"s{snapshot.number}", operation) for operation in snapshot.operations]
    return found


def shapes(region: Region) -> Problems:
    """Opcodes are known and have the operands, results and payload of their row."""
    problems: Problems = []
    for place, operation in all_operations(region):
        signature = SIGNATURES.get(operation.opcode)
        wrong = "unknown opcode" if signature is None else why_misshapen(operation, signature)
        if wrong:
            problems.append(f"{place}: {operation}: {wrong}")
    for block in region.blocks:
        if isinstance(block.terminator, Branch) and block.terminator.kind not in ("true", "none"):
            problems.append(f"b{block.number}: branch of unknown kind {block.terminator.kind!r}")
    return problems


def why_misshapen(operation: Operation, signature: Signature) -> str | None:
    """Say why an operation does not fit its row, or None."""
    count = len(operation.operands)
    if count < signature.least or (signature.most is not None and count > signature.most):
        return f"{count} operands"
    if signature.results is not None and len(operation.results) != signature.results:
        return f"{len(operation.results)} results"
    if signature.effect is not None and operation.effect != signature.effect:
        return f"effect is {operation.effect}"
    if not isinstance(operation.payload, signature.payload):
        return f"payload is {operation.payload!r}"
    why = SPECIAL.get(operation.opcode)
    return why(operation) if why is not None else None


def why_bad_check(operation: Operation) -> str | None:
    """A check aborts; its results are its tests' results."""
    if not isinstance(operation.failure, Abort):
        return "a check must abort"
    results = tuple(test.result for test in tests(operation) if test.result is not None)
    return None if results == operation.results else "results differ from the tests' results"


def why_bad_function(operation: Operation) -> str | None:
    """`payload` says which operands follow the code."""
    payload = str(operation.payload)
    if not set(payload) <= set("dkac"):
        return "payload is not a subset of dkac"
    return None if len(payload) + 1 == len(operation.operands) else "operands do not match the payload"


def why_bad_map(operation: Operation) -> str | None:
    """Keys and values come in pairs."""
    return "odd number of operands" if len(operation.operands) % 2 else None


SPECIAL: dict[str, Callable[[Operation], str | None]] = {
    "check": why_bad_check,
    "function": why_bad_function,
    "map": why_bad_map,
}


def definitions(region: Region) -> Problems:
    """Each value has one definition; each snapshot has one number."""
    problems: Problems = []
    seen: set[Value] = set()
    for place, value in all_definitions(region):
        if value in seen:
            problems.append(f"{place}: {value!r} is defined twice")
        seen.add(value)
    snapshots: dict[int, Snapshot] = {}
    for block in region.blocks:
        for step in (*block.operations, block.terminator):
            snapshot = snapshot_of(step)
            if snapshot is not None and snapshots.setdefault(snapshot.number, snapshot) is not snapshot:
                problems.append(f"b{block.number}: two snapshots are called s{snapshot.number}")
    return problems


def snapshot_of(step: Operation | Terminator | None) -> Snapshot | None:
    """Return the snapshot a step may leave by."""
    if isinstance(step, Exit):
        return step.snapshot
    fails = failure(step)
    return None if fails is None else fails.snapshot


def all_definitions(region: Region) -> Iterable[tuple[str, Value]]:
    """Yield every definition of a value with its place."""
    for _, value in region.arguments:
        yield "arguments", value
    for test in region.entry_tests:
        if test.result is not None:
            yield "entry check", test.result
    for block in region.blocks:
        for value in block.parameters:
            yield f"b{block.number}", value
        if isinstance(block.terminator, Next):
            yield f"b{block.number}", block.terminator.result
    for place, operation in all_operations(region):
        for value in operation.results:
            yield place, value


Bound = set[Value]


def scopes(region: Region) -> Problems:
    """Every value is defined before it is used, on every path."""
    bound = {value for _, value in region.arguments}
    problems = test_problems(region, bound)
    entry = available(region, bound)
    for block in region.blocks:
        if block.number in entry:
            problems += block_problems(block, set(entry[block.number]))
    return problems


def test_problems(region: Region, bound: Bound) -> Problems:
    """Entry tests ask about arguments and what earlier tests loaded; `bound` grows by what they load."""
    problems: Problems = []
    for test in region.entry_tests:
        asked = [test.subject, *(item for item in test.payload if isinstance(item, Value))]
        problems += [f"entry check: {v!r} is not bound" for v in asked if v is not None and v not in bound]
        if test.result is not None:
            bound.add(test.result)
    return problems


def available(region: Region, bound: Bound) -> dict[int, Bound]:
    """Return for each reachable block what is defined on every path to its start."""
    entry: dict[int, Bound] = {region.blocks[0].number: set(bound)}
    work = [region.blocks[0]]
    while work:
        block = work.pop()
        leaving = set(entry[block.number]).union(block.parameters)
        for operation in block.operations:
            leaving.update(operation.results)
        for edge in edges(block):
            carried = leaving | next_result(block, edge)
            old = entry.get(edge.block.number)
            new = carried if old is None else old & carried
            if new != old:
                entry[edge.block.number] = new
                work.append(edge.block)
    return entry


def next_result(block: Block, edge: Edge) -> Bound:
    """An iterator's item exists only on the way to the loop's body."""
    terminator = block.terminator
    return {terminator.result} if isinstance(terminator, Next) and edge is terminator.body else set()


def block_problems(block: Block, bound: Bound) -> Problems:
    """Return the uses of unbound values in one block."""
    problems: Problems = []
    bound.update(block.parameters)
    for operation in block.operations:
        asked = READS.get(operation.opcode, operands)(operation)
        problems += unbound(f"b{block.number}: {operation.opcode}", asked, bound)
        problems += snapshot_problems(block, operation, bound)
        bound.update(operation.results)
    problems += unbound(f"b{block.number}: end", condition(block.terminator), bound)
    problems += snapshot_problems(block, block.terminator, bound)
    for edge in edges(block):
        problems += unbound(f"b{block.number}: {edge}", edge.arguments, bound | next_result(block, edge))
    return problems


def own_reads(check: Operation) -> list[Operand]:
    """Return what a check reads, without what its own earlier tests load."""
    own: set[Operand] = set(check.results)
    return [operand for operand in operands(check) if operand not in own]


def nothing(_: Operation) -> list[Operand]:
    """A drop lets go of what is there, if anything is."""
    return []


READS: dict[str, Callable[[Operation], Iterable[Operand]]] = {"check": own_reads, "drop": nothing}


def unbound(place: str, asked: Iterable[Operand], bound: Bound) -> Problems:
    """Return a problem for each operand that is a value not bound."""
    return [f"{place}: {v!r} is not bound" for v in asked if isinstance(v, Value) and v not in bound]


def snapshot_problems(block: Block, step: Operation | Terminator | None, bound: Bound) -> Problems:
    """A snapshot needs only what is bound wherever a step may leave by it; it builds before it uses."""
    snapshot = snapshot_of(step)
    if snapshot is None:
        return []
    if snapshot.offset < 0:
        return [f"s{snapshot.number} was not filled in"]
    if bound.issuperset(snapshot_reads(snapshot)) and not snapshot.operations:
        return []
    inside = set(bound)
    place = f"b{block.number}: s{snapshot.number}"
    problems: Problems = []
    for operation in snapshot.operations:
        problems += unbound(place, operation.operands, inside)
        inside.update(operation.results)
    return problems + unbound(place, list(snapshot_operands(snapshot)), inside)


def drops(region: Region) -> Problems:
    """A value that may have been dropped is not used again before its next definition."""
    if not any(operation.opcode == "drop" for block in region.blocks for operation in block.operations):
        return []
    lost: dict[int, set[Operand]] = {block.number: set() for block in region.blocks}
    work = list(region.blocks)
    while work:
        block = work.pop()
        leaving = run_drops(block, lost[block.number], [])
        for edge in edges(block):
            carried = leaving - next_result(block, edge) - lost[edge.block.number]
            if carried:
                lost[edge.block.number] |= carried
                work.append(edge.block)
    problems: Problems = []
    for block in region.blocks:
        run_drops(block, lost[block.number], problems)
    return problems


def run_drops(block: Block, lost: set[Operand], problems: Problems) -> set[Operand]:
    """Return what is lost at the end of a block, noting uses of what was lost before them."""
    lost = lost.difference(block.parameters)
    for operation in block.operations:
        asked = () if operation.opcode == "drop" else operands(operation)
        note_lost(f"b{block.number}: {operation.opcode}", operation, asked, lost, problems)
        lost.difference_update(operation.results)
        if operation.opcode == "drop":
            lost.update(operation.operands)
    ends = [*condition(block.terminator), *(argument for edge in edges(block) for argument in edge.arguments)]
    note_lost(f"b{block.number}: end", block.terminator, ends, lost, problems)
    return lost


def note_lost(
    place: str, step: Operation | Terminator | None, asked: Iterable[Operand], lost: set[Operand], problems: Problems
) -> None:
    """Add a problem for each lost value that a step or its snapshot uses."""
    if not lost:
        return
    snapshot = snapshot_of(step)
    needed = [*asked, *(snapshot_reads(snapshot) if snapshot is not None else ())]
    problems += [f"{place}: {value!r} was dropped" for value in dict.fromkeys(needed) if value in lost]
