"""`replay=`: effects are named with their place, or refused."""

import logging

import pytest
from both_ways import outcome_of

import minijit
from minijit import policy
from minijit.errors import Unsupported
from minijit.options import Options


class Cart:
    """Something with effects."""

    def __init__(self):
        self.items = []
        self.total = 0

    def add(self, item, price):
        """Two effects."""
        self.items.append(item)
        self.total = self.total + price


def fill(cart):
    """Two calls that are inlined, and none of its own."""
    cart.add("apple", 2)
    return cart.total


def add(a, b):
    """No effect."""
    return a + b


def lines(function, *arguments):
    """What the policy would say."""
    return [policy.line(note) for note in policy.visible(outcome_of(function, arguments))]


def test_effects_are_named_with_their_place():
    first, second = lines(fill, Cart())
    start = Cart.add.__code__.co_firstlineno
    assert first.endswith(f"test_policy.py:{start + 2}:9: list.append on self.items")
    assert second.endswith(f"test_policy.py:{start + 3}:9: self.total = ...")


def test_what_runs_as_it_is_may_change_anything():
    (only,) = lines(lambda x: print(x), 1)
    assert "may change anything" in only


def test_no_effect_nothing_said():
    assert lines(add, 1, 2) == []


def test_log(caplog):
    with caplog.at_level(logging.WARNING, logger="minijit.replay"):
        policy.apply(Options(replay="log"), outcome_of(fill, (Cart(),)))
    texts = [record.message.rpartition(": ")[2] for record in caplog.records]
    assert texts == ["list.append on self.items", "self.total = ..."]


def test_error_refuses():
    with pytest.raises(Unsupported) as raised:
        policy.apply(Options(replay="error"), outcome_of(fill, (Cart(),)))
    assert "list.append on self.items" in str(raised.value)
    policy.apply(Options(replay="error"), outcome_of(add, (1, 2)))


def test_error_leaves_the_function_as_it_is():
    compiled = minijit.compile(replay="error")(lambda cart: fill(cart))
    carts = [Cart() for _ in range(4)]
    assert [compiled(cart) for cart in carts] == [2, 2, 2, 2]
    assert minijit.stats(compiled).state == "refused"


