"""Three quick modules of CPython's tests, every function taken over; the whole list is run by run.py."""

import importlib.util
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import suite

pytestmark = pytest.mark.skipif(importlib.util.find_spec("test.libregrtest") is None, reason="no tests of CPython here")
SECONDS = 120


@pytest.mark.parametrize("mode", ["identity", "full"])
def test_same_outcomes(mode):
    modules = ("test_grammar", "test_generators", "test_contextlib")
    plain = suite.run(modules, "plain", SECONDS)
    result = suite.run(modules, mode, SECONDS)
    assert result.ending == "", result.output
    assert result.outcomes == plain.outcomes
    compiled, _, _, errors = result.counts()
    assert compiled > 300, result.report
    assert errors == 0, result.report


def test_crash_is_told(tmp_path):
    ending, _ = suite.finish([sys.executable, "-c", "import os; os.abort()"], SECONDS, tmp_path)
    assert ending == "crashed: SIGABRT"
