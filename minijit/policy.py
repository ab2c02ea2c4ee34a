"""`replay="log"` and `replay="error"`: what a compiled function changes that its caller can see.

    shop/cart.py:12:9: list.append on self.items

Effects that compiled code replays are named by operation and target. An instruction that runs as it
is may change anything; it is reported as such.
"""

from __future__ import annotations

import logging

from minijit.errors import Unsupported
from minijit.interpreter.interpret import Outcome
from minijit.interpreter.notes import Note
from minijit.options import Options

__all__ = ["LOGGER", "apply", "line", "visible"]

LOGGER = logging.getLogger("minijit.replay")


def apply(options: Options, outcome: Outcome) -> None:
    """Log the effects or refuse them, as the options say."""
    if options.replay == "silent":
        return
    notes = visible(outcome)
    if options.replay == "error" and notes:
        first = notes[0]
        raise Unsupported("MJ008", line(first), filename=first.filename, line=first.position[0])
    for note in notes:
        LOGGER.warning("%s", line(note))


def visible(outcome: Outcome) -> list[Note]:
    """Notes of all that may be seen from outside, in the order of the program's lines."""
    found = [note for kind in ("effect", "kept") for note in outcome.notes.of(kind) if note.text]
    return sorted(found, key=lambda note: (note.filename, note.position[0] or 0, note.position[2] or 0))


def line(note: Note) -> str:
    """File, line and column (counted from one), operation and target."""
    row, column = note.position[0], note.position[2]
    parts = (note.filename, row, None if column is None else column + 1)
    place = ":".join(str(part) for part in parts if part is not None)
    return f"{place}: {note.text}" + (" (runs as it is and may change anything)" if note.kind == "kept" else "")
