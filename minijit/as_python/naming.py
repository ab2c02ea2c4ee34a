"""Which name each value, constant and variable of a region has in its source."""

from __future__ import annotations

import ast
import builtins
import inspect
import keyword
import math
import re
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType
from typing import Any

from minijit.as_python.expressions import Untranslatable, assign, call, constant, name
from minijit.interpreter.ir import Next, Operand, Region, Value
from minijit.originals import original_code
from minijit.words import class_name

__all__ = ["Naming", "identifier"]

LITERALS = frozenset({type(None), bool, int, str, bytes})
HELPERS = frozenset({
    "ABSENT", "CellType", "DONE", "G", "ask", "block", "bool", "error", "format", "in_place", "iter", "leave", "len",
    "load_global", "locals", "make_function", "next", "object", "original", "repr", "resuming", "set", "slice", "str",
    "ascii", "dict", "list", "truth", "tuple", "type", "unchanged", "Exception", "BaseException",
})  # fmt: skip
LOOKERS = (globals, locals, vars, dir, eval, exec, super, __import__, sys._getframe)
"""What would see another frame or other globals in source."""


class Naming:
    """Hands out names; `namespace` is what the source's globals will be. Mutates."""

    def __init__(self, region: Region, function: FunctionType) -> None:
        self.region = region
        self.function = function
        self.code = original_code(function)
        self.title = identifier(function.__name__)
        self.changed = {
            op.payload for block in region.blocks for op in block.operations if op.opcode in ("set_local", "del_local")
        }
        self.names: dict[Value, str] = {}
        self.prologue: list[ast.stmt] = []
        self.namespace: dict[str, Any] = {}
        self.constants: dict[int, str] = {}
        self.taken = {self.title, *HELPERS, *self.code.co_varnames}
        self._check_parameters()
        self._name_arguments()
        self._name_values()

    def _check_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter in HELPERS or not parameter.isidentifier():
                raise Untranslatable(f"a parameter is called {parameter}, which the source needs")

    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters, in the order of their slots."""
        code = self.code
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
        return code.co_varnames[:count]

    def _name_arguments(self) -> None:
        code = self.code
        cells = [n for n in code.co_cellvars if n not in code.co_varnames]
        variables = [*code.co_varnames, *cells, *code.co_freevars]
        free = len(variables) - len(code.co_freevars)
        own = set(code.co_cellvars)
        for slot, value in self.region.arguments:
            text = variables[slot]
            if slot >= free:
                self.names[value] = self.unique(f"{text}_cell")
                self.namespace[self.names[value]] = (self.function.__closure__ or ())[slot - free]
            elif text in own:
                self.names[value] = self.unique(f"{text}_cell")
                content = [name(text)] if text in self.parameters() else []
                self.prologue.append(assign(self.names[value], call("CellType", *content)))
            elif slot in self.changed:
                self.names[value] = self.unique(f"{text}_0")
                self.prologue.append(assign(self.names[value], name(text)))
            else:
                self.names[value] = text

    def _name_values(self) -> None:
        hints = dict(self._hints())
        for block in self.region.blocks:
            made = [*block.parameters, *(result for op in block.operations for result in op.results)]
            if isinstance(block.terminator, Next):
                made.append(block.terminator.result)
            for value in made:
                self.names.setdefault(value, self.unique(hints.get(value, f"v{value.number}")))
        for test in self.region.entry_tests:
            if test.result is not None:
                self.names.setdefault(test.result, self.unique(f"v{test.result.number}"))

    def _hints(self) -> Iterator[tuple[Value, str]]:
        """The user's own names for values: the local or attribute that holds them where the code may leave."""
        for snapshot in self.region.snapshots():
            for operation in snapshot.operations:
                if operation.opcode == "set_attr" and isinstance(operation.operands[1], Value):
                    yield operation.operands[1], identifier(str(operation.payload))
        for snapshot in self.region.snapshots():
            for slot, value in snapshot.locals:
                if isinstance(value, Value) and slot < len(self.code.co_varnames):
                    yield value, identifier(self.code.co_varnames[slot])

    def unique(self, text: str) -> str:
        """A name that is not taken yet."""
        found, number = text, 1
        while found in self.taken or keyword.iskeyword(found):
            number += 1
            found = f"{text}_{number}"
        self.taken.add(found)
        return found

    def variable(self, slot: object) -> str:
        """The variable that stands for one of the function's own locals."""
        if not isinstance(slot, int) or slot >= len(self.code.co_varnames):
            raise Untranslatable("a cell is replaced")
        text = self.code.co_varnames[slot]
        if text in HELPERS or not text.isidentifier():
            raise Untranslatable(f"a local is called {text}, which the source needs")
        return text

    def target(self, operand: Operand) -> str:
        """The variable of a value."""
        if not isinstance(operand, Value):
            raise Untranslatable("an empty stack slot is stored")
        return self.names[operand]

    def stored(self, value: Value) -> ast.expr:
        """The variable of a value, to be assigned."""
        return ast.Name(self.names[value], ast.Store())

    # -- constants --

    def constant(self, value: object) -> ast.expr:
        """A literal, or the name that a constant object has in the source."""
        if type(value) in LITERALS or (type(value) is float and math.isfinite(value)):
            return constant(value)
        return self.named(value)

    def named(self, value: object) -> ast.expr:
        """The name that a constant object has in the source."""
        if any(value is looker for looker in LOOKERS):
            raise Untranslatable(f"{value.__name__} looks at the frame it is called from")  # type: ignore[attr-defined]
        if id(value) not in self.constants:
            if builtin_name(value) not in (None, *self.code.co_varnames):
                return name(str(builtin_name(value)))
            self.constants[id(value)] = self.unique(identifier(own_name(value) or "constant"))
            self.namespace[self.constants[id(value)]] = value
        return name(self.constants[id(value)])


def own_name(value: object) -> str | None:
    """The name of a class or function, past any metaclass."""
    if isinstance(value, type):
        return class_name(value).rpartition(".")[2]
    return value.__name__ if type(value) in (FunctionType, BuiltinFunctionType) else None  # type: ignore[attr-defined]


def builtin_name(value: object) -> str | None:
    """The name of a builtin."""
    text = own_name(value)
    return text if text is not None and vars(builtins).get(text) is value else None


def identifier(text: str) -> str:
    """A text as an identifier."""
    found = re.sub(r"\W", "_", text)
    return found if found.isidentifier() and not keyword.iskeyword(found) else f"_{found}"
