"""`minijit.explain`: what would become of a function, without running any of it."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType, MethodType
from typing import Any

from bytecode import Bytecode, ConcreteBytecode

from minijit import _shim, render
from minijit.errors import InternalError, Unsupported
from minijit.install import internal_error
from minijit.interpreter.interpret import Outcome
from minijit.interpreter.ir import Region
from minijit.listing import Instruction, listing, original_instructions
from minijit.options import Options
from minijit.originals import original_code
from minijit.pipeline import Request, trace, why_no_gain
from minijit.source import Source, render_source, step_describer
from minijit.story import Effect, Line, Reason, effects, lines, never_built, reasons
from minijit.words import MISSING, Names, guard_text, shown

__all__ = ["Explanation", "Guard", "Statistics", "explain"]


@dataclass(frozen=True, slots=True)
class Guard:
    """A question asked before compiled code runs; `seen` is the value in the explained call, as text."""

    text: str
    kind: str
    seen: str = ""

    def __str__(self) -> str:
        return self.text + (f"   # {self.seen}" if self.seen else "")


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts. `profit`: nanoseconds a call is expected to save."""

    guards: int = 0
    checks: int = 0
    effects: int = 0
    blocks: int = 0
    original_instructions: int = 0
    generated_instructions: int = 0
    traced_instructions: int = 0
    attempts: int = 0
    profit: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """What would become of a function for one call. Prints as text; also `html()`, `json()` and rich.

    `ir` is the intermediate form, `ledger` the effects in program order, `code` the code object that
    would be installed (the original where `refused` is not None). `lines` tells it by source line.
    """

    name: str
    original: Bytecode
    guards: tuple[Guard, ...]
    ir: str
    ledger: tuple[Effect, ...]
    bytecode: Bytecode | ConcreteBytecode
    source: Source
    reasons: tuple[Reason, ...]
    stats: Statistics
    lines: tuple[Line, ...]
    never_built: tuple[str, ...]
    before: tuple[Instruction, ...]
    after: tuple[Instruction, ...]
    code: CodeType
    refused: Unsupported | InternalError | None

    def __str__(self) -> str:
        return render.text(self)

    def __rich__(self) -> Any:
        return render.screen(self)

    def _repr_html_(self) -> str:
        return self.html()

    def html(self) -> str:
        """A page of its own, with every part."""
        return render.html(self)

    def json(self) -> str:
        """All parts as a JSON object."""
        return render.json_text(self)

    def section(self, name: str) -> str:
        """One part as plain text: original, bytecode, guards, ledger, ir, source, reasons, stats."""
        return render.section(self, name)


def explain(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Explanation:
    """Tell what would become of `function` called with these arguments. Runs none of its code.

    Raises TypeError for what is not a Python function, and for arguments that don't fit it.
    """
    python, args = underlying(function, args)
    return explain_call(python, bind(python, args, kwargs), Options())


def underlying(function: Any, args: tuple[Any, ...]) -> tuple[FunctionType, tuple[Any, ...]]:
    """The Python function behind a callable, a method's object put first among the arguments."""
    if isinstance(function, MethodType):
        return underlying(function.__func__, (function.__self__, *args))
    if isinstance(function, (staticmethod, classmethod)):
        return underlying(function.__func__, args)
    if isinstance(function, property) and function.fget is not None:
        return underlying(function.fget, args)
    if isinstance(function, FunctionType):
        return function, args
    kind = type(function).__name__
    if inspect.isbuiltin(function) or inspect.ismethoddescriptor(function):
        raise TypeError(f"{shown(function)} is written in C: it has no bytecode to explain")
    raise TypeError(f"{shown(function)} is not a Python function but of type {kind}")


def bind(function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[object, ...]:
    """The values of the parameter slots in a call, in the order of the slots."""
    code = original_code(function)
    bare = FunctionType(code, {}, function.__name__, function.__defaults__, function.__closure__)
    bare.__kwdefaults__ = function.__kwdefaults__
    try:
        bound = inspect.signature(bare).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{function.__qualname__}: {error}") from None
    bound.apply_defaults()
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return tuple(bound.arguments[name] for name in code.co_varnames[:count])


def explain_call(function: FunctionType, arguments: tuple[object, ...], options: Options) -> Explanation:
    """Explain one call, its parameter slots already filled."""
    started = time.perf_counter()
    code = original_code(function)
    request = Request("warm", code, function, arguments, options, _shim.Counter(None))
    try:
        outcome = trace(request)
        return _traced(function, arguments, outcome, started)
    except Unsupported as refusal:
        return _refused(function, refusal, started)
    except Exception as error:  # what explains a bug of ours must not become one more
        return _refused(function, internal_error(code, error), started)


def _traced(function: FunctionType, arguments: tuple[object, ...], outcome: Outcome, started: float) -> Explanation:
    code, region, notes = original_code(function), outcome.region, list(outcome.notes.found.values())
    names = Names(region, function, arguments)
    made = listing(region, code, names, outcome.notes.replayed, lambda cleaned: step_describer(cleaned, function))
    refusal = _no_gain(code, outcome)
    ledger, guards, before = effects(notes), _guards(region, names), original_instructions(code)
    stats = Statistics(
        len(guards), _checks(region), len(ledger), len(region.blocks), len(before), len(made.instructions),
        outcome.steps, outcome.attempts, round(outcome.profit, 1), time.perf_counter() - started,
    )  # fmt: skip
    return Explanation(
        function.__qualname__, Bytecode.from_code(code), guards, str(region), ledger, bytecode_of(made.code),
        render_source(region, function), reasons(notes, refusal), stats, _lines(code, notes),
        never_built(notes, region), before, made.instructions, made.code, refusal,
    )  # fmt: skip


def bytecode_of(code: CodeType) -> Bytecode | ConcreteBytecode:
    """A code object as `bytecode` has it; by index where generated code loads a cell, which has no name there."""
    try:
        return Bytecode.from_code(code)
    except IndexError:
        return ConcreteBytecode.from_code(code)


def _no_gain(code: CodeType, outcome: Outcome) -> Unsupported | None:
    if outcome.profit > 0:
        return None
    return Unsupported("MJ009", why_no_gain(outcome), filename=code.co_filename, line=code.co_firstlineno)


def _refused(function: FunctionType, refusal: Unsupported | InternalError, started: float) -> Explanation:
    code = original_code(function)
    bytecode, before = Bytecode.from_code(code), original_instructions(code)
    stats = Statistics(original_instructions=len(before), seconds=time.perf_counter() - started)
    source = Source("", False, "the function is left as it is", None)
    return Explanation(function.__qualname__, bytecode, (), "", (), bytecode, source, reasons((), refusal), stats,
                       _lines(code, []), (), before, (), code, refusal)


def _lines(code: CodeType, notes: list[Any]) -> tuple[Line, ...]:
    numbers = [line for _, _, line in code.co_lines() if line]
    return lines(notes, code.co_filename, code.co_firstlineno, max(numbers, default=code.co_firstlineno))


def _guards(region: Region, names: Names) -> tuple[Guard, ...]:
    found = []
    for test in region.entry_tests:
        seen = names.seen.get(test.subject, MISSING) if test.subject is not None else MISSING
        value = "" if seen is MISSING else shown(seen)
        text = f"{names.name(test.subject)} = {value}" if value and not value.startswith("<") else ""
        found.append(Guard(guard_text(test, names), test.kind, text))
    return tuple(found)


def _checks(region: Region) -> int:
    return sum(operation.opcode == "check" for block in region.blocks for operation in block.operations)
