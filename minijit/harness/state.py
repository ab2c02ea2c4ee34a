"""Remember everything a function can change besides its arguments, to put it back before another run.

Objects are put back in place, so that they stay the same objects: names, cells, defaults, contents of
built-in containers, attributes, slots, class attributes, the state of `random`. What has a position that
can't be set (an iterator, a generator, a file) stays where it is: give `assert_same` a `make_fn` then.
Only what changed is written, since writing alone moves the version tags that guards ask for.
"""

from __future__ import annotations

import _random
import array
import collections
import random
import types
from collections.abc import Callable, Iterable
from typing import Any

from minijit.harness.atoms import ATOMS, UNSET
from minijit.harness.describe import describe, instance_dict, mro, namespace
from minijit.harness.owned import is_own_class
from minijit.harness.reach import Reach

__all__ = ["State"]

Restore = Callable[[], None]


class State:
    """What was so when it was made. Nothing in it changes."""

    def __init__(self, reached: Reach, roots: Iterable[object]) -> None:
        self._restores: list[Restore] = []
        for names, used in reached.modules:
            self._restores.append(_remember_names(names, used))
        self._restores.append(_remember_random(random._inst))
        self._walk([*reached.functions, *reached.bindings().values(), *roots])

    def restore(self) -> None:
        """Put everything back."""
        for restore in self._restores:
            restore()

    def _walk(self, pending: list[object]) -> None:
        seen: set[int] = set()
        alive: list[object] = []
        while pending:
            value = pending.pop()
            if type(value) in ATOMS or id(value) in seen:
                continue
            seen.add(id(value))
            alive.append(value)
            self._restores += _remember(value)
            pending += [part for _, part in describe(value).parts]


def _remember(value: object) -> Iterable[Restore]:
    kind = type(value)
    if isinstance(value, type):
        return [_remember_class(value)] if is_own_class(value) else []
    found = [remember(value) for base, remember in CONTENTS.items() if base in mro(kind)][:1]
    attributes = instance_dict(value, kind)
    if attributes is not None and not isinstance(value, types.ModuleType):
        found.append(_remember_dict(attributes))
    if is_own_class(kind):
        found.append(_remember_slots(value, kind))
    return found


def _remember_names(names: dict[str, Any], used: Iterable[str]) -> Restore:
    saved = {name: names.get(name, UNSET) for name in used}

    def restore() -> None:
        for name, value in saved.items():
            if value is UNSET:
                names.pop(name, None)
            elif names.get(name, UNSET) is not value:
                names[name] = value

    return restore


def _remember_random(generator: _random.Random) -> Restore:
    saved = generator.getstate()
    return lambda: generator.setstate(saved)


def _same(left: Iterable[object], right: list[Any]) -> bool:
    items = list(left)
    return len(items) == len(right) and all(a is b for a, b in zip(items, right, strict=True))


def _remember_list(value: Any) -> Restore:
    saved = list(list.__iter__(value))

    def restore() -> None:
        if not _same(list.__iter__(value), saved):
            list.__setitem__(value, slice(None), saved)

    return restore


def _remember_dict(value: Any) -> Restore:
    kind: Any = collections.OrderedDict if isinstance(value, collections.OrderedDict) else dict
    keys, values = list(kind.keys(value)), list(kind.values(value))

    def restore() -> None:
        if not (_same(kind.keys(value), keys) and _same(kind.values(value), values)):
            kind.clear(value)
            for key, item in zip(keys, values, strict=True):
                kind.__setitem__(value, key, item)

    return restore


def _remember_set(value: Any) -> Restore:
    saved = list(set.__iter__(value))

    def restore() -> None:
        if not _same(set.__iter__(value), saved):
            set.clear(value)
            set.update(value, saved)

    return restore


def _remember_deque(value: Any) -> Restore:
    saved = list(collections.deque.__iter__(value))

    def restore() -> None:
        if not _same(collections.deque.__iter__(value), saved):
            collections.deque.clear(value)
            collections.deque.extend(value, saved)

    return restore


def _remember_flat(value: Any) -> Restore:
    """Remember an array of plain numbers."""
    saved = value[:]

    def restore() -> None:
        if value != saved:
            value[:] = saved

    return restore


def _remember_cell(value: Any) -> Restore:
    try:
        saved = value.cell_contents
    except ValueError:
        saved = UNSET

    def restore() -> None:
        if saved is not UNSET:
            value.cell_contents = saved
        else:
            del value.cell_contents

    return restore


def _remember_function(value: Any) -> Restore:
    saved = value.__defaults__, value.__kwdefaults__

    def restore() -> None:
        if value.__defaults__ is not saved[0]:
            value.__defaults__ = saved[0]
        if value.__kwdefaults__ is not saved[1]:
            value.__kwdefaults__ = saved[1]

    return restore


def _remember_slots(value: object, kind: type) -> Restore:
    slots = [member for base in mro(kind) for member in namespace(base).values()
             if type(member) is types.MemberDescriptorType and is_own_class(base)]  # fmt: skip
    saved = [_slot(member, value) for member in slots]

    def restore() -> None:
        for member, content in zip(slots, saved, strict=True):
            now = _slot(member, value)
            if content is not UNSET and now is not content:
                member.__set__(value, content)
            elif content is UNSET and now is not UNSET:
                member.__delete__(value)

    return restore


def _slot(member: Any, value: object) -> object:
    try:
        return member.__get__(value)
    except AttributeError:
        return UNSET


def _remember_class(value: type) -> Restore:
    saved = dict(namespace(value))

    def restore() -> None:
        for name in [name for name in namespace(value) if name not in saved]:
            type.__delattr__(value, name)
        for name, member in saved.items():
            if namespace(value).get(name, UNSET) is not member and name not in ("__dict__", "__weakref__"):
                type.__setattr__(value, name, member)

    return restore


CONTENTS: dict[type, Callable[[Any], Restore]] = {
    list: _remember_list, dict: _remember_dict, set: _remember_set, collections.deque: _remember_deque,
    bytearray: _remember_flat, array.array: _remember_flat, types.CellType: _remember_cell,
    types.FunctionType: _remember_function, _random.Random: _remember_random,
}  # fmt: skip
