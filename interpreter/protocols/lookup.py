"""Looking attributes up in classes, as `type` does, without running anything."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from typing import Any


class Absent:
    """No such attribute."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Any = Absent()
_mro = type.__dict__["__mro__"].__get__
_dict = type.__dict__["__dict__"].__get__


def mro(cls: type) -> tuple[type, ...]:
    """The class's method resolution order, past any metaclass attribute."""
    return _mro(cls)  # type: ignore[no-any-return]


def in_class(cls: type, name: str) -> Any:
    """What the class's MRO has under that name, unbound; ABSENT if nothing."""
    for base in _mro(cls):
        namespace = _dict(base)
        if name in namespace:
            return namespace[name]
    return ABSENT


def after(cls: type, start: type, name: str) -> Any:
    """The same, starting after `start` in the MRO: what `super` finds."""
    order = _mro(cls)
    for base in order[order.index(start) + 1 :]:
        namespace = _dict(base)
        if name in namespace:
            return namespace[name]
    return ABSENT


GENERIC_GETATTRIBUTE = tuple(
    kind.__getattribute__
    for kind in (
        object, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, slice,
        deque, defaultdict, OrderedDict,
    )
)
"""Builtin classes repeat the generic attribute read under their own name."""


def plain_getattribute(cls: type) -> bool:
    """Whether attribute reads of instances follow the generic rules (a `__getattr__` may still follow)."""
    return in_class(cls, "__getattribute__") in GENERIC_GETATTRIBUTE


def plain_setattr(cls: type) -> bool:
    """Whether attribute writes of instances follow the generic rules."""
    return in_class(cls, "__setattr__") is object.__setattr__ and in_class(cls, "__delattr__") is object.__delattr__


def plain_new(cls: type) -> bool:
    """Whether instances are made by `object.__new__` and die without a finalizer."""
    return in_class(cls, "__new__") is object.__new__ and in_class(cls, "__del__") is ABSENT


def has_instance_dict(cls: type) -> bool:
    """Whether instances have a dict of their own."""
    return cls.__dictoffset__ != 0


DICT_METHODS = (dict, OrderedDict)
"""Classes whose item methods do what those of dict do, as far as a quiet key can tell."""


def inherits(cls: type, name: str, bases: tuple[type, ...]) -> bool:
    """Whether a builtin class's own method is what the class has under that name."""
    found = in_class(cls, name)
    return found is not ABSENT and any(found is in_class(base, name) for base in bases) and issubclass(cls, bases)
