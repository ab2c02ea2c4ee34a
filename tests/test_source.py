"""Source does what the function does: on every case file, calls and failures alike."""

import functools
import importlib.util
import itertools
import pathlib
import sys

import pytest

from minijit.as_python.writer import Writer
from minijit.explain import bind, explain, explain_call, underlying
from minijit.harness.observe import Arguments
from minijit.harness.snapshot import difference, snapshot_roots
from minijit.interpreter.ir import Block, Const, Operation, Region, Return, Value
from minijit.options import Options

HERE = pathlib.Path(__file__).parent / "cases"


LEFT_OUT = {
    "case_builtins_patched": "source itself needs the builtins",
    "case_gen_consumer_exception_not_thrown_in": "a frame of source lives a little longer",
    "case_exception_class_with_hostile_attributes": "looks at its traceback",
    "case_raised_exception_identity": "looks at its traceback",
}


def load(name):
    spec = importlib.util.spec_from_file_location(f"source_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


semantics, dynamo = load("semantics_cases"), load("dynamo_cases")
CASES = {**semantics.all_cases(), **{case.__name__: case for case in dynamo.CASES}}


def outcome(function, args, kwargs):
    """What a call gives and leaves behind; tracebacks tell any two functions apart."""
    try:
        return snapshot_roots({"result": function(*args, **kwargs), "args": args})
    except Exception as error:
        return snapshot_roots({"exception": type(error), "text": str(error), "args": args})


def prepare(case):
    dynamo._NS_COUNT = itertools.count()
    function, make_args = case()
    makers = getattr(make_args, "variants", None) or [make_args]
    return function, makers


def arguments(made):
    return (made.positional, made.keywords) if isinstance(made, Arguments) else (tuple(made), {})


def calls(case, as_source):
    """Outcomes of all calls of a case, as it is or as source; and what the source says of itself."""
    function, makers = prepare(case)
    how = ""
    if as_source:
        args, kwargs = arguments(makers[0]())
        try:
            python, args = underlying(function, args)
        except TypeError:
            return None, "not a Python function"
        made = explain_call(python, bind(python, args, kwargs), Options())
        how = made.source.reason or "structured"
        if made.refused is not None and getattr(made.refused, "code", "MJ007") == "MJ007":
            return None, f"MJ007 {made.refused}"
        if made.source.function is None:
            return None, how
        function = made.source.function
        own = args[: len(args) - len(arguments(makers[0]())[0])]
        function = functools.partial(function, *own) if own else function
    return [outcome(function, *arguments(make())) for make in makers for _ in range(2)], how


def compare(case):
    expected, _ = calls(case, False)
    actual, how = calls(case, True)
    if actual is None:
        return {"failure": how if how.startswith("MJ007") or "internal error" in how else None, "how": how}
    found = next((d for pair in zip(expected, actual, strict=True) if (d := difference(*pair))), None)
    if found is not None and any(difference(*pair) for pair in zip(expected, calls(case, False)[0], strict=True)):
        found = None  # it is not the same plain twice
    return {"failure": found, "how": how}


@pytest.mark.parametrize("name", [name for name in CASES if name not in LEFT_OUT])
def test_source_does_the_same(name, isolated):
    result = isolated(functools.partial(compare, CASES[name]))
    assert result["failure"] is None, f"{result['failure']}\n({result.get('how')})"


class Account:
    def __init__(self, balance):
        self.balance = balance

    def add(self, amount):
        self.balance = self.balance + amount


def deposit(account, amounts, log):
    for amount in amounts:
        account.add(amount)
        log.append(amount)
    return account.balance


LEAVING = {
    "the same": lambda: (Account(1), [1, 2], []),
    "another type at the entry": lambda: (Account(1), (1, 2), []),
    "another type half-way": lambda: (Account(1), [1, 2.5, 3], []),
    "an exception half-way": lambda: (Account(1), [1, "x", 3], []),
    "nothing": lambda: (Account(1), [], []),
}


@pytest.mark.parametrize("how", LEAVING)
def test_source_leaves_where_compiled_code_does(how):
    made = explain(deposit, *LEAVING["the same"]()).source
    assert made.complete, made.reason
    expected, actual = outcome(deposit, LEAVING[how](), {}), outcome(made.function, LEAVING[how](), {})
    assert difference(expected, actual) is None


def test_a_wrong_source_would_be_told_apart():
    made = explain(deposit, *LEAVING["the same"]()).source
    wrong = made.text.replace("append", "remove", 1)
    assert wrong != made.text
    namespace = dict(made.function.__wrapped__.__globals__)
    exec(wrong, namespace)
    expected, actual = (outcome(f, LEAVING["the same"](), {}) for f in (deposit, namespace["deposit"]))
    assert difference(expected, actual) is not None


def test_source_keeps_names_and_says_where_it_comes_from():
    text = explain(deposit, *LEAVING["the same"]()).source.text
    assert "def deposit(account, amounts, log):" in text
    assert "# line" in text
    assert "account.add(amount)" in text


def fresh(n):
    return ({} is {}, [] is None), n  # noqa: F632


def test_what_is_new_at_each_call_is_new_in_source():
    made = explain(fresh, 1).source
    assert made.complete
    assert made.function(1)[0] is not made.function(1)[0]


class Sum:
    def __init__(self):
        self.total = 0.5

    def add(self, value):
        self.total |= value


def in_place(value):
    result = Sum()
    result.add(value)
    return result.total


def test_messages_are_those_of_the_original():
    made = explain(in_place, 1).source
    assert made.complete, made.reason
    expected, actual = outcome(in_place, (1,), {}), outcome(made.function, (1,), {})
    assert difference(expected, actual) is None


def unusual(items):
    with open(items) as file:
        return file.read()


def test_what_cannot_be_source_says_why():
    made = explain(unusual, "nowhere").source
    assert made.function is None
    assert "BEFORE_WITH" in made.reason
    assert made.text.startswith("# region")


BARE = Writer(Region(unusual.__code__, (), [], [Block(0, [], [], Return(Const(None)))]), unusual)


def test_a_value_that_was_cleaned_away_is_not_dropped():
    assert BARE.operation(Operation("drop", (Value(99),))) == []
