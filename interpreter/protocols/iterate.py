"""Iteration: walks over virtual and constant sequences are unrolled, real iterators stay loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minijit.interpreter import conflicts
from minijit.interpreter.protocols import call, lookup
from minijit.interpreter.protocols.continuation import Extras, complete, continuation
from minijit.interpreter.signals import CallForReal, CommitFirst, Opaque
from minijit.interpreter.state import State, Then
from minijit.interpreter.tracer import forget
from minijit.interpreter.trackers import (
    MISSING,
    Constant,
    Enumerate,
    Generator,
    Iterator,
    Mapping,
    Runtime,
    Sequence,
    Tracker,
    View,
    Zip,
)

if TYPE_CHECKING:
    from minijit.interpreter.tracer import Tracer

WALKED: dict[type, type] = {
    kind: type(iter(kind())) for kind in (list, tuple, dict, str, bytes, set, frozenset, bytearray)
}
WALKED[range] = type(iter(range(0)))
WALKED[type({}.keys())] = type(iter({}.keys()))
WALKED[type({}.values())] = type(iter({}.values()))
WALKED[type({}.items())] = type(iter({}.items()))
"""Exact builtin iterable -> exact type of its iterator; neither runs user code."""

UNSIZED = (list, tuple, str, bytes, bytearray, range, frozenset)
"""Those whose iterators do not remember the length that the container had."""

DICT_ITEMS: type = type({}.items())
"""Gives a new pair each time, however often the same item is met."""

QUIET_ITERATORS = frozenset(WALKED.values())
ITEM_TYPES: dict[type, type] = {range: int, str: str, bytes: int, bytearray: int, type({}.items()): tuple}
UNROLL_LIMIT = 64
"""Items of a constant that is not static beyond which a loop stays a loop."""


class WalkOf:
    """Example of an iterator: the example of what it walks over, never advanced."""

    __slots__ = ("source",)

    def __init__(self, source: object) -> None:
        self.source = source


def first_item(source: object) -> object:
    """An item that the iterator may give, read without running user code."""
    if type(source) not in WALKED:
        return MISSING
    for item in source:  # type: ignore[attr-defined]
        return item
    return MISSING


# -- iter() -----------------------------------------------------------------------------------------


def start(t: Tracer, source: Tracker, then: Then, extras: Extras = ()) -> bool:
    """`iter(source)`."""
    source = t.state.resolve(source)
    record = t.state.record(source)
    if isinstance(record, (Iterator, Enumerate, Zip, Generator)):
        return complete(t, then, extras, source)
    if isinstance(record, Sequence) and record.cls in (list, tuple):
        return complete(t, then, extras, t.virtual(Iterator(source, 0)))
    if isinstance(record, Mapping):
        return complete(t, then, extras, t.virtual(Iterator(source, 0, len(record.keys))))
    if isinstance(record, View):
        return _start_view(t, source, record, then, extras)
    if isinstance(source, Constant):
        walk = constant_walk(t, source)
        if walk is not None:
            return complete(t, then, extras, walk)
    return _start_real(t, source, then, extras)


def _start_real(t: Tracer, source: Tracker, then: Then, extras: Extras) -> bool:
    kind = t.need_type(source)
    if kind is None:
        raise Opaque("iteration over a value of unknown type")
    if kind in QUIET_ITERATORS and isinstance(source, Runtime):
        return complete(t, then, extras, source)
    if kind in WALKED:
        if kind not in UNSIZED and conflicts.may_be_walked(t, kind):
            raise CommitFirst
        example = source.value if isinstance(source, Constant) else getattr(source, "example", MISSING)
        walk = t.emit("iter", (source,), None, WALKED[kind], WalkOf(example), raises=False, fresh=True)
        t.walks[walk.value] = kind
        return complete(t, then, extras, walk)
    t.assume_class(kind)
    return call.invoke_special(t, kind, "__iter__", [source], Then("iterator", then), extras)


def _start_view(t: Tracer, view: Tracker, record: View, then: Then, extras: Extras) -> bool:
    source = t.state.resolve(record.source)
    mapping = t.state.record(source)
    if isinstance(mapping, Mapping):
        return complete(t, then, extras, t.virtual(Iterator(view, 0, len(mapping.keys))))
    if isinstance(source, Constant):
        whole: Any = source.value
        if source.frozen or len(whole) <= UNROLL_LIMIT:
            if not source.frozen:
                t.assume("dict_items", (whole, tuple(whole), tuple(whole.values())))
            items = source.derived(tuple(getattr(whole, record.pick)()))
            return complete(t, then, extras, t.virtual(Iterator(items, 0, 1, getattr(whole, record.pick)())))
    example = getattr(source, "value" if isinstance(source, Constant) else "example", MISSING)
    seen = getattr(example, record.pick)() if type(example) is dict else MISSING
    kind = type(getattr({}, record.pick)())
    if t.need_type(source) is not dict:
        raise Opaque("a view of something that is not a dict")
    real = t.emit("call_method", (source,), (record.pick, ()), kind, seen, raises=False)
    return start(t, real, then, extras)


def _view_items(t: Tracer, view: View, length: int) -> tuple[Tracker, ...]:
    mapping = t.state.record(t.state.resolve(view.source))
    if not isinstance(mapping, Mapping) or len(mapping.keys) != length:
        raise Opaque("a dict that changes during iteration")
    if view.pick == "keys":
        return tuple(Constant(key) for key in mapping.keys)
    if view.pick == "values":
        return mapping.values
    return tuple(t.tuple_of((Constant(k), v)) for k, v in zip(mapping.keys, mapping.values, strict=True))


@continuation("iterator")
def iterator(t: Tracer, extras: Extras, result: Tracker, payload: Then) -> bool:
    """`__iter__` must have returned something that can be walked."""
    record = t.state.record(result)
    if isinstance(record, (Iterator, Enumerate, Zip, Generator)) or t.known_type(result) in QUIET_ITERATORS:
        return complete(t, payload, extras, result)
    kind = t.known_type(result)
    if kind is not None and lookup.in_class(kind, "__next__") is not lookup.ABSENT:
        return complete(t, payload, extras, result)
    raise Opaque("__iter__ returned a value that is not known")


def constant_walk(t: Tracer, source: Constant) -> Tracker | None:
    """A walk over a constant that is unrolled: static, or short and immutable."""
    value: Any = source.value
    kind = type(value)
    if kind is tuple and (source.static or len(value) <= 8):
        return t.virtual(Iterator(source, 0))
    if kind in (list, dict) and not source.frozen:
        if len(value) > UNROLL_LIMIT:
            return None
        if kind is list:
            return None
        t.assume("dict_items", (value, tuple(value), tuple(value.values())))
        return t.virtual(Iterator(source.derived(tuple(value)), 0, 1, value))
    if kind in (list, dict) and len(value) <= 4096:
        return t.virtual(Iterator(source.derived(tuple(value)), 0, 1, value))
    return None


# -- next() ------------------------------------------------------------------------------------------

Advance = Callable[["Tracer", Tracker, Any, Then, Extras, Then, Extras], bool]


def advance(t: Tracer, walk: Tracker, item: Then, done: Then, extras: Extras = ()) -> bool:
    """Hand the next item to `item`, or None to `done` when there is none."""
    walk = t.state.resolve(walk)
    record = t.state.record(walk)
    step = STEPS.get(type(record)) if record is not None else None
    if step is not None:
        return step(t, walk, record, item, done, extras)
    if isinstance(walk, Runtime):
        return _advance_real(t, walk, item, done, extras)
    raise Opaque("next() of a value that is not an iterator")


def _advance_iterator(t: Tracer, walk: Tracker, record: Iterator, item: Then, done: Then, extras: Extras) -> bool:
    source = t.state.resolve(record.source)
    found = t.state.record(source)
    if isinstance(found, Sequence):
        items: tuple[Tracker, ...] = found.items
    elif isinstance(found, Mapping):
        if len(found.keys) != record.length:
            raise Opaque("dictionary changed size during iteration")
        items = tuple(Constant(key) for key in found.keys)
    elif isinstance(found, View):
        items = _view_items(t, found, record.length)
    elif isinstance(source, Constant):
        items = tuple(source.derived(part) for part in source.value)
    else:
        raise Opaque("the walked sequence has become real")
    if not 0 <= record.index < len(items):
        t.update(walk, record.moved(-1))
        return complete(t, done, extras, Constant(None))
    t.update(walk, record.moved(record.index + 1))
    t.gain("folded", "a loop step over something known")
    found_item = items[record.index]
    if isinstance(record.origin, DICT_ITEMS) and isinstance(found_item, Constant):
        pair: Any = found_item.value
        found_item = t.tuple_of(found_item.derived(part) for part in pair)
    return complete(t, item, extras, found_item)


def _advance_enumerate(t: Tracer, walk: Tracker, record: Enumerate, item: Then, done: Then, extras: Extras) -> bool:
    return advance(t, record.source, Then("enumerated", item), Then("unwrap", done), (walk, *extras))


@continuation("unwrap")
def unwrap(t: Tracer, extras: Extras, result: Tracker, payload: Then) -> bool:
    """An inner walk has ended: so has the outer one."""
    return complete(t, payload, extras[1:], result)


@continuation("enumerated")
def enumerated(t: Tracer, extras: Extras, result: Tracker, payload: Then) -> bool:
    """Pair an item with its number."""
    walk, *rest = extras
    record = t.state.record(walk)
    if not isinstance(record, Enumerate):
        raise Opaque("an enumerate object that has become real")
    count = t.state.resolve(record.count)
    if isinstance(count, Constant) and isinstance(t.state.record(record.source), Iterator):
        following: Tracker = Constant(count.value + 1, count.static)
    else:
        following = t.emit("binary", (count, Constant(1)), "+", int, raises=False)
    t.update(walk, Enumerate(record.source, following))
    return complete(t, payload, tuple(rest), t.tuple_of((count, result)))


def _advance_zip(t: Tracer, walk: Tracker, record: Zip, item: Then, done: Then, extras: Extras) -> bool:
    if not record.sources:
        return complete(t, done, extras, Constant(None))
    return _zip_next(t, walk, (), item, done, extras)


def _zip_next(
    t: Tracer, walk: Tracker, got: tuple[Tracker, ...], item: Then, done: Then, extras: Extras
) -> bool:
    record = t.state.record(walk)
    assert isinstance(record, Zip)
    if len(got) == len(record.sources):
        return complete(t, item, extras, t.tuple_of(got))
    packed = (walk, t.packed(got), *extras)
    return advance(t, record.sources[len(got)], Then("zipped", (item, done)), Then("unzip", done), packed)


@continuation("zipped")
def zipped(t: Tracer, extras: Extras, result: Tracker, payload: tuple[Then, Then]) -> bool:
    """One more item of a row."""
    walk, got, *rest = extras
    record = t.state.record(got)
    assert isinstance(record, Sequence)
    return _zip_next(t, walk, (*record.items, result), payload[0], payload[1], tuple(rest))


@continuation("unzip")
def unzip(t: Tracer, extras: Extras, result: Tracker, payload: Then) -> bool:
    """One of the walks has ended: so has the zip."""
    return complete(t, payload, extras[2:], result)


def _advance_generator(t: Tracer, walk: Tracker, record: Generator, item: Then, done: Then, extras: Extras) -> bool:
    if record.running:
        raise Opaque("a generator that is running already")
    if record.frame is None:
        return complete(t, done, extras, Constant(None))
    frame = record.frame.clone()
    started = bool(frame.pc)
    frame.then = Then("generator_return", (item, done))
    frame.extras = (walk, *extras)
    if started:
        frame.stack.append(Constant(None))
    t.update(walk, Generator(None, record.site, True))
    t.state.frames.append(frame)
    return True


def _finished(t: Tracer, walk: Tracker, site: int) -> None:
    t.update(walk, Generator(None, site))


@continuation("generator_return")
def generator_return(t: Tracer, extras: Extras, result: Tracker, payload: Any) -> bool:
    """A generator's frame has returned: its walk has ended."""
    walk, *rest = extras
    record = t.state.heap[walk.number]  # type: ignore[attr-defined]
    assert isinstance(record, Generator)
    _finished(t, walk, record.site)
    return complete(t, payload[1], tuple(rest), Constant(None))


def yielded(t: Tracer) -> bool:
    """The running frame yields: suspend it and hand the item on."""
    frame = t.frame
    item = t.pop()
    t.state.frames.pop()
    then, extras = frame.then, frame.extras
    walk, *rest = extras
    record = t.state.heap[walk.number]  # type: ignore[attr-defined]
    assert isinstance(record, Generator)
    suspended = frame.clone()
    suspended.pc += 1
    suspended.then, suspended.extras = Then("suspended"), ()
    t.update(walk, Generator(suspended, record.site))
    moved = complete(t, then.payload[0], tuple(rest), item)
    if not moved:
        t.frame.pc += 1
    return True


STEPS: dict[type, Callable[..., bool]] = {
    Iterator: _advance_iterator,
    Enumerate: _advance_enumerate,
    Zip: _advance_zip,
    Generator: _advance_generator,
}


# -- real iterators -----------------------------------------------------------------------------------


def _advance_real(t: Tracer, walk: Runtime, item: Then, done: Then, extras: Extras) -> bool:
    """End the block with a Next; each way goes on with its continuation."""
    quiet = t.known_type(walk) in QUIET_ITERATORS
    if conflicts.may_be_walked(t, t.walks.get(walk.value)):
        raise CommitFirst
    fresh = walk.value in t.state.fresh
    if not t.in_root and not (quiet and fresh):
        raise CallForReal(t.blame(), "an iterator from outside is advanced inside a call")
    if quiet:
        failure: Any = t.abort()
    else:
        failure = t.before_opaque()
    value = t.new_value(ITEM_TYPES.get(t.walks.get(walk.value, object)))
    body, over = t.state.clone(), t.state.clone()
    for state in (body, over):
        _after_step(t, state, quiet, fresh)
    example = walk.example
    found = first_item(example.source) if isinstance(example, WalkOf) else MISSING
    t.machine.fork_next(walk, Runtime(value, found), body, over, item, done, extras, failure)
    return True


def _after_step(t: Tracer, state: State, quiet: bool, fresh: bool) -> None:
    state.unconditional = False
    if not quiet:
        forget(state)
        state.opened = False
    if not (quiet and fresh):
        state.stale = True
