"""One small function per row of the intermediate form: operands are loaded, one operation is emitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from minijit.codegen.emitter import Emitter
from minijit.codegen.purity import type_of
from minijit.codegen.schedule import stack_operands
from minijit.interpreter.ir import Operand, Operation


class Lowering(Protocol):
    """What the rows need of the code generator."""

    emitter: Emitter

    def load(self, operand: Operand) -> None:
        """Push an operand, computing it here if it was scheduled so."""

    def slot(self, operand: Operand) -> int:
        """Return the slot that holds an operand."""

    def check(self, operation: Operation) -> None:
        """Emit a check."""

    def drop(self, operand: Operand) -> None:
        """Let go of what an operand's slot holds."""


Emit = Callable[[Lowering, Operation], None]


def load_all(low: Lowering, operation: Operation) -> None:
    """Push what the operation wants on the stack."""
    for operand in stack_operands(operation):
        low.load(operand)


def simple(emit: Callable[[Emitter, Any], None]) -> Emit:
    """Make a row that loads its operands and emits one thing by its payload."""

    def row(low: Lowering, operation: Operation) -> None:
        load_all(low, operation)
        emit(low.emitter, operation.payload)

    return row


def build(kind: str, stride: int = 1) -> Emit:
    """Make a row that builds a container of its operands."""

    def row(low: Lowering, operation: Operation) -> None:
        load_all(low, operation)
        low.emitter.build(kind, len(operation.operands) // stride)

    return row


def grow(add: Callable[[Emitter, int], None]) -> Emit:
    """Make a row that adds its second operand to the container that is its first."""

    def row(low: Lowering, operation: Operation) -> None:
        load_all(low, operation)
        add(low.emitter, 1)
        low.emitter.pop()

    return row


def truth(low: Lowering, operation: Operation) -> None:
    """(value -- bool)"""
    load_all(low, operation)
    if type_of(operation.operands[0]) is not bool:
        low.emitter.unary("not")
        low.emitter.unary("not")


def deref(low: Lowering, operation: Operation) -> None:
    """( -- content of the cell in a slot)"""
    low.emitter.load_deref(low.slot(operation.operands[0]))


def set_deref(low: Lowering, operation: Operation) -> None:
    """(value -- )"""
    load_all(low, operation)
    low.emitter.store_deref(low.slot(operation.operands[0]))


def del_deref(low: Lowering, operation: Operation) -> None:
    """( -- )"""
    low.emitter.delete_deref(low.slot(operation.operands[0]))


def make_cell(low: Lowering, operation: Operation) -> None:
    """([content] -- ), the cell in its slot: made of what the slot holds, nothing when it is unbound."""
    emitter, slot = low.emitter, low.slot(operation.results[0])
    if operation.operands:
        load_all(low, operation)
        emitter.store_fast(slot)
    else:
        unbind(emitter, slot)
    emitter.make_cell(slot)


def unbind(emitter: Emitter, slot: int) -> None:
    """Leave a slot unbound, bound or not before."""
    emitter.load_const(None)
    emitter.store_fast(slot)
    emitter.delete_fast(slot)


def call(low: Lowering, operation: Operation) -> None:
    """(function, arguments -- result)"""
    low.emitter.before_callable()
    low.load(operation.operands[0])
    low.emitter.after_callable()
    for operand in operation.operands[1:]:
        low.load(operand)
    low.emitter.call(len(operation.operands) - 1, keyword_names(operation.payload))


def call_method(low: Lowering, operation: Operation) -> None:
    """(object, arguments -- result)"""
    name, keywords = method_name(operation.payload)
    low.load(operation.operands[0])
    low.emitter.load_method(name)
    for operand in operation.operands[1:]:
        low.load(operand)
    low.emitter.call_method(len(operation.operands) - 1, keywords)


def keyword_names(payload: Any) -> tuple[str, ...]:
    """Read the payload of a call."""
    return payload or ()


def method_name(payload: Any) -> tuple[str, tuple[str, ...]]:
    """Read the payload of a method call."""
    name, keywords = payload
    return name, keywords or ()


def call_ex(low: Lowering, operation: Operation) -> None:
    """(function, args[, kwargs] -- result)"""
    low.emitter.before_callable()
    low.load(operation.operands[0])
    low.emitter.after_callable()
    for operand in operation.operands[1:]:
        low.load(operand)
    low.emitter.call_ex(len(operation.operands) == 3)  # noqa: PLR2004 - function, args and kwargs


def new(low: Lowering, operation: Operation) -> None:
    """(class -- instance), by `object.__new__`."""
    low.emitter.before_callable()
    low.emitter.load_const(object.__new__)
    low.emitter.after_callable()
    low.load(operation.operands[0])
    low.emitter.call(1)


FUNCTION_FLAGS = {"d": 1, "k": 2, "a": 4, "c": 8}


def make_function(low: Lowering, operation: Operation) -> None:
    """(code, [defaults], [kwdefaults], [annotations], [closure] -- function)"""
    load_all(low, operation)
    low.emitter.make_function(sum(FUNCTION_FLAGS[letter] for letter in str(operation.payload)))


def dict_merge(low: Lowering, operation: Operation) -> None:
    """(dict, mapping -- )

    To say whose keywords are wrong CPython looks for the called function two or three items below the dict.
    """
    for _ in range(3):
        low.emitter.load_const(None)
    load_all(low, operation)
    low.emitter.dict_merge(1)
    for _ in range(4):
        low.emitter.pop()


def effect_call(low: Lowering, operation: Operation) -> None:
    """(arguments -- ): the payload's subscript calls a builtin, and does not poll for signals as a call would."""
    low.emitter.load_const(operation.payload)
    load_all(low, operation)
    low.emitter.build("tuple", len(operation.operands))
    low.emitter.subscript()
    low.emitter.pop()


def set_local(low: Lowering, operation: Operation) -> None:
    """(value -- )"""
    load_all(low, operation)
    low.emitter.store_fast(original_slot(low, operation))


def del_local(low: Lowering, operation: Operation) -> None:
    """( -- ), whether or not there is something: paths meet where only some of them have bound the local."""
    low.emitter.load_const(None)
    low.emitter.store_fast(original_slot(low, operation))
    low.emitter.delete_fast(original_slot(low, operation))


def original_slot(low: Lowering, operation: Operation) -> int:
    """Return the generated code's slot for an original one."""
    slot: Any = operation.payload
    return low.emitter.slot(slot)


def drop(low: Lowering, operation: Operation) -> None:
    """( -- ), ending the life of a value if it has one: it may be dropped already, or made on some paths only."""
    low.drop(operation.operands[0])


def original(low: Lowering, operation: Operation) -> None:
    """(what the original pops -- what it pushes)"""
    load_all(low, operation)
    instruction: Any = operation.payload
    for opcode, arg in instruction.raw:
        low.emitter.raw(opcode, arg)


ROWS: dict[str, Emit] = {
    "binary": simple(lambda emitter, text: emitter.binary(text)),
    "unary": simple(lambda emitter, text: emitter.unary(text)),
    "truth": truth,
    "compare": simple(lambda emitter, text: emitter.compare(text)),
    "is": simple(lambda emitter, inverted: emitter.is_(bool(inverted))),
    "contains": simple(lambda emitter, inverted: emitter.contains(bool(inverted))),
    "attr": simple(lambda emitter, name: emitter.load_attr(name)),
    "item": simple(lambda emitter, _: emitter.subscript()),
    "slice_item": simple(lambda emitter, _: emitter.slice_item()),
    "deref": deref,
    "global": simple(lambda emitter, name: emitter.load_global(name)),
    "tuple": build("tuple"),
    "list": build("list"),
    "set": build("set"),
    "map": build("map", 2),
    "slice": build("slice"),
    "string": build("string"),
    "format": simple(lambda emitter, payload: emitter.format(*payload)),
    "call": call,
    "call_method": call_method,
    "call_ex": call_ex,
    "new": new,
    "iter": simple(lambda emitter, _: emitter.get_iter()),
    "cell": make_cell,
    "function": make_function,
    "list_to_tuple": simple(lambda emitter, _: emitter.list_to_tuple()),
    "check": lambda low, operation: low.check(operation),
    "set_attr": simple(lambda emitter, name: emitter.store_attr(name)),
    "del_attr": simple(lambda emitter, name: emitter.delete_attr(name)),
    "set_item": simple(lambda emitter, _: emitter.store_subscript()),
    "del_item": simple(lambda emitter, _: emitter.delete_subscript()),
    "append": grow(Emitter.list_append),
    "set_add": grow(Emitter.set_add),
    "list_extend": grow(Emitter.list_extend),
    "set_update": grow(Emitter.set_update),
    "dict_update": grow(Emitter.dict_update),
    "dict_merge": dict_merge,
    "effect_call": effect_call,
    "set_deref": set_deref,
    "del_deref": del_deref,
    "set_global": simple(lambda emitter, name: emitter.store_global(name)),
    "del_global": simple(lambda emitter, name: emitter.delete_global(name)),
    "set_local": set_local,
    "del_local": del_local,
    "original": original,
    "drop": drop,
}
