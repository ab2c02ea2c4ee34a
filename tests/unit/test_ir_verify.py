"""What `verify` finds wrong with regions."""

import pytest
from unit.region_builder import Abort, Ask, Builder

from minijit.interpreter.ir import Edge, Jump, Operation, Region, Return, Value
from minijit.interpreter.ir_signatures import SIGNATURES
from minijit.interpreter.ir_values import edges
from minijit.interpreter.ir_verify import verify


def function(a, b):
    return a


def problems(builder):
    slots = tuple((builder.code.co_varnames.index(name), value) for name, value in builder.arguments.items())
    return verify(Region(builder.code, slots, builder.entry_tests, builder.blocks))


def test_well_formed():
    b = Builder(function)
    b.ret(b.op("tuple", b["a"], 1))
    assert problems(b) == []


def test_no_blocks():
    assert verify(Region(function.__code__, (), [], [])) == ["no blocks"]


def test_no_terminator():
    assert problems(Builder(function)) == ["b0: no terminator"]


def test_foreign_block_and_missing_argument():
    b = Builder(function)
    other = Builder(function).current
    b.jump(other)
    assert problems(b) == ["b0: edge to b0, which is not in the region"]
    b = Builder(function)
    entry, after = b.current, b.block(b.value())
    b.ret(None)
    b.at(entry)
    b.jump(after)
    assert problems(b) == ["b0: b1 has 0 arguments for 1 parameters"]


def test_one_number_one_block():
    b = Builder(function)
    entry, after = b.current, b.block()
    b.ret(None)
    b.at(entry)
    b.jump(after)
    after.number = 0
    assert "two blocks have one number" in problems(b)


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        (Operation("nonsense"), "unknown opcode"),
        (Operation("binary", (), "+", (Value(9),)), "0 operands"),
        (Operation("tuple", (), None, ()), "0 results"),
        (Operation("attr", (Value(0),), None, (Value(9),)), "0 operands"),
        (Operation("global", (), None, (Value(9),)), "payload is None"),
        (Operation("del_global", (), "x"), "effect is False"),
        (Operation("check", (), ()), "a check must abort"),
        (Operation("function", (Value(0),), "z", (Value(9),)), "payload is not a subset of dkac"),
        (Operation("function", (Value(0),), "d", (Value(9),)), "operands do not match the payload"),
        (Operation("map", (Value(0),), None, (Value(9),)), "odd number of operands"),
    ],
)
def test_shapes(operation, reason):
    b = Builder(function)
    if operation.operands:
        operation.operands = (b["a"],)
    if operation.opcode == "attr":
        operation.operands, operation.payload = (), "x"
    b.current.operations.append(operation)
    b.ret(None)
    (problem,) = problems(b)
    assert problem.endswith(reason)


def test_results_of_a_check_are_those_of_its_tests():
    b = Builder(function)
    loaded = b.value()
    b.check(Ask("attr", b["a"], ("x",), loaded), failure=Abort(b.snapshot(2)))
    b.ret(loaded)
    assert problems(b) == []
    b.current.operations[0].results = ()
    assert problems(b)[0].endswith("results differ from the tests' results")


def test_use_before_definition():
    b = Builder(function)
    first = b.op("tuple", 1)
    b.op("tuple", first)
    b.ret(first)
    b.current.operations.reverse()
    assert problems(b) == ["b0: tuple: %2 is not bound"]


def test_definition_on_one_path_only():
    b = Builder(function)
    entry, then, meet = b.current, b.block(), b.block()
    b.at(entry)
    b.branch(b["a"], then, meet)
    b.at(then)
    value = b.op("tuple", 1)
    b.jump(meet)
    b.at(meet)
    b.ret(value)
    assert problems(b) == [f"b2: end: {value!r} is not bound"]


def test_item_exists_only_on_the_way_to_the_body():
    b = Builder(function)
    iterator, item = b.op("iter", b["a"]), b.value()
    entry, body, done = b.current, b.block(), b.block()
    b.at(entry)
    b.next(iterator, body, done, item)
    b.at(body)
    b.ret(item)
    b.at(done)
    b.ret(None)
    assert problems(b) == []
    b.ret(item)
    assert problems(b) == [f"b2: end: {item!r} is not bound"]


def test_two_definitions():
    b = Builder(function)
    value = b.op("tuple", 1)
    b.current.operations.append(Operation("tuple", (), None, (value,)))
    b.ret(value)
    assert problems(b) == [f"b0: {value!r} is defined twice"]


def test_snapshots():
    b = Builder(function)
    snapshot = b.snapshot(2, {"a": Value(77)})
    b.op("attr", b["a"], payload="x", failure=Abort(snapshot))
    b.ret(None)
    assert problems(b) == ["b0: s0: %77 is not bound"]
    snapshot.locals, snapshot.offset = (), -1
    assert problems(b) == ["s0 was not filled in"]
    snapshot.offset = 2
    b.op("attr", b["a"], payload="x", failure=Abort(b.snapshot(2)))
    b.current.operations[-1].failure.snapshot.number = 0
    assert problems(b) == ["b0: two snapshots are called s0"]


def test_snapshot_builds_before_it_uses():
    b = Builder(function)
    snapshot = b.snapshot(2)
    inner = b.built(snapshot, "list", b["a"])
    snapshot.stack = (b.built(snapshot, "tuple", inner),)
    b.op("attr", b["a"], payload="x", failure=Abort(snapshot))
    b.ret(None)
    assert problems(b) == []
    snapshot.operations.reverse()
    assert problems(b) == [f"b0: s0: {inner!r} is not bound"]


def test_entry_tests():
    b = Builder(function)
    loaded = b.value()
    b.entry_tests += [Ask("type", loaded, (int,)), Ask("attr", b["a"], ("x",), loaded)]
    b.ret(loaded)
    assert problems(b) == [f"entry check: {loaded!r} is not bound"]
    b.entry_tests.reverse()
    assert problems(b) == []


def test_use_after_drop():
    b = Builder(function)
    value = b.op("tuple", 1)
    b.op("drop", value)
    b.ret(value)
    assert problems(b) == [f"b0: end: {value!r} was dropped"]


def test_drop_in_a_loop():
    b = Builder(function)
    value = b.op("tuple", 1)
    entry, head, done = b.current, b.block(), b.block()
    b.at(entry)
    b.jump(head)
    b.at(head)
    made = b.op("tuple", value)
    b.op("drop", value)
    b.op("drop", value)
    b.branch(made, head, done)
    b.at(done)
    b.ret(None)
    assert problems(b) == [f"b1: tuple: {value!r} was dropped"]
    head.operations.insert(0, Operation("tuple", (), None, (value,)))
    entry.operations.clear()
    assert problems(b) == []


def test_edges_lead_out():
    b = Builder(function)
    entry, after = b.current, b.block()
    entry.terminator, after.terminator = Jump(Edge(after)), Return(b["a"])
    assert [edge.block for edge in edges(entry)] == [after]
    assert edges(after) == ()


def test_lowering_knows_every_row():
    from minijit.codegen.operations import ROWS

    assert set(ROWS) == set(SIGNATURES)
