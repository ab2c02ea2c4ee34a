"""The rows of the intermediate form: operands, results, payload, and whether they change anything."""

from __future__ import annotations

from typing import NamedTuple


class Signature(NamedTuple):
    """How many operands a row takes, how many results it gives, which payload, does it change anything."""

    least: int
    most: int | None
    results: int | None
    effect: bool | None = False
    payload: type | tuple[type, ...] = type(None)


ANY = None
SIGNATURES: dict[str, Signature] = {
    "binary": Signature(2, 2, 1, ANY, str),
    "unary": Signature(1, 1, 1, ANY, str),
    "truth": Signature(1, 1, 1, ANY),
    "compare": Signature(2, 2, 1, ANY, str),
    "is": Signature(2, 2, 1, False, int),
    "contains": Signature(2, 2, 1, ANY, int),
    "attr": Signature(1, 1, 1, ANY, str),
    "item": Signature(2, 2, 1, ANY),
    "slice_item": Signature(3, 3, 1, ANY),
    "deref": Signature(1, 1, 1),
    "global": Signature(0, 0, 1, ANY, str),
    "tuple": Signature(0, None, 1),
    "list": Signature(0, None, 1),
    "set": Signature(0, None, 1, ANY),
    "map": Signature(0, None, 1, ANY),
    "slice": Signature(2, 3, 1),
    "string": Signature(0, None, 1),
    "format": Signature(1, 2, 1, ANY, tuple),
    "call": Signature(1, None, 1, ANY, tuple),
    "call_method": Signature(1, None, 1, ANY, tuple),
    "call_ex": Signature(2, 3, 1, ANY),
    "new": Signature(1, 1, 1),
    "iter": Signature(1, 1, 1, ANY),
    "cell": Signature(0, 1, 1),
    "function": Signature(1, 5, 1, False, str),
    "list_to_tuple": Signature(1, 1, 1),
    "check": Signature(0, None, None, False, tuple),
    "set_attr": Signature(2, 2, 0, True, str),
    "del_attr": Signature(1, 1, 0, True, str),
    "set_item": Signature(3, 3, 0, True),
    "del_item": Signature(2, 2, 0, True),
    "append": Signature(2, 2, 0, True),
    "set_add": Signature(2, 2, 0, True),
    "list_extend": Signature(2, 2, 0, True),
    "set_update": Signature(2, 2, 0, True),
    "dict_update": Signature(2, 2, 0, True),
    "dict_merge": Signature(2, 2, 0, True),
    "effect_call": Signature(1, None, 0, True, object),
    "set_deref": Signature(2, 2, 0, True),
    "del_deref": Signature(1, 1, 0, True),
    "set_global": Signature(1, 1, 0, True, str),
    "del_global": Signature(0, 0, 0, True, str),
    "set_local": Signature(1, 1, 0, True, int),
    "del_local": Signature(0, 0, 0, True, int),
    "original": Signature(0, None, None, ANY, object),
    "drop": Signature(1, 1, 0, ANY),
}
