"""Models of builtin callables; importing the package registers them."""

from minijit.interpreter.models import plain, sequences, types

__all__ = ["plain", "sequences", "types"]
