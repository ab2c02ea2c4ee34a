"""What may an operation do besides giving its results? Scheduling and clean-up ask here."""

from __future__ import annotations

from minijit.interpreter.ir import Const, Deliver, Null, Operand, Operation

PLAIN_TYPES = frozenset({int, float, bool, str, bytes, complex, type(None)})
"""Types whose operators run no user code and whose instances' deaths nobody sees."""

VALUE, PURE, READ, CHECK, ORDERED, DROP = range(6)
"""From freest to strictest: can't fail; may be redone; looks at the heap; asks; keeps its place; ends a life."""

STAYS_BEHIND: dict[int, frozenset[int]] = {
    VALUE: frozenset({DROP}),
    PURE: frozenset({ORDERED, DROP}),
    READ: frozenset({CHECK, ORDERED, DROP}),
    ORDERED: frozenset({PURE, READ, CHECK, ORDERED, DROP}),
}
"""What an operation of each rank may not be delayed past.

A pure one may abort, and an abort does again all since its snapshot: that must not include an effect. An
ordered one shows, or raises for real, so what may fail or look stays after it.
"""

BUILDERS = frozenset({"tuple", "list", "cell", "function", "slice", "is", "list_to_tuple"})
"""Rows that fail only for lack of memory, whatever their operands are."""

TRUTH = frozenset({"truth"})
OPERATORS = frozenset({"binary", "unary", "compare", "format", "string"})
SAFE_BINARY = frozenset(["+", "-", "&", "|", "^", "+=", "-=", "&=", "|=", "^="])
SAFE_TYPES = (frozenset({int, bool}), frozenset({float}))
SAFE_FLOAT = frozenset(["+", "-", "*", "+=", "-=", "*="])
EQUALITY = frozenset({"==", "!="})
HASHED = {"map": 2, "set": 1}
"""Rows that hash some operands, and at which stride."""


def type_of(operand: Operand) -> type | None:
    """Return an operand's exact type where it is known."""
    if isinstance(operand, Const):
        return type(operand.value)
    return None if isinstance(operand, Null) else operand.type


def is_plain(operand: Operand) -> bool:
    """Is the operand known to be of a plain type?"""
    return type_of(operand) in PLAIN_TYPES


def are_plain(operation: Operation) -> bool:
    """Are all operands known to be of plain types?"""
    return all(map(is_plain, operation.operands))


def cannot_raise(operation: Operation) -> bool:
    """Is running out of memory the only way for a pure operation to fail?"""
    opcode = operation.opcode
    if opcode in BUILDERS:
        return True
    if opcode in HASHED:
        return all(map(is_plain, operation.operands[:: HASHED[opcode]]))
    if opcode in OPERATORS or opcode in TRUTH:
        return are_plain(operation) and cannot_raise_on_plain(operation)
    return False


def cannot_raise_on_plain(operation: Operation) -> bool:
    """The same, for an operator on operands of plain types."""
    opcode, text = operation.opcode, operation.payload
    if opcode in TRUTH or text == "not":
        return True
    types = {type_of(operand) for operand in operation.operands}
    if opcode == "compare":
        return text in EQUALITY or any(types <= safe for safe in (*SAFE_TYPES, {str}, {bytes}))
    if opcode == "binary":
        return (text in SAFE_BINARY and types <= SAFE_TYPES[0]) or (text in SAFE_FLOAT and types <= SAFE_TYPES[1])
    return opcode == "string" and types <= {str}


def rank(operation: Operation) -> int:
    """Return how freely an operation may be delayed."""
    opcode = operation.opcode
    if opcode == "drop":
        return DROP
    if opcode == "check":
        return CHECK
    if operation.effect or opcode == "original" or len(operation.results) != 1:
        return ORDERED
    if cannot_raise(operation):
        return READ if opcode == "list_to_tuple" else VALUE
    if operation.failure is None or isinstance(operation.failure, Deliver):
        return ORDERED
    return PURE if opcode in OPERATORS and are_plain(operation) else READ
