"""Making instances: plain classes become virtual objects and their `__init__` is inlined."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING

from minijit.interpreter.protocols import call, lookup
from minijit.interpreter.protocols.bind import Keywords
from minijit.interpreter.protocols.continuation import Extras, complete, continuation
from minijit.interpreter.signals import Opaque
from minijit.interpreter.state import Then
from minijit.interpreter.trackers import Constant, Exception_, Instance, Tracker

if TYPE_CHECKING:
    from minijit.interpreter.tracer import Tracer

HEAP_TYPE = 1 << 9
ABSTRACT = 1 << 20


def instantiate(
    t: Tracer, cls: type, arguments: list[Tracker], keywords: Keywords, then: Then, extras: Extras
) -> bool:
    """`cls(*arguments)`."""
    if issubclass(type(cls), type) and issubclass(cls, BaseException):
        return _exception(t, cls, arguments, keywords, then, extras)
    if lookup.in_class(type(cls), "__call__") is not type.__call__:
        raise Opaque(f"the metaclass of {cls.__name__} decides what a call does")
    if not cls.__flags__ & HEAP_TYPE or cls.__flags__ & ABSTRACT:
        raise Opaque(f"{cls.__name__} is not a plain Python class")
    t.assume_class(cls)
    new = lookup.in_class(cls, "__new__")
    if issubclass(type(new), staticmethod) and type(new.__func__) is FunctionType:
        chained = Then("made", (cls, tuple(name for name, _ in keywords), then))
        packed = (*extras, t.packed(arguments), t.packed(tracker for _, tracker in keywords))
        return call.invoke(t, Constant(new.__func__), [Constant(cls), *arguments], keywords, chained, packed)
    if not is_plain(cls):
        raise Opaque(f"{cls.__name__} has a __new__ or layout of its own")
    made = new_instance(t, cls)
    return initialise(t, cls, made, arguments, keywords, then, extras)


def is_plain(cls: type) -> bool:
    """Whether `object.__new__` makes its instances and they hold nothing but attributes."""
    return lookup.plain_new(cls) and cls.__itemsize__ == 0 and cls.__base__ is not None and _plain_base(cls)


def _plain_base(cls: type) -> bool:
    for base in lookup.mro(cls):
        if base is object or base.__flags__ & HEAP_TYPE or base.__basicsize__ == object.__basicsize__:
            continue
        return False
    return True


def new_instance(t: Tracer, cls: type) -> Tracker:
    """A virtual instance without attributes."""
    t.gain("removed", f"{cls.__name__} object")
    return t.virtual(Instance(cls))


def initialise(
    t: Tracer, cls: type, made: Tracker, arguments: list[Tracker], keywords: Keywords, then: Then, extras: Extras
) -> bool:
    """Call `__init__` on a new object; the object is the result."""
    init = lookup.in_class(cls, "__init__")
    if init is object.__init__:
        if (arguments or keywords) and lookup.in_class(cls, "__new__") is object.__new__:
            raise Opaque(f"{cls.__name__}() takes no arguments")
        return complete(t, then, extras, made)
    if type(init) is not FunctionType:
        raise Opaque(f"{cls.__name__}.__init__ is not a Python function")
    chained = Then("constructed", then)
    return call.invoke(t, Constant(init), [made, *arguments], keywords, chained, (made, *extras))


@continuation("made")
def made(t: Tracer, extras: Extras, result: Tracker, payload: tuple[type, tuple[str, ...], Then]) -> bool:
    """A Python `__new__` has returned: `__init__` follows if it made an instance of the class."""
    cls, names, then = payload
    *rest, packed, packed_values = extras
    kind = t.known_type(result)
    if kind is None:
        raise Opaque("__new__ returned a value of unknown type")
    if not issubclass(kind, cls):
        return complete(t, then, tuple(rest), result)
    arguments = list(t.state.record(packed).parts())  # type: ignore[union-attr]
    values = t.state.record(packed_values).parts()  # type: ignore[union-attr]
    keywords = tuple(zip(names, values, strict=True))
    init = lookup.in_class(kind, "__init__")
    if init is object.__init__:
        return complete(t, then, tuple(rest), result)
    return initialise(t, kind, result, arguments, keywords, then, tuple(rest))


def _exception(
    t: Tracer, cls: type, arguments: list[Tracker], keywords: Keywords, then: Then, extras: Extras
) -> bool:
    new = lookup.in_class(cls, "__new__")
    if keywords or cls.__flags__ & HEAP_TYPE or not issubclass(type(new), BuiltinFunctionType):
        raise Opaque(f"{cls.__name__} is an exception class of the program's own")
    return complete(t, then, extras, t.virtual(Exception_(cls, tuple(arguments))))


call.CONSTRUCT.append(instantiate)
