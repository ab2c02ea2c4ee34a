"""A read of a container sees what the ledger still holds back for it, whatever the way it is read."""

from types import FunctionType

import pytest

from minijit.install import install
from minijit.options import Options


class Box:
    pass


def truth(x, d):
    x.append(1)
    return (1 if x else 0), not x, bool(x), len(x)


def copies(x, d):
    x.append(1)
    return x.copy(), list(x), tuple(x), set(x), sorted(x), x[:], x[0:], x[-1], x[-1:]


def stars(x, d):
    x.append(1)
    return (*x, 2), [*x, 2], {*x}, (lambda *a: a)(*x)


def membership(x, d):
    x.append(77)
    return 77 in x, 78 not in x, x.index(77), x.count(77)


def text(x, d):
    x.append("a")
    return "".join(x), ",".join(x), f"{x}", "%s" % x, str(x), repr(x), "{}".format(x)


def arithmetic(x, d):
    x.append(1)
    return x + x, x * 2, [0] + x


def comparisons(x, d):
    x.append(1)
    return x == [1], x != [1], x < [2], [1] == x


def unpacking(x, d):
    x.append(1)
    (a,) = x
    b, *c = x
    return a, b, c


def consumers(x, d):
    x.append(1)
    walks = list(zip(x, x, strict=True)), list(enumerate(x)), list(reversed(x)), list(map(str, x))
    return max(x), min(x), sum(x), any(x), all(x), walks, dict.fromkeys(x), [i for i in x], sum(i for i in x)


def mappings(x, d):
    d["a"] = 1
    views = list(d), list(d.items()), list(d.values()), tuple(d), sorted(d)
    merged = {**d}, d | d, dict(d), d.copy(), (lambda **k: k)(**d)
    return len(d), bool(d), not d, "a" in d, d["a"], d.get("a"), d == {"a": 1}, views, merged


def attributes(x, d):
    box = Box()
    box.items = x
    box.items.append(1)
    return len(box.items), box.items[0], box.items == x


def in_place(x, d):
    x.append(1)
    x += x
    x *= 2
    y = [0]
    y.extend(x)
    y[0:0] = x
    x.extend(y)
    x[0], x[1] = x[1], x[0]
    del x[0]
    return x, y, x.pop()


def outcome(function):
    x, d = [], {}
    return repr(function(x, d)), x, d


FUNCTIONS = [truth, copies, stars, membership, text, arithmetic, comparisons, unpacking, consumers, mappings, attributes]


@pytest.mark.parametrize("function", [*FUNCTIONS, in_place], ids=lambda function: function.__name__)
def test_reads_see_pending_effects(function):
    twin = FunctionType(function.__code__, function.__globals__)
    installation = install(twin, Options(gainless=True))
    outcomes = [outcome(twin) for _ in range(4)]
    assert installation.state == "compiled"
    assert outcomes == [outcome(function)] * 4
