"""The families of handlers, merged and checked."""

from __future__ import annotations

from collections.abc import Iterable

from minijit.interpreter import models
from minijit.interpreter.family import Family, Handler
from minijit.interpreter.instruction import Instruction
from minijit.interpreter.ops import calls, closures, containers, control, expressions, names, stack
from minijit.interpreter.protocols import construct
from minijit.interpreter.signals import Opaque
from minijit.interpreter.tracer import Tracer

FAMILIES = (stack.ops, names.ops, closures.ops, expressions.ops, containers.ops, control.ops, calls.ops)


class Handlers(dict[str, Handler]):
    """Handlers by neutral opcode; one that nobody handles runs as it is."""

    def __missing__(self, opcode: str) -> Handler:
        return not_modelled


def not_modelled(t: Tracer, inst: Instruction) -> bool:
    """An opcode without a model."""
    raise Opaque(f"{inst.op} is not modelled")


def merge(families: Iterable[Family]) -> Handlers:
    """One table from all families; an opcode in two of them is an error."""
    merged = Handlers()
    for family in families:
        for opcode, handler in family.handlers.items():
            if opcode in merged:
                raise ValueError(f"{opcode} is in two families")
            merged[opcode] = handler
    return merged


HANDLERS = merge(FAMILIES)

CALLING = frozenset(HANDLERS) - {"JUMP", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "RETURN_VALUE", "FOR_ITER"}
"""Opcodes that may enter an inlined frame, so that they may have to run as they are."""

__all__ = ["CALLING", "HANDLERS", "construct", "models"]
