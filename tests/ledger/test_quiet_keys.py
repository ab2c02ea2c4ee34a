"""Lookups that are said to be quiet run no code, and find what CPython finds."""

import random
import types

import pytest

from minijit import _shim


class Key:
    """A key whose comparison must not happen."""

    def __init__(self, number):
        self.number = number

    def __hash__(self):
        return self.number

    def __eq__(self, other):
        raise SystemError("compared")


def asks(*row):
    """A function of (a, b, destination) that answers a test and gives what it stored."""
    (code,) = [
        constant
        for constant in compile("def f(a, b, out):\n    return (True if CHECK else False), out", "x", "exec").co_consts
        if isinstance(constant, types.CodeType)
    ]
    return types.FunctionType(code, {"CHECK": _shim.Check((row,), _shim.Counter(None))})


quiet = asks("quiet_key", 0, 1)
has = asks("has_key", 0, 1)
absent = asks("no_key", 0, 1)
inert = asks("inert_item", 0, 1)
item = asks("keyed_item", 0, 1, 2)
all_plain = asks("all_plain", 0)
all_int = asks("all_of", 0, int)
index = asks("index", 0)


def some_keys(source):
    made = []
    for _ in range(source.randrange(40)):
        kind = source.random()
        if kind < 0.7:
            made.append(source.randrange(-50, 50))
        else:
            made.append((source.randrange(5), "a") if kind < 0.85 else str(source.randrange(9)))
    return made


@pytest.mark.parametrize("seed", range(200))
def test_plain_keys_are_quiet_and_found(seed):
    source = random.Random(seed)
    keys = some_keys(source)
    d, s = dict.fromkeys(keys, 1), set(keys)
    for key in keys[: source.randrange(1 + len(keys) // 2)]:
        d.pop(key, None)
        s.discard(key)
    for key in [source.randrange(-60, 60), (1, "a"), "3", 2.0, True]:
        for container in (d, s):
            assert quiet(container, key, 0)[0]
            assert has(container, key, 0)[0] == (key in container)
            assert absent(container, key, 0)[0] == (key not in container)
        assert item(d, key, 7) == ((True, 1) if key in d else (False, 7))
        assert inert(d, key, 0)[0]


@pytest.mark.parametrize("seed", range(200))
def test_keys_with_a_comparison_are_not(seed):
    source = random.Random(seed)
    number = source.randrange(-60, 60)
    keys = [key for key in some_keys(source) if hash(key) != hash(number)]
    d, s = {**dict.fromkeys(keys, 1), Key(hash(number)): 2}, {*keys, Key(hash(number))}
    assert not quiet(d, number, 0)[0]
    assert not quiet(s, number, 0)[0]
    for other in range(-60, 60):
        if hash(other) != hash(number):
            assert quiet(d, other, 0)[0]
            assert quiet(s, other, 0)[0]
    assert not all_plain(d, 0, 0)[0]
    assert not all_plain(s, 0, 0)[0]


@pytest.mark.parametrize(
    ("question", "value", "answer"),
    [
        (all_plain, [1, "a", None], True), (all_plain, [[]], False), (all_plain, {1, (2,)}, True),
        (all_plain, {1: 2}, True), (all_plain, {1: []}, False), (all_plain, (1,), False),
        (all_int, [1, 2], True), (all_int, [1, True], False), (all_int, [], True),
        (index, 5, True), (index, 2**70, False), (index, True, False), (index, "5", False),
    ],
)  # fmt: skip
def test_contents(question, value, answer):
    assert question(value, 0, 0)[0] is answer


def test_effects_call_builtins_only():
    items = [1]
    assert _shim.Effect(list.insert)[items, 0, 5] is None
    assert items == [5, 1]
    with pytest.raises(IndexError):
        _shim.Effect(list.pop)[([],)]
    with pytest.raises(TypeError, match="builtin"):
        _shim.Effect(lambda: 0)
