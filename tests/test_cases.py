"""The project's own case files: each passes plain, and compiled does the same in everything one can see.

A case is loaded twice, since its function and arguments may share state. It runs in a process of its own.
"""

import functools
import importlib.util
import itertools
import os
import pathlib
import sys

import pytest

import minijit
from minijit.harness.reach import reach
from minijit.harness.same import first_difference, record
from minijit.harness.snapshot import difference, snapshot_roots
from minijit.harness.state import State
from minijit.install import install
from minijit.options import Options

HERE = pathlib.Path(__file__).parent / "cases"
CALLS = 4
"""One to warm up, three compiled."""
COMPILING = "MINIJIT_CASES_COMPILE"
PLAIN, NORMAL, GAINLESS = "", "where it pays", "always"


def load(name):
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


semantics, dynamo = load("semantics_cases"), load("dynamo_cases")
SEMANTICS = semantics.all_cases()
DYNAMO = {case.__name__: case for case in dynamo.CASES}


def jit(function):
    """Compile inside of a case; the switch is in the environment, where the comparison doesn't look."""
    wanted = os.environ.get(COMPILING)
    if wanted == GAINLESS:
        install(function, Options(gainless=True))
        return function
    return minijit.compile(function) if wanted else function


def prepare(case, compiling):
    """Load a case: its function and the makers of its arguments, one for each call."""
    os.environ[COMPILING] = compiling
    semantics.JIT = jit
    dynamo._NS_COUNT = itertools.count()
    function, make_args = case()
    makers = getattr(make_args, "variants", None) or [make_args]
    return jit(function), makers * max(2, CALLS // len(makers))


def run(case, compiling):
    """Record one run of a case and put its module's state back."""
    function, makers = prepare(case, compiling)
    state = State(reach(function), [])
    try:
        return function, record(function, makers)
    finally:
        state.restore()


def compare(case, how=NORMAL):
    """Compare a case compiled with the same case plain. What isn't the same plain twice can't be compared."""
    _, expected = run(case, PLAIN)
    compiled, actual = run(case, how)
    stats = minijit.stats(compiled)
    found = first_difference(expected, actual)
    if found is not None and first_difference(expected, run(case, PLAIN)[1]) is not None:
        found = own_difference(case, how)
    return {"failure": found, "hits": stats.hits, "aborts": stats.aborts, "state": stats.state,
            "reason": stats.reason or f"{stats.state}, {stats.aborts} aborts, {stats.misses} misses"}  # fmt: skip


def own_difference(case, how):
    """Compare as the case file itself does."""
    if case in DYNAMO.values():
        good, observed = dynamo.check(case, jit)
        return None if good else f"expected {case.expect!r}, observed {observed!r}"
    outcomes = []
    for compiling in (PLAIN, how):
        function, makers = prepare(case, compiling)
        outcomes.append([semantics.outcome(function, make()) for make in makers])
    return None if outcomes[0] == outcomes[1] else f"expected {outcomes[0]}, got {outcomes[1]}"


def check(case, suite, isolated, share, how=NORMAL):
    result = isolated(functools.partial(compare, case, how))
    share.append({"suite": suite, "hits": 0, "state": "failed", "reason": "failed", **result})
    assert result["failure"] is None, f"{result['failure']}\n({result.get('state')}, {result.get('hits')} hits)"
    assert "MJ007" not in result["reason"], result["reason"]


def plain_semantics(case):
    """Run a case as its file's own check does."""
    os.environ[COMPILING] = PLAIN
    function, make_args = case()
    kind, value = semantics.outcome(function, make_args())[0]
    if function.raises:
        return {"failure": None if kind == "raise" and value[0][0] == function.raises[0].__name__ else f"{kind} {value}"}
    if kind != "ok" or function.expect is semantics._NO:
        return {"failure": None if kind == "ok" else f"raised {value}"}
    got = semantics.snap(function(*make_args()), topology=False)
    return {"failure": None if got == semantics.snap(function.expect, topology=False) else f"got {got}"}


def plain_dynamo(case):
    good, observed = dynamo.check(case)
    return {"failure": None if good else f"expected {case.expect!r}, observed {observed!r}"}


@pytest.mark.parametrize("name", SEMANTICS)
def test_semantics_plain(name, isolated):
    assert isolated(lambda: plain_semantics(SEMANTICS[name]))["failure"] is None


@pytest.mark.parametrize("name", DYNAMO)
def test_dynamo_plain(name, isolated):
    assert isolated(lambda: plain_dynamo(DYNAMO[name]))["failure"] is None


@pytest.mark.parametrize("name", SEMANTICS)
def test_semantics_compiled(name, isolated, share):
    check(SEMANTICS[name], "semantics", isolated, share)


@pytest.mark.parametrize("name", DYNAMO)
def test_dynamo_compiled(name, isolated, share):
    check(DYNAMO[name], "dynamo", isolated, share)


def looks(function, arguments):
    """Take the snapshot of a call without the traceback, which tells any two functions apart."""
    try:
        return snapshot_roots({"result": function(*arguments), "args": arguments})
    except Exception as error:
        return snapshot_roots({"exception": type(error), "text": str(error), "args": arguments})


@pytest.mark.parametrize("name", SEMANTICS)
def test_semantics_compiled_regardless(name, isolated, share):
    check(SEMANTICS[name], "semantics, gain or not", isolated, share, GAINLESS)


@pytest.mark.parametrize("name", DYNAMO)
def test_dynamo_compiled_regardless(name, isolated, share):
    check(DYNAMO[name], "dynamo, gain or not", isolated, share, GAINLESS)


def naive_difference(case):
    """Ask the harness to tell the wrong transformation that a case carries from the right one."""
    function, makers = prepare(case, PLAIN)
    expected, wrong = (looks(each, makers[0]()) for each in (function, function.naive))
    return {"failure": None if difference(expected, wrong) else "not told apart"}


@pytest.mark.parametrize("name", [name for name, case in SEMANTICS.items() if case()[0].naive])
def test_wrong_transformations_are_told_apart(name, isolated):
    assert isolated(lambda: naive_difference(SEMANTICS[name]))["failure"] is None
