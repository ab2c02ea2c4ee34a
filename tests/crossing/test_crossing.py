"""Some of the standard library's own tests, over code that leaves for the original at random places."""

import os
import pathlib
import subprocess
import sys

import pytest

CROSS = pathlib.Path(__file__).with_name("cross.py")
MODULES = [
    "test.test_with",
    "test.test_generators",
    "test.test_contextlib",
    "test.test_except_star",
    "test.test_asyncgen",
]


@pytest.mark.parametrize("module", MODULES)
def test_crossing(module):
    pytest.importorskip(module)
    command = [sys.executable, str(CROSS), module, "5", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=os.environ, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "'exits': 0" not in done.stdout
