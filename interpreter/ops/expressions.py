"""Operators, comparisons, attributes, subscripts and formatting."""

from __future__ import annotations

from minijit.interpreter.family import Family
from minijit.interpreter.instruction import Instruction
from minijit.interpreter.opcodes import NULL_BELOW
from minijit.interpreter.protocols import attribute, contains, operators, storage, subscript, truth
from minijit.interpreter.protocols.continuation import complete
from minijit.interpreter.signals import Opaque
from minijit.interpreter.state import PUSH, Then
from minijit.interpreter.tracer import Tracer
from minijit.interpreter.trackers import NULL_SLOT, PLAIN_TYPES, Constant, Method, Slice, Super

ops = Family("expressions")


@ops("BINARY_OP")
def binary_op(t: Tracer, inst: Instruction) -> bool:
    """(left, right -- result)"""
    left, right = t.pop_many(2)
    return operators.binary(t, inst.arg, left, right, PUSH)


@ops("UNARY_OP")
def unary_op(t: Tracer, inst: Instruction) -> bool:
    """(value -- result)"""
    operand = t.pop()
    if inst.arg == "not":
        return truth.of(t, operand, Then("invert", PUSH), ())
    return operators.unary(t, inst.arg, operand, PUSH)


@ops("COMPARE_OP")
def compare_op(t: Tracer, inst: Instruction) -> bool:
    """(left, right -- result)"""
    text, to_bool = inst.arg
    left, right = t.pop_many(2)
    return operators.compare(t, text, left, right, Then("to_bool") if to_bool else PUSH)


@ops("TO_BOOL")
def to_bool(t: Tracer, inst: Instruction) -> bool:
    """(value -- bool)"""
    return truth.of(t, t.pop(), PUSH, ())


@ops("IS_OP")
def is_op(t: Tracer, inst: Instruction) -> bool:
    """(left, right -- bool)"""
    left, right = t.pop_many(2)
    return complete(t, PUSH, (), operators.identical(t, left, right, inst.arg))


@ops("CONTAINS_OP")
def contains_op(t: Tracer, inst: Instruction) -> bool:
    """(item, container -- bool)"""
    item, container = t.pop_many(2)
    return contains.test(t, item, container, Then("invert", PUSH) if inst.arg else PUSH)


# -- attributes -------------------------------------------------------------------------------------


@ops("LOAD_ATTR")
def load_attr(t: Tracer, inst: Instruction) -> bool:
    """(owner -- value)"""
    return attribute.load(t, t.pop(), inst.arg, PUSH, ())


@ops("LOAD_METHOD")
def load_method(t: Tracer, inst: Instruction) -> bool:
    """(owner -- method, self) or, where it is no method, the attribute beside a NULL"""
    return attribute.load(t, t.pop(), inst.arg, Then("method", NULL_BELOW), ())


@ops("STORE_ATTR")
def store_attr(t: Tracer, inst: Instruction) -> bool:
    """(value, owner --)"""
    value, owner = t.pop_many(2)
    return attribute.store(t, owner, inst.arg, value, Then("discard"))


@ops("DELETE_ATTR")
def delete_attr(t: Tracer, inst: Instruction) -> None:
    """(owner --)"""
    attribute.delete(t, t.pop(), inst.arg)


@ops("LOAD_SUPER_ATTR", "LOAD_SUPER_METHOD")
def load_super_attr(t: Tracer, inst: Instruction) -> bool:
    """(super, class, self -- value)"""
    name, _ = inst.arg
    function, cls, owner = t.pop_many(3)
    known = isinstance(function, Constant) and function.value is super
    if not (known and isinstance(cls, Constant) and issubclass(type(cls.value), type)):
        raise Opaque("super() of a class that is not known")
    chained = Then("method", NULL_BELOW) if inst.op == "LOAD_SUPER_METHOD" else PUSH
    return attribute.load(t, t.virtual(Super(cls.value, owner)), name, chained, ())


# -- subscripts ---------------------------------------------------------------------------------------


@ops("BINARY_SUBSCR")
def binary_subscr(t: Tracer, inst: Instruction) -> bool:
    """(owner, key -- item)"""
    owner, key = t.pop_many(2)
    return subscript.load(t, owner, key, PUSH)


@ops("BINARY_SLICE")
def binary_slice(t: Tracer, inst: Instruction) -> bool:
    """(owner, start, stop -- part)"""
    owner, start, stop = t.pop_many(3)
    return subscript.load(t, owner, t.virtual(Slice((start, stop))), PUSH)


@ops("BUILD_SLICE")
def build_slice(t: Tracer, inst: Instruction) -> None:
    """(start, stop[, step] -- slice)"""
    t.push(t.virtual(Slice(tuple(t.pop_many(inst.arg)))))


@ops("STORE_SUBSCR")
def store_subscr(t: Tracer, inst: Instruction) -> bool:
    """(value, owner, key --)"""
    value, owner, key = t.pop_many(3)
    return storage.store(t, owner, key, value)


@ops("DELETE_SUBSCR")
def delete_subscr(t: Tracer, inst: Instruction) -> bool:
    """(owner, key --)"""
    owner, key = t.pop_many(2)
    return storage.delete(t, owner, key)


# -- formatting -----------------------------------------------------------------------------------------


@ops("FORMAT")
def format_value(t: Tracer, inst: Instruction) -> None:
    """(value[, spec] -- str)"""
    conversion, has_spec = inst.arg
    operands = t.pop_many(2 if has_spec else 1)
    if not all(t.need_type(operand) in PLAIN_TYPES for operand in operands):
        raise Opaque("formatting a value that is not of a plain type")
    t.push(t.emit("format", operands, (conversion, has_spec), str))


@ops("CONVERT")
def convert(t: Tracer, inst: Instruction) -> None:
    """(value -- str)"""
    operand = t.pop()
    if t.need_type(operand) not in PLAIN_TYPES:
        raise Opaque("formatting a value that is not of a plain type")
    t.push(t.emit("format", (operand,), (inst.arg, False), str))


@ops("BUILD_STRING")
def build_string(t: Tracer, inst: Instruction) -> None:
    """(parts -- str)"""
    parts = t.pop_many(inst.arg)
    if not all(t.known_type(part) is str for part in parts):
        raise Opaque("a string of parts that are not str")
    t.push(t.emit("string", parts, None, str))


__all__ = ["NULL_SLOT", "Method", "ops"]
