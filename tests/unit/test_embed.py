"""Stubs and second bodies: every kind of function does what it did."""

import asyncio
import copy
import inspect
import sys
import traceback
from types import CodeType, FunctionType

import pytest

from minijit.codegen.embed import CannotEmbed, identity, stub
from minijit.codegen.verify import verify
from minijit.interpreter.opcodes import OPCODE
from minijit.interpreter.raw import read


class Entry:
    """A guard that counts how often it was asked."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = 0

    def __bool__(self):
        self.asked += 1
        return self.answer


def plain(a, b=2, /, c=3, *args, d, e=5, **kwargs):
    return a, b, c, args, d, e, kwargs


def loops(n):
    total = 0
    for i in range(n):
        for j in range(i):
            if j == 3:
                continue
            if j > 5:
                break
            total += j
        else:
            total += 100
    while total > 50:
        total -= 7
    return total


def exceptions(value):
    log = []
    for divisor in (1, 0, None, value):
        try:
            try:
                log.append(10 / divisor)
            except ZeroDivisionError as error:
                log.append(str(error))
                raise ValueError(divisor) from error
            finally:
                log.append("finally")
        except ValueError as error:
            log.append((error.args, type(error.__cause__), type(error.__context__)))
        except TypeError:
            log.append(sys.exc_info()[0])
    assert sys.exc_info() == (None, None, None)
    return log


class Manager:
    def __init__(self, log, swallow):
        self.log = log
        self.swallow = swallow

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, kind, error, trace):
        self.log.append((kind, str(error), trace and trace.tb_lineno))
        return self.swallow

    async def __aenter__(self):
        await asyncio.sleep(0)
        return self.__enter__()

    async def __aexit__(self, *info):
        await asyncio.sleep(0)
        return self.__exit__(*info)


def managers(swallow):
    log = []
    try:
        with Manager(log, swallow) as first, Manager(log, False):
            log.append(first is not None)
            raise KeyError("inside")
    except KeyError as error:
        log.append(error.__traceback__.tb_lineno)
    return log


def groups(kind):
    try:
        raise ExceptionGroup("g", [kind("a"), ValueError("b"), ExceptionGroup("h", [kind("c")])])
    except* KeyError as group:
        seen = str(group), group.exceptions[0].args
    except* ValueError as group:
        seen = len(group.exceptions)
    return seen


def matching(subject):
    match subject:
        case []:
            return "empty"
        case [first, *rest] if rest:
            return first, rest
        case {"k": value, **others}:
            return value, others
        case complex(real=1.0, imag=part):
            return part
        case str() | bytes():
            return "text"
        case _:
            return None


def comprehensions(n):
    squares = [x * x for x in range(n)]
    names = {str(x): y for x in squares for y in (x, -x) if y}
    functions = [lambda x=x: (x, n) for x in range(n)]
    return squares, names, {x % 3 for x in squares}, [f() for f in functions], sum(x for x in squares)


def strings(value):
    return f"{value} {value!r:>10} {value!s} {value!a:{5 + 5}} {'x' * 3:<6}|"


def unpacking(values):
    first, *middle, (last, end) = values
    merged = {**{"a": first}, "b": middle}
    return [*middle, first], (*middle, last), merged, {*middle}, end, values[1:2]


def unbound(flag):
    if flag:
        value = 1
    try:
        return value
    except UnboundLocalError as error:
        return str(error)


def deleting(a):
    before = sorted(locals())
    del a
    return before, sorted(locals())


def importing():
    from collections import OrderedDict, namedtuple
    from os import path

    return path.__name__, OrderedDict.__name__, namedtuple.__name__


def annotated(a: int, *, b: "str" = "x") -> bool:
    class Local:
        attribute: int = 3

        def method(self):
            return __class__.__name__, a

    assert Local().method() == ("Local", a)
    return super_user(a).get()


class Base:
    kind = property(lambda self: type(self))

    def __init__(self, value):
        self.value = value

    def get(self):
        return self.value


class Derived(Base):
    def get(self):
        return super().get(), super(Derived, self).kind  # noqa: UP008


def super_user(value):
    return Derived(value)


def recursion(n):
    return 1 if n < 2 else n * recursion(n - 1)


def make_closure():
    free, count = 5, 0

    def closure(a, b=1):
        nonlocal count
        count += 1
        own = a + free

        def inner():
            nonlocal own
            own += b
            return own, a, count

        return inner(), own, [lambda: (own, i) for i in range(2)][1]()  # noqa: B023

    return closure


def argument_is_cell(*args, **kwargs):
    def inner():
        return args, kwargs

    args += (1,)
    return inner()


def infinite():
    while True:
        for item in [1, 2]:
            if item == 2:
                return item


def generator(n):
    received = []
    try:
        for i in range(n):
            try:
                received.append((yield i))
            except KeyError as error:
                received.append(str(error))
                yield "caught"
        yield from (received, "end")
    finally:
        received.append("closed")
    return received


def failing_generator():
    yield 1
    raise StopIteration("inside")  # noqa: PLR1708


async def coroutine(n):
    log = []
    async with Manager(log, True):
        async for item in agenerator(n):
            log.append(item)
        log.append([item async for item in agenerator(n) if item])
        raise KeyError("swallowed")
    try:
        await failing()
    except ValueError as error:
        log.append(str(error))
    return log


async def failing():
    await asyncio.sleep(0)
    raise ValueError("async")


async def agenerator(n):
    for i in range(n):
        try:
            yield i
        finally:
            await asyncio.sleep(0)


def use_generator(make):
    it = make(3)
    log = [next(it), it.send("sent"), it.throw(KeyError("thrown"))]
    return log + list(it) + [inspect.getgeneratorstate(it)]


def use_unfinished(make):
    it = make(3)
    next(it)
    frame = it.gi_frame.f_lineno - it.gi_code.co_firstlineno
    it.close()
    with pytest.raises(KeyError):
        make(1).throw(KeyError)
    return frame


def use_failing(make):
    it = make()
    next(it)
    with pytest.raises(RuntimeError, match="raised StopIteration") as info:
        next(it)
    return repr(info.value.__cause__)


def use_coroutine(make):
    return asyncio.run(make(3))


def use_agenerator(make):
    async def collect():
        return [item async for item in make(4)]

    return asyncio.run(collect())


def calls(*rows):
    """A function that calls with each of these arguments, and gives results or exceptions."""

    def use(function):
        results = []
        for row in rows:
            try:
                results.append(function(*row))
            except Exception as error:
                results.append(traceback.format_exception(error))
        return results

    return use


CASES = [
    (plain, lambda f: [f(1, d=4), f(1, 2, 3, 4, 5, d=6, z=7), calls((), (1,))(f)]),
    (loops, calls((0,), (5,), (9,), ("x",))),
    (exceptions, calls((5,), ("x",))),
    (managers, calls((True,), (False,))),
    (groups, calls((KeyError,), (OSError,))),
    (matching, calls(([],), ([1, 2],), ({"k": 1, "l": 2},), (1 + 2j,), ("s",), (5,))),
    (comprehensions, calls((4,), (None,))),
    (strings, calls(("é",), (2.5,))),
    (unpacking, calls(([1, 2, 3, (4, 5)],), ([1],))),
    (unbound, calls((True,), (False,))),
    (deleting, calls((1,))),
    (importing, calls(())),
    (annotated, calls((1,))),
    (recursion, calls((5,), ("x",))),
    (make_closure(), lambda f: str(f(1)).count("(")),
    (argument_is_cell, calls((), (1, 2))),
    (infinite, calls(())),
    (generator, use_generator),
    (generator, use_unfinished),
    (failing_generator, use_failing),
    (coroutine, use_coroutine),
    (agenerator, use_agenerator),
    (Derived.get, lambda f: f(Derived(3))),
    (lambda *a, **k: (a, k), lambda f: f(1, z=2)),
]
IDS = [case[0].__name__ + "-" + case[1].__name__ for case in CASES]
WAYS = [(stub, True), (stub, False), (identity, True), (identity, False)]


def with_code(function, code):
    """A copy of the function that runs `code`."""
    new = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    new.__kwdefaults__ = function.__kwdefaults__
    return new


@pytest.mark.parametrize(("way", "answer"), WAYS, ids=[f"{way.__name__}-{answer}" for way, answer in WAYS])
@pytest.mark.parametrize(("function", "use"), CASES, ids=IDS)
def test_same(function, use, way, answer):
    entry = Entry(answer)
    code = way(function.__code__, entry)
    verify(code)
    assert use(with_code(function, code)) == use(function)
    assert entry.asked


def test_recursive_calls_ask_too():
    entry = Entry(True)
    old = recursion.__code__
    recursion.__code__ = identity(old, entry)
    try:
        assert recursion(6) == 720
    finally:
        recursion.__code__ = old
    assert entry.asked == 6


SAME = [
    "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags", "co_name", "co_qualname", "co_filename",
    "co_firstlineno", "co_varnames", "co_cellvars", "co_freevars", "co_nlocals", "co_stacksize",
]  # fmt: skip


@pytest.mark.parametrize("way", [stub, identity])
def test_code_attributes(way):
    for function, _ in CASES:
        old = function.__code__
        new = way(old, True)
        for name in SAME:
            assert getattr(new, name) == getattr(old, name), (function, name)
        assert new.co_consts[: len(old.co_consts)] == old.co_consts
        assert new.co_names[: len(old.co_names)] == old.co_names
        assert inspect.signature(with_code(function, new)) == inspect.signature(with_code(function, old))


@pytest.mark.parametrize("way", [stub, identity])
def test_original_positions_and_bytes_are_kept(way, library_codes):
    for old in library_codes[::4]:
        new = way(old, True)
        verify(new)
        start = read(old).offsets[read(old).prologue()]
        assert new.co_code[:start] == old.co_code[:start]
        assert new.co_code.endswith(old.co_code[start:])
        positions, before = list(new.co_positions()), list(old.co_positions())
        assert positions[: start // 2] == before[: start // 2]
        assert positions[len(positions) - len(before) + start // 2 :] == before[start // 2 :]


def test_entry_has_no_position():
    """So that no line tool ever sees it."""
    new = stub(loops.__code__, True)
    assert list(new.co_positions())[1] == (None, None, None, None)
    assert {line for _, _, line in new.co_lines()} == {line for _, _, line in loops.__code__.co_lines()} | {None}


def test_traceback_is_the_same():
    def failing_here(a):
        return (
            a
            + None
        )  # fmt: skip

    def text(function):
        with pytest.raises(TypeError) as info:
            function(1)
        return traceback.format_exception(info.value)[1:]

    expected = text(failing_here)
    for way in (stub, identity):
        assert text(with_code(failing_here, way(failing_here.__code__, True)))[1:] == expected[1:]


def test_module_and_class_bodies():
    source = "class A:\n  x = [i for i in range(3)]\n  def f(self): return __class__\ny = A.x\n"

    def embedded(code):
        constants = tuple(embedded(c) if isinstance(c, CodeType) else c for c in code.co_consts)
        return identity(code.replace(co_consts=constants), True)

    namespace = {"__name__": "m"}
    exec(embedded(compile(source, "m", "exec")), namespace)
    assert namespace["y"] == [0, 1, 2]
    assert namespace["A"]().f() is namespace["A"]


def test_embedded_code_can_be_embedded_again():
    inner, outer = Entry(True), Entry(False)
    code = stub(identity(exceptions.__code__, inner), outer)
    verify(code)
    assert with_code(exceptions, code)(5) == exceptions(5)
    assert (inner.asked, outer.asked) == (1, 1)


def test_assigned_to_a_running_function_and_copied():
    function = copy.copy(with_code(loops, loops.__code__))
    function.__code__ = identity(loops.__code__, Entry(True))
    assert function(9) == loops(9)


def test_no_resume_is_refused():
    code = loops.__code__.replace(co_code=bytes((OPCODE["RETURN_VALUE"], 0)), co_exceptiontable=b"")
    for way in (stub, identity):
        with pytest.raises(CannotEmbed, match="no RESUME") as info:
            way(code, True)
        assert info.value.reason
