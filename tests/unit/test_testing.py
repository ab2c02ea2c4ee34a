"""The harness sees what it should see: each difference here is one that a wrong compiler could make."""

import collections
import itertools
import math
import random
import types
import warnings
import weakref

import pytest

import minijit
from minijit.harness import same
from minijit.harness.observe import observe
from minijit.harness.reach import reach
from minijit.harness.state import State
from minijit.testing import Arguments, Unrepeatable, assert_same, difference, snapshot


class Box:
    def __init__(self, value=None):
        self.value = value


class Slots:
    __slots__ = ("left", "right")


class Tricky(dict):
    """Every hook that a careless look would run."""

    def __getattribute__(self, name):
        raise AssertionError("looked through a hook")

    def __iter__(self):
        raise AssertionError("iterated through a hook")

    def __len__(self):
        raise AssertionError("measured through a hook")

    def __eq__(self, other):
        raise AssertionError("compared through a hook")

    __hash__ = None


def advanced(iterator, steps=1):
    for _ in range(steps):
        next(iterator)
    return iterator


def slots(**values):
    made = Slots()
    for name, value in values.items():
        setattr(made, name, value)
    return made


def added(*items):
    made = set()
    for item in items:
        made.add(item)
    return made


def looped():
    made = []
    made.append(made)
    return made


def shared(same_object):
    one = []
    return [one, one if same_object else []]


def boxed(*names):
    made = Box()
    for name in names:
        setattr(made, name, name)
    return made


def counted(start):
    def inner():
        return start

    return inner


DIFFERENT = {
    "type of a number": (1, True),
    "int and float": (1, 1.0),
    "zeros": (0.0, -0.0),
    "nan bits": (math.nan, -math.nan),
    "complex zeros": (complex(0.0, -0.0), complex(0.0, 0.0)),
    "int and subclass": (True, types.SimpleNamespace()),
    "aliasing": (shared(True), shared(False)),
    "self-containing": (looped(), [looped()]),
    "dict order": ({1: 1, 2: 2}, {2: 2, 1: 1}),
    "dict key type": ({1: 0}, {True: 0}),
    "set order": (added(0, 8), added(8, 0)),
    "attribute order": (boxed("a", "b"), boxed("b", "a")),
    "attribute": (Box(1), Box(2)),
    "extra attribute": (boxed("a"), boxed("a", "b")),
    "slot": (slots(left=1), slots(left=2)),
    "empty slot": (slots(left=None), slots()),
    "deque maxlen": (collections.deque([1], 2), collections.deque([1], 3)),
    "defaultdict factory": (collections.defaultdict(list), collections.defaultdict(dict)),
    "ordered dict": (collections.OrderedDict(a=1), {"a": 1}),
    "ordered dict order": (collections.OrderedDict(a=1, b=2), collections.OrderedDict(b=2, a=1)),
    "list iterator": (iter([1, 2]), advanced(iter([1, 2]))),
    "range iterator": (iter(range(3)), advanced(iter(range(3)))),
    "dict iterator": (iter({1: 1}), advanced(iter({1: 1}))),
    "count": (itertools.count(), advanced(itertools.count())),
    "enumerate": (enumerate("ab"), advanced(enumerate("ab"))),
    "zip": (zip("ab", "cd", strict=False), advanced(zip("ab", "cd", strict=False))),
    "reversed": (reversed([1, 2]), advanced(reversed([1, 2]))),
    "closure": (counted(1), counted(2)),
    "bytearray": (bytearray(b"a"), bytearray(b"b")),
    "exception arguments": (ValueError(1), ValueError(2)),
    "exception attribute": (AttributeError("a", name="x"), AttributeError("a", name="y")),
    "stop value": (StopIteration(1), StopIteration(2)),
    "class": (Box, Slots),
    "partial content": ([1, 2], [1, 2, 3]),
    "bound to": (shared(True)[0].append, [0].append),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_differences_are_seen(name):
    left, right = DIFFERENT[name]
    assert difference(left, right) is not None
    assert difference(left, left) is None


def test_looking_consumes_nothing():
    iterators = [iter([1, 2]), zip([1], [2], strict=True), itertools.chain([1], [2]), (x for x in "ab"), itertools.cycle("ab"), iter({1, 2})]
    snapshot(iterators)
    assert [next(iterator) for iterator in iterators[:5]] == [1, (1, 2), 1, "a", "a"]
    assert sorted(iterators[5]) == [1, 2]


def test_looking_runs_nothing_of_the_program():
    made = Tricky(a=1)
    assert "['a'] = int 1" in str(snapshot(made))


def test_a_difference_names_the_way_to_it():
    left, right = Box([0, 1, Box("a")]), Box([0, 1, Box("b")])
    assert difference(left, right) == ".value[2].value: expected str 'a', got str 'b'"
    assert difference(shared(True), shared(False)) == "[1]: expected the same object as [0], got list of 0"


def test_a_deep_graph_is_no_problem():
    chain = None
    for _ in range(20_000):
        chain = [chain]
    assert difference(chain, chain) is None


def test_addresses_do_not_count():
    assert difference([repr(object())], [repr(object())]) is None
    assert difference({Box(1), Box(2)}, {Box(2), Box(1)}) is None


def raising(text, note=None, cause=None):
    def function():
        try:
            try:
                raise KeyError("inner")
            except KeyError:
                error = ValueError(text)
                if note:
                    error.add_note(note)
                raise error from cause
        except ValueError as caught:
            return caught

    return function()


def test_exceptions_are_compared_whole():
    assert difference(raising("a"), raising("a")) is None
    assert difference(raising("a"), raising("b")) is not None
    assert "__notes__" in difference(raising("a"), raising("a", note="n"))
    assert "__cause__" in difference(raising("a"), raising("a", cause=OSError()))
    elsewhere = raising("a")
    other = ValueError("a").with_traceback(elsewhere.__traceback__)
    assert "__context__" in difference(elsewhere, other)


def fail_here():
    raise ValueError("x")


def fail_there():
    raise ValueError("x")


def test_tracebacks_count():
    left, right = (observe(function, reach(function), ()).stages[-1] for function in (fail_here, fail_there))
    assert "__traceback__[0]" in difference(left, right)
    assert "in fail_here" in difference(left, right)


TOTAL = [0]
LABEL = "start"


def change_globals(box):
    global LABEL
    LABEL = "changed"
    TOTAL.append(box)
    return helper()


def helper():
    globals_of_helper["calls"] += 1
    return globals_of_helper["calls"]


globals_of_helper = {"calls": 0}


def test_state_is_put_back_in_place():
    total, state = TOTAL, State(reach(change_globals), [])
    change_globals(Box())
    assert (LABEL, len(TOTAL), globals_of_helper) == ("changed", 2, {"calls": 1})
    state.restore()
    assert TOTAL is total
    assert (LABEL, TOTAL, globals_of_helper) == ("start", [0], {"calls": 0})


def test_state_includes_classes_slots_random_and_cells():
    kept, local, order = slots(left=1), types.SimpleNamespace(n=1), collections.OrderedDict(a=1, b=2)
    count = 0

    def function():
        nonlocal count
        count += 1
        del kept.left
        kept.right = local.n = 2
        order.move_to_end("a")
        Box.extra = 3
        return random.random()

    state = State(reach(function), [function])
    first = function()
    state.restore()
    assert (count, kept.left, local.n, list(order), hasattr(Box, "extra")) == (0, 1, 1, ["a", "b"], False)
    assert function() == first
    state.restore()


# ---- assert_same, with a compiler that is wrong on purpose


@pytest.fixture
def compiled_as(monkeypatch):
    """Make `assert_same` take another function for the compiled one."""

    def use(wrong):
        monkeypatch.setattr(same, "compile", lambda **options: lambda function: wrong)

    return use


def test_the_right_function_passes(compiled_as):
    compiled_as(change_globals)
    assert_same(change_globals, lambda: (Box(),))
    assert (LABEL, globals_of_helper) == ("changed", {"calls": 3})


def keeping(box, items):
    box.value = len(items)
    items.append(box)
    print("kept", box.value)
    return items


def test_each_kind_of_difference_is_reported(compiled_as):
    def no_print(box, items):
        box.value = len(items)
        items.append(box)
        return items

    def copies(box, items):
        box.value = len(items)
        items.append(box)
        print("kept", box.value)
        return list(items)

    def forgets(box, items):
        items.append(box)
        print("kept", len(items) - 1)
        return items

    wheres = {no_print: "stdout", copies: "args[1]", forgets: "result[0].value"}
    for wrong, where in wheres.items():
        compiled_as(wrong)
        with pytest.raises(AssertionError) as caught:
            assert_same(keeping, lambda: (Box(), []))
        assert f"call 1 of 3 differs at {where}" in str(caught.value)
        assert "bytecode of" in str(caught.value)


def add_hidden(x):
    return x + next(math.hidden, 0)


def test_only_the_third_call_is_wrong(compiled_as, monkeypatch):
    monkeypatch.setattr(math, "hidden", iter([0, 0, 0, 0, 0, 1]), raising=False)
    compiled_as(add_hidden)
    with pytest.raises(AssertionError, match="call 3 of 3 differs at result: expected int 1, got int 2"):
        assert_same(add_hidden, lambda: (1,))


def test_warnings_count(compiled_as):
    def warn():
        warnings.warn("old", DeprecationWarning, stacklevel=1)

    compiled_as(lambda: None)
    with pytest.raises(AssertionError, match="warnings"):
        assert_same(warn, tuple)


def append_steps(items):
    early = next(math.hidden, False)
    if early:
        items.extend(range(3))
    for i in range(3):
        if not early:
            items.append(i)
        yield i


def test_generators_are_run_and_compared_step_by_step(compiled_as, monkeypatch):
    monkeypatch.setattr(math, "hidden", iter([False, False, False, True]), raising=False)
    compiled_as(append_steps)
    with pytest.raises(AssertionError, match=r"call 1 of 3, step 1 differs at args\[0\]"):
        assert_same(append_steps, lambda: ([],))


def test_finalizers_count(compiled_as):
    log = []

    class Noisy:
        def __del__(self):
            log.append("died")

    def original(keep):
        Noisy()
        log.append("after")

    def late(keep):
        kept = Noisy()
        log.append("after")
        del kept

    compiled_as(late)
    with pytest.raises(AssertionError, match="log"):
        assert_same(original, lambda: (log,))


def test_weak_references_count():
    strong, dying = Box(), Box()
    alive, dead = weakref.ref(strong), weakref.ref(dying)
    del dying
    assert difference(alive, dead) is not None


def test_keywords_and_bad_arguments(compiled_as):
    def function(a, *, b):
        return a, b

    compiled_as(function)
    assert_same(function, lambda: Arguments(1, b=2))
    with pytest.raises(TypeError, match="make_args"):
        assert_same(function, lambda: [1])


def test_what_differs_from_itself_is_said_to(compiled_as):
    numbers = itertools.count()
    compiled_as(lambda: -1)
    with pytest.raises(Unrepeatable):
        assert_same(lambda: next(numbers), tuple)


def test_make_fn_gives_either_side_its_own_state():
    def make():
        numbers = itertools.count()
        return lambda: next(numbers)

    assert_same(make(), tuple, make_fn=make)


def test_the_compiled_function_itself():
    def total(items):
        result = 0
        for item in items:
            result += item
        return result

    assert_same(total, lambda: ([1, 2, 3],), calls=4)
    assert minijit.stats(total).state in ("compiled", "refused")


