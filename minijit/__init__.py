"""A JIT for plain Python, from bytecode to bytecode."""

from minijit.decorator import compile, disable, enable, reset, stats
from minijit.errors import InternalError, MinijitError, Unsupported
from minijit.frozen import frozen

__version__ = "0.1.0"

__all__ = [
    "InternalError",
    "MinijitError",
    "Unsupported",
    "compile",
    "disable",
    "enable",
    "frozen",
    "reset",
    "stats",
]
