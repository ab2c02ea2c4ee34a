"""`pytest --minijit` on a small test file, in a process of its own."""

import os
import subprocess
import sys

import pytest

PROGRAM = '''
import os

import pytest

import minijit
from minijit import _shim
from minijit.testing import assert_compiled


class Number:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Number(self.value + other.value)


def total(values):
    result = Number(0)
    for value in values:
        result = result + Number(value)
    return result.value


def pair(value):
    return [value]


def test_total():
    for count in range(5):
        assert total(range(count)) == sum(range(count))


def test_total_is_compiled():
    for count in range(3):
        total(range(count))
    assert_compiled(total, inlined=["Number.__add__", "__init__"], objects_removed=1, max_guards=30, effects=[])


def test_assert_compiled_fails():
    for count in range(3):
        total(range(count))
    for wrong in ({"inlined": ["absent"]}, {"objects_removed": 99}, {"max_guards": 0}, {"effects": 3}, {"effects": ["x"]}):
        with pytest.raises(AssertionError, match="total is compiled, but"):
            assert_compiled(total, **wrong)
    with pytest.raises(AssertionError, match="was not given"):
        assert_compiled(os.path.join)


def test_pair():
    for _ in range(3):
        assert pair(1) == [1]


def test_same(minijit_same):
    minijit_same(total, lambda: ([1, 2],))


def test_always_wrong():
    assert pair(1) == [2]


def test_wrong_only_compiled():
    enabled = _shim.enable(True)
    _shim.enable(enabled)
    assert not enabled
'''


def run(tmp_path, *options):
    (tmp_path / "test_program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "minijit.pytest_plugin", *options]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONSAFEPATH": "1"}
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120).stdout


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return run(tmp_path_factory.mktemp("compiled"), "--minijit")


def test_outcomes_are_those_of_the_tests(report):
    assert "2 failed, 5 passed" in report


def test_what_passes_plain_is_blamed_on_minijit(report):
    assert "passes without minijit: test_program.py::test_wrong_only_compiled" in report
    assert "passes without minijit: test_program.py::test_always_wrong" not in report


def test_the_summary_counts_and_gives_reasons(report):
    assert "functions compiled" in report
    assert "refused: MJ009 nothing to gain" in report


def test_only_what_matches_is_compiled(tmp_path):
    report = run(tmp_path, "--minijit-only", "test_program.total")
    assert "1 functions compiled, 0 refused" in report


def test_without_the_option_nothing_is_compiled(tmp_path):
    report = run(tmp_path, "-k", "test_pair or test_same")
    assert "2 passed" in report
    assert "minijit" not in report.replace("test_program", "")
