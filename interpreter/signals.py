"""How a handler says that it can't go on as it is; none of these leaves the interpreter."""

from __future__ import annotations


class Signal(Exception):
    """Base of what the block tracer catches."""


class Opaque(Signal):
    """The running instruction can't be modelled: commit and run the original one."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class CommitFirst(Signal):
    """The running instruction must not see pending effects: commit, then interpret it again."""


class Leave(Signal):
    """Compiled code ends here: the original goes on, or does it again from the last commit point."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class CallForReal(Signal):
    """What the root frame's instruction at `pc` inlines needs a real frame: start again without."""

    def __init__(self, pc: int, reason: str) -> None:
        super().__init__(reason)
        self.pc = pc
        self.reason = reason


class CommitNeeded(Signal):
    """The root frame's instruction at `pc` must begin at a commit point: start again so."""

    def __init__(self, pc: int) -> None:
        super().__init__(pc)
        self.pc = pc


class KeyLocalNeeded(Signal):
    """A local that indexes static data was generalised: start again, telling its values apart."""

    def __init__(self, key: tuple[int, int]) -> None:
        super().__init__(key)
        self.key = key


class OverBudget(Signal):
    """A budget ran out."""
