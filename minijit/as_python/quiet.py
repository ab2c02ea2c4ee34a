"""The tests of guards and checks in Python, for source that runs. None runs code of the user's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from minijit import _shim

__all__ = ["ABSENT", "QUESTIONS"]


class Absent:
    """There is nothing to load."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()
PLAIN = (type(None), bool, int, float, complex, str, bytes)
WORD = 1 << 63


def loaded(read: Callable[[], object]) -> object:
    """What is read, or ABSENT."""
    try:
        return read()
    except (LookupError, ValueError, AttributeError, TypeError):
        return ABSENT


def slot(obj: Any, offset: int) -> object:
    """The member of an object at a byte offset."""
    for cls in type.mro(type(obj)):
        for member in vars(cls).values():
            if _shim.member_offset(member) == offset:
                return loaded(functools.partial(member.__get__, obj))
    return ABSENT


def is_plain(value: object) -> bool:
    """Whether overwriting the value runs no code."""
    return value is ABSENT or type(value) in PLAIN


def same_constant(value: object, constant: object) -> bool:
    """Same type, and equal to the last bit."""
    return type(value) is type(constant) and repr(value) == repr(constant)


def quiet_key(container: Any, key: Any) -> bool:
    """Whether looking the key up runs no code: it and all keys that are there are plain."""
    return is_quiet(key) and all(map(is_quiet, list(container)))


def is_quiet(key: Any) -> bool:
    """Whether a key is plain, or a tuple of plain ones."""
    return all(type(part) in PLAIN for part in (key if type(key) is tuple else (key,)))


def content(cell: Any) -> object:
    """What a cell holds."""
    return loaded(lambda: cell.cell_contents)


def keyed(container: Any, key: Any) -> object:
    """A dict's item by a quiet key."""
    return container.get(key, ABSENT) if quiet_key(container, key) else ABSENT


QUESTIONS: dict[str, Callable[..., object]] = {
    "type": lambda value, cls: type(value) is cls,
    "is": lambda value, other: value is other,
    "is_not": lambda value, other: value is not other,
    "same": lambda value, other: value is other,
    "distinct": lambda value, other: value is not other,
    "not_dict_of": lambda value, other: getattr(value, "__dict__", None) is not other,
    "value": same_constant,
    "slot": slot,
    "attr": lambda obj, name: loaded(lambda: _shim.instance_attribute(obj, name)),
    "no_attr": lambda obj, name: loaded(lambda: _shim.instance_attribute(obj, name)) is ABSENT,
    "inert_slot": lambda obj, offset: is_plain(slot(obj, offset)),
    "inert_attr": lambda obj, name: is_plain(loaded(lambda: _shim.instance_attribute(obj, name))),
    "cell_slot": content,
    "cell": content,
    "cell_is": lambda cell, value: content(cell) is value,
    "constant": lambda value: value,
    "unbind": lambda: True,
    "never": lambda: False,
    "unicode_keys": lambda items: type(items) is dict and all(type(key) is str for key in items),
    "item": lambda items, key: items.get(key, ABSENT),
    "no_item": lambda items, key: key not in items,
    "list_item": lambda items, index: loaded(lambda: items[index]),
    "len": lambda items, count: len(items) == count,
    "quiet_key": quiet_key,
    "has_key": lambda items, key: quiet_key(items, key) and key in items,
    "no_key": lambda items, key: quiet_key(items, key) and key not in items,
    "inert_item": lambda items, key: quiet_key(items, key) and (key not in items or is_plain(items[key])),
    "keyed_item": keyed,
    "all_plain": lambda items: all(is_plain(i) for i in (items.values() if type(items) is dict else items)),
    "all_of": lambda items, cls: all(type(item) is cls for item in items),
    "index": lambda value: type(value) is int and -WORD <= value < WORD,
    "version": lambda cls, tag: _shim.type_version(cls) == tag,
    "global_is": lambda namespace, name, value: namespace.get(name, ABSENT) is value,
    "global_absent": lambda namespace, name: name not in namespace,
    "item_is": lambda namespace, name, value: namespace.get(name, ABSENT) is value,
    "dict_items": lambda items, keys, values: same_items(items, keys) and same_items(items.values(), values),
    "list_items": lambda items, values: same_items(items, values),
    "function": lambda f, code, defaults, keywords: (
        f.__code__ is code and f.__defaults__ is defaults and f.__kwdefaults__ is keywords
    ),
    "attr_is": lambda obj, name, value: loaded(lambda: _shim.instance_attribute(obj, name)) is value,
    "attr_absent": lambda obj, name: loaded(lambda: _shim.instance_attribute(obj, name)) is ABSENT,
}
"""A row for each kind of test. Those that load give what they found, or ABSENT."""


def same_items(items: Any, values: Any) -> bool:
    """The very same objects in the same order."""
    return len(items) == len(values) and all(a is b for a, b in zip(items, values, strict=True))
