"""How a command ends. docs/cli.md documents the exit codes."""

from __future__ import annotations

__all__ = ["ARGUMENTS", "DIFFERENCE", "INTERNAL", "NOT_FOUND", "NOT_PYTHON", "OK", "UNFIT", "USAGE", "Failure"]

OK = 0
DIFFERENCE = 1
"""Something was found: a difference, or a result that is not as it should be."""
USAGE = 2
NOT_FOUND = 3
"""No such file, module or function, or it can't be imported."""
ARGUMENTS = 4
"""The arguments of --call raise, or do not fit the function."""
NOT_PYTHON = 5
"""Not a Python function, or not a single one."""
UNFIT = 6
"""This interpreter is not one that minijit works in."""
INTERNAL = 70
"""A bug in minijit."""


class Failure(Exception):
    """One sentence for the user, and an exit code."""

    def __init__(self, exit_code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code
