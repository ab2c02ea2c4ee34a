"""A snapshot of an object graph as plain text, equal exactly when two graphs look the same.

Types, values, order, identity and aliasing count; addresses do not, nor whose module
instance a class comes from. Nothing of the program runs while it is taken.
"""

from __future__ import annotations

import functools
import re
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable

from minijit.fuzz.program import FILENAME, MODULE

Walk = Callable[["Snapshot", object], None]

ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
SKIPPED = frozenset({
    "__module__", "__dict__", "__weakref__", "__doc__", "__firstlineno__", "__static_attributes__", "__qualname__",
    "__match_args__", "__annotations__", "__dataclass_params__", "__dataclass_fields__", "__wrapped__", "__hash__",
})  # fmt: skip
_own_dict = type.__dict__["__dict__"].__get__
_mro = type.__dict__["__mro__"].__get__
_factory = defaultdict.__dict__["default_factory"].__get__
_maxlen = deque.__dict__["maxlen"].__get__
CELL = types.CellType


class Snapshot:
    """Mutates while a graph is walked: words so far, and the number of each object met."""

    def __init__(self) -> None:
        self.words: list[object] = []
        self.numbers: dict[int, int] = {}
        self.alive: list[object] = []

    def walk(self, value: object) -> None:
        """Add one object and what it reaches."""
        kind = type(value)
        atom = ATOMS.get(kind)
        if atom is not None:
            self.words.append(kind.__name__)
            self.words.append(atom(value))
            return
        key = id(value)
        known = self.numbers.get(key)
        if known is not None:
            self.words.append(known)
            return
        self.numbers[key] = len(self.numbers)
        self.alive.append(value)
        self.words.append("(")
        walker = WALKERS.get(kind)
        if walker is not None:
            self.words.append(kind.__name__)
            walker(self, value)
        else:
            self.instance(value, kind)
        self.words.append(")")

    def each(self, values: Iterable[object]) -> None:
        """Add objects in order."""
        for value in values:
            self.walk(value)

    def pairs(self, items: Iterable[tuple[object, object]]) -> None:
        """Add keys and values in order."""
        for key, value in items:
            self.walk(key)
            self.walk(value)

    def instance(self, value: object, kind: type) -> None:
        """Add an object of a class that has no walker of its own: content, slots, attributes."""
        if issubclass(kind, type):
            self.class_(value)  # type: ignore[arg-type]
            return
        self.words.append(kind.__qualname__)
        if kind.__module__ == MODULE:
            self.walk(kind)
        for base in _mro(kind):
            walker = WALKERS.get(base)
            if walker is not None:
                self.words.append(base.__name__)
                walker(self, value)
                break
            atom = ATOMS.get(base)
            if atom is not None:
                self.words.append(ADDRESS.sub("0x", base.__repr__(value)))
                break
        self.state(value, kind)

    def state(self, value: object, kind: type) -> None:
        """Add slots and the instance dictionary, past every hook."""
        for base in _mro(kind):
            for name, member in _own_dict(base).items():
                if type(member) is types.MemberDescriptorType and base.__module__ == MODULE:
                    self.words.append(name)
                    try:
                        self.walk(member.__get__(value))
                    except AttributeError:
                        self.words.append("unset")
        try:
            attributes = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return
        if type(attributes) is dict:
            self.words.append("dict")
            self.pairs(attributes.items())

    def class_(self, value: type) -> None:
        """Add a class: only its name unless it is the program's own."""
        self.words.append(type.__dict__["__qualname__"].__get__(value))
        if _own_dict(value).get("__module__") != MODULE:
            return
        self.each(base for base in value.__bases__)
        for name, member in _own_dict(value).items():
            if name not in SKIPPED:
                self.words.append(name)
                self.walk(member)


def _sequence(snapshot: Snapshot, value: object) -> None:
    snapshot.each(list.__iter__(value))  # type: ignore[arg-type]


def _mapping(snapshot: Snapshot, value: object) -> None:
    snapshot.pairs(dict.items(value))  # type: ignore[arg-type]


def _ordered(snapshot: Snapshot, value: object) -> None:
    snapshot.pairs(OrderedDict.items(value))  # type: ignore[arg-type]


def _default(snapshot: Snapshot, value: object) -> None:
    snapshot.walk(_factory(value))
    snapshot.pairs(dict.items(value))  # type: ignore[arg-type]


def _deque(snapshot: Snapshot, value: object) -> None:
    snapshot.walk(_maxlen(value))
    snapshot.each(deque.__iter__(value))  # type: ignore[arg-type]


def _function(snapshot: Snapshot, value: object) -> None:
    assert isinstance(value, types.FunctionType)
    snapshot.words.append(value.__qualname__)
    snapshot.walk(value.__defaults__)
    snapshot.walk(value.__kwdefaults__)
    if value.__module__ == MODULE:
        snapshot.pairs(value.__dict__.items())
    snapshot.each(value.__closure__ or ())


def _cell(snapshot: Snapshot, value: object) -> None:
    assert isinstance(value, CELL)
    try:
        snapshot.walk(value.cell_contents)
    except ValueError:
        snapshot.words.append("empty")


def _suspended(snapshot: Snapshot, value: object) -> None:
    """Tell where a generator or coroutine stands."""
    letter = {"generator": "gi", "coroutine": "cr", "async_generator": "ag"}[type(value).__name__]
    frame = getattr(value, f"{letter}_frame")
    snapshot.words.append(getattr(value, f"{letter}_code").co_qualname)
    snapshot.words.append("done" if frame is None else frame.f_lineno)


def _reduced(snapshot: Snapshot, value: object) -> None:
    """Tell a built-in iterator's position by what pickling it would store."""
    try:
        snapshot.walk(value.__reduce__())
    except Exception as error:
        snapshot.words.append(type(error).__name__)


def _exception(snapshot: Snapshot, value: object) -> None:
    assert isinstance(value, BaseException)
    snapshot.each(value.args)
    snapshot.each((value.__cause__, value.__context__, value.__suppress_context__))
    step = value.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if code.co_filename == FILENAME:
            snapshot.words += (code.co_name, step.tb_lineno)
        step = step.tb_next
    if type(value) in (AttributeError, NameError):
        snapshot.walk(value.name)  # type: ignore[attr-defined]


def _property(snapshot: Snapshot, value: object) -> None:
    assert isinstance(value, property)
    snapshot.each((value.fget, value.fset, value.fdel))


def _wrapped(snapshot: Snapshot, value: object) -> None:
    snapshot.walk(value.__func__)  # type: ignore[attr-defined]


def _method(snapshot: Snapshot, value: object) -> None:
    snapshot.each((value.__self__, value.__func__))  # type: ignore[attr-defined]


def _partial(snapshot: Snapshot, value: object) -> None:
    assert isinstance(value, functools.partial)
    snapshot.each((value.func, value.args, value.keywords))


def _builtin(snapshot: Snapshot, value: object) -> None:
    snapshot.words.append(value.__qualname__)  # type: ignore[attr-defined]
    owner = getattr(value, "__self__", None)
    if not isinstance(owner, types.ModuleType):
        snapshot.walk(owner)


def _reference(snapshot: Snapshot, value: object) -> None:
    snapshot.walk(value())  # type: ignore[operator]


def _view(snapshot: Snapshot, value: object) -> None:
    snapshot.walk(value.mapping.copy())  # type: ignore[attr-defined]


def _opaque(snapshot: Snapshot, value: object) -> None:
    """Nothing more is said of it."""


ATOMS: dict[type, Callable[[object], object]] = {
    type(None): lambda value: None,
    bool: repr,
    int: int.__index__,  # type: ignore[dict-item]
    float: repr,
    complex: repr,
    str: lambda value: ADDRESS.sub("0x", value) if "0x" in value else value,  # type: ignore[operator, call-overload]
    bytes: repr,
    range: repr,
    slice: repr,
    type(...): repr,
    type(NotImplemented): repr,
}
WALKERS: dict[type, Walk] = {
    list: _sequence,
    tuple: lambda snapshot, value: snapshot.each(tuple.__iter__(value)),  # type: ignore[arg-type]
    OrderedDict: _ordered,
    defaultdict: _default,
    dict: _mapping,
    set: lambda snapshot, value: snapshot.each(set.__iter__(value)),  # type: ignore[arg-type]
    frozenset: lambda snapshot, value: snapshot.each(frozenset.__iter__(value)),  # type: ignore[arg-type]
    deque: _deque,
    bytearray: lambda snapshot, value: snapshot.words.append(bytes(value)),  # type: ignore[call-overload]
    types.FunctionType: _function,
    types.BuiltinFunctionType: _builtin,
    types.MethodType: _method,
    types.ModuleType: _opaque,
    types.GeneratorType: _suspended,
    types.CoroutineType: _suspended,
    types.AsyncGeneratorType: _suspended,
    CELL: _cell,
    property: _property,
    classmethod: _wrapped,
    staticmethod: _wrapped,
    functools.partial: _partial,
    weakref.ref: _reference,
    BaseException: _exception,
    type({}.keys()): _view,
    type({}.values()): _view,
    type({}.items()): _view,
    **dict.fromkeys(
        (type(iter([])), type(iter(())), type(iter({})), type(iter({}.items())), type(iter(range(0))), type(iter("")), enumerate, zip, map, filter,
         reversed, type(reversed([])), type(iter(set())), type(iter({}.values()))), _reduced,
    ),
}  # fmt: skip


def canonical(roots: Iterable[object]) -> tuple[object, ...]:
    """Give the snapshot of everything the roots reach, aliases between them included."""
    snapshot = Snapshot()
    snapshot.each(roots)
    return tuple(snapshot.words)
