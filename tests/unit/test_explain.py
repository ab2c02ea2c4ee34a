"""Explanations: right, quick, without any effect of the explained code; on programs of our own and the standard library's."""

import ast
import base64
import calendar
import collections
import colorsys
import copy
import difflib
import fnmatch
import fractions
import functools
import html
import inspect
import io
import ipaddress
import json
import posixpath
import pprint
import re
import shlex
import statistics
import string
import textwrap
import time
import urllib.parse

import bytecode
import pytest
from rich.console import Console

import minijit
from minijit.harness.snapshot import difference, snapshot_roots


class Loud:
    """Every way to look at it is an effect."""

    heard = []

    def __getattribute__(self, name):
        Loud.heard.append(name)
        return object.__getattribute__(self, name)

    def __repr__(self):
        Loud.heard.append("repr")
        return "loud"

    def __eq__(self, other):
        Loud.heard.append("eq")
        return True

    def __hash__(self):
        Loud.heard.append("hash")
        return 1

    def __bool__(self):
        Loud.heard.append("bool")
        return True

    def __len__(self):
        Loud.heard.append("len")
        return 1

    def __iter__(self):
        Loud.heard.append("iter")
        return iter(())

    def __getattr__(self, name):
        Loud.heard.append(name)
        raise AttributeError(name)


class Point:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def norm(self):
        return abs(self.x) + abs(self.y)


class Cart:
    def __init__(self):
        self.items = []
        self.total = 0

    def add(self, price):
        self.items.append(price)
        self.total = self.total + price


def walk(x, y):
    return Point(x, y).norm()


def buy(cart, price):
    cart.add(price)
    return cart.total


def shout(thing, count):
    total = 0
    for number in range(count):
        total += number
    if thing == 1 and thing:
        print(thing)
    return total, len(thing), thing.attribute


# -- what it says --


def test_what_was_inlined_and_never_built():
    explanation = minijit.explain(walk, 1, 2)
    assert explanation.refused is None
    assert explanation.never_built == ("Point object",)
    happened = {(h.kind, h.text.split(" (")[0]) for line in explanation.lines for h in line.happened}
    assert ("inlined", "Point.norm") in happened
    assert ("removed", "Point object") in happened
    line = inspect.getsourcelines(Point.norm)[1]
    assert any(h.text == f"Point.norm (test_explain.py:{line})" for row in explanation.lines for h in row.happened)


def test_guards_are_python_with_the_value_seen():
    explanation = minijit.explain(walk, 1, 2)
    guards = {guard.text: guard.seen for guard in explanation.guards}
    assert guards["type(x) is int"] == "x = 1"
    assert "class Point is unchanged" in guards


def test_the_ledger_has_effects_in_order_with_their_own_places():
    explanation = minijit.explain(buy, Cart(), 5)
    first = inspect.getsourcelines(Cart.add)[1]
    assert [(effect.line, effect.column) for effect in explanation.ledger] == [(first + 1, 9), (first + 2, 9)]
    assert "append" in explanation.ledger[0].text
    assert "total" in explanation.ledger[1].text
    assert all(effect.filename == __file__ for effect in explanation.ledger)


def test_bytecode_is_what_would_be_installed():
    explanation = minijit.explain(walk, 1, 2)
    assert isinstance(explanation.original, bytecode.Bytecode)
    assert isinstance(explanation.bytecode, (bytecode.Bytecode, bytecode.ConcreteBytecode))
    function = type(walk)(explanation.code, globals())
    assert function(3, -4) == 7
    assert not any("Point" in i.argument for i in explanation.after if i.part == "body")


def test_each_instruction_says_what_it_is_for():
    explanation = minijit.explain(buy, Cart(), 5)
    purposes = [instruction.purpose for instruction in explanation.after if instruction.purpose]
    assert purposes[0] == "the guards"
    assert sum(purpose.startswith("ledger: ") for purpose in purposes) == 2


def test_a_refusal_is_told_with_its_code_and_the_change_that_helps():
    def gen():
        yield 1

    explanation = minijit.explain(gen)
    assert explanation.refused.code == "MJ011"
    assert explanation.reasons[0].advice
    assert "left as it is (MJ011)" in str(explanation)
    assert "to unlock more" in str(explanation)


def test_all_forms():
    explanation = minijit.explain(buy, Cart(), 5)
    assert json.loads(explanation.json())["compiled"] is True
    assert "<pre" in explanation.html()
    for name in ("original", "bytecode", "generated", "guards", "ledger", "ir", "source", "reasons", "stats"):
        assert explanation.section(name)
    out = io.StringIO()
    Console(file=out, width=80).print(explanation)
    assert "effects, in program order" in out.getvalue()
    assert max(map(len, str(explanation).splitlines())) <= 100


def test_explanations_are_frozen_and_slotted():
    explanation = minijit.explain(walk, 1, 2)
    with pytest.raises(AttributeError):
        explanation.ir = ""
    assert not hasattr(explanation, "__dict__")


# -- what it takes --


@pytest.mark.parametrize("call", [
    lambda f: minijit.explain(f, 1, 2, 3, k=4, z=5),
    lambda f: minijit.explain(f, 1, k=4),
])  # fmt: skip
def test_arguments_are_bound_as_in_a_call(call):
    def many(a, b=2, *args, k, **kwargs):
        return a, b, args, k, kwargs

    assert call(many).refused is None or call(many).refused.code == "MJ009"


def test_methods_and_compiled_functions():
    cart = Cart()
    assert minijit.explain(cart.add, 3).ledger
    compiled = minijit.compile(lambda x: Point(x, x).norm())
    for _ in range(3):
        compiled(1)
    assert minijit.explain(compiled, 1).never_built == ("Point object",)


@pytest.mark.parametrize(("target", "arguments", "message"), [
    (len, ([],), "written in C"),
    (str.upper, ("a",), "written in C"),
    (Point, (1, 2), "not a Python function"),
    (walk, (1,), "walk: missing a required argument: 'y'"),
])  # fmt: skip
def test_what_cannot_be_explained(target, arguments, message):
    with pytest.raises(TypeError, match=message):
        minijit.explain(target, *arguments)


def test_nothing_of_the_users_runs():
    thing = Loud()
    Loud.heard.clear()
    explanation = minijit.explain(shout, thing, 3)
    for name in ("bytecode", "generated", "guards", "ir", "source", "reasons", "stats"):
        explanation.section(name)
    explanation.json(), explanation.html(), str(explanation)
    assert Loud.heard == []


# -- the standard library --

TEXT = "  one two\n    three\n"
LIBRARY = {
    "textwrap.dedent": (textwrap.dedent, (TEXT,)),
    "textwrap.indent": (textwrap.indent, (TEXT, "> ")),
    "textwrap.shorten": (textwrap.shorten, (TEXT, 8)),
    "textwrap.wrap": (textwrap.wrap, (TEXT, 5)),
    "posixpath.join": (posixpath.join, ("a", "b", "c")),
    "posixpath.splitext": (posixpath.splitext, ("a/b.c",)),
    "posixpath.split": (posixpath.split, ("a/b",)),
    "posixpath.commonpath": (posixpath.commonpath, (["a/b", "a/c"],)),
    "fnmatch.translate": (fnmatch.translate, ("*.p[yx]",)),
    "fnmatch.fnmatchcase": (fnmatch.fnmatchcase, ("a.py", "*.py")),
    "statistics.mean": (statistics.mean, ([1, 2, 3, 4],)),
    "statistics.median": (statistics.median, ([3, 1, 2],)),
    "colorsys.rgb_to_hsv": (colorsys.rgb_to_hsv, (0.1, 0.2, 0.3)),
    "colorsys.hls_to_rgb": (colorsys.hls_to_rgb, (0.1, 0.2, 0.3)),
    "calendar.isleap": (calendar.isleap, (2024,)),
    "calendar.monthrange": (calendar.monthrange, (2024, 2)),
    "calendar.weekday": (calendar.weekday, (2024, 2, 29)),
    "string.capwords": (string.capwords, ("one two",)),
    "shlex.quote": (shlex.quote, ("a b",)),
    "shlex.split": (shlex.split, ("a 'b c' d",)),
    "html.escape": (html.escape, ("<a & b>",)),
    "html.unescape": (html.unescape, ("&lt;a",)),
    "urllib.parse.quote": (urllib.parse.quote, ("a b/ü",)),
    "urllib.parse.urlsplit": (urllib.parse.urlsplit.__wrapped__, ("http://a.b/c?d=e#f",)),
    "urllib.parse.parse_qsl": (urllib.parse.parse_qsl, ("a=1&b=2",)),
    "urllib.parse.urlencode": (urllib.parse.urlencode, ({"a": 1},)),
    "json.dumps": (json.dumps, ({"a": [1, 2.5, None]},)),
    "json.loads": (json.loads, ('{"a": [1, 2.5, null]}',)),
    "difflib.get_close_matches": (difflib.get_close_matches, ("appel", ["ape", "apple"])),
    "ast.literal_eval": (ast.literal_eval, ("[1, (2, 'x')]",)),
    "ast.dump": (ast.dump, (ast.parse("a + 1"),)),
    "copy.copy": (copy.copy, ([1, 2],)),
    "copy.deepcopy": (copy.deepcopy, ({"a": [1, 2]},)),
    "base64.b64encode": (base64.b64encode, (b"abc",)),
    "collections.Counter.most_common": (collections.Counter.most_common, (collections.Counter("abca"), 2)),
    "fractions.Fraction.limit_denominator": (fractions.Fraction.limit_denominator, (fractions.Fraction(3141, 1000), 10)),
    "inspect.cleandoc": (inspect.cleandoc, (TEXT,)),
    "ipaddress.ip_address": (ipaddress.ip_address, ("127.0.0.1",)),
    "pprint.pformat": (pprint.pformat, ({"a": 1},)),
    "re.escape": (re.escape, ("a.b",)),
    "functools.cmp_to_key": (functools.singledispatch, (walk,)),
}


@pytest.mark.parametrize("name", LIBRARY)
def test_the_standard_library(name):
    function, arguments = LIBRARY[name]
    before = snapshot_roots({"args": arguments})
    started = time.process_time()
    explanation = minijit.explain(function, *arguments)
    str(explanation), explanation.json()
    assert time.process_time() - started < 1
    assert difference(before, snapshot_roots({"args": arguments})) is None
    assert getattr(explanation.refused, "code", "MJ009") != "MJ007", getattr(explanation.refused, "details", "")
    assert not isinstance(explanation.refused, minijit.InternalError), explanation.refused.details
    wanted = function(*copy.deepcopy(arguments))
    if explanation.after:
        installed = type(function)(
            explanation.code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        installed.__kwdefaults__ = function.__kwdefaults__
        assert same(installed(*copy.deepcopy(arguments)), wanted)
    if explanation.source.complete:
        assert same(explanation.source.function(*copy.deepcopy(arguments)), wanted)


def same(left, right):
    return left == right or type(left) is type(right) and callable(left)
