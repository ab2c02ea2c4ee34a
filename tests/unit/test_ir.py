"""The text of the intermediate form: what other tests compare."""

import textwrap

from unit.region_builder import NULL, Abort, Ask, Builder, Const, Deliver

from minijit.interpreter.ir import constant_text, payload_text


def add(a, b):
    return a + b


def loop(a, b):
    for b in a:
        pass


def text(builder):
    return str(builder.region())


def expected(lines):
    return textwrap.dedent(lines).strip()


def test_region():
    b = Builder(add, a=int, b=int)
    b.entry_tests += [Ask("type", b["a"], (int,)), Ask("type", b["b"], (int,))]
    b.failure = Abort(b.snapshot(2))
    b.ret(b.op("binary", b["a"], b["b"], payload="+"))
    assert text(b) == expected("""
        region add(a: %0, b: %1)
          entry check: type %0 <int>, type %1 <int>
        b0:
          %2 = binary + %0, %1                     abort s0
          return %2
        s0: at 2
    """)


def test_check_prints_its_tests():
    b = Builder(add)
    content = b.value()
    b.check(Ask("attr", b["a"], ("x",), content), Ask("same", content, (b["b"],)), failure=Abort(b.snapshot(2)))
    b.ret(content)
    assert "  check %2 = attr %0 'x', same %2 %1       abort s0" in text(b).splitlines()


def test_blocks_and_snapshots():
    b = Builder(loop)
    iterator = b.op("iter", b["a"])
    item, total = b.value(), b.value()
    entry, head, body, done = b.current, b.block(total), b.block(), b.block()
    b.at(entry)
    b.jump(head, 0)
    snapshot = b.snapshot(10, {"b": total, "a": ...}, (iterator, NULL))
    snapshot.operations.clear()
    b.built(snapshot, "list", total)
    b.at(head)
    b.next(iterator, body, done, item, failure=Deliver(snapshot))
    b.at(body)
    b.branch(item, (head, item), done, "none")
    b.at(done)
    b.exit(snapshot)
    assert text(b) == expected("""
        region loop(a: %0, b: %1)
        b0:
          %2 = iter %0
          jump b1(0)
        b1(%4):
          %3 = next %2 ? b2 : b3                   deliver s0
        b2:
          branch none %3 ? b1(%3) : b3
        b3:
          exit s0
        s0: at 10: local 1 = %4; local 0 unbound; stack %2, NULL
            %5 = list %4
    """)


def test_constants_have_no_addresses():
    class Thing:
        pass

    assert constant_text(Thing()) == "<Thing object>"
    assert constant_text(Thing) == "<test_constants_have_no_addresses.<locals>.Thing>"
    assert constant_text((1, "a", None)) == "(1, 'a', None)"
    assert len(constant_text("x" * 500)) == 60
    assert repr(Const(1.5)) == "1.5"
    assert payload_text(("key", ("a", 1))) == "(key, (a, 1))"
