"""Random regions: what is lowered does what running the operations one by one does.

MINIJIT_SEEDS=5000 tries more of them.
"""

from __future__ import annotations

import operator
import os
import random

import pytest
from unit.region_builder import Abort, Answer, Ask, Builder, Deliver, Lowered, line_offset

from minijit.interpreter.ir import Branch, Const, Exit, Jump, Next, Return, Value

SEEDS = int(os.environ.get("MINIJIT_SEEDS", "150"))
HEAP = [0, 0, 0]
LOG: list[object] = []
RAISING: set[int] = set()
FAILING: set[int] = set()
FUEL = [0]


class Boom(Exception):
    """What `note` raises now and then."""


def note(value):
    LOG.append(value)
    FUEL[0] += 1
    if value in RAISING or FUEL[0] > 60:
        raise Boom(value)
    return value + 1


def peek(index):
    return HEAP[index % 3]


def shows(name):
    """Names of the function's own locals, and of temporaries, of which there should be none."""
    return name in "abpqr" or (name[0] == "." and name != ".0")


def original(a, b):
    p = q = r = None
    if a is b:
        return ("outside", {n: v for n, v in locals().items() if shows(n)})
    try:
        return ("inside", {n: v for n, v in locals().items() if shows(n)})
    except Boom as boom:
        return ("handled", boom.args, {n: v for n, v in locals().items() if shows(n)})


OUTSIDE, INSIDE = line_offset(original, 3), line_offset(original, 5)


class Answers(Answer):
    """Says no when a test's number is one of FAILING."""

    def __bool__(self):
        return all(row[2] not in FAILING for row in self.tests)


class Generator:
    """Writes one random region."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.b = Builder(original, a=int, b=int)
        self.pool = [self.b["a"], self.b["b"]]
        self.check_number = 0
        self.budget = self.random.choice([5, 15, 40])
        self.renew()

    def pick(self):
        if self.random.random() < 0.1:
            return Const(self.random.randrange(-3, 4))
        if self.random.random() < 0.5:
            return self.random.choice(self.pool[-4:])
        return self.random.choice(self.pool)

    def renew(self):
        """After an effect, and where ways meet, failing leads to a new place."""
        names = self.random.sample("abpqr", self.random.randrange(4))
        changes = {name: self.pick() for name in names}
        changes |= {name: ... for name in "qr" if name not in changes and self.random.random() < 0.3}
        self.snapshot = self.b.snapshot(self.random.choice([OUTSIDE, INSIDE]), changes)
        if self.random.random() < 0.3 and changes:
            built = self.b.built(self.snapshot, "tuple", self.pick(), self.pick())
            (slot, _), *rest = self.snapshot.locals
            self.snapshot.locals = ((slot, built), *rest)
        self.b.failure = Abort(self.snapshot)

    def keep(self, value):
        self.pool.append(value)

    def step(self):
        kinds = {
            "plain": 8, "divide": 2, "read": 2, "pure_call": 1, "build": 1, "check": 2, "store": 2, "note": 2,
            "local": 0.3, "dropped": 2, "branch": 1.5, "loop": 0.7, "items": 0.7,
        }
        getattr(self, self.random.choices(list(kinds), list(kinds.values()))[0])()

    def plain(self):
        text = self.random.choice(["+", "-", "*", "&"])
        failure = "current" if text == "*" or self.random.random() < 0.7 else None
        self.keep(self.b.op("binary", self.pick(), self.pick(), payload=text, type=int, failure=failure))

    def divide(self):
        masked = self.b.op("binary", self.pick(), 15, payload="&", type=int)
        quotient = self.b.op("binary", self.pick(), masked, payload="//", type=int)
        self.keep(self.b.op("binary", quotient, 1023, payload="&", type=int))

    def read(self):
        index = self.random.randrange(3)
        self.keep(self.b.op("item", HEAP, index, type=int))

    def pure_call(self):
        self.keep(self.b.op("call", peek, self.pick(), payload=(), type=int))

    def build(self):
        pair = self.b.op("tuple", self.pick(), self.pick(), type=tuple, failure=None)
        self.keep(self.b.op("item", pair, self.random.randrange(2), type=int))

    def check(self):
        self.check_number += 1
        subject = next(v for v in iter(self.pick, None) if isinstance(v, Value))
        self.b.check(Ask("is", subject, (self.check_number,)))

    def store(self):
        small = self.b.op("binary", self.pick(), 1023, payload="&", type=int)
        self.b.op("set_item", HEAP, self.random.randrange(3), small, failure=None)
        self.renew()

    def dropped(self):
        """Values that live for one or two uses, with something or nothing between."""
        small = self.b.op("binary", self.pick(), 63, payload="&", type=int)
        effect = self.random.random() < 0.5
        first = self.b.op("call", note if effect else peek, small, payload=(), effect=effect, failure=None)
        if effect:
            self.renew()
        if self.random.random() < 0.3:
            self.plain()
        second = self.b.op("tuple", self.pick(), first, failure=None)
        dead = [first]
        if self.random.random() < 0.5:
            self.b.op("drop", dead.pop())
        if self.random.random() < 0.3:
            self.store()
        third = self.b.op("item", second, 1, type=int)
        if self.random.random() < 0.3:
            third = self.b.op("binary", third, first, payload="+", type=int) if dead else third
        for value in [*dead, second]:
            self.b.op("drop", value)
        self.renew()
        self.keep(third)

    def local(self):
        self.b.op("set_local", self.pick(), payload=self.random.randrange(5), failure=None)
        self.renew()

    def note(self):
        failure = self.random.choice([None, Deliver(self.snapshot)])
        small = self.b.op("binary", self.pick(), 63, payload="&", type=int)
        result = self.b.op("call", note, small, payload=(), type=int, effect=True, failure=failure)
        self.keep(result)
        self.renew()

    def run(self, budget):
        for _ in range(budget):
            if self.budget > 0:
                self.budget -= 1
                self.step()

    def nested(self, block):
        """Write into a block, or into those that follow it; what it makes is not visible outside."""
        self.b.at(block)
        size = len(self.pool)
        self.renew()
        self.run(self.random.randrange(5))
        arguments = [self.pick() for _ in range(2)]
        del self.pool[size:]
        return arguments

    def branch(self):
        b = self.b
        source, then, otherwise = b.current, b.block(), b.block()
        meet = b.block(b.value(int), b.value(int))
        b.at(source)
        kind = self.random.choice(["compare", "value", "direct"])
        condition = self.pick()
        if kind == "compare":
            condition = b.op("compare", condition, self.pick(), payload=self.random.choice("<>"), type=bool)
        if kind == "direct":
            b.branch(condition, (meet, self.pick(), self.pick()), otherwise)
            del b.blocks[b.blocks.index(then)]
        else:
            b.branch(condition, then, otherwise)
            arguments = self.nested(then)
            b.jump(meet, *arguments)
        arguments = self.nested(otherwise)
        b.jump(meet, *arguments)
        self.go_on(meet)

    def go_on(self, block):
        self.b.at(block)
        self.pool += block.parameters
        self.renew()

    def loop(self):
        b = self.b
        source = b.current
        head, body, done = b.block(b.value(int), b.value(int), b.value(int)), b.block(), b.block()
        b.at(source)
        b.jump(head, 0, self.pick(), self.pick())
        self.go_on(head)
        count = head.parameters[0]
        b.branch(b.op("compare", count, 3, payload="<", type=bool), body, done)
        arguments = self.nested(body)
        small = [b.op("binary", v, 4095, payload="&", type=int) for v in arguments]
        b.jump(head, b.op("binary", count, 1, payload="+", type=int), *small, backward=True)
        b.at(done)
        self.renew()

    def items(self):
        b = self.b
        iterator = b.op("iter", (3, 0, 5))
        source = b.current
        head, body, done = b.block(b.value(int)), b.block(), b.block()
        b.at(source)
        b.jump(head, self.pick())
        b.at(head)
        total = head.parameters[0]
        self.renew()
        item = b.value(int)
        b.next(iterator, body, done, item)
        self.pool += [total, item]
        self.nested(body)
        b.at(b.current)
        small = b.op("binary", total, 4095, payload="&", type=int)
        b.jump(head, b.op("binary", small, item, payload="+", type=int), backward=True)
        self.pool.remove(item)
        b.at(done)
        self.renew()

    def region(self):
        self.run(self.budget)
        if self.random.random() < 0.2:
            self.b.exit(self.snapshot)
        else:
            self.b.ret(self.b.op("tuple", *(self.pick() for _ in range(4)), failure=None))
        last = self.b.blocks[1:]
        if self.random.random() < 0.3:
            self.random.shuffle(last)
        self.b.blocks[1:] = last
        return self.b.region()


# -- running the operations one by one --


OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "//": operator.floordiv,
             "<": operator.lt, ">": operator.gt}


class Left(Exception):
    """The region was left by a snapshot, with an exception or none."""


def run(region, a, b):
    machine = {region.arguments[0][1]: a, region.arguments[1][1]: b}
    physical = {"a": a, "b": b}
    return Machine(machine, physical).run(region)


class Machine:
    """Interprets a region."""

    def __init__(self, values, physical):
        self.values = values
        self.physical = physical

    def get(self, operand):
        return operand.value if isinstance(operand, Const) else self.values[operand]

    def run(self, region):
        try:
            block = region.blocks[0]
            while True:
                for operation in block.operations:
                    self.attempt(operation)
                block = self.follow(block.terminator)
                if not hasattr(block, "terminator"):
                    return block
        except Left as left:
            return self.leave(*left.args)

    def attempt(self, operation):
        try:
            result = self.operation(operation)
        except (ZeroDivisionError, Boom) as error:
            if operation.failure is None:
                raise
            kept = error if isinstance(operation.failure, Deliver) else None
            raise Left(operation.failure.snapshot, kept) from None
        if operation.results:
            self.values[operation.result] = result

    def operation(self, operation):
        operands = [self.get(operand) for operand in operation.operands]
        if operation.opcode == "check":
            if any(test.payload[0] in FAILING for test in operation.payload):
                raise Left(operation.failure.snapshot, None)
            return None
        return getattr(self, operation.opcode)(operation.payload, *operands)

    def binary(self, text, left, right):
        return OPERATORS[text](left, right)

    compare = binary

    def item(self, _, container, index):
        return container[index]

    def call(self, _, function, *arguments):
        return function(*arguments)

    def tuple(self, _, *items):
        return items

    def set_item(self, _, container, index, value):
        container[index] = value

    def set_local(self, slot, value):
        self.physical["abpqr"[slot]] = value

    def drop(self, _, value):
        """Nothing: values here are not missed when they die."""

    def iter(self, _, items):
        return iter(items)

    def follow(self, terminator):
        if isinstance(terminator, Exit):
            raise Left(terminator.snapshot, None)
        if isinstance(terminator, Return):
            return self.get(terminator.value)
        if isinstance(terminator, Jump):
            return self.enter(terminator.target)
        if isinstance(terminator, Branch):
            return self.enter(terminator.then if self.get(terminator.condition) else terminator.otherwise)
        assert isinstance(terminator, Next)
        for item in self.get(terminator.iterator):
            self.values[terminator.result] = item
            return self.enter(terminator.body)
        return self.enter(terminator.done)

    def enter(self, edge):
        arguments = [self.get(argument) for argument in edge.arguments]
        self.values.update(zip(edge.block.parameters, arguments, strict=True))
        return edge.block

    def leave(self, snapshot, error):
        for operation in snapshot.operations:
            self.values[operation.result] = self.operation(operation)
        state = dict(self.physical)
        for slot, value in snapshot.locals:
            if value is None:
                state.pop("abpqr"[slot], None)
            else:
                state["abpqr"[slot]] = self.get(value)
        if error is None:
            return ("inside" if snapshot.offset == INSIDE else "outside", state)
        if snapshot.offset != INSIDE:
            raise error
        return ("handled", error.args, state)


# -- comparing --


def outcome(function, *arguments):
    HEAP[:] = [4, 5, 6]
    LOG.clear()
    FUEL[0] = 0
    try:
        result = function(*arguments)
    except (ZeroDivisionError, Boom) as error:
        return type(error), list(HEAP), list(LOG)
    return result, list(HEAP), list(LOG)


@pytest.mark.parametrize("chunk", range(10))
def test_random_regions(chunk):
    for seed in range(chunk * SEEDS // 10, (chunk + 1) * SEEDS // 10):
        compare(seed)


def compare(seed):
    low = Lowered(original, Generator(seed).region(), make=Answers)
    reference = Generator(seed).region()
    choices = random.Random(seed)
    for _ in range(8):
        RAISING.clear()
        RAISING.update(choices.sample(range(64), choices.choice([0, 0, 3, 20])))
        FAILING.clear()
        FAILING.update(choices.sample(range(1, 40), choices.choice([0, 0, 1, 5])))
        a, b = choices.randrange(-5, 6), choices.randrange(-5, 6)
        expected = outcome(lambda a, b: run(reference, a, b), a, b)
        assert outcome(low, a, b) == expected, f"seed {seed}, a={a}, b={b}\n{reference}"
