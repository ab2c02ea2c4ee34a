"""What happened to a function, from the notes of its interpretation: by line, by object, and what could be better."""

from __future__ import annotations

import linecache
import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from minijit.codes import CODES
from minijit.errors import InternalError, Unsupported
from minijit.interpreter.ir import Const, Region
from minijit.interpreter.notes import Note
from minijit.words import class_name

__all__ = ["Effect", "Happening", "Line", "Reason", "built_classes", "effects", "lines", "reasons", "unlock"]


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that happened at a line. `kind`: inlined, removed, folded, kept, left, effect."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the function's source with what became of it."""

    number: int
    source: str
    happened: tuple[Happening, ...]


@dataclass(frozen=True, slots=True)
class Effect:
    """A ledger entry: something its caller can see the function change. Columns count from one."""

    filename: str
    line: int | None
    column: int | None
    text: str

    def __str__(self) -> str:
        place = (near(self.filename), self.line, self.column)
        return ":".join(str(part) for part in place if part is not None) + f": {self.text}"


def near(filename: str) -> str:
    """A path as one would type it: relative to the current folder where it is in there."""
    folder = os.getcwd() + os.sep
    return filename.removeprefix(folder)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is as it was, and what would change that."""

    text: str
    advice: str = ""
    line: int | None = None
    code: str = ""

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line is not None else ""
        code = f"{self.code}: " if self.code else ""
        return place + code + self.text + (f" ({self.advice})" if self.advice else "")


def effects(notes: Iterable[Note]) -> tuple[Effect, ...]:
    """The ledger, without what only the debugger of the original would see."""
    found = [note for note in notes if note.kind == "effect" and note.text]
    return tuple(Effect(n.filename, n.position[0], _column(n), n.text) for n in found)


def _column(note: Note) -> int | None:
    column = note.position[2]
    return None if column is None else column + 1


def lines(notes: Iterable[Note], filename: str, first: int, last: int) -> tuple[Line, ...]:
    """The source from line `first` to `last`, each line with what happened to it."""
    by_line: dict[int, list[Note]] = {}
    for note in notes:
        number = note.position[0]
        if number is not None and (note.kind == "effect") <= (note.filename == filename):
            by_line.setdefault(number, []).append(note)
    return tuple(
        Line(number, linecache.getline(filename, number).rstrip(), tuple(_happenings(by_line.get(number, ()))))
        for number in range(first, last + 1)
    )


def _happenings(notes: Iterable[Note]) -> Iterable[Happening]:
    counted = Counter((note.kind, described(note)) for note in notes if note.text and note.kind != "built")
    for (kind, text), count in counted.items():
        yield Happening(kind, f"{text} ×{count}" if count > 1 else text)


def described(note: Note) -> str:
    """A note's text, of inlined code with its place."""
    if not note.origin:
        return note.text
    filename, _, number = note.origin.rpartition(":")
    short = filename.replace("\\", "/").rpartition("/")[2]
    return f"{note.text} ({short}:{number})"


def built_classes(region: Region) -> Counter[str]:
    """Objects that compiled code still makes on its ordinary ways, by class."""
    found: Counter[str] = Counter()
    for block in region.blocks:
        for operation in block.operations:
            made = operation.operands[0] if operation.opcode == "new" else None
            if isinstance(made, Const) and isinstance(made.value, type):
                found[class_name(made.value)] += 1
    return found


def never_built(notes: Iterable[Note], region: Region) -> tuple[str, ...]:
    """Objects the source makes and compiled code does not, unless it leaves half-way."""
    removed = [note.text for note in notes if note.kind == "removed"]
    still = built_classes(region)
    counted = Counter(text for text in removed if text.removesuffix(" object") not in still)
    return tuple(f"{text} ×{count}" if count > 1 else text for text, count in counted.items())


def reasons(notes: Iterable[Note], refusal: Unsupported | InternalError | None) -> tuple[Reason, ...]:
    """Everything that was refused, what weighs most first."""
    found = []
    if isinstance(refusal, Unsupported):
        found.append(Reason(refusal.reason, refusal.hint or CODES[refusal.code].advice, refusal.line, refusal.code))
    elif refusal is not None:
        found.append(Reason(str(refusal).removeprefix("MJ007: "), CODES["MJ007"].advice, None, "MJ007"))
    for kind in ("left", "kept"):
        for note in notes:
            if note.kind == kind:
                found.append(Reason(_what(note), advice(note.text), note.position[0]))
    return tuple(dict.fromkeys(found))


def _what(note: Note) -> str:
    return f"compiled code ends here: {note.text}" if note.kind == "left" else f"kept as it was: {note.text}"


def unlock(found: Iterable[Reason]) -> Reason | None:
    """The one change that would help most: the first thing refused that can be helped."""
    return next((reason for reason in found if reason.advice), None)


ADVICE: tuple[tuple[str, str], ...] = (
    (r"the callee is not known", "call a global function, or pass the callee with static="),
    (r"is computed in C", "nothing to do: code written in C is called as it is"),
    (r"__getattr__|__getattribute__|__setattr__", "give the class plain attributes or __slots__"),
    (r"finalizer|held before", "keep values with a plain type in what is overwritten, or assign it once"),
    (r"an iterator from outside|next\(\) of", "pass the list or tuple rather than an iterator over it"),
    (r"generator escapes", "use the generator where it is made, or build a list"),
    (r"metaclass", "leave the metaclass's __call__ and __instancecheck__ as type has them"),
    (r"descriptor", "use a plain attribute or a property"),
    (r"a key|keys", "use str or int keys"),
    (r"iterable that is not known|iteration over", "pass a list, tuple, dict or range"),
    (r"value of unknown type|not of plain types", "take the call that gives this value out of the hot path"),
    (r"KeyError|IndexError|AttributeError", "test before you look: this call takes the path that raises"),
    (r"subclass|layout of its own|class of its own", "use the builtin class itself"),
    (r"another thread", "take items out of containers in the function itself, not inside a call"),
    (r"yields inside", "keep try and with out of the generator"),
    (r"keyword|\*", "write the arguments out"),
    (r"frame|visible at once", "inline the callee by hand, or move the effect to its end"),
)


def advice(text: str) -> str:
    """What to change, by the kind of reason; nothing where nothing sensible is known."""
    return next((change for pattern, change in ADVICE if re.search(pattern, text)), "")
