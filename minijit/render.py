"""An explanation on paper: plain text, rich, HTML, JSON."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict
from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from minijit.errors import Unsupported
from minijit.listing import Instruction
from minijit.story import Line, unlock

if TYPE_CHECKING:
    from minijit.explain import Explanation, Guard

__all__ = ["SECTIONS", "html", "json_text", "screen", "section", "text"]

PLAIN_WIDTH = 100
SHORT = 24
"""Of this many lines a function is shown whole."""
STYLES = {"inlined": "green", "removed": "green", "folded": "green", "kept": "yellow", "left": "red", "effect": "cyan"}
VERBS = {"inlined": "inlined", "removed": "never built", "folded": "folded", "kept": "kept", "left": "leaves here",
         "effect": "effect"}
WORLD = frozenset({"version", "function", "global_is", "global_absent", "attr_is", "attr_absent", "dict_items",
                   "list_items", "item_is", "constant", "cell", "cell_is"})

UNCHANGED = frozenset({"version", "function"})


def screen(explanation: Explanation) -> Group:
    """The first screen: what happened, line by line, and what it depends on."""
    parts: list[Text | Table] = [Text(headline(explanation), style="bold")]
    parts.append(_lines(explanation.lines))
    for title, rows in (
        ("effects, in program order", [str(effect) for effect in explanation.ledger]),
        ("runs compiled while", list(guard_lines(explanation.guards))),
        ("never built", list(explanation.never_built)),
        ("not done", [str(reason) for reason in explanation.reasons]),
    ):
        if rows:
            parts.append(Text(f"\n{title}", style="bold"))
            parts += [Text("  " + row) for row in rows]
    change = unlock(explanation.reasons)
    if change is not None:
        where = f"line {change.line}: " if change.line is not None else ""
        parts.append(Text(f"\nto unlock more: {where}{change.advice}", style="bold yellow"))
    return Group(*parts)


def headline(explanation: Explanation) -> str:
    """The whole story in a line."""
    stats = explanation.stats
    if explanation.refused is not None:
        code = explanation.refused.code if isinstance(explanation.refused, Unsupported) else "MJ007"
        return f"{explanation.name}: left as it is ({code})"
    counts = {"guard": stats.guards, "check": stats.checks, "effect": stats.effects}
    parts = [f"{count} {what}" + ("s" if count != 1 else "") for what, count in counts.items()]
    return f"{explanation.name}: compiled, {', '.join(parts)}; about {stats.profit:.0f} ns saved in a typical call"


def _lines(lines: Iterable[Line]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    table.add_column("number", justify="right", no_wrap=True)
    table.add_column("source", no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_column("what happened", ratio=1)
    for line in shortened(list(lines)):
        number = str(line.number) if line.number else ""
        table.add_row(number, Text(line.source), Text("\n").join(_happened(line)))
    return table


def shortened(lines: list[Line]) -> Iterable[Line]:
    """All lines of a short function; of a long one not those in the middle of a stretch where nothing happened."""
    busy = [number for number, line in enumerate(lines) if line.happened]
    near = {number + step for number in (0, *busy) for step in (-1, 0, 1)}
    hidden = 0
    for number, line in enumerate(lines):
        if len(lines) <= SHORT or number in near:
            if hidden:
                yield Line(0, f"    ... {hidden} lines", ())
            hidden = 0
            yield line
        else:
            hidden += 1
    if hidden:
        yield Line(0, f"    ... {hidden} lines", ())


def _happened(line: Line) -> Iterable[Text]:
    """What happened at a line, all of a kind together."""
    for kind in dict.fromkeys(happening.kind for happening in line.happened):
        texts = [happening.text for happening in line.happened if happening.kind == kind]
        yield Text(f"{VERBS[kind]} {', '.join(texts)}", style=STYLES[kind])


def guard_lines(guards: Iterable[Guard]) -> Iterable[str]:
    """Questions about arguments one by one; what is asked of the rest of the world together."""
    guards = list(guards)
    for guard in guards:
        if guard.kind not in WORLD:
            yield str(guard)
    for guard in guards:
        if guard.kind in WORLD and guard.kind not in UNCHANGED:
            yield str(guard)
    unchanged = [guard.text.removesuffix(" is unchanged").split()[-1] for guard in guards if guard.kind in UNCHANGED]
    if unchanged:
        yield "unchanged: " + ", ".join(dict.fromkeys(unchanged))


# -- parts ---------------------------------------------------------------------------------------------


def instruction_text(instruction: Instruction) -> str:
    """One instruction as dis writes it."""
    return f"{instruction.opname:<24} {instruction.argument}".rstrip()


def dump(instructions: Iterable[Instruction]) -> str:
    """Instructions below each other with line and purpose."""
    rows, last = [], None
    for instruction in instructions:
        line = str(instruction.line) if instruction.line is not None and instruction.line != last else ""
        last = instruction.line if instruction.line is not None else last
        mark = ">>" if instruction.is_target else ""
        row = f"{line:>5} {mark:>2} {instruction.offset:5} {instruction_text(instruction)}"
        rows.append(f"{row:<58}  # {instruction.purpose}" if instruction.purpose else row)
    return "\n".join(rows)


def side_by_side(explanation: Explanation) -> str:
    """Original and generated bytecode, aligned by source line; ways back into the original are only counted."""
    before, after = _by_line(explanation.before), _by_line(stays(explanation))
    rows = [f"{'original':<48}  generated"]
    for number in sorted({*before, *after}):
        rows.append(f"-- line {number}" if number else "-- guards and checks")
        for left, right in zip_longest(before.get(number, ()), after.get(number, ()), fillvalue=""):
            rows.append(f"{left[:46]:<48}  {right}".rstrip())
    return "\n".join([*rows, "-- " + leaving(explanation)])


def stays(explanation: Explanation) -> list[Instruction]:
    """The generated instructions but those that lead back into the original."""
    return [instruction for instruction in explanation.after if instruction.part != "leave"]


def leaving(explanation: Explanation) -> str:
    """How many instructions are not shown."""
    count = len(explanation.after) - len(stays(explanation))
    return f"and {count} instructions that lead back into the original half-way, then the original itself"


def _by_line(instructions: Iterable[Instruction]) -> dict[int, list[str]]:
    """Instructions by source line; a check and the jumps without a line belong to zero."""
    found: dict[int, list[str]] = {}
    for instruction in instructions:
        found.setdefault(instruction.line or 0, []).append(instruction_text(instruction))
    return found


def _statistics(explanation: Explanation) -> str:
    rows = asdict(explanation.stats)
    rows["seconds"] = f"{explanation.stats.seconds:.4f}"
    return "\n".join(f"{name.replace('_', ' '):<24} {value}" for name, value in rows.items())


def _listed(rows: Iterable[object]) -> str:
    return "\n".join(map(str, rows)) or "none"


def _source(explanation: Explanation) -> str:
    source = explanation.source
    note = f"# {source.reason}\n" if source.reason else ""
    return note + source.text


VERSION_TAG = re.compile(r"(?<=>) \d{3,}(?=,|$| )", re.M)
"""Of a class in a check; it is another one in each run."""
SECTIONS: dict[str, Callable[[Explanation], str]] = {
    "original": lambda explanation: dump(explanation.before),
    "bytecode": side_by_side,
    "generated": lambda explanation: dump(stays(explanation)) + "\n# " + leaving(explanation),
    "all": lambda explanation: dump(explanation.after),
    "guards": lambda explanation: _listed(explanation.guards),
    "ledger": lambda explanation: _listed(explanation.ledger),
    "ir": lambda explanation: VERSION_TAG.sub("", explanation.ir) or "none",
    "source": _source,
    "reasons": lambda explanation: _listed(explanation.reasons),
    "stats": _statistics,
}


def section(explanation: Explanation, name: str) -> str:
    """One part as plain text."""
    return SECTIONS[name](explanation)


# -- whole ---------------------------------------------------------------------------------------------


def text(explanation: Explanation) -> str:
    """The first screen without colours."""
    console = Console(file=io.StringIO(), width=PLAIN_WIDTH, color_system=None, highlight=False)
    console.print(screen(explanation))
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(row.rstrip() for row in printed.splitlines())


def html(explanation: Explanation) -> str:
    """A page with every part."""
    console = Console(file=io.StringIO(), width=140, record=True, highlight=False)
    console.print(screen(explanation))
    for name in [name for name in SECTIONS if name != "generated"]:
        console.print(Rule(name))
        body = section(explanation, name)
        console.print(Syntax(body, "python", background_color="default") if name == "source" else Text(body))
    return console.export_html(inline_styles=True)


def json_text(explanation: Explanation) -> str:
    """All parts as a JSON object."""
    refusal = explanation.refused
    instructions = {"original": explanation.before, "bytecode": explanation.after}
    return json.dumps(
        {
            "name": explanation.name,
            "compiled": refusal is None,
            "code": getattr(refusal, "code", None),
            "lines": [asdict(line) for line in explanation.lines],
            "guards": [asdict(guard) for guard in explanation.guards],
            "ledger": [asdict(effect) for effect in explanation.ledger],
            "never_built": list(explanation.never_built),
            "reasons": [asdict(reason) for reason in explanation.reasons],
            "ir": explanation.ir,
            "source": {"text": explanation.source.text, "complete": explanation.source.complete},
            **{name: [asdict(i) for i in found] for name, found in instructions.items()},
            "stats": asdict(explanation.stats),
        },
        indent=2,
    )
