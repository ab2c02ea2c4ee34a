"""Regions by hand, lowered, run and compared with the original function."""

from __future__ import annotations

import dis
import gc
import signal
import sys
import weakref

import pytest
from unit.region_builder import NULL, Abort, Ask, Builder, Compiled, Deliver, Lowered, line_offset, offset_of

from minijit.interpreter.decode import decode


def opnames(low, *only):
    """Names of all generated instructions before the first pad or the original."""
    names = [i.opname for i in dis.get_instructions(low.code)]
    return [n for n in names if n in only] if only else names


def generated(low):
    """The instructions before the first return, guard left out."""
    names = opnames(low)
    start = next(i for i, n in enumerate(names) if n.startswith(("POP_JUMP_IF_FALSE", "POP_JUMP_FORWARD_IF_FALSE")))
    return names[start + 1 : names.index("RETURN_VALUE") + 1]


# -- expressions --


def cross(ax, ay, az, bx, by, bz):
    x = ay * bz - az * by + ax * 2.0 - bx
    return x


def test_expression_stays_on_the_stack():
    b = Builder(cross, **dict.fromkeys(["ax", "ay", "az", "bx", "by", "bz"], float))
    b.failure = Abort(b.snapshot())
    one = b.op("binary", b["ay"], b["bz"], payload="*", type=float)
    two = b.op("binary", b["az"], b["by"], payload="*", type=float)
    three = b.op("binary", one, two, payload="-", type=float)
    four = b.op("binary", b["ax"], 2.0, payload="*", type=float)
    five = b.op("binary", three, four, payload="+", type=float)
    b.ret(b.op("binary", five, b["bx"], payload="-", type=float))
    low = Lowered(cross, b.region())
    assert low(1.0, 2.0, 3.0, 4.0, 5.0, 6.0) == cross(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    assert not any(name.startswith("STORE") for name in generated(low))
    assert generated(low).count("LOAD_FAST") + 2 * generated(low).count("LOAD_FAST_LOAD_FAST") == 6


def divide(a, b):
    return a // b + a % b


def test_exception_is_done_again_by_the_original():
    b = Builder(divide, a=int, b=int)
    b.failure = Abort(b.snapshot())
    one = b.op("binary", b["a"], b["b"], payload="//", type=int)
    two = b.op("binary", b["a"], b["b"], payload="%", type=int)
    b.ret(b.op("binary", one, two, payload="+", type=int))
    low = Lowered(divide, b.region())
    assert low(17, 5) == divide(17, 5)
    assert low.dropped == []
    with pytest.raises(ZeroDivisionError) as caught:
        low(1, 0)
    assert low.dropped == [ZeroDivisionError]
    entries = caught.traceback
    assert [entry.lineno + 1 for entry in entries][-1] == divide.__code__.co_firstlineno + 1
    assert caught.value.__context__ is None
    assert len(entries) == 3


def test_second_use_is_stored_once():
    b = Builder(divide, a=int, b=int)
    b.failure = Abort(b.snapshot())
    one = b.op("binary", b["a"], b["b"], payload="*", type=int)
    b.ret(b.op("binary", one, one, payload="+", type=int))
    low = Lowered(divide, b.region())
    assert low(3, 4) == 24
    assert sum(name.startswith("STORE_FAST") for name in generated(low)) == 1


# -- order --


LOG: list[object] = []


def note(value):
    LOG.append(value)
    return value


def two_notes(a, b):
    return note(a) - note(b)


def test_effects_keep_their_order():
    b = Builder(two_notes)
    second = b.op("call", note, b["b"], payload=(), effect=True)
    first = b.op("call", note, b["a"], payload=(), effect=True)
    b.ret(b.op("binary", first, second, payload="-"))
    low = Lowered(two_notes, b.region())
    LOG.clear()
    assert low(5, 3) == 2
    assert LOG == [3, 5]


def test_read_stays_before_an_effect():
    def original(a, b):
        return None

    b = Builder(original)
    b.failure = Abort(b.snapshot())
    item = b.op("item", b["a"], 0)
    b.failure = None
    b.op("set_item", b["a"], 0, b["b"])
    b.ret(item)
    cells = [1]
    assert Lowered(original, b.region())(cells, 2) == 1
    assert cells == [2]


def test_what_may_abort_is_not_delayed_past_an_effect():
    def original(a, b):
        LOG.append("original")
        return a // b

    b = Builder(original, a=int, b=int)
    b.failure = Abort(b.snapshot())
    quotient = b.op("binary", b["a"], b["b"], payload="//", type=int)
    b.failure = None
    b.op("append", LOG, "compiled")
    b.ret(quotient)
    low = Lowered(original, b.region())
    LOG.clear()
    with pytest.raises(ZeroDivisionError):
        low(1, 0)
    assert LOG == ["original"]
    assert low(7, 2) == 3
    assert LOG == ["original", "compiled"]


# -- checks and snapshots --


def stepwise(a, b):
    x = [a]
    y = (x, b)
    x.append(y[1])
    return x, y


def test_failed_check_rebuilds_virtual_objects():
    b = Builder(stepwise)
    offset = offset_of(stepwise, "STORE_FAST", 1)
    snapshot = b.snapshot(offset)
    x = b.built(snapshot, "list", b["a"])
    y = b.built(snapshot, "tuple", x, b["b"])
    snapshot.locals = ((2, x),)
    snapshot.stack = (y,)
    b.check(Ask("type", b["a"], (int,)), failure=Abort(snapshot))
    b.ret("compiled")
    low = Lowered(stepwise, b.region(), checks=[True, False])
    assert low(1, 2) == "compiled"
    x, y = low(1, 2)
    assert x == [1, 2]
    assert y[0] is x
    assert low.checks[0].tests == (("type", 0, int),)
    assert low.checks[0].asked == 2


def call_with_null(a, b):
    return max(a, b, key=abs)


def test_snapshot_pushes_null():
    b = Builder(call_with_null)
    at = [i for i in dis.get_instructions(call_with_null) if i.opname == "LOAD_FAST" or i.opname == "LOAD_FAST_LOAD_FAST"]
    below = (NULL, max) if sys.version_info < (3, 13) else (max, NULL)
    snapshot = b.snapshot(at[0].offset, stack=below)
    b.exit(snapshot)
    assert Lowered(call_with_null, b.region())(-5, 3) == -5


def swap(a, b):
    a, b = b, a
    if a:
        del b
    return a, b


def test_locals_change_in_parallel_and_unbind():
    b = Builder(swap)
    at = line_offset(swap, 4)
    b.exit(b.snapshot(at, {"a": b["b"], "b": b["a"]}))
    assert Lowered(swap, b.region())(1, 2) == (2, 1)
    b = Builder(swap)
    b.exit(b.snapshot(at, {"a": b["b"], "b": ...}))
    with pytest.raises(UnboundLocalError):
        Lowered(swap, b.region())(1, 2)


class Thing:
    pass


def keeps(a):
    return weakref.ref(a)


def test_temporaries_are_let_go_before_the_original_runs():
    def original(make):
        thing = make()
        ref = weakref.ref(thing)
        del thing
        gc.collect()
        return ref()

    b = Builder(original)
    thing = b.op("call", b["make"], payload=(), effect=True)
    ref = b.op("call", weakref.ref, thing, payload=(), effect=True)
    at = [i.offset for i in dis.get_instructions(original) if i.opname == "DELETE_FAST"][0]
    snapshot = b.snapshot(at, {"thing": thing, "ref": ref})
    b.check(Ask("type", thing, (Thing,)), failure=Abort(snapshot))
    b.ret(thing)
    low = Compiled(original, b.region())
    assert isinstance(low(Thing), Thing)
    assert low.counter.aborts == 0
    assert low(lambda: {1}) is None
    assert low.counter.aborts == 1


def test_temporaries_do_not_show():
    def original(a):
        return locals()

    b = Builder(original)
    loaded = b.value()
    b.entry_tests += [Ask("attr", b["a"], ("x",), loaded), Ask("type", loaded, (int,))]
    twice = b.op("binary", loaded, loaded, payload="+", failure=Abort(b.snapshot()))
    b.check(Ask("value", twice, (4,)), failure=Abort(b.snapshot()))
    b.ret(twice)
    low = Compiled(original, b.region())
    thing = Thing()
    thing.x = 2
    assert low(thing) == 4
    thing.x = 3
    assert low(thing) == {"a": thing}
    thing.x = 2.0
    assert low(thing) == {"a": thing}
    assert (low.counter.calls, low.counter.misses, low.counter.aborts) == (3, 1, 1)


def test_entries_are_tried_in_turn():
    regions = []
    for answer in ("first", "second"):
        b = Builder(divide, a=int, b=int)
        b.entry_tests.append(Ask("type", b["a"], (int,)))
        b.ret(answer)
        regions.append(b.region())
    low = Lowered(divide, *regions, entries=[True, False, True, False, False])
    assert low(6, 2) == "first"
    assert low(6, 2) == "second"
    assert low(6, 2) == 3
    assert [entry.tests for entry in low.entries] == [(("type", 0, int),)] * 2


def test_loaded_values_have_slots():
    b = Builder(divide)
    content, item = b.value(), b.value(int)
    b.entry_tests.append(Ask("attr", b["a"], ("x",), content))
    b.check(Ask("list_item", content, (0,), item), Ask("type", item, (int,)), failure=Abort(b.snapshot()))
    b.ret(b.op("tuple", content, item))
    low = Lowered(divide, b.region(), entries=[False])
    temporary = divide.__code__.co_nlocals
    assert low.entries[0].tests == (("attr", 0, "x", temporary),)
    assert low.checks[0].tests == (("list_item", temporary, 0, temporary + 1), ("type", temporary + 1, int))
    assert low(6, 2) == 3


# -- control flow --


def total(n):
    s = 0
    for i in range(n):
        s += i * i
    return s


def total_region(n_type=int):
    b = Builder(total, n=n_type)
    b.failure = Abort(b.snapshot())
    numbers = b.op("call", range, b["n"], payload=(), failure=None)
    iterator = b.op("iter", numbers, failure=None)
    entry = b.current
    s, i = b.value(int), b.value(int)
    body, head, done = b.block(), b.block(s), b.block()
    b.blocks[1:] = [head, body, done]
    b.at(entry)
    b.jump(head, 0)
    loop = b.snapshot(offset_of(total, "FOR_ITER"), {"s": s}, (iterator,))
    b.failure = Abort(loop)
    b.at(head)
    b.next(iterator, body, done, i, failure=None)
    b.at(body)
    square = b.op("binary", i, i, payload="*", type=int)
    b.jump(head, b.op("binary", s, square, payload="+", type=int), backward=True)
    b.at(done)
    b.ret(s)
    return b.region()


def test_loop_over_an_iterator():
    low = Lowered(total, total_region())
    assert low(10) == total(10)
    assert low(0) == 0
    assert low.dropped == []
    with pytest.raises(TypeError):
        low("x")


def fibonacci(n):
    a, b = 0, 1
    while n > 0:
        a, b = b, a + b
        n = n - 1
    return a


def fibonacci_region():
    w = Builder(fibonacci, n=int)
    a, b, n = w.value(int), w.value(int), w.value(int)
    entry, head, body, done = w.current, w.block(a, b, n), w.block(), w.block()
    w.at(entry)
    w.jump(head, 0, 1, w["n"])
    w.at(head)
    w.branch(w.op("compare", n, 0, payload=">", type=bool), body, done)
    w.at(body)
    after = w.op("binary", a, b, payload="+", type=int)
    w.jump(head, b, after, w.op("binary", n, 1, payload="-", type=int), backward=True)
    w.at(done)
    w.ret(a)
    return w.region()


def test_parallel_moves():
    low = Lowered(fibonacci, fibonacci_region())
    assert [low(n) for n in range(12)] == [fibonacci(n) for n in range(12)]
    assert low.code.co_nlocals <= fibonacci.__code__.co_nlocals + 4


def choose(a, b):
    return None


@pytest.mark.parametrize("kind", ["true", "none"])
@pytest.mark.parametrize("layout", [(0, 1, 2, 3), (0, 2, 1, 3), (0, 3, 1, 2), (0, 3, 2, 1)])
def test_branch_moves_on_both_edges(kind, layout):
    b = Builder(choose)
    x, y = b.value(), b.value()
    entry, then, otherwise, meet = b.current, b.block(x), b.block(), b.block(y)
    b.at(entry)
    condition = b["a"]
    b.branch(condition, (then, b["b"]), (meet, "no"), kind)
    b.at(then)
    b.branch(b["b"], (meet, x), otherwise)
    b.at(otherwise)
    b.jump(meet, "otherwise")
    b.at(meet)
    b.ret(b.op("tuple", y, b["a"]))
    b.blocks[:] = [b.blocks[i] for i in layout]
    low = Lowered(choose, b.region())

    def expected(a, second):
        if (a is None) if kind == "none" else a:
            return (second if second else "otherwise", a)
        return ("no", a)

    for arguments in [(0, 0), (1, 0), (1, 5), (None, 0), (None, 5)]:
        assert low(*arguments) == expected(*arguments)


def test_branch_back_to_a_loop_head():
    def original(n):
        while True:
            n -= 1
            if n < 0:
                return n

    b = Builder(original, n=int)
    n = b.value(int)
    entry, head, done = b.current, b.block(n), b.block()
    b.at(entry)
    b.jump(head, b["n"])
    b.at(head)
    less = b.op("binary", n, 1, payload="-", type=int)
    b.branch(b.op("compare", less, 0, payload="<", type=bool), done, (head, less))
    b.at(done)
    b.ret(less)
    assert Lowered(original, b.region())(5) == -1


# -- exceptions that the original handles --


class Bomb:
    """Raises what it is told to, when asked to."""

    def __init__(self, exception):
        self.exception = exception

    def __add__(self, other):
        raise self.exception

    def go(self):
        raise self.exception


def guarded(bomb, log):
    log.append("in")
    try:
        bomb.go()
        log.append("not raised")
    except ValueError as error:
        log.append(str(error))
    finally:
        log.append("finally")
    return log


def deliver_region(function, opname="LOAD_METHOD"):
    offset = next(i.offset for i in dis.get_instructions(function) if i.argval == "go")
    b = Builder(function)
    b.op("append", b["log"], "compiled")
    snapshot = b.snapshot(offset, stack=(b["bomb"],))
    b.op("call_method", b["bomb"], payload=("go", ()), effect=True, failure=Deliver(snapshot))
    b.ret("quiet")
    return b.region()


@pytest.mark.parametrize("function", [guarded])
def test_delivered_to_the_originals_handler(function):
    low = Lowered(function, deliver_region(function))
    assert low(Bomb(ValueError("text")), []) == ["compiled", "text", "finally"]
    log: list[str] = []
    with pytest.raises(KeyError) as caught:
        low(Bomb(KeyError(1)), log)
    assert log == ["compiled", "finally"]
    assert [entry.name for entry in caught.traceback][-2:] == [function.__name__, "go"]
    assert low.dropped == []
    assert sys.exc_info() == (None, None, None)


def with_statement(bomb, log):
    with Suppress(log):
        bomb.go()
    return log


class Suppress:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self.log.append((kind, traceback.tb_frame.f_code.co_name))
        return kind is ValueError


def test_delivered_into_a_with_statement():
    """The handler wants the index of the instruction that raised, and the exit function below."""
    offset = next(i.offset for i in dis.get_instructions(with_statement) if i.argval == "go")
    b = Builder(with_statement)
    manager = b.op("call", Suppress, b["log"], payload=(), effect=True)
    leave = b.op("attr", manager, payload="__exit__", failure=None)
    snapshot = b.snapshot(offset, stack=(leave, b["bomb"]))
    b.op("call_method", b["bomb"], payload=("go", ()), effect=True, failure=Deliver(snapshot))
    b.ret("quiet")
    low = Lowered(with_statement, b.region())
    assert low(Bomb(ValueError()), []) == [(ValueError, "with_statement")]
    log: list[object] = []
    with pytest.raises(KeyError) as caught:
        low(Bomb(KeyError(1)), log)
    assert log == [(KeyError, "with_statement")]
    assert [entry.name for entry in caught.traceback][-2:] == ["with_statement", "go"]


def test_asynchronous_exception_in_an_abortable_operation_is_delivered():
    def original(bomb, log):
        try:
            return bomb + 1
        except KeyboardInterrupt:
            log.append("caught")
        return log

    offset = offset_of(original, "BINARY_OP")
    b = Builder(original)
    b.failure = Abort(b.snapshot(offset, stack=(b["bomb"], 1)))
    b.ret(b.op("binary", b["bomb"], 1, payload="+"))
    low = Lowered(original, b.region())
    assert low(Bomb(KeyboardInterrupt()), []) == ["caught"]
    assert low(1, []) == 2
    assert low.dropped == []
    with pytest.raises(ZeroDivisionError):
        low(Bomb(ZeroDivisionError()), [])
    assert low.dropped == [ZeroDivisionError]


def test_asynchronous_exception_without_handler_leaves():
    b = Builder(divide)
    b.failure = Abort(b.snapshot())
    b.ret(b.op("binary", b["a"], b["b"], payload="+"))
    low = Lowered(divide, b.region())
    with pytest.raises(KeyboardInterrupt) as caught:
        low(Bomb(KeyboardInterrupt()), 1)
    assert [entry.name for entry in caught.traceback][1:] == ["__call__", "divide", "__add__"]


def test_exception_state_is_the_originals():
    def original(bomb):
        try:
            raise KeyError(1)
        except KeyError:
            return bomb + 1

    offset = offset_of(original, "BINARY_OP")
    b = Builder(original)
    b.failure = Abort(b.snapshot())
    b.ret(b.op("binary", b["bomb"], 1, payload="+"))
    low = Lowered(original, b.region())
    with pytest.raises(ValueError, match="x") as caught:
        low(Bomb(ValueError("x")))
    assert isinstance(caught.value.__context__, KeyError)
    assert caught.value.__context__.__context__ is None
    assert offset


# -- cells, functions, locals, objects --


def test_cells():
    def original(a):
        free = a

        def inner():
            return free

        return inner

    b = Builder(original)
    cell = b.op("cell", 5, failure=None)
    b.op("set_deref", cell, b.op("binary", b.op("deref", cell), 1, payload="+"))
    code = next(c for c in original.__code__.co_consts if hasattr(c, "co_code"))
    b.ret(b.op("function", code, b.op("tuple", cell), payload="c"))
    assert Lowered(original, b.region())(1)() == 6
    b = Builder(original)
    empty = b.op("cell")
    b.ret(b.op("tuple", empty, b.op("cell", b["a"])))
    first, second = Lowered(original, b.region())(3)
    assert second.cell_contents == 3
    with pytest.raises(ValueError, match="empty"):
        _ = first.cell_contents


def test_constant_cell_and_free_variable():
    count = 0

    def original(a):
        nonlocal count
        count += a
        return count

    cell = original.__closure__[0]
    b = Builder(original, a=int)
    new = b.op("binary", b.op("deref", cell), b["a"], payload="+")
    b.op("set_deref", cell, new)
    b.ret(new)
    b.entry_tests.append(Ask("type", b["a"], (int,)))
    low = Compiled(original, b.region())
    assert low(5) == 5
    assert count == 5
    assert low(5.0) == 10
    assert low.counter.misses == 1


def test_function_with_everything():
    def original(a):
        free = a

        def inner(x=1, *, y=2) -> int:
            return x + y + free

        return inner

    code = next(c for c in original.__code__.co_consts if hasattr(c, "co_code"))
    b = Builder(original)
    cell = b.op("cell", b["a"])
    defaults, annotations = b.op("tuple", 10), b.op("tuple", "return", int)
    kwdefaults = b.op("map", "y", 20)
    b.ret(b.op("function", code, defaults, kwdefaults, annotations, b.op("tuple", cell), payload="dkac"))
    inner = Lowered(original, b.region())(100)
    assert inner() == 130
    assert inner.__annotations__ == {"return": int}
    assert inner.__qualname__ == original(1).__qualname__


class Point:
    __slots__ = ("x", "y")


def test_new_object_and_attributes():
    def original(a, b):
        return None

    b = Builder(original)
    point = b.op("new", Point)
    b.op("set_attr", point, b["a"], payload="x")
    b.op("set_attr", point, b["b"], payload="y")
    b.ret(point)
    point = Lowered(original, b.region())(1, 2)
    assert (point.x, point.y) == (1, 2)


def locals_function(a):
    b = a
    del a
    return b, locals()


def test_set_and_delete_local():
    b = Builder(locals_function)
    b.op("set_local", "new", payload=1)
    b.op("del_local", payload=0)
    at = [i.offset for i in dis.get_instructions(locals_function) if i.opname.startswith("LOAD_FAST")][-1]
    b.exit(b.snapshot(at))
    assert Lowered(locals_function, b.region())("old") == ("new", {"b": "new"})


def test_overwritten_argument_is_copied():
    b = Builder(divide)
    b.op("set_local", 5, payload=0)
    b.ret(b.op("tuple", b["a"], b["b"]))
    assert Lowered(divide, b.region())(1, 2) == (1, 2)


def test_drop_ends_a_life():
    def original(make, log):
        return None

    b = Builder(original)
    thing = b.op("call", b["make"], payload=(), effect=True)
    ref = b.op("call", weakref.ref, thing, payload=(), effect=True)
    b.op("drop", thing)
    b.op("append", b["log"], b.op("call", ref, payload=(), effect=True))
    b.ret(b["log"])
    assert Lowered(original, b.region())(Thing, []) == [None]


def test_original_instructions():
    def original(sequence):
        first, *rest = sequence
        return first, rest

    unpack = next(i for i in decode(original.__code__).instructions if i.op == "UNPACK_EX")
    b = Builder(original)
    # The stack is [first, rest] with the first target on top.
    rest, first = b.op("original", b["sequence"], payload=unpack, results=2, effect=True)
    b.ret(b.op("tuple", rest, first))
    assert Lowered(original, b.region())("abc") == (["b", "c"], "a")


# -- other rows --


ROWS = [
    ("unary", [5], "-", -5),
    ("unary", [5], "~", -6),
    ("unary", [0], "not", True),
    ("unary", [True], "+", 1),
    ("truth", [[]], None, False),
    ("is", [None, None], True, False),
    ("contains", [1, [1]], False, True),
    ("contains", [1, [1]], True, False),
    ("item", [[7, 8], 1], None, 8),
    ("slice_item", ["abcd", 1, 3], None, "bc"),
    ("slice", [1, 2], None, slice(1, 2)),
    ("slice", [1, 2, 3], None, slice(1, 2, 3)),
    ("list", [1, 2], None, [1, 2]),
    ("set", [1, 2], None, {1, 2}),
    ("map", ["a", 1, "b", 2], None, {"a": 1, "b": 2}),
    ("string", ["a", "b", "c"], None, "abc"),
    ("format", [1.5], ("", False), "1.5"),
    ("format", ["x"], ("r", False), "'x'"),
    ("format", [1.5, ">6"], ("", True), "   1.5"),
    ("format", ["x", ">6"], ("r", True), "   'x'"),
    ("call", [dict, 1], ("a",), {"a": 1}),
    ("call_method", ["a-b", "-"], ("split", ()), ["a", "b"]),
    ("call_method", ["abc"], ("upper", ()), "ABC"),
    ("call_method", ["a b", 1], ("split", ("maxsplit",)), ["a", "b"]),
    ("call_ex", [max, (1, 2)], None, 2),
    ("call_ex", [max, (1, -2), {"key": abs}], None, -2),
    ("list_to_tuple", [[1, 2]], None, (1, 2)),
    ("global", [], "LOG", LOG),
    ("attr", [3], "real", 3),
]


@pytest.mark.parametrize(("opcode", "operands", "payload", "expected"), ROWS)
def test_row(opcode, operands, payload, expected):
    b = Builder(divide)
    b.ret(b.op(opcode, *operands, payload=payload))
    result = Lowered(divide, b.region())(1, 2)
    assert result == expected
    assert type(result) is type(expected)


EFFECTS = [
    ("set_item", [{}, 1, 2], None, {1: 2}),
    ("del_item", [[1, 2], 0], None, [2]),
    ("append", [[1], 2], None, [1, 2]),
    ("set_add", [{1}, 2], None, {1, 2}),
    ("list_extend", [[1], (2, 3)], None, [1, 2, 3]),
    ("set_update", [{1}, (2,)], None, {1, 2}),
    ("dict_update", [{1: 2}, {3: 4}], None, {1: 2, 3: 4}),
    ("dict_merge", [{"a": 2}, {"b": 4}], None, {"a": 2, "b": 4}),
]


@pytest.mark.parametrize(("opcode", "operands", "payload", "expected"), EFFECTS)
def test_effect(opcode, operands, payload, expected):
    import copy

    target = copy.copy(operands[0])
    b = Builder(divide)
    b.op(opcode, b["a"], *operands[1:], payload=payload)
    b.ret(b["a"])
    assert Lowered(divide, b.region())(target, 2) == expected
    assert target == expected


def test_dict_merge_reports_a_duplicate():
    b = Builder(divide)
    b.op("dict_merge", b["a"], b["b"])
    b.ret(None)
    with pytest.raises(TypeError, match="multiple values for keyword argument"):
        Lowered(divide, b.region())({"a": 1}, {"a": 2})


def test_globals_and_attributes():
    b = Builder(divide)
    b.op("set_global", b["a"], payload="MADE")
    b.ret(b.op("global", payload="MADE"))
    low = Lowered(divide, b.region())
    assert low(5, 6) == 5
    b = Builder(divide)
    b.op("del_global", payload="MADE")
    b.op("del_attr", b["a"], payload="x")
    b.ret(None)
    thing = Thing()
    thing.x = 1
    Lowered(divide, b.region())(thing, 2)
    assert "MADE" not in globals()
    assert not vars(thing)


# -- signals at back edges --


class Alarm(Exception):
    """Raised by a signal's handler."""


def spinning(n, log):
    try:
        while n >= 0:
            n += 1
    except Alarm:
        log.append(n)
    return log


def spinning_region(in_try):
    b = Builder(spinning, n=int)
    n = b.value(int)
    entry, head, body, done = b.current, b.block(n), b.block(), b.block()
    b.at(entry)
    b.jump(head, b["n"])
    inside = line_offset(spinning, 2) if in_try else None
    b.failure = Abort(b.snapshot(inside, {"n": n}))
    b.at(head)
    shifted = b.op("binary", n, 1, payload=">>", type=int)
    b.branch(b.op("compare", shifted, 0, payload=">=", type=bool), body, done)
    b.at(body)
    b.jump(head, b.op("binary", n, 1, payload="+", type=int), backward=True)
    b.at(done)
    b.ret(None)
    return b.region()


def ring(seconds):
    def handler(number, frame):
        raise Alarm

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def test_signal_in_a_loop_reaches_the_handler():
    low = Lowered(spinning, spinning_region(in_try=True))
    log: list[int] = []
    ring(0.05)
    assert low(0, log) is log
    assert len(log) == 1
    assert log[0] > 1000
    assert low.dropped == []


def test_signal_in_a_loop_without_handler_leaves():
    low = Lowered(spinning, spinning_region(in_try=False))
    ring(0.05)
    with pytest.raises(Alarm):
        low(0, [])
    assert low.dropped == []


@pytest.mark.parametrize("used", [True, False])
def test_entry_asks_about_arguments_where_they_come_in(used):
    b = Builder(divide)
    b.entry_tests.append(Ask("type", b["a"], (int,)))
    b.op("set_local", 5, payload=0)
    b.ret(b["a"] if used else b["b"])
    low = Compiled(divide, b.region())
    assert low(6, 2) == (6 if used else 2)
    assert low(6.0, 2) == 3.0


def test_drop_is_harmless_where_there_is_nothing():
    b = Builder(divide)
    made = b.value()
    entry, then, meet = b.current, b.block(), b.block()
    b.at(entry)
    b.branch(b["a"], then, meet)
    b.at(then)
    made = b.op("tuple", b["b"], b["b"])
    b.op("append", b["a"], made)
    b.jump(meet)
    b.at(meet)
    b.op("drop", made)
    b.op("drop", made)
    b.op("drop", b["b"])
    b.op("drop", b["b"])
    b.ret(b["a"])
    low = Compiled(divide, b.region())
    assert low([0], 1) == [0, (1, 1)]
    assert low([], 1) == []


def chained(make, use, log):
    return None


def test_value_dropped_after_its_use_dies_in_its_use():
    b = Builder(chained)
    thing = b.op("call", b["make"], payload=(), effect=True)
    used = b.op("call", b["use"], thing, b.op("tuple", b["log"], failure=None), payload=(), effect=True)
    b.op("drop", thing)
    b.op("append", b["log"], "after")
    again = b.op("call", b["use"], used, b.op("tuple", b["log"]), payload=(), effect=True)
    b.op("drop", used)
    b.ret(again)
    low = Compiled(chained, b.region())
    first_store = next(i for i, name in enumerate(generated(low)) if name.startswith("STORE"))
    assert generated(low)[:first_store].count("CALL") == 2
    log = []

    class Last(Thing):
        def __del__(self):
            log.append("died")

    assert low(Last, lambda thing, logs: logs[0].append("used"), log) is None
    assert log == ["used", "died", "after", "used"]


def test_value_whose_use_is_delayed_is_dropped_for_itself():
    """The tuple is built after the effect, which it may pass, but what it holds was dropped before."""
    b = Builder(chained)
    thing = b.op("call", b["make"], payload=(), effect=True)
    holder = b.op("tuple", thing)
    b.op("drop", thing)
    b.op("append", b["log"], 1)
    b.ret(holder)
    low = Compiled(chained, b.region())
    (thing,) = low(Thing, None, [])
    assert isinstance(thing, Thing)
