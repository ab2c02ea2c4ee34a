"""`minijit.compile` from outside: what it takes, what it returns, and that nobody can tell."""

import copy
import functools
import inspect
import os
import pickle
import subprocess
import sys

import pytest

import minijit


class Point:
    """The abstraction that compiled code sees through."""

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def plus(self, other):
        return Point(self.x + other.x, self.y + other.y)


def length(a, b, *, scale: int = 2) -> int:
    """Add, scale, measure."""
    # a comment that getsource keeps
    c = a.plus(b).plus(a).plus(b)
    return (c.x + c.y) * scale


def fresh():
    """A function object of its own, with a code object of its own."""
    namespace = {"Point": Point, "__name__": __name__}
    source = "\n" * (length.__code__.co_firstlineno - 1) + inspect.getsource(length)
    exec(compile(source, __file__, "exec"), namespace)
    return namespace["length"]


ARGUMENTS = Point(1, 2), Point(3, 4)


def warmed(function, calls=3):
    return [function(*ARGUMENTS) for _ in range(calls)]


def test_the_same_function_object_is_returned():
    function = fresh()
    assert minijit.compile(function) is function
    assert minijit.compile(strict=True)(fresh()).__name__ == "length"


def test_a_function_gets_compiled():
    function = minijit.compile(fresh())
    assert minijit.stats(function).state == "cold"
    assert warmed(function, 5) == [40] * 5
    stats = minijit.stats(function)
    assert (stats.state, stats.reason, stats.calls, stats.hits, stats.misses, stats.aborts, stats.entries) == (
        "compiled", None, 5, 4, 0, 0, 1)
    assert stats.compile_seconds > 0


def test_compiling_twice_changes_nothing():
    function = minijit.compile(fresh())
    warmed(function)
    code = function.__code__
    minijit.compile(function)
    assert function.__code__ is code
    assert minijit.stats(function).hits == 2


@pytest.mark.parametrize("warmup", [0, 1, 3])
def test_warmup(warmup):
    function = minijit.compile(warmup=warmup)(fresh())
    states = []
    for _ in range(5):
        warmed(function, 1)
        states.append(minijit.stats(function).state)
    assert states == ["cold"] * (max(warmup, 1) - 1) + ["compiled"] * (5 - max(warmup, 1) + 1)
    assert minijit.stats(function).hits == 5 - warmup


def test_introspection_stays():
    plain, function = fresh(), minijit.compile(fresh())
    warmed(function)
    assert inspect.signature(function) == inspect.signature(plain)
    assert inspect.getsource(function) == inspect.getsource(length)
    assert (function.__doc__, function.__name__, function.__annotations__) == (plain.__doc__, "length", plain.__annotations__)
    assert (function.__defaults__, function.__kwdefaults__, vars(function)) == (None, {"scale": 2}, {})
    for name in ("co_name", "co_qualname", "co_filename", "co_firstlineno", "co_argcount", "co_kwonlyargcount",
                 "co_flags", "co_freevars", "co_cellvars"):
        assert getattr(function.__code__, name) == getattr(plain.__code__, name)
    assert functools.wraps(function)(lambda: 0).__wrapped__ is function


@minijit.compile
def pickled(a):
    return a


def test_functions_are_pickled_and_copied_by_name():
    pickled(1)
    assert pickle.loads(pickle.dumps(pickled)) is pickled
    assert copy.copy(pickled) is copy.deepcopy(pickled) is pickled


class Everything:
    def __init__(self, x):
        self.x = x

    def method(self, a):
        return self.x + a

    @classmethod
    def made(cls, a):
        return cls(a)

    @staticmethod
    def alone(a):
        return a

    @property
    def value(self):
        return self.x

    @value.setter
    def value(self, a):
        self.x = a

    class Inner:
        def method(self):
            return 1

    shown = len


def test_a_class_is_all_its_methods():
    assert minijit.compile(Everything) is Everything
    for _ in range(3):
        instance = Everything.made(3)
        instance.value = 4
        assert (instance.method(1), Everything.alone(2), instance.value, Everything.Inner().method()) == (5, 2, 4, 1)
    for part in (Everything.__init__, Everything.method, Everything.made, Everything.alone, Everything.value.fget,
                 Everything.value.fset):
        assert minijit.stats(part).calls >= 1
    with pytest.raises(TypeError, match="not given to minijit.compile"):
        minijit.stats(Everything.Inner.method)


def test_descriptors_are_taken_as_they_are():
    for wrapped in (staticmethod(fresh()), classmethod(fresh()), property(fresh()), functools.cached_property(fresh())):
        assert minijit.compile(wrapped) is wrapped


def test_generators_and_coroutines():
    @minijit.compile
    def numbers(n):
        for i in range(n):
            yield i

    @minijit.compile
    async def waiting(n):
        return n

    for _ in range(3):
        assert list(numbers(3)) == [0, 1, 2]
        with pytest.raises(StopIteration, match="3"):
            waiting(3).send(None)


def test_functions_of_one_def_share_what_was_compiled():
    def make(scale):
        @minijit.compile
        def scaled(a, b):
            c = a.plus(b).plus(a)
            return (c.x + c.y) * scale

        return scaled

    first, second = make(2), make(3)
    assert warmed(first) == [26] * 3
    assert minijit.stats(second).state == "compiled"
    assert warmed(second) == [39] * 3


@pytest.mark.parametrize("target", [3, len, "name", functools.partial(length), functools.lru_cache(length)])
def test_what_is_no_function(target):
    with pytest.raises(TypeError, match="takes a Python function or a class"):
        minijit.compile(target)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"static": "a"}, TypeError),
        ({"static": (3,)}, TypeError),
        ({"static": ("nobody",)}, ValueError),
        ({"replay": "loud"}, ValueError),
        ({"warmup": -1}, ValueError),
        ({"warmup": "1"}, ValueError),
        ({"unknown": 1}, TypeError),
    ],
)
def test_bad_options(options, error):
    with pytest.raises(error):
        minijit.compile(**options)(fresh())


def looks(a):
    return sorted(locals())


def test_a_refused_function_runs_its_original():
    code = looks.__code__
    minijit.compile(looks)
    assert [looks(1) for _ in range(3)] == [["a"]] * 3
    stats = minijit.stats(looks)
    assert (stats.state, stats.hits, stats.entries) == ("refused", 0, 0)
    assert stats.reason.startswith("MJ003")
    assert looks.__code__ is code


def test_strict_raises_where_it_would_be_left():
    @minijit.compile(strict=True)
    def function(a):
        return locals()

    with pytest.raises(minijit.Unsupported) as caught:
        function(1)
    assert caught.value.code == "MJ003"
    assert caught.value.filename == __file__
    assert caught.value.line
    assert caught.value.hint
    assert function(1) == {"a": 1}


def test_reset():
    function = minijit.compile(fresh())
    warmed(function)
    minijit.reset(function)
    stats = minijit.stats(function)
    assert (stats.state, stats.calls, stats.entries) == ("cold", 0, 0)
    warmed(function)
    assert minijit.stats(function).hits == 2


def test_disable_and_enable():
    function = minijit.compile(fresh())
    warmed(function)
    minijit.disable()
    try:
        assert warmed(function) == [40] * 3
        assert minijit.stats(function).calls == 3
    finally:
        minijit.enable()
    warmed(function)
    assert minijit.stats(function).hits == 5


def test_another_kind_of_argument_gets_an_entry():
    function = minijit.compile(fresh())
    warmed(function)
    floats = Point(1.0, 2.0), Point(3.0, 4.0)
    assert [function(*floats) for _ in range(6)] == [40.0] * 6
    stats = minijit.stats(function)
    assert stats.entries == 2
    assert stats.misses < 6


OFF = """
import minijit
def function(a): return a
code = function.__code__
assert minijit.compile(function) is function
assert function.__code__ is code
"""


def test_minijit_0_in_the_environment():
    done = subprocess.run([sys.executable, "-P", "-c", OFF], env={**os.environ, "MINIJIT": "0"}, timeout=60,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_frozen_gives_back_its_argument():
    settings = {"scale": 2}
    assert minijit.frozen(settings) is settings
