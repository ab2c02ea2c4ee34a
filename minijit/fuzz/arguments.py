"""Grammar: the parameters of `run` and the arguments of each call."""

from __future__ import annotations

from minijit.fuzz.writer import INDENT, KINDS, Lines, Writer

NUMBERS = (
    ("0", "1", "2", "3", "5", "-1"),
    ("1", "2", "3", "1", "2"),
    ("0.5", "2.0", "-0.0", "float('nan')", "1e300"),
    ("True", "False"),
    ("'a'", "'bc'", "''"),
    ("None",),
    ("10**20", "2**63", "-2**62"),
    ("SubInt(3)", "SubInt(0)"),
    ("(1, 2)", "[1]"),
)
SHARED = {"int": "N", "list": "L", "dict": "D", "obj": "O", "set": "E", "deque": "Q"}


def shared_objects(w: Writer) -> Lines:
    """Write module globals that live through all calls, some of them aliases of others."""
    lines: Lines = []
    for kind, letter in SHARED.items():
        for i in range(w.pick((0, 1, 1, 2))):
            name = f"{letter}{i}"
            existing = w.global_names[kind]
            value = w.pick(existing) if existing and w.chance(0.3) else w.literal(kind)
            if kind == "obj":
                lines += ["try:", f"    {name} = {value}", "except Exception:", f"    {name} = Box(1)"]
            else:
                lines.append(f"{name} = {value}")
            existing.append(name)
    if w.global_names["list"] and w.global_names["dict"] and w.chance(0.4):
        lines.append(f"{w.global_names['dict'][0]}['k1'] = {w.global_names['list'][0]}")
    return lines


def parameters(w: Writer) -> list[tuple[str, str]]:
    """Choose names and kinds for the parameters of `run`."""
    kinds = ["int", *(w.pick(("int", "int", "list", "obj", "obj", *KINDS)) for _ in range(w.below(4)))]
    return [(f"a{i}", kind) for i, kind in enumerate(kinds)]


def maker(w: Writer, chosen: list[tuple[str, str]], calls: int, keywords: bool) -> Lines:
    """Write `make(i)`: the same types at first, then perhaps others, so that guards meet both."""
    change = w.pick((calls, calls, 2, 3))
    columns = [_column(w, kind, calls, change) for _, kind in chosen]
    lines = ["def make(i):"]
    for i in range(calls):
        values = [column[i] for column in columns]
        twin = _twins(w, chosen) if w.chance(0.25) else None
        if twin is not None:
            lines.append(f"{INDENT}if i == {i}:\n{INDENT * 2}x = {values[twin[0]]}")
            values[twin[0]] = values[twin[1]] = "x"
        else:
            lines.append(f"{INDENT}if i == {i}:")
        named = f"{{'{chosen[-1][0]}': {values.pop()}}}" if keywords and len(values) > 1 else "{}"
        lines.append(f"{INDENT * 2}return ({''.join(value + ', ' for value in values)}), {named}")
    return [line for text in lines for line in text.split("\n")]


def _column(w: Writer, kind: str, calls: int, change: int) -> list[str]:
    if kind == "int":
        first, second = w.pick(NUMBERS[:4] + NUMBERS[:2] * 4), w.pick(NUMBERS)
        return [w.pick(first if i < change else second) for i in range(calls)]
    shared = w.global_names[kind]
    stable = w.pick(shared) if shared and w.chance(0.4) else None
    return [stable or (w.literal(kind) if i < change or w.chance(0.7) else w.literal("any")) for i in range(calls)]


def _twins(w: Writer, chosen: list[tuple[str, str]]) -> tuple[int, int] | None:
    """Find two parameters of one kind, to pass the same object twice."""
    pairs = [(i, j) for i, (_, a) in enumerate(chosen) for j, (_, b) in enumerate(chosen) if i < j and a == b]
    return w.pick(pairs) if pairs else None
