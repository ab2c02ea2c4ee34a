"""Every exception of the project. Imports nothing of the rest but the table of codes."""

from __future__ import annotations

from minijit.codes import CODES

__all__ = ["InternalError", "MinijitError", "Unsupported"]


class MinijitError(Exception):
    """Base of what minijit raises."""


class InternalError(MinijitError):
    """minijit itself is wrong; the function goes on uncompiled. `details` is the traceback, as text."""

    details = ""


class Unsupported(MinijitError):
    """A function is left as it is, and why.

    `code` names a row of `minijit.codes.CODES`; `filename`, `line` and `column` are the user's own
    source; `hint` says what to do instead.
    """

    def __init__(
        self,
        code: str,
        reason: str,
        *,
        filename: str | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason
        self.filename = filename
        self.line = line
        self.column = column
        self.hint = CODES[code].advice if hint is None else hint

    @property
    def place(self) -> str:
        """File, line and column as far as they are known, ready to print."""
        return ":".join(str(part) for part in (self.filename, self.line, self.column) if part is not None)

    def __str__(self) -> str:
        place = f" at {self.place}" if self.place else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.code}{place}: {self.reason}{hint}"
