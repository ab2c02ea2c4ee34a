"""Grammar: coroutines and async generators, driven by hand."""

from __future__ import annotations

from minijit.fuzz.functions import name_function
from minijit.fuzz.writer import FunctionNote, Lines, Rules, Writer, indent

rules = Rules()


@rules.lines("functions", 2)
def coroutine(w: Writer) -> Lines:
    name = name_function(w)
    awaited = w.pick(
        (*(f"{other.name}(a)" for other in w.functions if other.result == "coroutine"), "Pause(a)", "Pause(2)")
    )
    body = w.pick((
        [f"x = await {awaited}", "LOG.append(x)", "return a"],
        ["try:", f"    await {awaited}", "finally:", "    LOG.append('finally')", "return 3"],
        ["async with AsyncManager() as m:", f"    await {awaited}", "    return m"],
        ["async def numbers():", "    yield a", f"    await {awaited}", "    yield 2", "return [x async for x in numbers()]"],
        ["for k in range(2):", f"    a = await {awaited}", "return a"],
    ))  # fmt: skip
    w.functions.append(FunctionNote(name, ("int",), "coroutine"))
    w.targets.append(name)
    return [f"async def {name}(a=1):", *indent(body)]


@rules.statement(2)
def drive_coroutine(w: Writer) -> Lines | None:
    names = [function.name for function in w.functions if function.result == "coroutine"]
    return [f"LOG.append(drive({w.pick(names)}({w.leaf('int')})))"] if names else None
