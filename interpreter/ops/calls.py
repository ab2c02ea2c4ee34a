"""Calls."""

from __future__ import annotations

from minijit.interpreter.family import Family
from minijit.interpreter.instruction import Instruction
from minijit.interpreter.ops.containers import items_of, known_mapping
from minijit.interpreter.protocols import call
from minijit.interpreter.signals import Opaque
from minijit.interpreter.state import PUSH
from minijit.interpreter.tracer import Tracer
from minijit.interpreter.trackers import NULL_SLOT, Exception_

ops = Family("calls")


@ops("CALL")
def call_(t: Tracer, inst: Instruction) -> bool:
    """(callable and NULL, or method and self; arguments -- result)"""
    count, names = inst.arg
    first, second, *arguments = t.pop_many(count + 2)
    function = second if first is NULL_SLOT else first
    if first is not NULL_SLOT and second is not NULL_SLOT:
        arguments.insert(0, second)
    positional = len(arguments) - len(names)
    keywords = tuple(zip(names, arguments[positional:], strict=True))
    return call.invoke(t, function, arguments[:positional], keywords, PUSH)


@ops("CALL_FUNCTION_EX")
def call_function_ex(t: Tracer, inst: Instruction) -> bool:
    """(callable and NULL, positional[, keywords] -- result)"""
    keywords = known_mapping(t, t.pop()) if inst.arg else None
    if inst.arg and keywords is None:
        raise Opaque("keyword arguments that are not known")
    positional = items_of(t, t.pop())
    if positional is None:
        raise Opaque("arguments that are not known")
    first, second = t.pop_many(2)
    function = second if first is NULL_SLOT else first
    named = tuple(zip(keywords.keys, keywords.values, strict=True)) if keywords is not None else ()
    if not all(type(name) is str for name, _ in named):
        raise Opaque("a keyword that is not a str")
    return call.invoke(t, function, list(positional), named, PUSH)


@ops("RAISE_VARARGS")
def raise_varargs(t: Tracer, inst: Instruction) -> bool:
    """([exception[, cause]] --)"""
    t.leave("raise")
    return True


__all__ = ["Exception_", "ops"]
