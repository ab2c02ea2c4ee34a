"""Counting and calling back, redo, capture of frames, raw stores, and what the compiler asks."""

import gc
import subprocess
import sys
import sysconfig
import threading
import traceback
import types
import weakref

import pytest

from minijit import _shim
from minijit._shim import Check, Counter, Effect, Entry
from minijit.codegen import embed

# ---- counting ----


def stubbed(function, callback, **limits):
    counter = Counter(callback, **limits)
    function.__code__ = embed.stub(function.__code__, Entry(None, counter))
    return counter


def test_a_stub_calls_back_once_with_the_arguments():
    events = []

    def function(a, b=2, *rest, c=3, **others):
        def inner():
            return a

        return inner, b, rest, c, others

    counter = stubbed(function, lambda *event: events.append(event), warmup=2)
    function(1)
    assert events == []
    function(1, 5, 6, 7, c=8, d=9)
    function(1)
    assert events == [("warm", function, (1, 5, 8, (6, 7), {"d": 9}))]
    assert (counter.calls, counter.misses, counter.warmup) == (3, 0, -1)


def test_a_limit_set_again_calls_back_again():
    events = []

    def function():
        return None

    counter = stubbed(function, lambda *event: events.append(event[0]))
    function()
    counter.warmup = counter.calls + 2
    function()
    function()
    assert events == ["warm", "warm"]


def entered(function, tests, callback=None, **limits):
    counter = Counter(callback, **limits)
    function.__code__ = embed.identity(function.__code__, Entry(tests, counter))
    return counter


def test_hits_and_misses_are_counted():
    events = []

    def function(a):
        return a

    counter = entered(function, [("type", 0, int)], lambda *event: events.append(event), miss_limit=2)
    for argument in (1, "a", 2, "b", "c"):
        assert function(argument) == argument
    assert (counter.calls, counter.misses) == (5, 3)
    assert events == [("miss", function, ("b",))]


def test_only_the_last_entry_counts_a_miss():
    def function(a, entry):
        return bool(entry)

    counter = Counter(None)
    assert function("a", Entry([("type", 0, int)], counter, last=False)) is False
    assert counter.calls == 0


def test_a_failed_check_counts_an_abort():
    events = []

    def function(a, check):
        return bool(check)

    counter = Counter(lambda *event: events.append(event[0]), abort_limit=2)
    check = Check([("type", 0, int)], counter)
    assert [function(a, check) for a in (1, "a", "b", "c")] == [True, False, False, False]
    assert counter.aborts == 3
    assert events == ["abort"]


def test_a_generator_is_asked_in_its_own_frame():
    def numbers(n):
        yield n
        yield n + 1

    counter = entered(numbers, [("type", 0, int)])
    assert list(numbers(1)) == [1, 2]
    assert (counter.calls, counter.misses) == (1, 0)


# ---- callbacks that fail ----


def test_a_failing_callback_is_reported_and_forgotten(monkeypatch):
    reports = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: reports.append(report.exc_type))

    def function():
        return 7

    def fail(*event):
        raise ZeroDivisionError

    stubbed(function, fail)
    assert function() == 7
    assert reports == [ZeroDivisionError]


def test_an_answer_is_raised_in_the_function():
    def function():
        return 7

    stubbed(function, lambda *event: LookupError("strict"))
    with pytest.raises(LookupError, match="strict"):
        function()
    assert function() == 7


def test_an_interrupt_goes_on_to_the_user():
    def function():
        return 7

    def interrupt(*event):
        raise KeyboardInterrupt

    stubbed(function, interrupt)
    with pytest.raises(KeyboardInterrupt):
        function()
    assert function() == 7


def test_a_callback_is_not_called_while_one_runs():
    events = []

    def inner():
        return None

    def outer():
        return None

    stubbed(inner, lambda *event: events.append("inner"))
    stubbed(outer, lambda *event: (events.append("outer"), inner()))
    outer()
    assert events == ["outer"]
    inner()
    assert events == ["outer", "inner"]


def test_a_callback_leaves_the_handled_exception_alone():
    def function():
        return sys.exc_info()[1]

    def quiet(*event):
        try:
            raise ValueError
        except ValueError:
            pass

    stubbed(function, quiet)
    try:
        raise KeyError("mine")
    except KeyError as error:
        seen = function(), error, error.__context__
    assert seen[0] is seen[1]
    assert seen[2] is None


# ---- tracing and switching off ----


def asks(a, entry):
    return not not entry


def entry_of_int():
    return Entry([("type", 0, int)], Counter(None))


@pytest.mark.parametrize("install", [sys.settrace, sys.setprofile])
def test_no_entry_under_a_tracer(install):
    entry = entry_of_int()
    assert asks(1, entry) is True
    install(lambda *event: None)
    try:
        observed = asks(1, entry)
    finally:
        install(None)
    assert observed is False
    assert asks(1, entry) is True
    assert entry.counter.calls == 2


def test_another_threads_tracer_does_not_matter():
    entry = entry_of_int()
    ready, done = threading.Event(), threading.Event()

    def traced():
        sys.settrace(lambda *event: None)
        ready.set()
        done.wait()

    thread = threading.Thread(target=traced)
    thread.start()
    ready.wait()
    answer = asks(1, entry)
    done.set()
    thread.join()
    assert answer is True


@pytest.mark.skipif(sys.version_info < (3, 12), reason="there is no sys.monitoring")
def test_no_entry_under_monitoring():
    tool, monitoring, entry = 3, sys.monitoring, entry_of_int()
    monitoring.use_tool_id(tool, "test")
    try:
        assert asks(1, entry) is True
        monitoring.set_events(tool, monitoring.events.LINE)
        everywhere = asks(1, entry)
        monitoring.set_events(tool, 0)
        monitoring.set_local_events(tool, asks.__code__, monitoring.events.PY_RETURN)
        here = asks(1, entry)
        monitoring.set_local_events(tool, asks.__code__, 0)
        assert asks(1, entry) is True
    finally:
        monitoring.free_tool_id(tool)
    assert (everywhere, here) == (False, False)


def test_enable():
    entry = entry_of_int()
    assert _shim.enable(False) is True
    try:
        assert asks(1, entry) is False
    finally:
        assert _shim.enable(True) is False
    assert asks(1, entry) is True
    assert entry.counter.calls == 1


# ---- is_redo ----


def redo(kind, counter):
    """What an abort pad learns about an exception of its own frame."""
    try:
        raise kind
    except kind as error:
        return _shim.is_redo(error, counter)


@pytest.mark.parametrize("kind", [TypeError, KeyError, AttributeError, StopIteration, MemoryError, RecursionError])
def test_pure_work_is_done_again(kind):
    counter = Counter(None)
    assert redo(kind, counter) is True
    assert counter.aborts == 1


class OwnKeyError(KeyError):
    pass


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit, OwnKeyError, Exception, OSError, Warning])
def test_what_pure_work_does_not_raise_is_kept(kind):
    counter = Counter(None)
    assert redo(kind, counter) is False
    assert counter.aborts == 0


def test_what_came_through_another_frame_is_kept():
    def below():
        raise KeyError

    try:
        below()
    except KeyError as error:
        answer = _shim.is_redo(error, Counter(None))
    assert answer is False
    assert _shim.is_redo(KeyError(), Counter(None)) is False


def test_is_redo_takes_what_it_takes():
    with pytest.raises(TypeError):
        _shim.is_redo(KeyError())
    with pytest.raises(TypeError):
        _shim.is_redo(KeyError(), None)


# ---- capture ----


@pytest.fixture
def captured():
    """Names and arguments of captured calls; each is given a second body that counts."""
    calls = []

    def take(function, arguments):
        calls.append((function.__name__, arguments))
        function.__code__ = embed.identity(function.__code__, Entry([], counter))

    counter = Counter(None)
    _shim.capture(take)
    yield calls, counter
    _shim.release()


def everything(a, b=2, /, c=3, *rest, d, e=5, **others):
    def inner():
        return a, d

    return inner(), b, c, rest, e, others


def nothing():
    return "nothing"


def failing(a):
    raise ValueError(a)


def counting(n):
    for i in range(n):
        yield i


async def waiting(n):
    return n


def fresh(function):
    return types.FunctionType(function.__code__, globals(), function.__name__, function.__defaults__)


def watched(function):
    function = fresh(function)
    function.__kwdefaults__ = {"e": 5} if function.__name__ == "everything" else None
    _shim.watch(function.__code__)
    return function


def test_the_captured_call_runs_the_new_code(captured):
    calls, counter = captured
    function = watched(everything)
    assert function(1, d=4) == ((1, 4), 2, 3, (), 5, {})
    assert calls == [("everything", (1, 2, 3, 4, 5, (), {}))]
    assert function(1, 0, 7, 8, 9, d=4, e=6, a="a", z="z") == ((1, 4), 0, 7, (8, 9), 6, {"a": "a", "z": "z"})
    assert len(calls) == 1
    assert counter.calls == 2


def test_all_kinds_of_functions_are_captured(captured):
    calls, counter = captured
    assert watched(nothing)() == "nothing"
    assert list(watched(counting)(3)) == [0, 1, 2]
    with pytest.raises(StopIteration, match="8"):
        watched(waiting)(8).send(None)
    assert [name for name, _ in calls] == ["nothing", "counting", "waiting"]
    assert counter.calls == 3


def test_an_exception_of_a_captured_call_has_the_usual_traceback(captured):
    function = watched(failing)
    for _ in range(2):
        with pytest.raises(ValueError, match="text") as caught:
            function("text")
        assert [entry.name for entry in traceback.extract_tb(caught.value.__traceback__)][-1:] == ["failing"]
        assert len(traceback.extract_tb(caught.value.__traceback__)) == 2


def test_arguments_are_neither_kept_nor_lost(captured):
    class Argument:
        pass

    reference = None
    for _ in range(200):
        argument = Argument()
        reference = weakref.ref(argument)
        watched(everything)(argument, argument, argument, argument, d=argument, z=argument)
        captured[0].clear()
        del argument
        gc.collect() if reference() is not None else None
        assert reference() is None


def test_a_function_left_as_it_is_runs_its_own_code():
    _shim.capture(lambda function, arguments: None)
    try:
        assert watched(everything)(1, d=4) == ((1, 4), 2, 3, (), 5, {})
    finally:
        _shim.release()


def test_what_the_callback_raises():
    def interrupt(function, arguments):
        raise KeyboardInterrupt

    try:
        _shim.capture(interrupt)
        with pytest.raises(KeyboardInterrupt):
            watched(nothing)()
        _shim.capture(lambda function, arguments: LookupError("answer"))
        with pytest.raises(LookupError, match="answer"):
            watched(everything)(1, d=4)
    finally:
        _shim.release()
    assert nothing() == "nothing"


def test_an_unwatched_function_is_not_captured(captured):
    function = watched(nothing)
    _shim.unwatch(function.__code__)
    function()
    assert captured[0] == []


def test_every_new_code_object_is_asked_about_once():
    asked, taken = [], []

    def wanted(code):
        asked.append(code.co_name)
        return code.co_name == "inner"

    def make(a):
        def inner(b):
            return a + b

        return inner

    _shim.capture(lambda function, arguments: taken.append(arguments), wanted)
    try:
        results = [make(a)(1) for a in range(3)]
    finally:
        _shim.release()
    assert results == [1, 2, 3]
    assert taken == [(1,)] * 3
    assert asked.count("make") == 1
    assert asked.count("inner") == 1


DEEP = """
import sys
from minijit import _shim
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)
_shim.capture(lambda function, arguments: None, lambda code: True)
sys.setrecursionlimit(10 ** 6)
assert depth(100_000) == 100_000
sys.setrecursionlimit(1000)
try:
    depth(2000)
except RecursionError as error:
    print(error)
assert depth(900) == 900
"""


def test_deep_recursion_ends_where_it_does_without_a_hook():
    done = subprocess.run([sys.executable, "-P", "-c", DEEP], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.startswith("maximum recursion depth exceeded"), done.stderr


@pytest.mark.parametrize("call", [_shim.watch, _shim.unwatch])
def test_only_code_is_watched(call):
    with pytest.raises(TypeError, match="only code objects"):
        call(nothing)


# ---- raw stores, effects ----


class Guarded:
    __slots__ = ("slot", "__dict__")

    def __setattr__(self, name, value):
        raise AssertionError("__setattr__ ran")

    __delattr__ = __setattr__

    @property
    def hooked(self):
        raise AssertionError("a property ran")


@pytest.mark.parametrize("name", ["slot", "plain", "hooked"])
def test_raw_store_and_delete(name):
    instance = Guarded()
    _shim.set_instance_attribute(instance, name, 1)
    if name == "slot":
        assert instance.slot == 1
    else:
        assert vars(instance) == {name: 1}
        assert _shim.instance_attribute(instance, name) == 1
    _shim.delete_instance_attribute(instance, name)
    assert vars(instance) == {}
    with pytest.raises((AttributeError, KeyError)):
        _shim.delete_instance_attribute(instance, name)


def test_raw_store_in_a_class_is_seen_by_its_instances():
    class Base:
        value = 1

    class Derived(Base):
        pass

    version = _shim.type_version(Derived)
    assert Derived().value == 1
    _shim.set_instance_attribute(Base, "value", 2)
    assert Derived().value == 2
    assert _shim.type_version(Derived) != version


def test_raw_store_where_nothing_can_be_stored():
    with pytest.raises(AttributeError):
        _shim.set_instance_attribute(3, "name", 1)
    with pytest.raises(TypeError):
        _shim.set_instance_attribute(Guarded(), "name")


def test_effect():
    items = []
    Effect(list.append)[items, 1]
    assert items == [1]
    with pytest.raises(TypeError):
        Effect(list.append)[[items, 1]]
    with pytest.raises(TypeError):
        Effect(nothing)


# ---- what the compiler asks ----


def test_member_offset():
    class Slots:
        __slots__ = ("a", "b")

    assert _shim.member_offset(Slots.b) - _shim.member_offset(Slots.a) == 8
    assert _shim.member_offset(type.__basicsize__) is None
    assert _shim.member_offset(vars(type)["__basicsize__"]) is None
    assert _shim.member_offset(vars(types.FunctionType)["__closure__"]) is None


def test_instance_attribute_makes_no_dict():
    class Plain:
        pass

    instance = Plain()
    instance.name = 1
    before = sys.getsizeof(instance), len(gc.get_referents(instance))
    assert _shim.instance_attribute(instance, "name") == 1
    with pytest.raises(LookupError):
        _shim.instance_attribute(instance, "__class__")
    assert (sys.getsizeof(instance), len(gc.get_referents(instance))) == before


def test_type_version_moves():
    class Plain:
        pass

    version = _shim.type_version(Plain)
    assert version
    assert _shim.type_version(Plain) == version
    Plain.name = 1
    assert _shim.type_version(Plain) not in (0, version)
    with pytest.raises(TypeError):
        _shim.type_version(3)


def test_hiding_locals_changes_nothing_else():
    def function(a):
        b = a
        return b

    code = function.__code__.replace()
    _shim.hide_locals(code, 1, 1)
    assert (code.co_varnames, code.co_nlocals) == (("a", "b"), 2)
    function.__code__ = code
    assert function(1) == 1
    with pytest.raises(ValueError, match="no such locals"):
        _shim.hide_locals(code, 1, 7)


# ---- interpreters it is not for ----


def in_subinterpreter(source):
    program = f"""
import importlib
for name in ("_interpreters", "_xxsubinterpreters"):
    try:
        module = importlib.import_module(name)
        break
    except ImportError:
        pass
failure = module.run_string(module.create(), {source!r})
if failure:
    raise SystemExit(str(failure))
"""
    return subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=60, check=False)


def test_a_subinterpreter_gets_an_import_error():
    done = in_subinterpreter("import minijit._shim")
    assert done.returncode == 1
    assert "ImportError" in done.stderr
    assert "interpreter" in done.stderr


def test_the_shim_is_a_plain_extension():
    assert _shim.__file__.endswith(sysconfig.get_config_var("EXT_SUFFIX"))
