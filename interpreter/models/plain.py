"""Builtins that are pure on values of plain types: called as they are, at most folded."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from minijit.interpreter.protocols import operators
from minijit.interpreter.protocols.bind import Keywords
from minijit.interpreter.protocols.call import MODELS
from minijit.interpreter.protocols.continuation import Extras, complete
from minijit.interpreter.signals import Opaque
from minijit.interpreter.state import Then
from minijit.interpreter.tracer import Tracer
from minijit.interpreter.trackers import MISSING, PLAIN_TYPES, Constant, Runtime, Tracker

NUMBERS = (int, float, bool)
TEXT = (str,)


def pure(function: Any, result: type | None, allowed: tuple[type, ...], counts: range) -> None:
    """Register a builtin that is pure when all arguments are of the allowed exact types."""

    def call(t: Tracer, arguments: list[Tracker], keywords: Keywords, then: Then, extras: Extras) -> bool:
        if keywords or len(arguments) not in counts:
            raise Opaque("arguments that are not modelled")
        kinds = [t.need_type(argument) for argument in arguments]
        if not all(kind in allowed for kind in kinds):
            raise Opaque(f"{function.__name__} of values that are not of plain types")
        if arguments and all(operators.is_plain_constant(argument) for argument in arguments):
            folded = _fold(t, function, arguments)
            if folded is not None:
                return complete(t, then, extras, folded)
        example = _example(function, arguments)
        value = t.emit("call", (Constant(function), *arguments), (), result, example)
        return complete(t, then, extras, value)

    MODELS[function] = call


def _fold(t: Tracer, function: Callable[..., Any], arguments: list[Tracker]) -> Constant | None:
    folded = operators.fold(t, function, *arguments)
    return folded if folded is not None and type(folded.value) in PLAIN_TYPES else None


def _example(function: Callable[..., Any], arguments: list[Tracker]) -> object:
    values = [
        argument.value if isinstance(argument, Constant) else argument.example
        for argument in arguments
        if isinstance(argument, (Constant, Runtime))
    ]
    if len(values) != len(arguments) or any(type(value) not in PLAIN_TYPES for value in values):
        return MISSING
    if any(isinstance(value, (str, bytes)) and len(value) > 1000 for value in values):
        return MISSING
    try:
        return function(*values)
    except Exception:  # a hint only: what fails here fails for real at run time
        return MISSING


def _register() -> None:
    one, two = range(1, 2), range(2, 3)
    plain = tuple(PLAIN_TYPES)
    function: Callable[..., object]
    for function in (math.sqrt, math.sin, math.cos, math.tan, math.exp, math.asin, math.acos, math.atan, math.fabs,
                     math.log2, math.log10, math.radians, math.degrees, math.sinh, math.cosh, math.tanh):
        pure(function, float, NUMBERS, one)
    pure(math.log, float, NUMBERS, range(1, 3))
    for function in (math.atan2, math.pow, math.fmod, math.copysign):
        pure(function, float, NUMBERS, two)
    pure(math.hypot, float, NUMBERS, range(0, 9))
    for function in (math.floor, math.ceil, math.trunc):
        pure(function, int, NUMBERS, one)
    for function in (math.isnan, math.isinf, math.isfinite):
        pure(function, bool, NUMBERS, one)
    pure(math.gcd, int, (int, bool), range(0, 9))
    pure(abs, None, (*NUMBERS, complex), one)
    pure(round, None, NUMBERS, range(1, 3))
    pure(divmod, tuple, NUMBERS, two)
    pure(pow, None, NUMBERS, two)
    for function in (min, max):
        pure(function, None, NUMBERS, range(2, 9))
    pure(int, int, (*NUMBERS, str), range(1, 3))
    pure(float, float, (*NUMBERS, str), one)
    pure(complex, complex, (*NUMBERS, complex), range(1, 3))
    pure(str, str, plain, one)
    pure(repr, str, plain, one)
    pure(hash, int, plain, one)
    pure(ord, int, (str, bytes), one)
    pure(chr, str, (int,), one)
    pure(bin, str, (int,), one)
    pure(hex, str, (int,), one)
    pure(oct, str, (int,), one)
    pure(format, str, plain, range(1, 3))


STRING_METHODS: dict[str, type | None] = {
    **dict.fromkeys(
        ("upper", "lower", "strip", "lstrip", "rstrip", "title", "capitalize", "casefold", "swapcase", "replace",
         "zfill", "center", "ljust", "rjust", "expandtabs", "removeprefix", "removesuffix", "format"),
        str,
    ),
    **dict.fromkeys(
        ("isdigit", "isalpha", "isalnum", "isspace", "isupper", "islower", "isidentifier", "isnumeric", "isdecimal",
         "istitle", "isascii", "isprintable", "startswith", "endswith"),
        bool,
    ),
    **dict.fromkeys(("find", "rfind", "index", "rindex", "count"), int),
    "encode": bytes,
    "partition": tuple,
    "rpartition": tuple,
}
LISTS = ("split", "rsplit", "splitlines")


def _string_method(name: str, result: type | None) -> None:
    def call(t: Tracer, arguments: list[Tracker], keywords: Keywords, then: Then, extras: Extras) -> bool:
        kinds = [t.need_type(argument) for argument in arguments]
        if keywords or kinds[0] is not str or not all(kind in PLAIN_TYPES for kind in kinds):
            raise Opaque(f"str.{name} of values that are not of plain types")
        function = getattr(str, name)
        if all(operators.is_plain_constant(argument) for argument in arguments) and result in PLAIN_TYPES:
            folded = _fold(t, function, arguments)
            if folded is not None:
                return complete(t, then, extras, folded)
        example = _example(function, arguments)
        return complete(t, then, extras, t.emit("call_method", arguments, (name, ()), result, example))

    MODELS[getattr(str, name)] = call


def _string_list(name: str) -> None:
    def call(t: Tracer, arguments: list[Tracker], keywords: Keywords, then: Then, extras: Extras) -> bool:
        kinds = [t.need_type(argument) for argument in arguments]
        if keywords or kinds[0] is not str or not all(kind in PLAIN_TYPES for kind in kinds):
            raise Opaque(f"str.{name} of values that are not of plain types")
        example = _example(getattr(str, name), arguments)
        return complete(t, then, extras, t.emit("call_method", arguments, (name, ()), list, example, fresh=True))

    MODELS[getattr(str, name)] = call


def _join(t: Tracer, arguments: list[Tracker], keywords: Keywords, then: Then, extras: Extras) -> bool:
    if keywords or len(arguments) != 2 or t.need_type(arguments[0]) is not str:
        raise Opaque("arguments that are not modelled")
    source = t.state.resolve(arguments[1])
    if t.known_type(source) not in (list, tuple):
        raise Opaque("join of an iterable that is not a list or tuple")
    if isinstance(source, Runtime) and t.pending_on("item", None, source.value):
        raise Opaque("reads what is written here")
    return complete(t, then, extras, t.emit("call_method", (arguments[0], source), ("join", ()), str))


_register()
for _name, _result in STRING_METHODS.items():
    _string_method(_name, _result)
for _name in LISTS:
    _string_list(_name)
MODELS[str.join] = _join
