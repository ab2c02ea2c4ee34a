"""A family of handlers: one neutral opcode, one function. No registry is global."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from minijit.interpreter.instruction import Instruction

if TYPE_CHECKING:
    from minijit.interpreter.tracer import Tracer

Handler = Callable[["Tracer", Instruction], "bool | None"]
"""Interprets one instruction. True: it has set where execution goes on; else the next one follows."""


class Family:
    """Handlers of one kind, by neutral opcode."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.handlers: dict[str, Handler] = {}

    def __call__(self, *opcodes: str) -> Callable[[Handler], Handler]:
        """Register a handler; a second one for the same opcode is refused."""

        def register(handler: Handler) -> Handler:
            for opcode in opcodes:
                if opcode in self.handlers:
                    raise ValueError(f"{opcode} is handled twice in {self.name}")
                self.handlers[opcode] = handler
            return handler

        return register
