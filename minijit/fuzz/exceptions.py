"""Grammar: raising, handling, cleaning up, context managers."""

from __future__ import annotations

from minijit.fuzz.scalars import condition
from minijit.fuzz.writer import Lines, Rules, Writer, indent

rules = Rules()
CAUGHT = (
    "Exception",
    "Exception",
    "ValueError",
    "(KeyError, IndexError)",
    "TypeError",
    "LookupError",
    "Oops",
    "ZeroDivisionError",
    "AttributeError",
)
RAISED = (
    "ValueError",
    "ValueError('v')",
    "KeyError('k')",
    "Oops(1)",
    "Oops('x', 2)",
    "IndexError",
    "TypeError('t')",
    "StopIteration(3)",
    "RuntimeError('r')",
)
NOTES = ("LOG.append((type(e).__name__, e.args))", "LOG.append(trace(e))", "LOG.append(context(e))", "LOG.append(sys.exc_info()[0].__name__)", "pass",
         "LOG.append(repr(e))")  # fmt: skip


def failing(w: Writer) -> str:
    """Write an expression that fails."""
    return w.pick(("1 // 0", "[][1]", "{}['k']", "None.attr", "int('x')", "(1)()", "'a' + 1", "undefined_name", f"{w.leaf('int')} // 0",
                   f"[1, 2][{w.leaf('int')} + 9]", f"{w.leaf('obj')}.missing", "next(iter(()))", "len(5)"))  # fmt: skip


@rules.statement(8)
def guarded(w: Writer) -> Lines:
    """Go on after whatever one statement raises."""
    return ["try:", *indent(w.statement()), f"except {w.pick(CAUGHT[:2])} as e:", f"    {w.pick(NOTES[:3])}"]


@rules.statement(6)
def handled(w: Writer) -> Lines | None:
    if w.crowded:
        return None
    lines = ["try:", *w.block(3, keep=0.5), *_failure(w)]
    lines += [f"except {w.pick(CAUGHT)} as e:", f"    {w.pick(NOTES)}", *w.block(2), *_again(w)]
    if w.chance(0.3):
        lines += ["except Exception as e:", f"    {w.pick(NOTES)}"]
    if w.chance(0.3):
        lines += ["else:", *w.block(2)]
    if w.chance(0.3):
        lines += ["finally:", *w.block(2)]
    return lines


@rules.statement(4)
def cleaned_up(w: Writer) -> Lines | None:
    if w.crowded:
        return None
    lines = ["try:", *w.block(3), *_failure(w), "finally:", *w.block(2)]
    if w.chance(0.15):
        leave = ["return 'finally'"] + (["break", "continue"] if w.loops else [])
        lines.append(f"    {w.pick(leave)}")
    return lines


def _failure(w: Writer) -> Lines:
    return (
        indent([w.pick((f"LOG.append({failing(w)})", f"raise {w.pick(RAISED)}", *(["break"] if w.loops else [])))])
        if w.chance(0.4)
        else []
    )


def _again(w: Writer) -> Lines:
    """Raise from inside a handler, now and then."""
    if w.chance(0.75):
        return []
    return indent(
        [
            w.pick(
                (
                    "raise",
                    f"raise {w.pick(RAISED)}",
                    f"raise {w.pick(RAISED)} from e",
                    f"raise {w.pick(RAISED)} from None",
                    "raise e",
                )
            )
        ]
    )


@rules.statement(3)
def raise_sometimes(w: Writer) -> Lines:
    return [f"if {condition(w)}:", f"    raise {w.pick(RAISED)}"]


@rules.statement(2)
def assertion(w: Writer) -> Lines:
    return [f"assert {condition(w)}, {w.leaf('int')}"]


@rules.statement(2)
def fail(w: Writer) -> Lines | None:
    return [f"LOG.append({failing(w)})"] if w.nesting else None


@rules.statement(5)
def with_statement(w: Writer) -> Lines | None:
    if w.crowded:
        return None
    managers = [w.pick((f"Manager({w.pick(('True', 'False', 'False'))})", "managed(1)", f"managed({w.leaf('int')})", "contextlib.suppress(KeyError)",
                        "contextlib.nullcontext(3)", w.leaf("obj"))) for _ in range(w.pick((1, 1, 2)))]  # fmt: skip
    name = w.fresh("int")
    head = ", ".join(f"{manager} as {name}" if w.chance(0.4) else manager for manager in managers)
    return [f"with {head}:", *w.block(3), *_failure(w)]


@rules.statement(1)
def exception_group(w: Writer) -> Lines:
    return ["try:", f"    raise ExceptionGroup('g', [ValueError({w.leaf('int')}), {w.pick(('KeyError(1)', 'TypeError(2)'))}])",
            "except* ValueError as e:", "    LOG.append(len(e.exceptions))", "except* (TypeError, KeyError):", f"    LOG.append({w.leaf('int')})"]  # fmt: skip


@rules.statement(1)
def exit_stack(w: Writer) -> Lines:
    return ["with contextlib.ExitStack() as stack:", "    stack.callback(LOG.append, 'left')",
            f"    stack.enter_context(Manager({w.pick(('True', 'False'))}))", f"    LOG.append({w.expr('int')})"]  # fmt: skip
