"""The codes of `Unsupported`: what each means and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CODES", "Code"]


@dataclass(frozen=True, slots=True)
class Code:
    """One reason to leave a function as it is."""

    title: str
    explanation: str
    advice: str


CODES = {
    "MJ001": Code(
        "not compiled yet",
        "Nothing was gained: the compiled form would do what the original does.",
        "",
    ),
    "MJ002": Code(
        "bytecode that can't be embedded",
        "The code object holds an instruction that minijit does not know how to move.",
        "report the function with the version of Python",
    ),
    "MJ003": Code(
        "locals are looked at by name",
        "The function calls locals(), vars(), eval() or exec(), or its names are not fast locals.",
        "move the code that needs speed to a function of its own",
    ),
    "MJ004": Code(
        "too large",
        "Tracing the function took more steps or made more code than the budget allows.",
        "split the function, or mark less of its input static",
    ),
    "MJ005": Code(
        "too many kinds of arguments",
        "Every entry made so far failed for the calls that came later.",
        "call it with fewer combinations of types, or leave it uncompiled",
    ),
    "MJ006": Code(
        "speculation keeps failing",
        "Compiled code left half-way so often that running the original is quicker.",
        "see minijit.explain() for what fails",
    ),
    "MJ007": Code(
        "internal error",
        "minijit failed while it compiled the function. This is a bug in minijit.",
        "report the function with the traceback",
    ),
    "MJ008": Code(
        "a visible effect is forbidden",
        'replay="error" was asked for and the function changes something its caller can see.',
        'use replay="log" to see all of them',
    ),
    "MJ009": Code(
        "nothing to gain",
        "What the function does costs the same compiled.",
        "",
    ),
    "MJ010": Code(
        "switched off",
        "minijit is disabled in this process.",
        "unset MINIJIT=0 or call minijit.enable()",
    ),
    "MJ011": Code(
        "a generator or coroutine function",
        "Functions that suspend themselves run as they are; those they are called from are compiled.",
        "compile the function that consumes the generator",
    ),
    "MJ012": Code(
        "a real frame is needed",
        "An operation inside an inlined call must be seen to happen in a frame of its own, "
        "and can't be called instead.",
        "see minijit.explain() for the line",
    ),
}
