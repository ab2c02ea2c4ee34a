"""A state's clone is a mark; dropping it rolls back. Replaying operations equals doing them."""

from collections import OrderedDict, defaultdict, deque

import pytest
from both_ways import difference
from hypothesis import given, settings
from hypothesis import strategies as st

from minijit import _shim
from minijit.interpreter.interpret import World, entry_state
from minijit.interpreter.protocols.call import MODELS
from minijit.interpreter.signals import Signal
from minijit.interpreter.state import Then
from minijit.interpreter.tracer import Plan, Tracer
from minijit.interpreter.trackers import Constant, Mapping, Sequence


def containers(items, d, s, q):
    """Something to trace."""


METHODS = {
    "list": (list.append, list.pop, list.insert, list.extend, list.reverse, list.clear, list.copy),
    "dict": (dict.setdefault, dict.pop, dict.clear, dict.get, dict.copy),
    "set": (set.add, set.discard, set.clear),
    "deque": (deque.append, deque.appendleft, deque.pop, deque.popleft, deque.rotate),
}
COUNTS = {"insert": 2, "setdefault": 2, **dict.fromkeys(("append", "appendleft", "extend", "get", "add", "discard", "pop"), 1)}
steps = st.lists(
    st.tuples(st.sampled_from(sorted(METHODS)), st.integers(0, 9), st.integers(0, 3), st.integers(-1, 2)), max_size=25
)


def tracer():
    """A tracer at the beginning of a function, with a virtual list and dict beside real containers."""
    world = World(_shim, lambda _: False, lambda function: function.__code__)
    t = Tracer(containers, containers.__code__, Plan(), world, 100_000)
    t.state, _ = entry_state(t, ([1, 2], {"a": 1}, {1}, deque([1])), world)
    t.block = t.new_block()
    real = dict(zip(("list", "dict", "set", "deque"), t.frame.locals, strict=False))
    virtual = {"list": t.virtual(Sequence(list, (Constant(1),))), "dict": t.virtual(Mapping(("a",), (Constant(1),)))}
    return t, real, virtual


def step(t, real, virtual, choice):
    """One mutation, of a virtual object where there is one."""
    kind, method, number, where = choice
    function = METHODS[kind][method % len(METHODS[kind])]
    target = virtual[kind] if where > 0 and kind in virtual else real[kind]
    extra = [Constant(number), Constant(number + 1)][: COUNTS.get(function.__name__, 0)]
    if function is list.extend:
        extra = [t.tuple_of((Constant(number), Constant(7)))]
    if function in (deque.pop, deque.popleft):
        extra = []
    try:
        MODELS[function](t, [target, *extra], (), Then("discard"), ())
    except Signal:
        return


def contents(state):
    """Everything that a mutation might touch."""
    return (
        dict(state.heap),
        list(state.ledger),
        dict(state.facts),
        dict(state.types),
        set(state.assumed),
        set(state.fresh),
        set(state.owned),
        dict(state.physical),
        [(frame.pc, list(frame.locals), list(frame.stack)) for frame in state.frames],
        (state.opened, state.unconditional, state.stale),
    )


@settings(max_examples=200, deadline=None)
@given(before=steps, after=steps)
def test_dropping_a_clone_is_as_if_nothing_had_happened(before, after):
    t, real, virtual = tracer()
    for choice in before:
        step(t, real, virtual, choice)
    mark = t.state
    known = contents(mark)
    t.state = mark.clone()
    assert contents(t.state) == known
    for choice in after:
        step(t, real, virtual, choice)
    if len(after) > 3:
        t.flush()
    assert contents(mark) == known


OPERATIONS = (
    "l.append({n})", "out(l.pop())", "l.insert({i}, {n})", "l.extend((1, {n}))", "l.reverse()", "l[{i}] = {n}",
    "del l[{i}]", "l += [{n}]", "m.append(l[{i}])", "l.sort()", "out(len(l))", "l.clear()", "l[0:1] = [{n}]",
    "d[{k}] = {n}", "out(d[{k}])", "del d[{k}]", "out(d.pop({k}, 0))", "d.update(a={n})", "out(d.setdefault({k}, {n}))",
    "out({k} in d)", "d.clear()", "od[{k}] = {n}", "od.move_to_end({k})", "dd[{k}].append({n})", "out(list(d))",
    "s.add({k})", "s.discard({k})", "s.remove({k})", "out({k} in s)", "s.update(({n}, {k}))",
    "q.append({n})", "q.appendleft({n})", "out(q.popleft())", "out(q.pop())", "q.rotate({i})", "b.append({n})",
    "o.x = {n}", "out(o.x)", "del o.x", "g['x'] = {n}", "out(g['x'])", "o.x = o.x", "h(l, {n})", "t(d, {k}, {n})",
)  # fmt: skip
HEADER = """
class O:
    pass

def h(target, n):
    target.append(n)
    o.x = len(target)
    return target.pop()

def t(target, key, n):
    target[key] = n
    o.x = n
    return target[key]

o = O()

def f(l, m, d, od, dd, s, q, b, g, log):
    out = log.append
"""
operation = st.builds(
    lambda text, n, i, k: text.format(n=n, i=i, k=k),
    st.sampled_from(OPERATIONS),
    st.integers(-2, 5),
    st.integers(-1, 2),
    st.sampled_from(["'a'", "'b'", "'x'", "1", "True", "2.0", "(1, 'a')", "None"]),
)


def program(lines, aliased):
    """A case for `difference`: straight-line operations on containers, some of which are one object."""

    def case():
        namespace = {"__name__": "here"}
        exec(HEADER + "".join(f"    {line}\n" for line in lines) + "    return l, m", namespace)

        def make():
            box = namespace["o"]
            box.__dict__.clear()
            box.x = 1
            items, d = [3, 1, 2], {"a": 1, 1: 2}
            own = box.__dict__ if aliased else {"x": 1}
            return (
                items, items if aliased else [], d, OrderedDict(a=1, b=2), defaultdict(list), {"a", 1}, deque([1, 2]),
                deque([1, 2], 2), own, [],
            )  # fmt: skip

        return namespace["f"], make

    return case


@settings(max_examples=120, deadline=None)
@given(lines=st.lists(operation, min_size=1, max_size=14), aliased=st.booleans())
def test_replay_equals_doing_it(lines, aliased):
    found = difference(program(lines, aliased), calls=3)
    assert found is None, found


@pytest.mark.parametrize("place", range(7))
def test_an_exception_at_any_point_leaves_what_was_done(place):
    good = ["l.append(1)", "d['k'] = 2", "s.add('k')", "q.append(3)", "o.x = 4", "out(l.pop())"]
    lines = [*good[:place], "[][0]", *good[place:]]
    assert difference(program(lines, True)) is None
    lines = [*good[:place], "h(None, 1)", *good[place:]]
    assert difference(program(lines, True)) is None
