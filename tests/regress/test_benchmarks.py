"""Each benchmark program is compiled and right: a change that turns one into a refusal shows here, not in a table."""

from pathlib import Path

import pytest

import minijit

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
LEFT_ALONE = {"control: plain int loop n=50": "nothing in it can be removed"}


@pytest.fixture(scope="module")
def limits():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        import limits

        programs = limits.programs
        for promised in (programs.TREE, programs.PROG, programs.SCHEMA):
            minijit.frozen(promised)
        yield limits


def test_every_program_is_compiled(limits):
    states = {}
    for name, base, _, _, arguments in limits.programs.CASES:
        made = limits.compiled_twin(base, arguments)
        assert limits.agree(base(*arguments), made(*arguments)), name
        states[name] = minijit.stats(made)
    refused = {name: facts.reason for name, facts in states.items() if facts.state != "compiled"}
    assert refused.keys() == LEFT_ALONE.keys(), refused
    assert all(why in refused[name] for name, why in LEFT_ALONE.items()), refused
    assert all(facts.misses == facts.aborts == 0 for name, facts in states.items() if name not in refused), states
