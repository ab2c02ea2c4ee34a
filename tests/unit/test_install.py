"""Installed code: who keeps what alive, threads, forks, interrupts, recursion."""

import gc
import os
import signal
import sys
import threading
import time
import weakref

import pytest

import minijit
from minijit import install, pipeline
from minijit.errors import InternalError, Unsupported
from minijit.interpreter import state


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def plus(self, other):
        return Point(self.x + other.x, self.y + other.y)


SOURCE = """
def length(a, b):
    c = a.plus(b).plus(a).plus(b)
    return c.x + c.y

def total(a, n):
    result = a
    for i in range(n):
        result = result.plus(a).plus(a)
    return result.x + result.y

def deep(a, n):
    return 0 if n == 0 else 1 + deep(a, n - 1) + a.plus(a).x - a.plus(a).x
"""


def fresh(name="length"):
    """A function whose code object nobody else has."""
    namespace = {"Point": Point, "__name__": __name__}
    exec(compile(SOURCE, __file__, "exec"), namespace)
    return namespace[name]


def warmed(function, *arguments):
    for _ in range(3):
        function(*arguments)
    return function


def point():
    return Point(1, 2)


# ---- who keeps what alive ----


def test_a_compiled_function_goes_with_its_last_reference():
    function = warmed(minijit.compile(fresh()), point(), point())
    assert minijit.stats(function).state == "compiled"
    references = [weakref.ref(function), weakref.ref(function.__code__)]
    vars(sys.modules[__name__]).pop("function", None)
    function.__globals__.clear()
    del function
    gc.collect()
    assert [reference() for reference in references] == [None, None]


def test_a_refused_function_goes_too():
    function = warmed(minijit.compile(fresh()), point(), point())
    installation = install.installation_of(function)
    installation.refuse("abort", Unsupported("MJ006", "for the test"))
    reference = weakref.ref(function)
    function.__globals__.clear()
    del function, installation
    gc.collect()
    assert reference() is None


def test_the_arguments_of_the_first_call_are_not_kept():
    function, argument = minijit.compile(fresh()), point()
    reference = weakref.ref(argument)
    warmed(function, argument, argument)
    del argument
    gc.collect()
    assert reference() is None


def test_many_functions_leave_nothing_behind():
    def make():
        function = warmed(minijit.compile(fresh()), point(), point())
        function.__globals__.clear()

    def objects():
        state._unit.cache_clear()  # decoded code objects are kept, up to a number
        gc.collect()
        return len(gc.get_objects())

    for _ in range(3):
        make()
    before = objects()
    for _ in range(50):
        make()
    assert objects() - before < 50


def test_code_given_by_the_user_is_not_taken_away():
    function = warmed(minijit.compile(fresh()), point(), point())
    function.__code__ = (lambda a, b: "mine").__code__
    assert function(1, 2) == "mine"
    for _ in range(5):
        assert function(1, 2) == "mine"


# ---- failures of our own ----


@pytest.fixture
def broken(monkeypatch):
    def build(request):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(install, "build", build)


@pytest.mark.usefixtures("broken")
def test_a_bug_leaves_the_function_as_it_is():
    function = minijit.compile(fresh())
    assert [function(point(), point()) for _ in range(3)] == [12] * 3
    stats = minijit.stats(function)
    assert stats.state == "refused"
    assert "MJ007" in stats.reason
    assert "a bug" in stats.reason


@pytest.mark.usefixtures("broken")
def test_strict_shows_the_bug():
    function = minijit.compile(strict=True)(fresh())
    with pytest.raises(InternalError, match="a bug"):
        function(point(), point())
    assert function(point(), point()) == 12


def test_an_interrupt_while_compiling_arrives(monkeypatch):
    def build(request):
        raise KeyboardInterrupt

    function = minijit.compile(fresh())
    with monkeypatch.context() as patch:
        patch.setattr(install, "build", build)
        with pytest.raises(KeyboardInterrupt):
            function(point(), point())
    assert function(point(), point()) == 12


# ---- threads, forks, signals, recursion ----


def test_threads_compile_and_call_at_once():
    functions = [minijit.compile(fresh()) for _ in range(20)]
    results, barrier = [], threading.Barrier(8)

    def work():
        barrier.wait()
        for function in functions:
            results.extend(function(point(), point()) for _ in range(20))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert results == [12] * (8 * 20 * 20)
    for function in functions:  # one that found the compiler taken each time is compiled now
        warmed(function, point(), point())
    assert {minijit.stats(function).state for function in functions} == {"compiled"}


def test_who_comes_while_another_thread_compiles_runs_the_original(monkeypatch):
    first, second = minijit.compile(fresh()), minijit.compile(fresh())
    entered, leave = threading.Event(), threading.Event()
    real = pipeline.build

    def slow(request):
        entered.set()
        leave.wait(20)
        return real(request)

    monkeypatch.setattr(install, "build", slow)
    thread = threading.Thread(target=first, args=(point(), point()))
    thread.start()
    assert entered.wait(20)
    assert [second(point(), point()) for _ in range(3)] == [12] * 3
    assert minijit.stats(second).state == "cold"
    leave.set()
    thread.join()
    warmed(second, point(), point())
    assert minijit.stats(second).state == minijit.stats(first).state == "compiled"


def compiles():
    function = warmed(minijit.compile(fresh()), point(), point())
    return minijit.stats(function).state


def test_a_forked_child_goes_on(isolated):
    parent = warmed(minijit.compile(fresh()), point(), point())
    assert isolated(lambda: [parent(point(), point()), compiles()]) == [12, "compiled"]


def test_a_child_forked_while_another_thread_compiles(monkeypatch, isolated):
    entered, leave = threading.Event(), threading.Event()
    real = pipeline.build

    def slow(request):
        entered.set()
        leave.wait(20)
        return real(request)

    function = minijit.compile(fresh())
    with monkeypatch.context() as patch:
        patch.setattr(install, "build", slow)
        thread = threading.Thread(target=function, args=(point(), point()))
        thread.start()
        assert entered.wait(20)

    def child():
        fine = minijit.compile(fresh())
        for _ in range(4):
            fine(point(), point())
        return fine(point(), point())

    result = isolated(child)
    leave.set()
    thread.join()
    assert result == 12


def test_an_interrupt_reaches_a_compiled_loop():
    function = warmed(minijit.compile(fresh("total")), point(), 3)
    assert minijit.stats(function).state == "compiled"
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        function(point(), 10**9)
    assert time.monotonic() - started < 10
    timer.join()


def test_recursion_ends_in_a_recursion_error():
    function = warmed(minijit.compile(fresh("deep")), point(), 3)
    with pytest.raises(RecursionError):
        function(point(), 10**6)
    assert function(point(), 20) == 20


def test_a_compilation_deep_in_the_stack():
    """There may be no room to compile; the result is right all the same."""
    function = minijit.compile(fresh())

    def descend(depth):
        return function(point(), point()) if depth == 0 else descend(depth - 1)

    for free in (400, 200, 100, 60, 30, 15):
        frame, used = sys._getframe(), 0
        while frame is not None:
            frame, used = frame.f_back, used + 1
        assert descend(sys.getrecursionlimit() - used - free) == 12
