"""A batch of programs in this process, with a line of text for each thing that happens.

`> seed` before each program (so that a crash has a culprit), `! json` for a difference,
`= json` for the totals.
"""

from __future__ import annotations

import gc
import importlib
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict

import minijit
from minijit.fuzz.compare import Difference, Verdict, compare
from minijit.fuzz.generator import generate
from minijit.fuzz.sides import Side

COLLECT_EVERY = 100
INTERNAL = "MJ007"
"""The reason given where minijit itself has failed."""
PLACE = re.compile(r" at <program>:\d+")
Say = Callable[[str], object]


def find_side(name: str) -> Side:
    """Find a way to load programs by `module:function`."""
    module, _, function = name.partition(":")
    side: Side = getattr(importlib.import_module(module), function)
    return side


def run_batch(kind: str, seeds: range, side: Side, without: tuple[str, ...], say: Say) -> None:
    """Compare the programs of these seeds, but for those that contain an unwanted text."""
    compiled, refused, unfit = 0, Counter[str](), Counter[str]()
    examples: dict[str, int] = {}
    gc.freeze()
    for number, seed in enumerate(seeds):
        say(f"> {seed}")
        program = generate(kind, seed)
        if any(text in program.source for text in without):
            refused["left out"] += 1
            continue
        verdict = compare(program, side)
        if verdict.unfit:
            unfit[verdict.unfit] += 1
        if verdict.difference:
            say("! " + json.dumps({"program": program.to_json(), "difference": asdict(verdict.difference)}))
        reason = _why_not_compiled(verdict)
        if verdict.difference is None and reason is not None and INTERNAL in reason:
            say("! " + json.dumps({"program": program.to_json(), "difference": asdict(Difference("internal", 0, reason))}))
        compiled += reason is None
        if reason is not None:
            refused[reason] += 1
            examples.setdefault(reason, seed)
        if number % COLLECT_EVERY == 0:
            gc.collect()
    say("= " + json.dumps({"programs": len(seeds), "compiled": compiled, "refused": refused, "unfit": unfit, "examples": examples}))


def _why_not_compiled(verdict: Verdict) -> str | None:
    """Say why no call of the entry function ran compiled code to its end; None when one did."""
    if verdict.entry is None:
        return "not run"
    try:
        stats = minijit.stats(verdict.entry)
    except (AttributeError, TypeError, ValueError, LookupError):
        return "not known to minijit"
    if stats.hits > 0:
        return None
    if stats.reason:
        return f"{stats.state}: {PLACE.sub('', str(stats.reason).splitlines()[0])[:90]}"
    return f"{stats.state}: every call {'aborted' if stats.aborts else 'missed' if stats.misses else 'raised or left'}"
