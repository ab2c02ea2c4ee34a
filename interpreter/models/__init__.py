"""Models of builtin callables; importing the package registers them."""

from minijit.interpreter.models import deques, dicts, iteration, lists, plain, sets, types

__all__ = ["deques", "dicts", "iteration", "lists", "plain", "sets", "types"]
