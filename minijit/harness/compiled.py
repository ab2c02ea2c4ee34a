"""`assert_compiled`: a test fails when a change to a function stops the optimisation it relied on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from minijit.harness.reach import underlying
from minijit.install import Installation
from minijit.originals import installation_of

__all__ = ["assert_compiled"]


def assert_compiled(
    function: Callable[..., Any],
    *,
    inlined: Iterable[str] = (),
    objects_removed: int | None = None,
    max_guards: int | None = None,
    effects: Iterable[str] | int | None = None,
) -> None:
    """Raise `AssertionError` unless the function is compiled as well as it is said to be.

    `inlined`: names of functions that no call is left of, as in `Vector.__add__` or `__add__`.
    `objects_removed`: so many places at least that make an object in the source make none now.
    `max_guards`: so many questions at most are asked at each entry.
    `effects`: what a caller can see the function change, in order, or how many such changes there are.
    """
    installation = _installation(function)
    name = installation.original.co_qualname
    found = _Found(installation)
    problems = [
        *_not_inlined(inlined, found.inlined),
        *_too_few("objects removed", objects_removed, len(found.removed), found.removed),
        *_too_many("guards", max_guards, found.guards),
        *_other_effects(effects, found.effects),
    ]  # fmt: skip
    if problems:
        raise AssertionError(f"{name} is compiled, but:\n  " + "\n  ".join(problems))


def _installation(function: Callable[..., Any]) -> Installation:
    python = underlying(function)
    installation = None if python is None else installation_of(python)
    if installation is None:
        raise AssertionError(f"{function!r} was not given to minijit.compile")
    if installation.state != "compiled":
        why = f": {installation.reason}" if installation.reason else ", it was not called often enough"
        raise AssertionError(f"{installation.original.co_qualname} is {installation.state}{why}")
    return installation


class _Found:
    """What the last compilation noted."""

    def __init__(self, installation: Installation) -> None:
        notes = installation.outcome.notes if installation.outcome is not None else None
        kinds = ("inlined", "removed", "effect")
        texts = [[note.text for note in notes.of(kind) if note.text] if notes else [] for kind in kinds]
        self.inlined, self.removed, self.effects = texts
        self.guards = [len(region.entry_tests) for region in installation.regions]


def _listed(texts: list[str]) -> str:
    return ", ".join(dict.fromkeys(texts)) or "nothing"


def _not_inlined(wanted: Iterable[str], inlined: list[str]) -> list[str]:
    """Find names that no inlined function has, nor ends in."""
    missing = [name for name in wanted if not any(text == name or text.endswith(f".{name}") for text in inlined)]
    return [f"{name} is not inlined; inlined: {_listed(inlined)}" for name in missing]


def _too_few(what: str, wanted: int | None, number: int, texts: list[str]) -> list[str]:
    if wanted is None or number >= wanted:
        return []
    return [f"{number} {what}, not {wanted}: {_listed(texts)}"]


def _too_many(what: str, limit: int | None, numbers: list[int]) -> list[str]:
    if limit is None or max(numbers, default=0) <= limit:
        return []
    return [f"{max(numbers)} {what}, more than {limit}"]


def _other_effects(wanted: Iterable[str] | int | None, effects: list[str]) -> list[str]:
    if wanted is None or wanted == len(effects):
        return []
    if not isinstance(wanted, int) and list(wanted) == effects:
        return []
    return [f"the effects are {_listed(effects)}"]
