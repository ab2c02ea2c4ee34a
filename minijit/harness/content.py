"""How to read what the built-in types hold. One row per type, one small function per row."""

from __future__ import annotations

import _random
import _thread
import array
import collections
import contextvars
import functools
import gc
import io
import itertools
import types
import warnings
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from minijit.harness.atoms import ATOMS
from minijit.harness.set_order import ordered

__all__ = ["CONTENT", "Content", "Part"]

Part = tuple[str, object]
Content = tuple[str, Iterable[Part]]
_lru_cache_wrapper: Any = type(functools.lru_cache(lambda: None))


def _indexed(values: Iterable[object]) -> Iterable[Part]:
    return [(f"[{i}]", value) for i, value in enumerate(values)]


def _items(items: Iterable[tuple[object, object]]) -> Iterable[Part]:
    """Label a value with its key where the key is plain, else give both."""
    for i, (key, value) in enumerate(items):
        if type(key) in ATOMS:
            yield f"[{ATOMS[type(key)](key)}]", value
        else:
            yield f".key({i})", key
            yield f".value({i})", value


def _list(value: Any) -> Content:
    return f"of {list.__len__(value)}", _indexed(list.__iter__(value))


def _tuple(value: Any) -> Content:
    return f"of {tuple.__len__(value)}", _indexed(tuple.__iter__(value))


def _dict(value: Any) -> Content:
    return f"of {dict.__len__(value)}", _items(dict.items(value))


def _ordered_dict(value: Any) -> Content:
    return f"of {dict.__len__(value)}", _items(collections.OrderedDict.items(value))


def _defaultdict(value: Any) -> Content:
    factory = collections.defaultdict.__dict__["default_factory"].__get__(value)
    return f"of {dict.__len__(value)}", [(".default_factory", factory), *_items(dict.items(value))]


def _set(value: Any) -> Content:
    return f"of {set.__len__(value)}", _indexed(ordered(set.__iter__(value)))


def _frozenset(value: Any) -> Content:
    return f"of {frozenset.__len__(value)}", _indexed(ordered(frozenset.__iter__(value)))


def _deque(value: Any) -> Content:
    limit = collections.deque.__dict__["maxlen"].__get__(value)
    return f"of {collections.deque.__len__(value)} maxlen {limit}", _indexed(collections.deque.__iter__(value))


def _bytearray(value: Any) -> Content:
    return bytearray.__repr__(value), ()


def _array(value: Any) -> Content:
    return array.array.__repr__(value), ()


def _slice(value: Any) -> Content:
    return "", [(".start", value.start), (".stop", value.stop), (".step", value.step)]


def _function(value: Any) -> Content:
    code = value.__code__
    parts = [(".__defaults__", value.__defaults__), (".__kwdefaults__", value.__kwdefaults__),
             (".__annotations__", value.__annotations__)]  # fmt: skip
    cells = [(f".<{name}>", cell) for name, cell in zip(code.co_freevars, value.__closure__ or (), strict=False)]
    return f"{value.__qualname__} line {code.co_firstlineno}", parts + cells


def _builtin(value: Any) -> Content:
    owner = value.__self__
    return value.__qualname__, () if isinstance(owner, types.ModuleType) else [(".__self__", owner)]


def _method(value: Any) -> Content:
    return "", [(".__self__", value.__self__), (".__func__", value.__func__)]


def _wrapped(value: Any) -> Content:
    return "", [(".__func__", value.__func__)]


def _property(value: Any) -> Content:
    return "", [(".fget", value.fget), (".fset", value.fset), (".fdel", value.fdel)]


def _named(value: Any) -> Content:
    return value.__qualname__, ()


def _module(value: Any) -> Content:
    return value.__name__, ()


def _cell(value: Any) -> Content:
    try:
        return "", [(".cell_contents", value.cell_contents)]
    except ValueError:
        return "empty", ()


SUSPENDED: dict[type, str] = {types.GeneratorType: "gi", types.CoroutineType: "cr", types.AsyncGeneratorType: "ag"}


def _suspended(value: Any) -> Content:
    letters = SUSPENDED[type(value)]
    frame = getattr(value, f"{letters}_frame")
    where = "finished" if frame is None else f"at line {frame.f_lineno}"
    inner = getattr(value, f"{letters}_await" if letters != "gi" else "gi_yieldfrom")
    name = getattr(value, f"{letters}_code").co_qualname
    return f"{name} {where}", [(".<delegate>", inner)] if inner is not None else ()


def _iterator(value: Any) -> Content:
    """Tell where a built-in iterator stands, without moving it."""
    reduce = next(base.__dict__["__reduce__"] for base in type(value).__mro__ if base in ITERATORS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stored = reduce(value)
    arguments, *state = stored[1:]
    sources = [(f".<source {i}>", part) for i, part in enumerate(arguments)]
    return "", sources + [(".<position>", part) for part in state]


def _view(value: Any) -> Content:
    """Lead to the dictionary itself, so that a view of another one differs."""
    return "", [(".mapping", referent) for referent in gc.get_referents(value)]


def _reference(value: Any) -> Content:
    return "", [("()", weakref.ref.__call__(value)), (".__callback__", value.__callback__)]


def _partial(value: Any) -> Content:
    return "", [(".func", value.func), (".args", value.args), (".keywords", value.keywords)]


def _cached(value: Any) -> Content:
    return str(tuple(_lru_cache_wrapper.cache_info(value))), ()


def _random_state(value: Any) -> Content:
    return format(hash(_random.Random.getstate(value)), "x"), ()


def _context_variable(value: Any) -> Content:
    return value.name, [(".get()", value.get(None))]


def _text_buffer(value: Any) -> Content:
    return ("closed", ()) if value.closed else (f"at {value.tell()}", [(".<content>", value.getvalue())])


def _lock(value: Any) -> Content:
    return "locked" if value.locked() else "unlocked", ()


def _exception(value: Any) -> Content:
    """Arguments, chain and traceback; attributes and notes come with the instance."""
    parts: list[Part] = [(f".{name}", BaseException.__dict__[name].__get__(value)) for name in CHAIN]
    return "", parts + [(f".__traceback__[{i}]", frame) for i, frame in enumerate(_frames(value))]


CHAIN = ("args", "__cause__", "__context__", "__suppress_context__")
HARNESS = __file__.rpartition("content")[0]


def _frames(error: BaseException) -> Iterable[str]:
    """Give the traceback without the harness's own frames."""
    step = BaseException.__dict__["__traceback__"].__get__(error)
    while step is not None:
        code = step.tb_frame.f_code
        if not code.co_filename.startswith(HARNESS):
            yield f"{code.co_filename}:{step.tb_lineno} in {code.co_name}"
        step = step.tb_next


ITERATORS: frozenset[type] = frozenset({
    type(iter([])), type(iter(())), type(iter({})), type(iter({}.values())), type(iter({}.items())), type(iter(set())),
    type(iter("")), type(iter("\u0101")), type(iter(b"")), type(iter(bytearray())),
    type(iter(range(0))), type(iter(range(1 << 70))),
    type(reversed([])), type(reversed({})), type(reversed({}.values())), type(reversed({}.items())), type(iter(int, 0)),
    type(iter(collections.deque())), type(reversed(collections.deque())), type(iter(array.array("i"))),
    type(iter(collections.OrderedDict())), type(iter(memoryview(b""))),
    enumerate, zip, map, filter, reversed,
    *(kind for kind in vars(itertools).values() if isinstance(kind, type)),
})  # fmt: skip

CONTENT: dict[type, Callable[[Any], Content]] = {
    list: _list, tuple: _tuple, dict: _dict, set: _set, frozenset: _frozenset, slice: _slice,
    collections.OrderedDict: _ordered_dict, collections.defaultdict: _defaultdict,
    collections.deque: _deque, bytearray: _bytearray, array.array: _array,
    types.FunctionType: _function, types.BuiltinFunctionType: _builtin, types.MethodType: _method,
    classmethod: _wrapped, staticmethod: _wrapped, property: _property,
    types.ModuleType: _module, types.CellType: _cell,
    types.MemberDescriptorType: _named, types.GetSetDescriptorType: _named, types.WrapperDescriptorType: _named,
    types.MethodDescriptorType: _named, types.ClassMethodDescriptorType: _named, types.MethodWrapperType: _builtin,
    **dict.fromkeys(SUSPENDED, _suspended),
    **dict.fromkeys((kind for kind in ITERATORS if "__reduce__" in vars(kind)), _iterator),
    **dict.fromkeys((type({}.keys()), type({}.values()), type({}.items()), types.MappingProxyType), _view),
    weakref.ref: _reference, functools.partial: _partial, _lru_cache_wrapper: _cached, _random.Random: _random_state,
    io.StringIO: _text_buffer, io.BytesIO: _text_buffer, contextvars.ContextVar: _context_variable,
    _thread.LockType: _lock, BaseException: _exception,
}  # fmt: skip
