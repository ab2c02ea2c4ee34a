"""minijit: a JIT for plain Python, from bytecode to bytecode."""

from minijit.decorator import compile, disable, enable, reset, stats
from minijit.errors import InternalError, MinijitError, Unsupported
from minijit.frozen import frozen
from minijit.stats import Stats

__all__ = [
    "InternalError",
    "MinijitError",
    "Stats",
    "Unsupported",
    "compile",
    "disable",
    "enable",
    "frozen",
    "reset",
    "stats",
]

__version__ = "0.1.0"
