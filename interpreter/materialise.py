"""Building a virtual object for real, once, where it is first needed.

Parts are built before the whole. Where an object contains itself, its shell is made first and filled after.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, MethodDescriptorType, MethodType, WrapperDescriptorType
from typing import TYPE_CHECKING, Any

from minijit.interpreter.protocols import lookup
from minijit.interpreter.signals import CallForReal, Opaque
from minijit.interpreter.trackers import (
    UNBOUND,
    Cell,
    Constant,
    Enumerate,
    Exception_,
    Function,
    Generator,
    Instance,
    Iterator,
    Mapping,
    Method,
    Record,
    Runtime,
    Sequence,
    Slice,
    Super,
    Tracker,
    View,
    Virtual,
    Zip,
)

if TYPE_CHECKING:
    from minijit.interpreter.tracer import Tracer


def build(t: Tracer, virtual: Virtual) -> Runtime:
    """Emit what makes the object; from now on the virtual stands for the result."""
    record = t.state.heap[virtual.number]
    if isinstance(record, Runtime):
        return record
    if virtual.number in t.building:
        raise Opaque("an immutable object that contains itself")
    t.notes.add("built", t.position, description(record))
    return BUILDERS[type(record)](t, virtual.number, record)


def description(record: Record) -> str:
    """What kind of object was built, in plain words."""
    if isinstance(record, (Sequence, Instance, Exception_)):
        return record.cls.__name__
    return type(record).__name__.rstrip("_").lower()


def _done(t: Tracer, number: int, value: Runtime) -> Runtime:
    t.state.heap[number] = value
    return value


def contains_itself(t: Tracer, number: int) -> bool:
    """Whether the object can be reached from its own parts through virtual objects."""
    seen: set[int] = set()
    work = list(_virtual_parts(t, number))
    while work:
        part = work.pop()
        if part == number:
            return True
        if part not in seen:
            seen.add(part)
            work.extend(_virtual_parts(t, part))
    return False


def _virtual_parts(t: Tracer, number: int) -> list[int]:
    record = t.state.heap[number]
    if isinstance(record, Runtime):
        return []
    return [part.number for part in record.parts() if isinstance(part, Virtual)]


def sequence(t: Tracer, number: int, record: Sequence) -> Runtime:
    """A tuple, a list, or a tuple subclass through `tuple.__new__`."""
    if record.cls is list and contains_itself(t, number):
        shell = _done(t, number, t.emit("list", (), None, list, fresh=True))
        for item in record.items:
            t.emit_fresh_effect("append", (shell, item))
        return shell
    t.building.add(number)
    if record.cls is tuple and all(isinstance(item, Constant) for item in record.items):
        whole = t.emit("tuple", record.items, None, tuple)
    elif record.cls in (tuple, list):
        whole = t.emit("tuple" if record.cls is tuple else "list", record.items, None, record.cls, fresh=True)
    else:
        items = t.emit("tuple", record.items, None, tuple)
        whole = t.emit("call", (Constant(tuple.__new__), Constant(record.cls), items), (), record.cls, fresh=True)
    t.building.discard(number)
    if record.cls is tuple and all(t.is_silent(item) for item in record.items):
        t.silent.add(whole.value)
    return _done(t, number, whole)


def mapping(t: Tracer, number: int, record: Mapping) -> Runtime:
    """A dict, in insertion order."""
    if contains_itself(t, number):
        shell = _done(t, number, t.emit("map", (), None, dict, fresh=True))
        for key, value in zip(record.keys, record.values, strict=True):
            t.emit_fresh_effect("set_item", (shell, Constant(key), value))
        return shell
    pairs: list[Tracker] = []
    for key, value in zip(record.keys, record.values, strict=True):
        pairs += (Constant(key), value)
    t.building.add(number)
    whole = t.emit("map", pairs, None, dict, fresh=True)
    t.building.discard(number)
    return _done(t, number, whole)


def instance(t: Tracer, number: int, record: Instance) -> Runtime:
    """`object.__new__(cls)`, then its attributes in the order they were first set."""
    shell = _done(t, number, t.emit("new", (Constant(record.cls),), None, record.cls, fresh=True))
    plain = lookup.plain_setattr(record.cls)
    for name, value in zip(record.names, record.values, strict=True):
        if plain:
            t.emit_fresh_effect("set_attr", (shell, value), name)
        else:
            t.emit("call", (Constant(object.__setattr__), shell, Constant(name), value), ())
    return shell


def cell(t: Tracer, number: int, record: Cell) -> Runtime:
    """A new cell, filled after it is known (closures often contain themselves)."""
    from_content = record.content is not UNBOUND and not contains_itself(t, number)
    if from_content:
        return _done(t, number, t.emit("cell", (record.content,), fresh=True))
    shell = _done(t, number, t.emit("cell", (), fresh=True))
    if record.content is not UNBOUND:
        t.emit_fresh_effect("set_deref", (shell, record.content))
    return shell


def function(t: Tracer, number: int, record: Function) -> Runtime:
    """MAKE_FUNCTION in the compiled frame: only for its own globals."""
    if record.namespace is not t.function.__globals__:
        raise Opaque("a function of another module is created")
    present = [(letter, part) for letter, part in zip("dkac", record.extras, strict=True) if part is not UNBOUND]
    for _, part in present:
        t.operand(part)
    made = t.state.heap[number]
    if isinstance(made, Runtime):
        return made
    letters = "".join(letter for letter, _ in present)
    operands = [Constant(record.code), *(part for _, part in present)]
    return _done(t, number, t.emit("function", operands, letters, FunctionType, fresh=True))


def method(t: Tracer, number: int, record: Method) -> Runtime:
    """A bound method object; one of a builtin class comes from its descriptor."""
    function = t.state.resolve(record.function)
    if isinstance(function, Constant) and not issubclass(type(function.value), FunctionType):
        if type(function.value) not in (MethodDescriptorType, WrapperDescriptorType):
            raise Opaque("a bound object that is not a method")
        # Not by name: the object's own class may have another of that name. A class must be given to __get__.
        bind, kind = Constant(function.value.__get__), Constant(function.value.__objclass__)
        return _done(t, number, t.emit("call", (bind, record.owner, kind), (), fresh=True))
    function_type: Any = MethodType
    return _done(
        t, number, t.emit("call", (Constant(function_type), record.function, record.owner), (), MethodType, fresh=True)
    )


def slice_(t: Tracer, number: int, record: Slice) -> Runtime:
    """A slice object."""
    return _done(t, number, t.emit("slice", record.bounds, None, slice))


def exception(t: Tracer, number: int, record: Exception_) -> Runtime:
    """A call of the exact builtin class."""
    return _done(t, number, t.emit("call", (Constant(record.cls), *record.arguments), (), record.cls, fresh=True))


def iterator(t: Tracer, number: int, record: Iterator) -> Runtime:
    """A new iterator, moved to where the virtual one stands."""
    source = Constant(record.origin) if record.origin is not None else t.state.resolve(record.source)
    if record.index < 0:
        source = emptied(t, source)
    whole = t.emit("iter", (source,), fresh=True)
    walked = t.known_type(source)
    if record.index > 0 and walked in (list, tuple):
        t.emit("call_method", (whole, Constant(record.index)), ("__setstate__", ()))
    elif record.index > 0:
        for _ in range(record.index):
            t.emit("call", (Constant(next), whole), ())
    return _done(t, number, whole)


def emptied(t: Tracer, source: Tracker) -> Tracker:
    """An empty container whose iterator is like an exhausted one of the source's."""
    kind = t.known_type(source)
    empty = {list: t.virtual(Sequence(list, ())), dict: t.virtual(Mapping((), ())), tuple: Constant(())}
    if kind not in empty:
        raise Opaque("an exhausted iterator that can't be rebuilt escapes")
    return empty[kind]


def enumerate_(t: Tracer, number: int, record: Enumerate) -> Runtime:
    """enumerate(source, count)."""
    return _done(
        t, number, t.emit("call", (Constant(enumerate), record.source, record.count), (), enumerate, fresh=True)
    )


def zip_(t: Tracer, number: int, record: Zip) -> Runtime:
    """zip(*sources)."""
    return _done(t, number, t.emit("call", (Constant(zip), *record.sources), (), zip, fresh=True))


def view(t: Tracer, number: int, record: View) -> Runtime:
    """dict.keys(), values() or items()."""
    kind = type(getattr({}, record.pick)())
    return _done(t, number, t.emit("call_method", (record.source,), (record.pick, ()), kind, fresh=True))


def super_(t: Tracer, number: int, record: Super) -> Runtime:
    """super(cls, owner)."""
    return _done(
        t, number, t.emit("call", (Constant(super), Constant(record.cls), record.owner), (), super, fresh=True)
    )


def generator(t: Tracer, number: int, record: Generator) -> Runtime:
    """A generator that escapes must have been a real one from the start."""
    raise CallForReal(record.site, "a generator escapes")


BUILDERS: dict[type[Record], Callable[..., Runtime]] = {
    Sequence: sequence,
    Mapping: mapping,
    Instance: instance,
    Cell: cell,
    Function: function,
    Method: method,
    Slice: slice_,
    Exception_: exception,
    Iterator: iterator,
    Enumerate: enumerate_,
    Zip: zip_,
    Super: super_,
    View: view,
    Generator: generator,
}
