"""Models of builtins that ask about types and attributes."""

from __future__ import annotations

from typing import Any

from minijit.interpreter.protocols import attribute, lookup, promote, truth
from minijit.interpreter.protocols.bind import Keywords
from minijit.interpreter.protocols.call import model
from minijit.interpreter.protocols.continuation import Extras, complete, continuation
from minijit.interpreter.signals import Opaque
from minijit.interpreter.state import Then
from minijit.interpreter.tracer import Tracer
from minijit.interpreter.trackers import Constant, Instance, Runtime, Sequence, Super, Tracker

Arguments = list[Tracker]


def exactly(arguments: Arguments, keywords: Keywords, *counts: int) -> None:
    """Only this many positional arguments are modelled."""
    if keywords or len(arguments) not in counts:
        raise Opaque("arguments that are not modelled")


@model(isinstance)
def isinstance_(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """isinstance(object, class or tuple of them)."""
    exactly(arguments, keywords, 2)
    kind = t.need_type(arguments[0])
    if kind is None:
        raise Opaque("isinstance of a value of unknown type")
    return complete(t, then, extras, Constant(_subclass(t, kind, arguments[1])))


@model(issubclass)
def issubclass_(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """issubclass(class, class or tuple of them)."""
    exactly(arguments, keywords, 2)
    cls = promote.by_identity(t, arguments[0])
    if cls is None or not issubclass(type(cls.value), type):
        raise Opaque("issubclass of a value that is not known")
    return complete(t, then, extras, Constant(_subclass(t, cls.value, arguments[1])))


def _subclass(t: Tracer, kind: type, wanted: Tracker) -> bool:
    wanted = t.state.resolve(wanted)
    record = t.state.record(wanted)
    if isinstance(record, Sequence):
        return any([_subclass(t, kind, part) for part in record.items])
    constant = promote.by_identity(t, wanted) if not isinstance(wanted, Constant) else wanted
    if constant is None:
        raise Opaque("a class that is not known")
    value: Any = constant.value
    if type(value) is tuple:
        return any([_subclass(t, kind, Constant(part)) for part in value])
    if not issubclass(type(value), type):
        raise Opaque("isinstance of something that is not a class")
    if value is kind:
        return True
    meta = type(value)
    for hook in ("__instancecheck__", "__subclasscheck__"):
        if lookup.in_class(meta, hook) is not lookup.in_class(type, hook):
            raise Opaque(f"{meta.__name__} has its own idea of instances")
    t.assume_class(kind)
    if value in lookup.mro(kind):
        return True
    if not lookup.plain_getattribute(kind) or lookup.in_class(kind, "__class__") is not object.__dict__["__class__"]:
        raise Opaque("a class that hides its instances' class")
    return False


@model(type)
def type_(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """type(object)."""
    exactly(arguments, keywords, 1)
    kind = t.need_type(arguments[0])
    if kind is None:
        raise Opaque("type of a value of unknown type")
    return complete(t, then, extras, Constant(kind))


@model(callable)
def callable_(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """callable(object)."""
    exactly(arguments, keywords, 1)
    kind = t.need_type(arguments[0])
    if kind is None:
        raise Opaque("callable of a value of unknown type")
    t.assume_class(kind)
    return complete(t, then, extras, Constant(lookup.in_class(kind, "__call__") is not lookup.ABSENT))


def name_of(tracker: Tracker) -> str:
    """An attribute name given as a constant."""
    if isinstance(tracker, Constant) and type(tracker.value) is str:
        return tracker.value
    raise Opaque("an attribute name that is not known")


@model(getattr)
def getattr_(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """getattr(object, name[, default])."""
    exactly(arguments, keywords, 2, 3)
    name = constant_name(t, arguments[1])
    default = arguments[2] if len(arguments) == 3 else None
    return attribute.load(t, arguments[0], name, then, extras, default)


def constant_name(t: Tracer, tracker: Tracker) -> str:
    """An attribute name; one that is not a constant is promoted."""
    tracker = t.state.resolve(tracker)
    if isinstance(tracker, Runtime) and type(tracker.example) is str:
        t.test("value", tracker, (tracker.example,))
        return tracker.example
    return name_of(tracker)


@model(hasattr)
def hasattr_(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """hasattr(object, name)."""
    exactly(arguments, keywords, 2)
    nothing = t.virtual(Instance(object))
    chained = Then("has", (nothing.number, then))
    return attribute.load(t, arguments[0], constant_name(t, arguments[1]), chained, extras, nothing)


@continuation("has")
def has(t: Tracer, extras: Extras, result: Tracker, payload: Any) -> bool:
    """Whether the default came back."""
    number, then = payload
    return complete(t, then, extras, Constant(getattr(result, "number", None) != number))


@model(setattr)
def setattr_(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """setattr(object, name, value)."""
    exactly(arguments, keywords, 3)
    return attribute.store(t, arguments[0], constant_name(t, arguments[1]), arguments[2], then, extras)


@model(object.__setattr__)
def object_setattr(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """object.__setattr__(object, name, value): past the class's own __setattr__."""
    exactly(arguments, keywords, 3)
    owner = t.state.resolve(arguments[0])
    kind = t.need_type(owner)
    if kind is None or t.state.record(owner) is None:
        raise Opaque("object.__setattr__ on an object that is not new")
    t.assume_class(kind)
    return attribute.generic_store(t, owner, kind, constant_name(t, arguments[1]), arguments[2], then, extras)


@model(object.__init__)
def object_init(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """object.__init__(object)."""
    exactly(arguments, keywords, 1)
    if t.state.record(arguments[0]) is None:
        raise Opaque("object.__init__ on an object that is not new")
    return complete(t, then, extras, Constant(None))


@model(object.__new__)
def object_new(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """object.__new__(cls) of a plain class."""
    from_class = promote.by_identity(t, arguments[0]) if arguments else None
    if from_class is None or not issubclass(type(from_class.value), type):
        raise Opaque("object.__new__ of a class that is not known")
    cls = from_class.value
    own_new = lookup.in_class(cls, "__new__")
    plain = lookup.in_class(cls, "__del__") is lookup.ABSENT and cls.__base__ is not None
    if len(arguments) > 1 or keywords or not plain or not _layout_is_plain(cls):
        raise Opaque("object.__new__ with arguments")
    if own_new is not object.__new__ and not issubclass(type(own_new), staticmethod):
        raise Opaque("a class with a layout of its own")
    t.assume_class(cls)
    t.gain("removed", f"{cls.__name__} object")
    return complete(t, then, extras, t.virtual(Instance(cls)))


def _layout_is_plain(cls: type) -> bool:
    return all(base is object or base.__flags__ & 1 << 9 for base in lookup.mro(cls)) and cls.__itemsize__ == 0


@model(super)
def super_(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """super() and super(cls, object)."""
    if not arguments and not keywords:
        arguments = _implicit(t)
    exactly(arguments, keywords, 2)
    cls = t.state.resolve(arguments[0])
    if not isinstance(cls, Constant) or not issubclass(type(cls.value), type):
        raise Opaque("super() of a class that is not known")
    return complete(t, then, extras, t.virtual(Super(cls.value, arguments[1])))


def _implicit(t: Tracer) -> Arguments:
    from_code = t.frame.unit.code
    if not from_code.co_argcount or "__class__" not in from_code.co_freevars:
        raise Opaque("super() outside of a method")
    cell = t.frame.locals[len(t.frame.locals) - len(from_code.co_freevars) + from_code.co_freevars.index("__class__")]
    if not isinstance(cell, Constant):
        raise Opaque("super() of a class that is not known")
    content: Any = cell.value
    t.assume("cell_is", (content, content.cell_contents))
    first = t.frame.locals[0]
    if t.is_cell(t.frame, 0):
        raise Opaque("super() where self is captured")
    return [Constant(content.cell_contents), first]


@model(bool)
def bool_(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """bool(object)."""
    exactly(arguments, keywords, 0, 1)
    if not arguments:
        return complete(t, then, extras, Constant(False))
    return truth.of(t, t.state.resolve(arguments[0]), then, extras)
