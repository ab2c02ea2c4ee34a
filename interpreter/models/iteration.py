"""Models of len, the builtins that iterate, and the constructors of lists, tuples and ranges."""

from __future__ import annotations

from array import array
from collections import OrderedDict, defaultdict, deque
from typing import Any

from minijit.interpreter.effects import settled, tail_of
from minijit.interpreter.models.types import Arguments, exactly
from minijit.interpreter.ops.containers import items_of
from minijit.interpreter.protocols import call, iterate
from minijit.interpreter.protocols.bind import Keywords
from minijit.interpreter.protocols.call import model
from minijit.interpreter.protocols.continuation import Extras, complete, continuation
from minijit.interpreter.signals import Opaque
from minijit.interpreter.state import Then
from minijit.interpreter.tracer import Tracer
from minijit.interpreter.trackers import (
    Constant,
    Enumerate,
    Iterator,
    Mapping,
    Runtime,
    Sequence,
    Tracker,
    Virtual,
    Zip,
)

SIZED = (list, tuple, dict, set, frozenset, str, bytes, range, bytearray, deque, OrderedDict, defaultdict, array)
UNCHANGING = (tuple, str, bytes, range, frozenset)


@model(len)
def len_(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """len(object)."""
    exactly(arguments, keywords, 1)
    source = t.state.resolve(arguments[0])
    record = t.state.record(source)
    if isinstance(record, (Sequence, Mapping)):
        return complete(t, then, extras, Constant(len(record.parts())))
    sized = source if isinstance(source, Constant) and type(source.value) in SIZED else None
    if sized is not None and (sized.frozen or type(sized.value) in UNCHANGING):
        return complete(t, then, extras, sized.derived(len(sized.value)))
    kind = t.need_type(source)
    tail = tail_of(t, source) if kind is list and t.state.record(source) is None else None
    if tail is not None and (tail.gone or tail.added):
        real = t.emit("call", (Constant(len), source), (), int, raises=False)
        change = Constant(len(tail.added) - tail.gone)
        return complete(t, then, extras, t.emit("binary", (real, change), "+", int, raises=False))
    if kind in SIZED:
        settled(t, source)
        return complete(t, then, extras, t.emit("call", (Constant(len), source), (), int, raises=False))
    if kind is None:
        raise Opaque("len of a value of unknown type")
    t.assume_class(kind)
    return call.invoke_special(t, kind, "__len__", [source], Then("length", then), extras)


@continuation("length")
def length(t: Tracer, extras: Extras, result: Tracker, payload: Then) -> bool:
    """`__len__` must return a number that is not negative."""
    if isinstance(result, Constant) and type(result.value) is int and result.value >= 0:
        return complete(t, payload, extras, result)
    raise Opaque("a length that is not known")


@model(iter)
def iter_(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """iter(object)."""
    exactly(arguments, keywords, 1)
    return iterate.start(t, arguments[0], then, extras)


@model(next)
def next_(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """next(iterator[, default]) of a walk under way."""
    exactly(arguments, keywords, 1, 2)
    if not isinstance(t.state.resolve(arguments[0]), Virtual):
        raise Opaque("next() of a real iterator")
    default = arguments[1:] or [Constant(None)]
    name = "next_default" if len(arguments) == 2 else "next_missing"
    return iterate.advance(t, arguments[0], Then("next_item", then), Then(name, then), (*default, *extras))


@continuation("next_item")
def next_item(t: Tracer, extras: Extras, result: Tracker, payload: Then) -> bool:
    """There was an item."""
    return complete(t, payload, extras[1:], result)


@continuation("next_default")
def next_default(t: Tracer, extras: Extras, result: Tracker, payload: Then) -> bool:
    """There was none, but a default."""
    return complete(t, payload, extras[1:], extras[0])


@continuation("next_missing")
def next_missing(t: Tracer, extras: Extras, result: Tracker, payload: Then) -> bool:
    """There was none."""
    t.leave("StopIteration")
    return True


@model(enumerate)
def enumerate_(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """enumerate(iterable[, start])."""
    given = dict(keywords)
    start = given.pop("start", arguments[1] if len(arguments) == 2 else Constant(0))
    if given or len(arguments) not in (1, 2) or t.known_type(start) is not int:
        raise Opaque("arguments that are not modelled")
    return iterate.start(t, arguments[0], Then("enumerate", then), (start, *extras))


@continuation("enumerate")
def enumerate_over(t: Tracer, extras: Extras, result: Tracker, payload: Then) -> bool:
    """The source is an iterator now."""
    return complete(t, payload, extras[1:], t.virtual(Enumerate(result, extras[0])))


@model(zip)
def zip_(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """zip(*iterables)."""
    if keywords:
        raise Opaque("zip with keywords")
    return _zip_more(t, (), arguments, then, extras)


def _zip_more(t: Tracer, got: tuple[Tracker, ...], left: Arguments, then: Then, extras: Extras) -> bool:
    if not left:
        return complete(t, then, extras, t.virtual(Zip(got)))
    packed = (t.packed(got), t.packed(left[1:]), *extras)
    return iterate.start(t, left[0], Then("zip", then), packed)


@continuation("zip")
def zip_over(t: Tracer, extras: Extras, result: Tracker, payload: Then) -> bool:
    """One more source is an iterator now."""
    got, left, *rest = extras
    done, more = t.state.record(got), t.state.record(left)
    assert isinstance(done, Sequence)
    assert isinstance(more, Sequence)
    if isinstance(result, Runtime) and any(isinstance(t.state.resolve(x), Runtime) for x in done.items):
        raise Opaque("zip over more than one real iterable")
    return _zip_more(t, (*done.items, result), list(more.items), payload, tuple(rest))


@model(range)
def range_(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """range(...) of ints."""
    exactly(arguments, keywords, 1, 2, 3)
    if not all(t.need_type(argument) is int for argument in arguments):
        raise Opaque("range of values that are not int")
    if all(isinstance(argument, Constant) for argument in arguments):
        values: Any = [argument.value for argument in arguments]  # type: ignore[attr-defined]
        if len(values) == 3 and values[2] == 0:
            raise Opaque("range() arg 3 must not be zero")
        return complete(t, then, extras, Constant(range(*values)))
    return complete(t, then, extras, t.emit("call", (Constant(range), *arguments), (), range))


def made(t: Tracer, kind: type, items: tuple[Tracker, ...]) -> Tracker:
    """A new list or tuple."""
    return t.tuple_of(items) if kind is tuple else t.virtual(Sequence(list, items))


def _collect(kind: type) -> Any:
    def collect(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
        exactly(arguments, keywords, 0, 1)
        if not arguments:
            return complete(t, then, extras, made(t, kind, ()))
        source = t.state.resolve(arguments[0])
        items = items_of(t, source)
        if items is not None:
            if kind is tuple and t.known_type(source) is tuple:
                return complete(t, then, extras, source)
            return complete(t, then, extras, made(t, kind, items))
        walked = _walked(t, source)
        if walked is not None:
            return complete(t, then, extras, made(t, kind, walked))
        if t.state.record(source) is not None or t.need_type(source) not in (*iterate.WALKED, *iterate.QUIET_ITERATORS):
            raise Opaque(f"{kind.__name__} of an iterable that is not known")
        outside = isinstance(source, Runtime) and source.value not in t.state.fresh
        if outside and t.known_type(source) in iterate.QUIET_ITERATORS:
            raise Opaque("an iterator from outside is consumed")
        settled(t, source)
        whole = t.emit("call", (Constant(kind), source), (), kind, fresh=kind is list)
        return complete(t, then, extras, whole)

    return collect


call.MODELS[list] = _collect(list)
call.MODELS[tuple] = _collect(tuple)


def _walked(t: Tracer, source: Tracker) -> tuple[Tracker, ...] | None:
    """What is left of a walk over something known; the walk is used up."""
    record = t.state.record(source)
    if not isinstance(record, Iterator):
        return None
    items = items_of(t, record.source)
    if items is None:
        return None
    t.update(source, record.moved(-1))
    return items[record.index :] if record.index >= 0 else ()
