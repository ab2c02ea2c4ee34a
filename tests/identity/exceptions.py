"""What exceptions.txt expects to differ, and why.

A line of it: versions | modes | module | pattern of the test's name | reason.
"""

from __future__ import annotations

import fnmatch
import functools
from pathlib import Path


@functools.cache
def table() -> list[list[str]]:
    """The lines of the file, split."""
    text = Path(__file__).with_name("exceptions.txt").read_text()
    return [[part.strip() for part in line.split("|", 4)] for line in text.splitlines() if line and line[0] != "#"]


def expected(version: str, mode: str, module: str, test: str) -> str | None:
    """Tell the reason why a test differs, if that is expected."""
    for versions, modes, name, pattern, reason in table():
        if version in versions and mode in modes and fnmatch.fnmatchcase(module, name):
            if fnmatch.fnmatchcase(test, pattern):
                return reason
    return None
