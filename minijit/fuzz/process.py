"""How the fuzzer's child processes are started."""

from __future__ import annotations

import os
import sys


def command(module: str, *arguments: str) -> list[str]:
    """Give the command that runs one of our modules; `-P` keeps the current folder from shadowing it."""
    return [sys.executable, "-P", "-X", "faulthandler", "-m", module, *arguments]


def environment() -> dict[str, str]:
    """Give an environment with this process's import path and fixed string hashes."""
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0"}
