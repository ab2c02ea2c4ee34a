"""Trackers: what symbolic execution knows of one Python value.

A tracker never changes. A *virtual* object is a number; what it holds now stands in the state's
heap as one of the records below, replaced as a whole by each mutation, so that a copy of the
state is a copy of a few dictionaries.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING, Any

from minijit.interpreter.ir import Value

if TYPE_CHECKING:
    from minijit.interpreter.state import Frame

PLAIN_TYPES: frozenset[type] = frozenset({type(None), bool, int, float, complex, str, bytes})
"""Types whose values hold no references and run no code when they die."""


class Missing:
    """The absence of an example: nothing was seen in the traced call."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()


class Tracker:
    """One Python value during symbolic execution."""

    __slots__ = ()


class Mark(Tracker):
    """A stack or local slot without a value."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


NULL_SLOT = Mark("NULL")
UNBOUND = Mark("UNBOUND")
DEAD = Mark("DEAD")
MAYBE = Mark("MAYBE")
"""A local of the root frame that some paths leave unbound: the real slot holds what there is."""


class Constant(Tracker):
    """That very object. `static`: the user marked what it came from; may multiply versions.

    `frozen`: the user promised that its contents stay as they are.
    """

    __slots__ = ("frozen", "static", "value")

    def __init__(self, value: Any, static: bool = False, frozen: bool = False) -> None:
        self.value = value
        self.static = static or frozen
        self.frozen = frozen

    def derived(self, value: object) -> Constant:
        """A part of this constant, under the same promises."""
        return Constant(value, self.static, self.frozen)

    def __repr__(self) -> str:
        return f"constant {self.value!r}"


class Runtime(Tracker):
    """A value computed at run time; `example` is the one met in the traced call, a hint only."""

    __slots__ = ("example", "value")

    def __init__(self, value: Value, example: object = MISSING) -> None:
        self.value = value
        self.example = example

    def __repr__(self) -> str:
        return f"runtime {self.value!r}"


class Virtual(Tracker):
    """An object that exists only here; its record is `state.heap[number]`."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def __repr__(self) -> str:
        return f"virtual {self.number}"


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """What a virtual object holds. `parts()` are its trackers; `shape()` is all the rest."""

    def parts(self) -> tuple[Tracker, ...]:
        """The trackers inside, in a fixed order."""
        return ()

    def shape(self) -> tuple[Any, ...]:
        """What two records must share to be joined part by part."""
        return (type(self),)

    def rebuilt(self, parts: tuple[Tracker, ...]) -> Record:
        """The same record around other parts."""
        return self


@dataclass(frozen=True, slots=True, eq=False)
class Sequence(Record):
    """A tuple or list (kind) of known length; `cls` is the exact type, a tuple subclass at most."""

    cls: type
    items: tuple[Tracker, ...]

    def parts(self) -> tuple[Tracker, ...]:
        return self.items

    def shape(self) -> tuple[Any, ...]:
        return (Sequence, self.cls, len(self.items))

    def rebuilt(self, parts: tuple[Tracker, ...]) -> Record:
        return Sequence(self.cls, parts)


@dataclass(frozen=True, slots=True, eq=False)
class Mapping(Record):
    """A dict whose keys are constants of plain types, in insertion order."""

    keys: tuple[Any, ...]
    values: tuple[Tracker, ...]

    def parts(self) -> tuple[Tracker, ...]:
        return self.values

    def shape(self) -> tuple[Any, ...]:
        return (Mapping, tuple((type(key), key) for key in self.keys))

    def rebuilt(self, parts: tuple[Tracker, ...]) -> Record:
        return Mapping(self.keys, parts)

    def find(self, key: object) -> int:
        """Position of an equal key, or -1."""
        for position, known in enumerate(self.keys):
            if known is key or known == key:
                return position
        return -1


@dataclass(frozen=True, slots=True, eq=False)
class Instance(Record):
    """An instance of a plain class: attributes in the order they were first set."""

    cls: type
    names: tuple[str, ...] = ()
    values: tuple[Tracker, ...] = ()

    def parts(self) -> tuple[Tracker, ...]:
        return self.values

    def shape(self) -> tuple[Any, ...]:
        return (Instance, self.cls, self.names)

    def rebuilt(self, parts: tuple[Tracker, ...]) -> Record:
        return Instance(self.cls, self.names, parts)


@dataclass(frozen=True, slots=True, eq=False)
class Cell(Record):
    """A new cell; `content` may be UNBOUND."""

    content: Tracker

    def parts(self) -> tuple[Tracker, ...]:
        return (self.content,)

    def rebuilt(self, parts: tuple[Tracker, ...]) -> Record:
        return Cell(parts[0])


@dataclass(frozen=True, slots=True, eq=False)
class Function(Record):
    """A function made in the region. `extras`: defaults, kwdefaults, annotations, closure or UNBOUND."""

    code: CodeType
    namespace: dict[str, Any]
    extras: tuple[Tracker, Tracker, Tracker, Tracker]

    def parts(self) -> tuple[Tracker, ...]:
        return self.extras

    def shape(self) -> tuple[Any, ...]:
        return (Function, id(self.code), id(self.namespace))

    def rebuilt(self, parts: tuple[Tracker, ...]) -> Record:
        defaults, kwdefaults, annotations, closure = parts
        return Function(self.code, self.namespace, (defaults, kwdefaults, annotations, closure))


@dataclass(frozen=True, slots=True, eq=False)
class Method(Record):
    """A bound method."""

    function: Tracker
    owner: Tracker

    def parts(self) -> tuple[Tracker, ...]:
        return (self.function, self.owner)

    def shape(self) -> tuple[Any, ...]:
        return (Method,)

    def rebuilt(self, parts: tuple[Tracker, ...]) -> Record:
        return Method(parts[0], parts[1])


@dataclass(frozen=True, slots=True, eq=False)
class Slice(Record):
    """A slice object."""

    bounds: tuple[Tracker, ...]

    def parts(self) -> tuple[Tracker, ...]:
        return self.bounds

    def shape(self) -> tuple[Any, ...]:
        return (Slice, len(self.bounds))

    def rebuilt(self, parts: tuple[Tracker, ...]) -> Record:
        return Slice(parts)


@dataclass(frozen=True, slots=True, eq=False)
class Exception_(Record):
    """An exception not raised yet, of an exact builtin class."""

    cls: type
    arguments: tuple[Tracker, ...]

    def parts(self) -> tuple[Tracker, ...]:
        return self.arguments

    def shape(self) -> tuple[Any, ...]:
        return (Exception_, self.cls, len(self.arguments))

    def rebuilt(self, parts: tuple[Tracker, ...]) -> Record:
        return Exception_(self.cls, parts)


@dataclass(frozen=True, slots=True, eq=False)
class Iterator(Record):
    """A walk over a virtual or constant sequence; `index` is the next position, -1 exhausted.

    `length` is that of a dict when the walk began; `origin` the real container where `source` is a copy of it.
    """

    source: Tracker
    index: int
    length: int = 1
    origin: object = None

    def moved(self, index: int) -> Iterator:
        """The same walk at another position."""
        return Iterator(self.source, index, self.length, self.origin)

    def parts(self) -> tuple[Tracker, ...]:
        return (self.source,)

    def shape(self) -> tuple[Any, ...]:
        return (Iterator, self.index, self.length, id(self.origin))

    def rebuilt(self, parts: tuple[Tracker, ...]) -> Record:
        return Iterator(parts[0], self.index, self.length, self.origin)


@dataclass(frozen=True, slots=True, eq=False)
class View(Record):
    """What `keys`, `values` or `items` (`pick`) of a dict gives."""

    pick: str
    source: Tracker

    def parts(self) -> tuple[Tracker, ...]:
        return (self.source,)

    def shape(self) -> tuple[Any, ...]:
        return (View, self.pick)

    def rebuilt(self, parts: tuple[Tracker, ...]) -> Record:
        return View(self.pick, parts[0])


@dataclass(frozen=True, slots=True, eq=False)
class Enumerate(Record):
    """enumerate over an iterator tracker; `count` is the next number."""

    source: Tracker
    count: Tracker

    def parts(self) -> tuple[Tracker, ...]:
        return (self.source, self.count)

    def rebuilt(self, parts: tuple[Tracker, ...]) -> Record:
        return Enumerate(parts[0], parts[1])


@dataclass(frozen=True, slots=True, eq=False)
class Zip(Record):
    """zip over iterator trackers (not strict)."""

    sources: tuple[Tracker, ...]

    def parts(self) -> tuple[Tracker, ...]:
        return self.sources

    def shape(self) -> tuple[Any, ...]:
        return (Zip, len(self.sources))

    def rebuilt(self, parts: tuple[Tracker, ...]) -> Record:
        return Zip(parts)


@dataclass(frozen=True, slots=True, eq=False)
class Super(Record):
    """super(cls, owner): attribute lookup starts after `cls` in the owner's type's MRO."""

    cls: type
    owner: Tracker

    def parts(self) -> tuple[Tracker, ...]:
        return (self.owner,)

    def shape(self) -> tuple[Any, ...]:
        return (Super, self.cls)

    def rebuilt(self, parts: tuple[Tracker, ...]) -> Record:
        return Super(self.cls, parts[0])


@dataclass(frozen=True, slots=True, eq=False)
class Generator(Record):
    """A suspended (or new) generator made and consumed in the region. `frame` None: finished.

    `site` is the root frame's position where it was made.
    """

    frame: Frame | None
    site: int
    running: bool = False

    def parts(self) -> tuple[Tracker, ...]:
        return self.frame.parts() if self.frame is not None else ()

    def shape(self) -> tuple[Any, ...]:
        return (Generator, self.frame.place() if self.frame is not None else None, self.running)

    def rebuilt(self, parts: tuple[Tracker, ...]) -> Record:
        return self if self.frame is None else Generator(self.frame.rebuilt(parts), self.site)


RECORD_TYPES: dict[type, type | None] = {
    Mapping: dict,
    Slice: slice,
    Enumerate: enumerate,
    Zip: zip,
    Super: super,
}
"""Exact type of a virtual object by kind of record, where the record does not name it."""
