"""Each pass before and after, as text."""

import textwrap

import pytest
from unit.region_builder import Abort, Ask, Builder
from unit.test_lower_random import Generator

from minijit.codegen.passes import PASSES, clean_up
from minijit.codegen.passes.blocks import (
    duplicate_returns,
    merge_blocks,
    remove_unreachable_blocks,
    simplify_branches,
    thread_jumps,
)
from minijit.codegen.passes.parameters import remove_constant_parameters, remove_unused_parameters
from minijit.codegen.passes.steps import learn_types, merge_checks, remove_dead_operations
from minijit.interpreter.ir_verify import verify


def function(a, b):
    return a


def after(step, builder):
    region = builder.region()
    step(region)
    assert verify(region) == []
    return "\n".join(str(region).splitlines()[1:])


def expected(lines):
    return textwrap.dedent(lines).strip()


def test_unreachable_blocks():
    b = Builder(function)
    b.ret(b["a"])
    b.block()
    b.ret(b["b"])
    assert after(remove_unreachable_blocks, b) == expected("""
        b0:
          return %0
    """)


def test_parameters_that_receive_one_value():
    b = Builder(function)
    same, moving = b.value(), b.value()
    entry, head, done = b.current, b.block(same, moving), b.block()
    b.at(entry)
    b.jump(head, b["b"], 0)
    b.at(head)
    more = b.op("binary", moving, same, payload="+", failure=Abort(b.snapshot(2, {"a": same})))
    b.branch(b["a"], (head, same, more), done)
    b.at(done)
    b.ret(same)
    assert after(remove_constant_parameters, b) == expected("""
        b0:
          jump b1(0)
        b1(%3):
          %4 = binary + %3, %1                     abort s0
          branch true %0 ? b1(%4) : b2
        b2:
          return %1
        s0: at 2: local 0 = %1
    """)


def test_equal_constants_are_not_one_object():
    b = Builder(function)
    parameter = b.value()
    entry, then, otherwise, meet = b.current, b.block(), b.block(), b.block(parameter)
    b.at(entry)
    b.branch(b["a"], then, otherwise)
    b.at(then)
    b.jump(meet, 1)
    b.at(otherwise)
    b.jump(meet, True)
    b.at(meet)
    b.ret(parameter)
    assert "b3(%2):" in after(remove_constant_parameters, b)


def test_parameters_that_nothing_reads():
    b = Builder(function)
    unread, read = b.value(), b.value()
    entry, head, done = b.current, b.block(unread, read), b.block()
    b.at(entry)
    b.jump(head, 1, 2)
    b.at(head)
    b.branch(read, (head, unread, read), done)
    b.at(done)
    b.ret(None)
    assert after(remove_unused_parameters, b) == expected("""
        b0:
          jump b1(2)
        b1(%3):
          branch true %3 ? b1(%3) : b2
        b2:
          return None
    """)


def test_threaded_jumps():
    b = Builder(function)
    parameter = b.value()
    entry, hop, after_hop, end = b.current, b.block(), b.block(), b.block(parameter)
    b.at(entry)
    b.branch(b["a"], hop, after_hop)
    b.at(hop)
    b.jump(after_hop)
    b.at(after_hop)
    b.jump(end, b["b"])
    b.at(end)
    b.ret(parameter)
    assert after(thread_jumps, b).splitlines()[1] == "  branch true %0 ? b3(%1) : b3(%1)"


def test_endless_loop_of_jumps():
    b = Builder(function)
    entry, one, two = b.current, b.block(), b.block()
    b.at(entry)
    b.jump(one)
    b.at(one)
    b.jump(two)
    b.at(two)
    b.jump(one)
    region = b.region()
    clean_up(region)
    assert verify(region) == []


def test_returns_are_duplicated():
    b = Builder(function)
    parameter = b.value()
    entry, then, otherwise, meet = b.current, b.block(), b.block(), b.block(parameter)
    b.at(entry)
    b.branch(b["a"], then, otherwise)
    b.at(then)
    b.jump(meet, 1)
    b.at(otherwise)
    b.jump(meet, b["b"])
    b.at(meet)
    b.ret(parameter)
    assert after(duplicate_returns, b).splitlines()[3::2] == ["  return 1", "  return %1", "  return %2"]


def test_merged_blocks():
    b = Builder(function)
    parameter = b.value()
    entry, middle, end = b.current, b.block(parameter), b.block()
    b.at(entry)
    b.jump(middle, b.op("tuple", 1))
    b.at(middle)
    snapshot = b.snapshot(2, {"a": parameter})
    b.op("attr", parameter, payload="x", failure=Abort(snapshot))
    b.jump(end)
    b.at(end)
    b.ret(parameter)
    assert after(merge_blocks, b) == expected("""
        b0:
          %3 = tuple 1
          %4 = attr x %3                           abort s0
          return %3
        s0: at 2: local 0 = %3
    """)


@pytest.mark.parametrize(("opcode", "payload", "ways"), [("unary", "not", "b2 : b1"), ("truth", None, "b1 : b2")])
def test_branch_on_what_is_negated(opcode, payload, ways):
    for kind in (int, None):
        b = Builder(function, a=kind)
        entry, then, otherwise = b.current, b.block(), b.block()
        b.at(entry)
        b.branch(b.op(opcode, b["a"], payload=payload, type=bool), then, otherwise)
        b.at(then)
        b.ret(1)
        b.at(otherwise)
        b.ret(2)
        branch = after(simplify_branches, b).splitlines()[2]
        assert branch == (f"  branch true %0 ? {ways}" if kind else "  branch true %2 ? b1 : b2")


def test_dead_operations():
    b = Builder(function, a=int, b=float)
    pair = b.op("tuple", b["a"])
    b.op("tuple", pair)
    b.op("binary", b["a"], 1, payload="+")
    b.op("binary", b["b"], 1.5, payload="*", failure=Abort(b.snapshot(2)))
    b.op("binary", b["a"], 0, payload="/")
    b.op("binary", b["a"], b["b"], payload="+")
    b.op("attr", b["a"], payload="real")
    b.op("map", b["a"], pair)
    b.op("call", len, (1,), payload=(), effect=True)
    b.ret(None)
    assert after(remove_dead_operations, b) == expected("""
        b0:
          %6 = binary / %0, 0
          %7 = binary + %0, %1
          %8 = attr real %0
          %10 = call () <len>, (1)
          return None
    """)


def test_merged_checks():
    b = Builder(function)
    loaded = b.value()
    snapshot = b.snapshot(2)
    b.check(Ask("attr", b["a"], ("x",), loaded), failure=Abort(snapshot))
    b.check(Ask("type", loaded, (int,)), failure=Abort(snapshot))
    b.check(Ask("type", b["b"], (int,)), failure=Abort(b.snapshot(4)))
    b.op("append", b["b"], 1)
    b.check(Ask("type", b["b"], (int,)), failure=Abort(b.snapshot(4)))
    b.ret(loaded)
    lines = after(merge_checks, b).splitlines()
    assert lines[1] == "  check %2 = attr %0 'x', type %2 <int>    abort s0"
    assert [line.split()[0] for line in lines[2:6]] == ["check", "append", "check", "return"]


def test_types_are_learned_where_every_use_comes_after_the_check():
    b = Builder(function)
    loaded, early = b.value(), b.op("item", b["a"], 0)
    b.entry_tests.append(Ask("type", b["a"], (str,)))
    b.check(Ask("attr", b["b"], ("x",), loaded), Ask("type", loaded, (float,)), Ask("type", early, (int,)),
            failure=Abort(b.snapshot(2)))
    b.entry_tests.append(Ask("type", b["b"], (list,)))
    b.ret(loaded)
    learn_types(b.region())
    assert (b["a"].type, loaded.type, early.type, b["b"].type) == (str, float, None, None)


@pytest.mark.parametrize("seed", range(40))
def test_passes_keep_regions_well_formed(seed):
    region = Generator(seed).region()
    for step in (*PASSES, *PASSES):
        step(region)
        assert verify(region) == [], step.__name__
