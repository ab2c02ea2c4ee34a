"""Regions by hand, lowered, run and compared with the original function."""

from __future__ import annotations

from region_builder import Abort, Builder, Lowered


def cross(ax, ay, az, bx, by, bz):
    x = ay * bz - az * by + ax * 2.0 - bx
    return x


def test_expression_stays_on_the_stack():
    b = Builder(cross, **dict.fromkeys(["ax", "ay", "az", "bx", "by", "bz"], float))
    b.failure = Abort(b.snapshot())
    one = b.op("binary", b["ay"], b["bz"], payload="*", type=float)
    two = b.op("binary", b["az"], b["by"], payload="*", type=float)
    three = b.op("binary", one, two, payload="-", type=float)
    four = b.op("binary", b["ax"], 2.0, payload="*", type=float)
    five = b.op("binary", three, four, payload="+", type=float)
    b.ret(b.op("binary", five, b["bx"], payload="-", type=float))
    low = Lowered(cross, b.region())
    assert low(1.0, 2.0, 3.0, 4.0, 5.0, 6.0) == cross(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    assert low.code.co_nlocals == cross.__code__.co_nlocals + 1
    import dis
    dis.dis(low.code)
