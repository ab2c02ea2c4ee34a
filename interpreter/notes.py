"""What interpretation has to tell a person: what was inlined, kept, built, committed, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from minijit.interpreter.instruction import Instruction
from minijit.interpreter.ir import Operation, Position

if TYPE_CHECKING:
    from minijit.interpreter.state import Pending


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that happened at a line. `kind`: inlined, kept, built, removed, folded, left, effect.

    `origin`: where what was inlined was written.
    """

    kind: str
    filename: str
    position: Position
    text: str
    origin: str = ""

    def __str__(self) -> str:
        return f"{self.filename}:{self.position[0]}: {self.kind}: {self.text}"


@dataclass(eq=False, slots=True)
class Notes:
    """Collected while tracing (mutates); the same note is kept once."""

    filename: str = ""
    found: dict[tuple[Any, ...], Note] = field(default_factory=dict)
    replayed: list[tuple[Operation, Note]] = field(default_factory=list)
    """Each operation that replays a ledger entry, with the entry's own place."""

    def add(self, kind: str, position: Position, text: str, filename: str | None = None, origin: str = "") -> Note:
        """Note something."""
        note = Note(kind, self.filename if filename is None else filename, position, text, origin)
        return self.found.setdefault((kind, note.filename, position, text), note)

    def effect(self, entry: Pending, operation: Operation) -> None:
        """A ledger entry was committed."""
        self.replayed.append((operation, self.add("effect", entry.position, entry.text, entry.filename)))

    def opaque(self, position: Position, inst: Instruction, reason: str) -> None:
        """An instruction was kept as it is."""
        self.add("kept", position, f"{inst.op}: {reason}")

    def left(self, position: Position, reason: str) -> None:
        """Compiled code ends here."""
        self.add("left", position, reason)

    def of(self, kind: str) -> list[Note]:
        """All notes of a kind, in order."""
        return [note for note in self.found.values() if note.kind == kind]

    def gains(self) -> int:
        """How many things were removed from the program: nothing means leave it alone."""
        return sum(note.kind in ("inlined", "removed", "folded") for note in self.found.values())
