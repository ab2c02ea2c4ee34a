"""A function as it is against the same function compiled: results, arguments, logs, exceptions."""

from minijit.harness.same import first_difference, record
from minijit.install import install
from minijit.options import Options
from minijit.originals import original_code
from minijit.pipeline import Request, trace

CALLS = 4


def difference(case, calls=CALLS):
    """Run a case's function plain and compiled, each with a state of its own; say where they first differ."""
    plain, make_args = case()
    expected = record(plain, [make_args] * calls)
    compiled, make_args = case()
    install(compiled, Options(gainless=True))
    actual = record(compiled, [make_args] * calls)
    return first_difference(expected, actual)


def outcome_of(function, arguments):
    """What interpretation says of a function, without running or installing anything."""
    code = original_code(function)
    return trace(Request("warm", code, function, arguments, Options(gainless=True), None))


def ledger(case):
    """Texts of the effects that compiled code replays, and of what runs as it is."""
    function, make_args = case()
    notes = outcome_of(function, make_args()).notes
    return (
        [note.text for note in notes.of("effect") if note.text],
        [note.text for kind in ("kept", "left") for note in notes.of(kind)],
    )


