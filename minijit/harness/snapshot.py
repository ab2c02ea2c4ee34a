"""An object graph as text, equal exactly when two graphs look the same.

Types, values, order, identity and aliasing count; addresses don't.

    >>> shared = []
    >>> print(snapshot({"a": shared, "b": [shared]}))
    (the object) = dict of 2
      ['a'] = list of 0
      ['b'] = list of 1
        [0] = the same object as ['a']
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from minijit.harness.atoms import ATOMS
from minijit.harness.describe import describe

__all__ = ["Line", "Snapshot", "difference", "snapshot", "snapshot_roots"]

SHOWN: Final = 300
NOWHERE: Final = -1


@dataclass(frozen=True, slots=True)
class Line:
    """One edge of the graph: from which line, by what label, to what.

    `same` is the line of an object that was met before; then `text` is empty.
    """

    parent: int
    label: str
    text: str
    same: int = NOWHERE


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The lines of a graph, depth first."""

    lines: tuple[Line, ...]

    def path(self, index: int) -> str:
        """Say how to get to a line from the outside, as in `args[0].items[2].name`."""
        labels: list[str] = []
        while index != NOWHERE:
            labels.append(self.lines[index].label)
            index = self.lines[index].parent
        return "".join(reversed(labels)) or "(the object)"

    def content(self, index: int) -> str:
        """Say what stands on a line."""
        line = self.lines[index]
        text = line.text if line.same == NOWHERE else f"the same object as {self.path(line.same)}"
        return text if len(text) <= SHOWN else f"{text[:SHOWN]}... ({len(text)} characters)"

    def __str__(self) -> str:
        depths: list[int] = []
        rows: list[str] = []
        for index, line in enumerate(self.lines):
            depths.append(0 if line.parent == NOWHERE else depths[line.parent] + 1)
            rows.append(f"{'  ' * depths[index]}{line.label or '(the object)'} = {self.content(index)}")
        return "\n".join(rows)


def snapshot(obj: object) -> Snapshot:
    """Take the snapshot of everything an object reaches."""
    return snapshot_roots({"": obj})


def snapshot_roots(roots: Mapping[str, object]) -> Snapshot:
    """Take one snapshot from several named objects, aliases between them included."""
    lines: list[Line] = []
    seen: dict[int, int] = {}
    alive: list[object] = []  # what a description made must keep its address while that is a key of `seen`
    pending = [(NOWHERE, label, value) for label, value in reversed(list(roots.items()))]
    while pending:
        parent, label, value = pending.pop()
        if type(value) in ATOMS:
            lines.append(Line(parent, label, f"{type(value).__name__} {ATOMS[type(value)](value)}"))
        elif type(value) is tuple and not value:
            lines.append(Line(parent, label, "tuple of 0"))
        elif id(value) in seen:
            lines.append(Line(parent, label, "", seen[id(value)]))
        else:
            alive.append(value)
            description = describe(value)
            here = seen[id(value)] = len(lines)
            lines.append(Line(parent, label, description.head))
            pending += [(here, name, part) for name, part in reversed(description.parts)]
    return Snapshot(tuple(lines))


def difference(expected: object, actual: object) -> str | None:
    """Say where two objects or snapshots first differ and how; None when they look the same."""
    left = expected if isinstance(expected, Snapshot) else snapshot(expected)
    right = actual if isinstance(actual, Snapshot) else snapshot(actual)
    if left.lines == right.lines:
        return None
    lines = zip(left.lines, right.lines, strict=False)
    shorter = min(len(left.lines), len(right.lines))
    index = next((i for i, (a, b) in enumerate(lines) if a != b), shorter)
    return _difference_at(left, right, index)


def _difference_at(left: Snapshot, right: Snapshot, index: int) -> str:
    if index == len(left.lines):
        return f"{right.path(index)}: expected nothing more, got {right.content(index)}"
    if index == len(right.lines):
        return f"{left.path(index)}: expected {left.content(index)}, got nothing more"
    there, here = left.path(index), right.path(index)
    if there == here:
        return f"{there}: expected {left.content(index)}, got {right.content(index)}"
    return f"{there}: expected {left.content(index)}; got {here} = {right.content(index)}"
