"""Operators: folded on constants, pure on plain types, inlined where a class defines them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeGuard

from minijit.interpreter import effects
from minijit.interpreter.protocols import call, lookup
from minijit.interpreter.protocols.continuation import Extras, complete, continuation
from minijit.interpreter.protocols.lookup import ABSENT
from minijit.interpreter.signals import Opaque
from minijit.interpreter.state import Then
from minijit.interpreter.trackers import PLAIN_TYPES, Constant, Runtime, Sequence, Tracker, Virtual

if TYPE_CHECKING:
    from minijit.interpreter.tracer import Tracer

FOLD_LIMIT = 4096
"""Longest str or bytes, and most bits of an int, that folding may make."""

BINARY: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "+": (operator.add, "add"),
    "-": (operator.sub, "sub"),
    "*": (operator.mul, "mul"),
    "/": (operator.truediv, "truediv"),
    "//": (operator.floordiv, "floordiv"),
    "%": (operator.mod, "mod"),
    "**": (operator.pow, "pow"),
    "<<": (operator.lshift, "lshift"),
    ">>": (operator.rshift, "rshift"),
    "&": (operator.and_, "and"),
    "|": (operator.or_, "or"),
    "^": (operator.xor, "xor"),
    "@": (operator.matmul, "matmul"),
}
UNARY: dict[str, tuple[Callable[[Any], Any], str]] = {
    "-": (operator.neg, "neg"),
    "+": (operator.pos, "pos"),
    "~": (operator.invert, "invert"),
}
COMPARE: dict[str, tuple[Callable[[Any, Any], Any], str, str]] = {
    "<": (operator.lt, "lt", "gt"),
    "<=": (operator.le, "le", "ge"),
    "==": (operator.eq, "eq", "eq"),
    "!=": (operator.ne, "ne", "ne"),
    ">": (operator.gt, "gt", "lt"),
    ">=": (operator.ge, "ge", "le"),
}
WHOLE = (int, bool)


def result_type(op: str, left: type, right: type) -> type | None:
    """Exact type of an operation on plain types, where it is always the same."""
    both = (left, right)
    if all(kind in WHOLE for kind in both):
        return _whole_type(op, left, right)
    if all(kind in (int, bool, float) for kind in both):
        return float if op in "+-*/%" or op == "//" else None
    if left is right and left in (str, bytes, tuple, list) and op == "+":
        return left
    if op == "*" and (left in (str, bytes, tuple, list) and right in WHOLE):
        return left
    if op == "*" and (right in (str, bytes, tuple, list) and left in WHOLE):
        return right
    if op == "%" and left in (str, bytes):
        return left
    if complex in both and all(kind in (int, bool, float, complex) for kind in both) and op in "+-*/":
        return complex
    return None


def _whole_type(op: str, left: type, right: type) -> type | None:
    if op == "/":
        return float
    if op == "**":
        return None
    return bool if op in "&|^" and left is right is bool else int


def too_large(op: str, left: Any, right: Any) -> bool:
    """Whether folding could take long or make something big."""
    if op == "**":
        return not (isinstance(right, (int, float)) and abs(right) <= 64) or abs(left) > 1 << 64
    if op == "<<":
        return not isinstance(right, int) or right > 1024
    if op == "*":
        return any(isinstance(a, (str, bytes)) and isinstance(b, int) and len(a) * b > FOLD_LIMIT
                   for a, b in ((left, right), (right, left)))
    return op == "%" and isinstance(left, (str, bytes))


def fold(t: Tracer, function: Callable[..., Any], *operands: Tracker) -> Constant | None:
    """Compute on constants of plain types; None where that raises or grows."""
    try:
        value = function(*(operand.value for operand in operands))  # type: ignore[attr-defined]
    except Exception:  # any failure is left to run time, where it happens for real
        return None
    if isinstance(value, int) and value.bit_length() > FOLD_LIMIT:
        return None
    if isinstance(value, (str, bytes)) and len(value) > FOLD_LIMIT:
        return None
    static = any(operand.static for operand in operands)  # type: ignore[attr-defined]
    if static:
        t.gain("folded", "computed from static values")
    return Constant(value, static)


def is_plain_constant(tracker: Tracker) -> TypeGuard[Constant]:
    """A constant of a plain type."""
    return isinstance(tracker, Constant) and type(tracker.value) in PLAIN_TYPES


Inplace = Callable[["Tracer", Tracker, Tracker, Then, Extras], bool]
INPLACE: dict[tuple[str, Any], Inplace] = {}
"""Operator and exact class of the left operand -> how it changes that operand. Filled by the models."""


def inplace(op: str, cls: type) -> Callable[[Inplace], Inplace]:
    """Register an operator that changes its left operand."""

    def register(function: Inplace) -> Inplace:
        INPLACE[op, cls] = function
        return function

    return register


# -- binary -----------------------------------------------------------------------------------------


def binary(t: Tracer, text: str, left: Tracker, right: Tracker, then: Then, extras: Extras = ()) -> bool:
    """`left op right`, or `left op= right`."""
    inplace = text.endswith("=")
    op = text[:-1] if inplace else text
    if is_plain_constant(left) and is_plain_constant(right) and not too_large(op, left.value, right.value):
        folded = fold(t, BINARY[op][0], left, right)
        if folded is not None:
            return complete(t, then, extras, folded)
    joined = _join_sequences(t, op, inplace, left, right)
    if joined is not None:
        return complete(t, then, extras, joined)
    kinds = (t.need_type(left), t.need_type(right))
    if None in kinds:
        raise Opaque(f"{text} on a value of unknown type")
    if inplace and (op, kinds[0]) in INPLACE:
        return INPLACE[op, kinds[0]](t, left, right, then, extras)
    if quiet_pair(op, inplace, kinds):
        type_ = result_type(op, kinds[0], kinds[1])  # type: ignore[arg-type]
        effects.settled(t, left)
        effects.settled(t, right)
        fresh = type_ in (list,)
        return complete(t, then, extras, t.emit("binary", (left, right), text, type_, fresh=fresh))
    return _dunder(t, op, inplace, left, right, kinds, then, extras)  # type: ignore[arg-type]


def quiet_pair(op: str, inplace: bool, kinds: tuple[type | None, ...]) -> bool:
    """Whether the operation on these exact types runs no user code and changes nothing."""
    left, right = kinds
    if left in PLAIN_TYPES and right in PLAIN_TYPES:
        return True
    if op == "+" and left is right and left in (tuple, list):
        return not (inplace and left is list)
    return op == "*" and left in (tuple, list) and right in WHOLE and not (inplace and left is list)


def _join_sequences(t: Tracer, op: str, inplace: bool, left: Tracker, right: Tracker) -> Tracker | None:
    records = (t.state.record(left), t.state.record(right))
    if op != "+" or all(record is None for record in records):
        return None
    items = [_sequence_items(t, side) for side in (left, right)]
    kinds = [t.known_type(side) for side in (left, right)]
    if items[0] is None or items[1] is None or kinds[0] is not kinds[1] or kinds[0] not in (tuple, list):
        return None
    if kinds[0] is tuple and not (items[0] and items[1]):
        return left if items[0] else right
    whole = Sequence(kinds[0], items[0] + items[1])
    if inplace and kinds[0] is list:
        if records[0] is None:
            return None
        t.update(left, whole)
        return left
    return t.virtual(whole)


def _sequence_items(t: Tracer, tracker: Tracker) -> tuple[Tracker, ...] | None:
    record = t.state.record(tracker)
    if isinstance(record, Sequence):
        return record.items
    if isinstance(tracker, Constant) and type(tracker.value) is tuple:
        return tuple(tracker.derived(item) for item in tracker.value)
    return None


def _dunder(
    t: Tracer,
    op: str,
    inplace: bool,
    left: Tracker,
    right: Tracker,
    kinds: tuple[type, type],
    then: Then,
    extras: Extras,
) -> bool:
    name = BINARY[op][1]
    tries: list[tuple[str, bool]] = []
    if inplace:
        tries.append((f"__i{name}__", False))
    direct, reflected = (f"__{name}__", False), (f"__r{name}__", True)
    if kinds[0] is not kinds[1] and issubclass(kinds[1], kinds[0]) and _overrides(kinds, f"__r{name}__"):
        tries += [reflected, direct]
    elif kinds[0] is kinds[1]:
        tries += [direct]
    else:
        tries += [direct, reflected]
    return attempt(t, tuple(tries), left, right, kinds, then, extras)


def _overrides(kinds: tuple[type, type], name: str) -> bool:
    return lookup.in_class(kinds[1], name) is not lookup.in_class(kinds[0], name)


def attempt(
    t: Tracer, tries: tuple[tuple[str, bool], ...], left: Tracker, right: Tracker, kinds: tuple[type, type],
    then: Then, extras: Extras,
) -> bool:
    """Call the first special method there is; the others follow if it answers NotImplemented."""
    for kind in kinds:
        t.assume_class(kind)
    for place, (name, swapped) in enumerate(tries):
        owner, other = (right, left) if swapped else (left, right)
        found = lookup.in_class(kinds[1] if swapped else kinds[0], name)
        if found is ABSENT:
            continue
        if type(found) is not FunctionType:
            if declines(kinds[1 if swapped else 0], kinds[0 if swapped else 1]):
                continue
            raise Opaque(f"{name} is not a Python function")
        chained = Then("attempted", (tries[place + 1 :], kinds, then))
        return call.invoke(t, Constant(found), [owner, other], (), chained, (left, right, *extras))
    raise Opaque("no special method fits")


NUMBERS = (int, float, complex, bool)


def declines(number: type, other: type) -> bool:
    """Whether a number's own method certainly answers NotImplemented to the other operand."""
    return number in NUMBERS and not other.__flags__ & 1 << 8 and not issubclass(other, NUMBERS)


@continuation("attempted")
def attempted(t: Tracer, extras: Extras, result: Tracker, payload: Any) -> bool:
    """A special method has answered."""
    tries, kinds, then = payload
    left, right, *rest = extras
    if isinstance(result, Constant) and result.value is NotImplemented:
        return attempt(t, tries, left, right, kinds, then, tuple(rest))
    if t.known_type(result) is None:
        raise Opaque("a special method answered with a value of unknown type")
    return complete(t, then, tuple(rest), result)


# -- unary and comparison -------------------------------------------------------------------------


def unary(t: Tracer, text: str, operand: Tracker, then: Then) -> bool:
    """`-x`, `+x`, `~x`."""
    function, name = UNARY[text]
    if is_plain_constant(operand):
        folded = fold(t, function, operand)
        if folded is not None:
            return complete(t, then, (), folded)
    kind = t.need_type(operand)
    if kind is None:
        raise Opaque(f"{text} on a value of unknown type")
    if kind in PLAIN_TYPES:
        type_ = int if kind is bool else kind if kind in (int, float, complex) else None
        return complete(t, then, (), t.emit("unary", (operand,), text, type_))
    t.assume_class(kind)
    return call.invoke_special(t, kind, f"__{name}__", [operand], then, ())


def compare(t: Tracer, text: str, left: Tracker, right: Tracker, then: Then) -> bool:
    """A rich comparison."""
    function, name, mirrored = COMPARE[text]
    if is_plain_constant(left) and is_plain_constant(right):
        folded = fold(t, function, left, right)
        if folded is not None:
            return complete(t, then, (), folded)
    kinds = (t.need_type(left), t.need_type(right))
    if kinds[0] is None or kinds[1] is None:
        raise Opaque(f"{text} on a value of unknown type")
    if kinds[0] in PLAIN_TYPES and kinds[1] in PLAIN_TYPES:
        return complete(t, then, (), t.emit("compare", (left, right), text, bool))
    known = (kinds[0], kinds[1])
    if text in ("==", "!=") and all(map(default_equality, known)):
        for kind in known:
            t.assume_class(kind)
        return complete(t, then, (), identical(t, left, right, text == "!="))
    return _compare_dunder(t, name, mirrored, left, right, known, then)


def default_equality(kind: type) -> bool:
    """Whether `==` on the class is identity."""
    return (
        lookup.in_class(kind, "__eq__") is object.__eq__
        and lookup.in_class(kind, "__ne__") is object.__ne__
    )


def _compare_dunder(
    t: Tracer, name: str, mirrored: str, left: Tracker, right: Tracker, kinds: tuple[type, type], then: Then
) -> bool:
    if name == "ne" and all(lookup.in_class(kind, "__ne__") is object.__ne__ for kind in kinds):
        return _compare_dunder(t, "eq", "eq", left, right, kinds, Then("invert", then))
    first, second = (f"__{name}__", False), (f"__{mirrored}__", True)
    tries = (second, first) if kinds[0] is not kinds[1] and issubclass(kinds[1], kinds[0]) else (first, second)
    usable = tuple(
        (method, swapped) for method, swapped in tries
        if type(lookup.in_class(kinds[1 if swapped else 0], method)) is FunctionType
    )
    others = [kind for kind, (method, swapped) in zip(kinds, (first, second), strict=True)
              if (method, swapped) not in usable and kind not in PLAIN_TYPES
              and lookup.in_class(kind, method) is not getattr(object, method)]
    if others or not usable:
        raise Opaque(f"comparison of {kinds[0].__name__} and {kinds[1].__name__}")
    return attempt(t, usable, left, right, kinds, then, ())


def identical(t: Tracer, left: Tracker, right: Tracker, inverted: bool) -> Tracker:
    """`left is right`, folded where identity is known."""
    left, right = t.state.resolve(left), t.state.resolve(right)
    known = known_identity(t, left, right)
    if known is not None:
        return Constant(known != inverted)
    return t.emit("is", (left, right), inverted, bool, raises=False)


SINGLETONS = (None, True, False, NotImplemented, Ellipsis, ())


def has_identity(tracker: Constant) -> bool:
    """Whether the constant is that very object also at run time (not merely an equal number)."""
    return any(tracker.value is one for one in SINGLETONS) or type(tracker.value) not in PLAIN_TYPES | {tuple}


def known_identity(t: Tracer, left: Tracker, right: Tracker) -> bool | None:
    """Whether two trackers are one object, where that is certain."""
    virtual = [t.state.record(side) is not None for side in (left, right)]
    if isinstance(left, Virtual) and isinstance(right, Virtual):
        return left.number == right.number
    if any(virtual):
        return False
    if isinstance(left, Constant) and isinstance(right, Constant):
        if has_identity(left) and has_identity(right):
            return left.value is right.value
        return True if left.value is right.value else None
    if isinstance(left, Runtime) and isinstance(right, Runtime) and left.value is right.value:
        return True
    kinds = (t.known_type(left), t.known_type(right))
    if None not in kinds and kinds[0] is not kinds[1]:
        return False
    return None
