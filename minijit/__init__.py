"""A JIT for plain Python, from bytecode to bytecode."""

# ruff: noqa: E402 - first of all, is this interpreter fit?
from minijit.fitness import require

require()

from minijit.decorator import compile, disable, enable, reset, stats
from minijit.errors import InternalError, MinijitError, Unsupported
from minijit.explain import Explanation, explain
from minijit.frozen import frozen

__version__ = "0.1.0"

__all__ = [
    "Explanation",
    "InternalError",
    "MinijitError",
    "Unsupported",
    "compile",
    "disable",
    "enable",
    "explain",
    "frozen",
    "reset",
    "stats",
]
