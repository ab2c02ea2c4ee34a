"""Every row of the shim's table: what it is true of, what it is false of, what it loads, and that nothing leaks.

A guard reads the locals of the function that asks for its truth: here `probe`, whose locals have known indices.
"""

import functools
import gc
import sys
import types
import weakref

import pytest

from minijit import _shim
from minijit._shim import Check, Counter, Entry

A, B, X = 0, 1, 3
UNTOUCHED = object()


def probe(a, b, guard, x):
    return not not guard, x


def unbound_probe(a, b, guard, x):
    del a
    return not not guard, x


def ask(test, a=None, b=None):
    """The answer of one test and what it loaded into X."""
    guard = Check([test], Counter(None))
    Hostile.ran.clear()
    result = probe(a, b, guard, UNTOUCHED)
    assert not Hostile.ran
    return result


class Slotted:
    __slots__ = ("first", "second")


class Plain:
    def __init__(self, **attributes):
        for name, value in attributes.items():
            setattr(self, name, value)


class Hostile:
    """Notes every question that runs its code."""

    ran = []

    def __eq__(self, other):
        Hostile.ran.append("__eq__")
        return False

    def __hash__(self):
        return hash("key")

    def __getattribute__(self, name):
        Hostile.ran.append(name)
        return object.__getattribute__(self, name)


class Text(str):
    __slots__ = ()


class Table(dict):
    __slots__ = ()


def slotted(first=None):
    result = Slotted()
    if first is not None:
        result.first = first
    return result


def exposed(**attributes):
    """An instance whose dict was looked at, so that it is a dict of its own."""
    result = Plain(**attributes)
    vars(result)["extra"] = 1
    return result


def odd_dict():
    """An instance dict that holds a key other than a str."""
    result = Plain(name=1)
    vars(result)[7] = 7
    return result


def general(**items):
    """A dict whose table is of the general kind though every key is a str."""
    result = {1: 1, **items}
    del result[1]
    return result


FIRST = _shim.member_offset(Slotted.first)
VALUE = ["value"]
NAN = float("nan")
INSIDE = {"key": VALUE, "other": 1}
CELL, EMPTY = types.CellType(VALUE), types.CellType()


def plain_function(a, b=2, *, c=3):
    return a, b, c


FUNCTION = (plain_function, plain_function.__code__, plain_function.__defaults__, plain_function.__kwdefaults__)

HOLDS = [
    (("type", A, int), 3, None),
    (("is", A, VALUE), VALUE, None),
    (("is_not", A, VALUE), ["value"], None),
    (("same", A, B), VALUE, VALUE),
    (("distinct", A, B), VALUE, ["value"]),
    (("not_dict_of", A, B), Plain(), {}),
    (("value", A, 10**30), 10**30 + 0, None),
    (("value", A, 0.5), 1 / 2, None),
    (("value", A, NAN), NAN, None),
    (("value", A, "text"), "".join(["te", "xt"]), None),
    (("value", A, (1, (2.0, "x"))), (1, (2.0, "x")), None),
    (("no_attr", A, "name"), Plain(other=1), None),
    (("no_attr", A, "name"), exposed(other=1), None),
    (("no_attr", A, "__class__"), Plain(), None),
    (("no_attr", A, "bit_length"), 3, None),
    (("inert_slot", A, FIRST), slotted(), None),
    (("inert_slot", A, FIRST), slotted(3), None),
    (("inert_attr", A, "name"), Plain(), None),
    (("inert_attr", A, "name"), Plain(name="text"), None),
    (("unicode_keys", A), {"a": 1}, None),
    (("unicode_keys", A), general(a=1), None),
    (("no_item", A, "missing"), INSIDE, None),
    (("len", A, 2), [1, 2], None),
    (("len", A, 2), (1, 2), None),
    (("len", A, 2), {1: 1, 2: 2}, None),
    (("len", A, 2), "ab", None),
    (("len", A, 2), {1, 2}, None),
    (("quiet_key", A, B), INSIDE, "missing"),
    (("has_key", A, B), INSIDE, "key"),
    (("has_key", A, B), {(1, 2)}, (1, 2)),
    (("no_key", A, B), INSIDE, "missing"),
    (("inert_item", A, B), INSIDE, "other"),
    (("inert_item", A, B), INSIDE, "missing"),
    (("all_plain", A), [1, "a", None], None),
    (("all_plain", A), {1: "a"}, None),
    (("all_plain", A), {1, "a"}, None),
    (("all_of", A, int), [1, 2], None),
    (("index", A), 2**62, None),
    (("cell_is", CELL, VALUE), None, None),
    (("version", Plain, _shim.type_version(Plain)), None, None),
    (("global_is", INSIDE, "key", VALUE), None, None),
    (("global_absent", INSIDE, "missing"), None, None),
    (("item_is", INSIDE, "key", VALUE), None, None),
    (("dict_items", INSIDE, ("key", "other"), (VALUE, 1)), None, None),
    (("list_items", VALUE, (VALUE[0],)), None, None),
    (("function", *FUNCTION), None, None),
    (("attr_is", Plain(name=VALUE), "name", VALUE), None, None),
    (("attr_is", types, "CellType", types.CellType), None, None),
    (("attr_is", Slotted, "first", vars(Slotted)["first"]), None, None),
    (("attr_absent", Plain(), "name"), None, None),
]

FAILS = [
    (("type", A, int), True, None),
    (("is", A, VALUE), ["value"], None),
    (("is_not", A, VALUE), VALUE, None),
    (("same", A, B), VALUE, ["value"]),
    (("distinct", A, B), VALUE, VALUE),
    (("value", A, 0.0), -0.0, None),
    (("value", A, 1), True, None),
    (("value", A, 1), 1.0, None),
    (("value", A, (1, 0.0)), (1, -0.0), None),
    (("value", A, "text"), Text("text"), None),
    (("value", A, "key"), Hostile(), None),
    (("slot", A, FIRST, X), slotted(), None),
    (("slot", A, 1 << 20, X), slotted(1), None),
    (("slot", A, -8, X), slotted(1), None),
    (("attr", A, "name", X), Plain(), None),
    (("attr", A, "name", X), 3, None),
    (("attr", A, "name", X), Hostile(), None),
    (("attr", A, "name", X), odd_dict(), None),
    (("no_attr", A, "name"), Plain(name=1), None),
    (("no_attr", A, "name"), odd_dict(), None),
    (("inert_slot", A, FIRST), slotted([]), None),
    (("inert_attr", A, "name"), Plain(name=[]), None),
    (("cell_slot", A, X), EMPTY, None),
    (("cell_slot", A, X), VALUE, None),
    (("unicode_keys", A), {"a": 1, 1: 1}, None),
    (("unicode_keys", A), {Text("a"): 1}, None),
    (("unicode_keys", A), Table(), None),
    (("item", A, "missing", X), INSIDE, None),
    (("item", A, "key", X), {Hostile(): 1}, None),
    (("item", A, "key", X), Table(key=1), None),
    (("no_item", A, "key"), {Hostile(): 1}, None),
    (("no_item", A, "key"), INSIDE, None),
    (("list_item", A, 2, X), [1, 2], None),
    (("list_item", A, -3, X), (1, 2), None),
    (("list_item", A, 0, X), "text", None),
    (("len", A, 2), [1], None),
    (("len", A, 1), Hostile(), None),
    (("quiet_key", A, B), {Hostile(): 1}, "key"),
    (("quiet_key", A, B), {Hostile()}, "key"),
    (("quiet_key", A, B), INSIDE, Hostile()),
    (("has_key", A, B), INSIDE, "missing"),
    (("no_key", A, B), INSIDE, "key"),
    (("inert_item", A, B), INSIDE, "key"),
    (("keyed_item", A, B, X), INSIDE, "missing"),
    (("all_plain", A), [1, []], None),
    (("all_plain", A), Table(), None),
    (("all_of", A, int), [1, True], None),
    (("index", A), 2**64, None),
    (("index", A), True, None),
    (("never",), None, None),
    (("cell", EMPTY, X), None, None),
    (("cell_is", EMPTY, None), None, None),
    (("version", Plain, _shim.type_version(Plain) + 1), None, None),
    (("version", Plain, 0), None, None),
    (("global_is", INSIDE, "key", ["value"]), None, None),
    (("global_is", {Hostile(): 1}, "key", 1), None, None),
    (("item_is", INSIDE, "key", ["value"]), None, None),
    (("global_absent", INSIDE, "key"), None, None),
    (("global_absent", {Hostile(): 1}, "key"), None, None),
    (("dict_items", INSIDE, ("other", "key"), (1, VALUE)), None, None),
    (("dict_items", INSIDE, ("key",), (VALUE,)), None, None),
    (("list_items", VALUE, ()), None, None),
    (("function", plain_function, probe.__code__, (2,), None), None, None),
    (("function", plain_function, plain_function.__code__, None, plain_function.__kwdefaults__), None, None),
    (("attr_is", Plain(name=VALUE), "name", ["value"]), None, None),
    (("attr_absent", Plain(name=VALUE), "name"), None, None),
]

LOADS = [
    (("slot", A, FIRST, X), slotted(VALUE), None),
    (("attr", A, "name", X), Plain(before=1, name=VALUE), None),
    (("attr", A, "name", X), exposed(name=VALUE), None),
    (("attr", A, "name", X), Plain(**{f"n{i}": i for i in range(40)}, name=VALUE), None),
    (("cell_slot", A, X), CELL, None),
    (("item", A, "key", X), INSIDE, None),
    (("item", A, "key", X), general(key=VALUE), None),
    (("list_item", A, 1, X), [1, VALUE], None),
    (("list_item", A, -1, X), (1, VALUE), None),
    (("keyed_item", A, B, X), {2: VALUE}, 2),
    (("cell", CELL, X), None, None),
    (("constant", VALUE, X), None, None),
]


@pytest.mark.parametrize(("test", "a", "b"), HOLDS)
def test_holds(test, a, b):
    assert ask(test, a, b) == (True, UNTOUCHED)


@pytest.mark.parametrize(("test", "a", "b"), FAILS)
def test_fails_without_loading(test, a, b):
    answer, loaded = ask(test, a, b)
    assert answer is False
    assert loaded is UNTOUCHED


@pytest.mark.parametrize(("test", "a", "b"), LOADS)
def test_loads(test, a, b):
    answer, loaded = ask(test, a, b)
    assert answer is True
    assert loaded is VALUE


def test_every_row_is_tested():
    assert {row[0][0] for row in HOLDS + LOADS} | {"never", "unbind"} == set(_shim.TESTS)
    assert {row[0][0] for row in FAILS} | {"not_dict_of", "constant", "unbind"} == set(_shim.TESTS)


def test_own_dict_is_not_another():
    instance = exposed()
    assert ask(("not_dict_of", A, B), instance, vars(instance))[0] is False


def test_unbind():
    def work(x, guard):
        answer = not not guard
        return answer, "x" in locals()

    assert work(1, Check([("unbind", 0)], Counter(None))) == (True, False)


@pytest.mark.parametrize("row", [row for row, kinds in _shim.TESTS.items() if kinds[:1] == ("local",)])
def test_unbound_local_fails(row):
    examples = {test[0]: test for test, _, _ in HOLDS + LOADS}
    assert unbound_probe(VALUE, VALUE, Check([examples[row]], Counter(None)), None)[0] is False


def test_local_the_frame_does_not_have():
    assert ask(("is_not", 60, None))[0] is False


# ---- what was remembered is forgotten when it changes ----


def follow(test, change, back):
    """The test holds; not after `change`; again after `back`; and asking twice says the same."""
    guard = Check([test], Counter(None))
    answers = []
    for step in (lambda: None, change, back):
        step()
        answers += [probe(None, None, guard, None)[0] for _ in range(3)]
    assert answers == [True] * 3 + [False] * 3 + [True] * 3


def test_a_changed_global_is_seen():
    names = {"name": VALUE}
    follow(("global_is", names, "name", VALUE), lambda: names.update(name=1), lambda: names.update(name=VALUE))
    follow(("global_absent", names, "new"), lambda: names.update(new=1), lambda: names.pop("new"))


def test_a_changed_instance_dict_is_seen():
    instance = Plain(name=VALUE)
    shared = vars(instance)
    follow(("item_is", shared, "name", VALUE), lambda: setattr(instance, "name", 1), lambda: setattr(instance, "name", VALUE))
    follow(("dict_items", shared, ("name",), (VALUE,)), lambda: setattr(instance, "b", 1), lambda: delattr(instance, "b"))


def test_a_changed_cell_is_seen():
    cell = types.CellType(VALUE)
    follow(("cell_is", cell, VALUE), lambda: setattr(cell, "cell_contents", 1), lambda: setattr(cell, "cell_contents", VALUE))


def test_a_changed_function_is_seen():
    def function(a=1):
        return a

    code, defaults = function.__code__, function.__defaults__
    follow(("function", function, code, defaults, None), lambda: setattr(function, "__code__", (lambda a: 0).__code__),
           lambda: setattr(function, "__code__", code))
    follow(("function", function, code, defaults, None), lambda: setattr(function, "__defaults__", (2,)),
           lambda: setattr(function, "__defaults__", defaults))
    follow(("function", function, code, defaults, None), lambda: setattr(function, "__kwdefaults__", {}),
           lambda: setattr(function, "__kwdefaults__", None))


def original(a):
    return a


def code_at(address):
    """A code object that came to an address where another one died; None if the allocator did not want to."""
    made = []
    for _ in range(200):
        made.append(original.__code__.replace(co_name="other"))
        if id(made[-1]) == address:
            return made[-1]
    return None


def test_code_at_the_address_of_a_dead_stand_in_is_not_it():
    def function(a):
        return a

    expected, table, tried = function.__code__, {}, 0
    for _ in range(20):
        made = expected.replace(co_name="made")
        address = id(made)
        gone = weakref.ref(made, functools.partial(_shim.forget_stand_in, table, address))
        _shim.stand_in(made, expected)
        function.__code__ = made
        guard = Check([("function", function, expected, None, None)], Counter(None))
        assert [probe(None, None, guard, None)[0] for _ in range(2)] == [True, True]
        function.__code__ = original.__code__
        del made
        assert gone() is None
        other = code_at(address)
        if other is not None:
            tried += 1
            function.__code__ = other
            assert probe(None, None, guard, None)[0] is False
    if not tried:
        pytest.skip("this allocator gives no address twice")


def test_a_changed_class_is_seen():
    class Base:
        pass

    class Derived(Base):
        pass

    guard = Check([("version", Derived, _shim.type_version(Derived))], Counter(None))
    assert probe(None, None, guard, None)[0] is True
    Base.attribute = 1
    assert probe(None, None, guard, None)[0] is False


def test_an_attribute_that_moves_is_found():
    guard = Check([("attr", A, "name", X)], Counter(None))
    first, second = Plain(name=1, other=2), Plain(other=2, name=3)
    exposed_one = exposed(name=4)
    loaded = [probe(a, None, guard, None)[1] for a in (first, second, exposed_one, first)]
    assert loaded == [1, 3, 4, 1]


# ---- what a guard can't be made of ----


@pytest.mark.parametrize(
    ("tests", "error"),
    [
        ([("no such test", 0)], ValueError),
        ([()], TypeError),
        ([["type", 0, int]], TypeError),
        ([("type", 0)], TypeError),
        ([("type", "0", int)], TypeError),
        ([("type", -1, int)], ValueError),
        ([("type", 1 << 17, int)], ValueError),
        ([("type", 0, 3)], TypeError),
        ([("attr", 0, Text("name"), 1)], TypeError),
        ([("global_is", Table(), "a", 1)], TypeError),
        ([("cell", 3, 0)], TypeError),
        (None, TypeError),
        (3, TypeError),
    ],
)
def test_bad_tests_are_refused(tests, error):
    with pytest.raises(error):
        Check(tests, Counter(None))


def test_a_counter_is_needed():
    with pytest.raises(TypeError):
        Entry([], None)


# ---- reference counts ----

ROUNDS = 100_000


@pytest.mark.parametrize(("test", "a", "b"), HOLDS + FAILS + LOADS)
def test_no_reference_is_kept_or_lost(test, a, b):
    guard = Check([test], Counter(None))
    watched = [a, b, VALUE, UNTOUCHED, *test]
    probe(a, b, guard, UNTOUCHED)
    before = [sys.getrefcount(item) for item in watched]
    for _ in range(ROUNDS // 20):
        probe(a, b, guard, UNTOUCHED)
    after = [sys.getrefcount(item) for item in watched]
    assert after == before


def test_a_load_drops_what_was_there():
    class Old:
        pass

    guard = Check([("constant", VALUE, X)], Counter(None))
    before = sys.getrefcount(Old)
    for _ in range(ROUNDS):
        probe(None, None, guard, Old())
    assert sys.getrefcount(Old) == before


def test_the_old_value_goes_after_the_new_one_is_there():
    seen = []

    class Old:
        def __del__(self):
            seen.append(sys._getframe(1).f_locals["x"])

    probe(None, None, Check([("constant", VALUE, X)], Counter(None)), Old())
    assert seen == [VALUE]


@pytest.mark.parametrize("kind", [Entry, Check])
def test_guards_are_collected_with_their_cycles(kind):
    class Mark:
        pass

    def cycle():
        mark = Mark()
        counter = Counter(None)
        mark.guard = kind([("is", 0, mark)], counter)
        counter.callback = mark.guard

    for _ in range(100):
        cycle()
    gc.collect()
    assert not [item for item in gc.get_objects() if isinstance(item, Mark)]
