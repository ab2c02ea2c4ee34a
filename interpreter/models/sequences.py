"""Models of len, iteration builtins and the methods of lists, dicts and tuples."""

from __future__ import annotations

from typing import Any

from minijit.interpreter.models.types import Arguments, exactly
from minijit.interpreter.ops.containers import append, items_of, known_mapping
from minijit.interpreter.protocols import call, iterate, lookup, subscript
from minijit.interpreter.protocols.bind import Keywords
from minijit.interpreter.protocols.call import model
from minijit.interpreter.protocols.continuation import Extras, complete, continuation
from minijit.interpreter.signals import CommitFirst, Opaque
from minijit.interpreter.state import Then
from minijit.interpreter.tracer import Tracer
from minijit.interpreter.trackers import (
    MISSING,
    PLAIN_TYPES,
    Constant,
    Enumerate,
    Iterator,
    Mapping,
    Runtime,
    Sequence,
    Tracker,
    View,
    Virtual,
    Zip,
)

SIZED = (list, tuple, dict, set, frozenset, str, bytes, range)


def no_pending(t: Tracer, tracker: Tracker) -> None:
    """A read of contents must see the ledger's effects."""
    tracker = t.state.resolve(tracker)
    if isinstance(tracker, Runtime) and t.pending_on("item", None, tracker.value):
        raise CommitFirst


@model(len)
def len_(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """len(object)."""
    exactly(arguments, keywords, 1)
    source = t.state.resolve(arguments[0])
    record = t.state.record(source)
    if isinstance(record, (Sequence, Mapping)):
        return complete(t, then, extras, Constant(len(record.parts())))
    if isinstance(source, Constant) and (type(source.value) in (tuple, str, bytes, range, frozenset) or source.frozen):
        if type(source.value) in SIZED:
            return complete(t, then, extras, source.derived(len(source.value)))  # type: ignore[arg-type]
    kind = t.need_type(source)
    if kind in SIZED:
        no_pending(t, source)
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
    packed = (t.tuple_of(got), t.tuple_of(left[1:]), *extras)
    return iterate.start(t, left[0], Then("zip", then), packed)


@continuation("zip")
def zip_over(t: Tracer, extras: Extras, result: Tracker, payload: Then) -> bool:
    """One more source is an iterator now."""
    got, left, *rest = extras
    done, more = t.state.record(got), t.state.record(left)
    assert isinstance(done, Sequence) and isinstance(more, Sequence)
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


def _collect(kind: type) -> Any:
    def collect(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
        exactly(arguments, keywords, 0, 1)
        if not arguments:
            return complete(t, then, extras, t.virtual(Sequence(kind, ())))
        source = t.state.resolve(arguments[0])
        items = items_of(t, source)
        if items is not None:
            if kind is tuple and t.known_type(source) is tuple:
                return complete(t, then, extras, source)
            return complete(t, then, extras, t.virtual(Sequence(kind, items)))
        walked = _walked(t, source)
        if walked is not None:
            return complete(t, then, extras, t.virtual(Sequence(kind, walked)))
        if t.state.record(source) is not None or t.need_type(source) not in (*iterate.WALKED, *iterate.QUIET_ITERATORS):
            raise Opaque(f"{kind.__name__} of an iterable that is not known")
        if isinstance(source, Runtime) and t.known_type(source) in iterate.QUIET_ITERATORS:
            if source.value not in t.state.fresh:
                raise Opaque("an iterator from outside is consumed")
        no_pending(t, source)
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


@model(dict)
def dict_(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """dict(**keywords) and dict(mapping)."""
    record: Mapping | None = Mapping((), ())
    if arguments:
        exactly(arguments, (), 1)
        record = known_mapping(t, t.state.resolve(arguments[0]))
    if record is None:
        raise Opaque("dict of a mapping that is not known")
    for name, value in keywords:
        record = subscript.with_item(record, name, value)
    return complete(t, then, extras, t.virtual(record))


# -- methods of lists ------------------------------------------------------------------------------------


@model(list.append)
def list_append(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """list.append(item)."""
    exactly(arguments, keywords, 2)
    target = t.state.resolve(arguments[0])
    if t.need_type(target) is not list:
        raise Opaque("append to something that is not a list")
    append(t, target, arguments[1])
    return complete(t, then, extras, Constant(None))


def _list(t: Tracer, arguments: Arguments) -> tuple[Tracker, Sequence]:
    target = t.state.resolve(arguments[0])
    record = t.state.record(target)
    if not isinstance(record, Sequence) or record.cls is not list:
        raise Opaque("a list that is not new")
    return target, record


@model(list.pop)
def list_pop(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """list.pop([index]) of a new list."""
    exactly(arguments, keywords, 1, 2)
    target, record = _list(t, arguments)
    index = arguments[1] if len(arguments) == 2 else Constant(-1)
    if not isinstance(index, Constant) or type(index.value) is not int:
        raise Opaque("an index that is not known")
    if not -len(record.items) <= index.value < len(record.items):
        raise Opaque("IndexError")
    items = list(record.items)
    item = items.pop(index.value)
    t.update(target, Sequence(list, tuple(items)))
    return complete(t, then, extras, item)


@model(list.extend)
def list_extend(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """list.extend(iterable) of a new list by something known."""
    exactly(arguments, keywords, 2)
    target, record = _list(t, arguments)
    items = items_of(t, arguments[1])
    if items is None:
        raise Opaque("an iterable that is not known")
    t.update(target, Sequence(list, record.items + items))
    return complete(t, then, extras, Constant(None))


@model(list.insert)
def list_insert(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """list.insert(index, item) of a new list."""
    exactly(arguments, keywords, 3)
    target, record = _list(t, arguments)
    index = arguments[1]
    if not isinstance(index, Constant) or type(index.value) is not int:
        raise Opaque("an index that is not known")
    items = list(record.items)
    items.insert(index.value, arguments[2])
    t.update(target, Sequence(list, tuple(items)))
    return complete(t, then, extras, Constant(None))


@model(list.reverse)
def list_reverse(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """list.reverse() of a new list."""
    exactly(arguments, keywords, 1)
    target, record = _list(t, arguments)
    t.update(target, Sequence(list, record.items[::-1]))
    return complete(t, then, extras, Constant(None))


@model(list.clear)
def list_clear(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """list.clear() of a new list."""
    exactly(arguments, keywords, 1)
    target, _ = _list(t, arguments)
    t.update(target, Sequence(list, ()))
    return complete(t, then, extras, Constant(None))


@model(list.copy)
def list_copy(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """list.copy() of a new list."""
    exactly(arguments, keywords, 1)
    _, record = _list(t, arguments)
    return complete(t, then, extras, t.virtual(Sequence(list, record.items)))


# -- methods of dicts -------------------------------------------------------------------------------------


def _key(t: Tracer, tracker: Tracker) -> Any:
    tracker = t.state.resolve(tracker)
    if not subscript.is_plain_key(tracker):
        raise Opaque("a key that is not known")
    return tracker.value  # type: ignore[attr-defined]


@model(dict.get)
def dict_get(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """dict.get(key[, default])."""
    exactly(arguments, keywords, 2, 3)
    source = t.state.resolve(arguments[0])
    default = arguments[2] if len(arguments) == 3 else Constant(None)
    record = t.state.record(source)
    if isinstance(record, Mapping):
        place = record.find(_key(t, arguments[1]))
        return complete(t, then, extras, record.values[place] if place >= 0 else default)
    if isinstance(source, Constant) and type(source.value) is dict:
        return complete(t, then, extras, _get_constant(t, source, arguments[1], default))
    if not isinstance(source, Runtime) or t.need_type(source) is not dict or t.need_type(arguments[1]) is not str:
        raise Opaque("get of a dict that is not known")
    no_pending(t, source)
    subscript.need_unicode_keys(t, source)
    key = t.state.resolve(arguments[1])
    example: Any = source.example
    found = MISSING
    if isinstance(key, Constant) and example is not MISSING:
        found = example.get(key.value, MISSING)
        if found is MISSING and isinstance(default, Constant):
            found = default.value
    value = t.emit("call_method", (source, key, default), ("get", ()), example=found, raises=False)
    return complete(t, then, extras, value)


def _get_constant(t: Tracer, source: Constant, key: Tracker, default: Tracker) -> Tracker:
    known = known_mapping(t, source)
    name = _key(t, key)
    if known is None:
        raise Opaque("get of a dict that is not known")
    place = known.find(name)
    return known.values[place] if place >= 0 else default


@model(dict.setdefault)
def dict_setdefault(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """dict.setdefault(key[, default]) of a new dict."""
    exactly(arguments, keywords, 2, 3)
    target, record = _dict(t, arguments)
    key = _key(t, arguments[1])
    place = record.find(key)
    if place >= 0:
        return complete(t, then, extras, record.values[place])
    value = arguments[2] if len(arguments) == 3 else Constant(None)
    t.update(target, subscript.with_item(record, key, value))
    return complete(t, then, extras, value)


def _dict(t: Tracer, arguments: Arguments) -> tuple[Tracker, Mapping]:
    target = t.state.resolve(arguments[0])
    record = t.state.record(target)
    if not isinstance(record, Mapping):
        raise Opaque("a dict that is not new")
    return target, record


@model(dict.pop)
def dict_pop(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """dict.pop(key[, default]) of a new dict."""
    exactly(arguments, keywords, 2, 3)
    target, record = _dict(t, arguments)
    place = record.find(_key(t, arguments[1]))
    if place < 0:
        if len(arguments) == 2:
            raise Opaque("KeyError")
        return complete(t, then, extras, arguments[2])
    keys = record.keys[:place] + record.keys[place + 1 :]
    t.update(target, Mapping(keys, record.values[:place] + record.values[place + 1 :]))
    return complete(t, then, extras, record.values[place])


@model(dict.update)
def dict_update(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """dict.update(mapping, **keywords) of a new dict."""
    exactly(arguments, (), 1, 2)
    target, record = _dict(t, arguments)
    if len(arguments) == 2:
        add = known_mapping(t, t.state.resolve(arguments[1]))
        if add is None:
            raise Opaque("a mapping that is not known")
        for key, value in zip(add.keys, add.values, strict=True):
            record = subscript.with_item(record, key, value)
    for name, value in keywords:
        record = subscript.with_item(record, name, value)
    t.update(target, record)
    return complete(t, then, extras, Constant(None))


@model(dict.copy)
def dict_copy(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """dict.copy() of a dict that is known."""
    exactly(arguments, keywords, 1)
    record = known_mapping(t, t.state.resolve(arguments[0]))
    if record is None:
        raise Opaque("copy of a dict that is not known")
    return complete(t, then, extras, t.virtual(record))


def _views(pick: str) -> Any:
    def view(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
        exactly(arguments, keywords, 1)
        source = t.state.resolve(arguments[0])
        if t.need_type(source) is not dict:
            raise Opaque(f"{pick} of something that is not a dict")
        return complete(t, then, extras, t.virtual(View(pick, source)))

    return view


for _name in ("keys", "values", "items"):
    call.MODELS[getattr(dict, _name)] = _views(_name)

__all__ = ["PLAIN_TYPES", "lookup"]
