"""From a call to a code object: interpret, optimise, generate. Read this first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import CodeType, FunctionType

from minijit import _shim, policy
from minijit._shim import Counter
from minijit.codegen.lower import lower
from minijit.codegen.runtime import Runtime
from minijit.codegen.verify import verify
from minijit.errors import Unsupported
from minijit.frozen import is_frozen
from minijit.interpreter.interpret import Outcome, World, interpret
from minijit.interpreter.ir import Region
from minijit.options import Options
from minijit.originals import original_code

VERIFY = True
"""Check every generated code object before it is installed (about a sixth of compile time): what does not pass could
read an unbound slot, so the function is left as it is. Tests that plant faults switch it off."""

__all__ = ["Product", "Request", "binds", "build", "trace"]


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """One compilation. `arguments` are those of the call that caused it, in the order of its slots.

    `event` is "warm" for the first entry, "miss" when no entry wanted these arguments, "abort"
    when compiled code left half-way too often. `regions` are the entries made so far.
    """

    event: str
    original: CodeType
    function: FunctionType
    arguments: tuple[object, ...]
    options: Options
    counter: Counter
    regions: tuple[Region, ...] = ()
    pessimistic: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """A code object ready to be installed, with the regions its entries were made of."""

    code: CodeType
    regions: tuple[Region, ...]
    outcome: Outcome | None = None


def build(request: Request) -> Product:
    """Compile, or raise `Unsupported` when the function is to be left as it is.

    An abort that came too often makes all entries anew, without the paths the original had to redo.
    """
    outcome = trace(request)
    if outcome.profit <= 0 and not request.pessimistic and outcome.notes.of("left"):
        outcome = trace(replace(request, pessimistic=True))
    if outcome.profit <= 0 and not request.options.gainless:
        raise Unsupported("MJ009", why_no_gain(outcome), filename=request.original.co_filename,
                          line=request.original.co_firstlineno)
    policy.apply(request.options, outcome)
    kept = () if request.event == "abort" else request.regions
    regions = (*kept, outcome.region)
    code = lower(regions, request.original, runtime(request.counter))
    if VERIFY:
        verify(code, binds)
    return Product(code, regions, outcome)


def why_no_gain(outcome: Outcome) -> str:
    """Why the function is left alone, in a sentence."""
    if not outcome.notes.gains():
        return "nothing in it can be removed"
    return "checks would cost more than what can be removed"


def trace(request: Request) -> Outcome:
    """Interpret the function on the arguments of the request; runs none of its code."""
    world = World(
        shim=_shim,
        is_frozen=is_frozen,
        original_code=original_code,
        static=request.options.static,
        pessimistic=request.pessimistic,
    )
    return interpret(request.function, request.original, request.arguments, world)


def runtime(counter: Counter) -> Runtime:
    """What generated code calls."""
    return Runtime(_shim.Entry, _shim.Check, _shim.is_redo, counter)


def binds(constant: object) -> Iterable[int]:
    """Local slots that asking a guard for its truth stores into."""
    if not isinstance(constant, (_shim.Entry, _shim.Check)):
        return
    for row in constant.tests or ():
        if _shim.TESTS[str(row[0])][-1:] == ("destination",):
            yield row[-1]
