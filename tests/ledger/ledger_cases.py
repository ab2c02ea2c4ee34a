"""One case or more for each row of docs/ledger.md: a function, fresh arguments, and how its effects are done.

A case gives `(function, make_args)`, with a state of its own each time it is asked. `pended`: the ledger's
entries, in order. `real`: some instruction runs as it is. Neither: everything is virtual.
"""

import array
import collections
import contextlib
import contextvars
import functools
import random
import types
import weakref
from collections import ChainMap, Counter, OrderedDict, UserDict, defaultdict, deque
from dataclasses import dataclass

CASES = {}


def row(numbers, pended=None, real=False):
    """Register a case for the inventory's rows of these numbers."""

    def register(case):
        CASES[case.__name__] = (case, numbers, pended, real)
        return case

    return register


class Logged:
    """Tells when it dies."""

    def __init__(self, name, log):
        self.name = name
        self.log = log

    def __del__(self):
        self.log.append(self.name)


class Key:
    """Counts how often it is hashed and compared."""

    def __init__(self, value, log):
        self.value = value
        self.log = log

    def __hash__(self):
        self.log.append("hash")
        return hash(self.value)

    def __eq__(self, other):
        self.log.append("eq")
        return isinstance(other, Key) and self.value == other.value


class Box:
    """An object with attributes."""

    def __init__(self, value=0):
        self.value = value
        self.items = []


class Slotted:
    """An object with slots."""

    __slots__ = ("left", "right")

    def __init__(self):
        self.left = 1
        self.right = 2


def put(target, value):
    """An inlined append."""
    target.append(value)
    return len(target)


# -- A: the ledger itself ------------------------------------------------------------------------------


@row([1, 2, 46], ["list.append on first", "list.append on second"])
def aliased_arguments():
    def f(first, second):
        first.append(1)
        second.append(2)
        return first is second, first[-1], second[-1]

    made = iter([[[], []]] * 2 + [None] * 2)

    def make():
        pair = next(made)
        same = []
        return ([], []) if pair else (same, same)

    return f, make


@row([3, 8])
def dead_objects_are_not_made():
    def f(x):
        box = Box(x)
        box.items.append(1)
        box.value += 1
        return box.value

    return f, lambda: (3,)


@row([4, 41], ["global elsewhere.count = ..."])
def namespaces_are_objects():
    namespace = {"__name__": "elsewhere", "__builtins__": __builtins__, "count": 1}
    exec("def inner(x):\n    global count\n    count = count + x\n    return count", namespace)
    inner = namespace["inner"]

    def f(x):
        inner(x)
        return inner(x), namespace["count"]

    return f, lambda: (2,)


@row([5, 6], ["del box.value", "box.value = ..."])
def delete_then_set_moves_to_the_end():
    def f(box):
        del box.value
        box.value = 2
        return list(box.__dict__)

    return f, lambda: (Box(1),)


@row([7], ["list.append on items", "d['a'] = ..."])
def both_arms_of_a_branch():
    def f(items, d, x):
        if x > 1:
            items.append(x)
        else:
            d["a"] = x
        return len(items)

    values = iter([0, 2, 0, 2, 3])
    return f, lambda: ([], {}, next(values))


@row([8], real=True)
def finalizers_run_where_they_do():
    log = []

    def f(x):
        thing = Logged("thing", log)
        log.append("made")
        del thing
        log.append("after")
        return log[-3:]

    return f, lambda: (1,)


@row([9], ["box.value = ...", "box.value = ..."])
def set_and_restore():
    def f(box):
        old = box.value
        box.value = 10
        result = box.value + 1
        box.value = old
        return result

    return f, lambda: (Box(1),)


@row([10], ["list.append on self.items", "self.value = ..."])
def targets_are_named():
    class Cart:
        def __init__(self):
            self.items = []
            self.value = 0

        def add(self, x):
            self.items.append(x)
            self.value = x

    def f(cart):
        cart.add(2)
        return cart

    return f, lambda: (Cart(),)


@row([13], real=True)
def sort_keys_see_the_list_empty():
    def f(items):
        seen = []
        items.sort(key=lambda x: (seen.append(len(items)), x)[1])
        return seen, items

    return f, lambda: ([3, 1, 2],)


@row([14], real=True)
def own_getattribute():
    log = []

    class Spy:
        def __getattribute__(self, name):
            log.append(name)
            return object.__getattribute__(self, name)

    def f(spy):
        spy.x = 1
        return spy.x, list(log)

    return f, lambda: (Spy(),)


# -- B: containers -------------------------------------------------------------------------------------


@row([15], ["list.append on items", "list.insert on items", "list.reverse on items"])
def list_methods():
    def f(items):
        items.append(1)
        items.insert(0, 2)
        items.reverse()
        return items

    return f, lambda: ([5, 6],)


@row([15], ["list.pop on items", "list.append on items"])
def list_pop():
    def f(items):
        last = items.pop()
        items.append(last * 2)
        return last

    return f, lambda: ([1, 2, 3],)


@row([15], ["items[0] = ...", "items[i] = ...", "del items[0]"])
def list_items():
    def f(items, i):
        items[0] = 7
        items[i] = 8
        del items[0]
        return items

    return f, lambda: ([1, 2, 3], 2)


@row([15], ["list.pop on self.items", "list.append on self.items"])
def list_as_a_stack():
    class Machine:
        def __init__(self):
            self.items = [1, 2, 3]

        def add(self):
            right = self.items.pop()
            left = self.items.pop()
            self.items.append(left + right)

    def f(machine):
        machine.add()
        machine.add()
        return machine.items

    return f, lambda: (Machine(),)


@row([17], ["self.counts[word] = ..."])
def dict_key_written_and_read_again():
    class Words:
        def __init__(self):
            self.counts = {}

        def count(self, word):
            self.counts[word] = self.counts.get(word, 0) + 1
            return self.counts[word], word in self.counts

    def f(words, word):
        return words.count(word), words.counts

    return f, lambda: (Words(), "x")


@row([46], ["left.value = ...", "right.value = ..."])
def objects_that_differ():
    def f(left, right):
        left.value = 1
        right.value = 2
        return left.value + right.value

    made = iter([0, 0, 1, 1])

    def make():
        box = Box()
        return (box, box) if next(made) else (box, Box())

    return f, make


@row([15], ["list.append on items"])
def list_that_contains_itself():
    def f(items):
        items.append(items)
        return items[-1] is items

    return f, lambda: ([],)


@row([15], ["list.sort on items", "list.extend on items"])
def list_sort_and_extend():
    def f(items, more):
        items.sort()
        items.extend(more)
        return items

    return f, lambda: ([3, 1, 2], (9, 8))


@row([15])
def list_of_finalizers_is_cleared():
    log = []

    def f(items):
        log.append("before")
        items.clear()
        log.append("after")
        return log[-4:]

    return f, lambda: ([Logged("a", log), Logged("b", log)],)


@row([15], real=True)
def list_slices():
    def f(items):
        items[1:2] = [7, 8, 9]
        del items[0:1]
        items *= 2
        return items

    return f, lambda: ([1, 2, 3],)


@row([15])
def list_errors_come_midway():
    def f(items, d):
        items.append(1)
        d["k"] = 1
        items.pop()
        items.pop()
        d["never"] = 1

    return f, lambda: ([], {})


@row([16], ["deque.append on q", "deque.appendleft on q", "deque.popleft on q", "deque.rotate on q"])
def deque_methods():
    def f(q):
        q.append(1)
        q.appendleft(2)
        x = q.popleft()
        q.rotate(1)
        return x, q

    return f, lambda: (deque([5, 6]),)


@row([16], ["deque.append on q"])
def deque_with_maxlen():
    def f(q, x):
        q.append(x)
        return len(q), q.maxlen

    return f, lambda: (deque([1, 2, 3], 3), 4)


@row([17], ["d['a'] = ...", "d[k] = ...", "d[5] = ...", "del d['b']"])
def dict_items():
    def f(d, k):
        d["a"] = 1
        d[k] = 2
        d[5] = 3
        del d["b"]
        return list(d)

    return f, lambda: ({"b": 0, "c": 0}, "k")


@row([17], ["dict.pop on d", "d['x'] = ..."])
def dict_methods():
    def f(d):
        x = d.pop("a")
        d.update(x=x)
        return d.setdefault("x", 0), d.get("a"), "a" in d

    return f, lambda: ({"a": 1, "b": 2},)


@row([17], real=True)
def dict_calls_hash_and_eq_as_often():
    log = []

    def f(d, key):
        d[key] = 1
        d["s"] = 2
        del d["s"]
        d.pop(key)
        return list(log)

    return f, lambda: ({Key(1, log): 0}, Key(1, log))


@row([17])
def dict_overwritten_value_dies_in_order():
    log = []

    def f(d):
        log.append("one")
        d["k"] = 1
        log.append("two")
        return log[-3:]

    return f, lambda: ({"k": Logged("old", log)},)


@row([18], ["set.add on s", "set.discard on s", "set.remove on s"])
def set_methods():
    def f(s, x):
        s.add(x)
        s.discard(8)
        s.remove(16)
        return list(s)

    return f, lambda: ({0, 8, 16}, 24)


@row([18], real=True)
def set_compares_as_often():
    log = []

    def f(s):
        s.add(1)
        s.add("x")
        return len(s), len(log)

    return f, lambda: ({Key(1, log)},)


@row([19], ["dict.__setitem__ on self"])
def dict_subclass_past_its_override():
    class Doubling(dict):
        def __setitem__(self, key, value):
            super().__setitem__(key, value * 2)

    def f(d):
        d["a"] = 1
        return dict(d)

    return f, lambda: (Doubling(),)


@row([20], ["list.append on self"])
def list_subclass_past_its_override():
    class Doubling(list):
        def append(self, value):
            super().append(value * 2)

    def f(items):
        items.append(1)
        return len(items)

    return f, lambda: (Doubling(),)


@row([21])
def namedtuple_is_made_virtually():
    Pair = collections.namedtuple("Pair", "left right")

    def f(x):
        pair = Pair(x, x + 1)
        return pair.left + pair.right

    return f, lambda: (3,)


@row([22], real=True)
def frozenset_has_no_add():
    def f(s):
        try:
            s.add(1)
        except AttributeError as error:
            return str(error)

    return f, lambda: (frozenset({1}),)


@row([23])
def mutable_mapping():
    def f(d):
        d["a"] = 1
        d.update(b=2)
        d.pop("a")
        return d.data

    return f, lambda: (UserDict(z=0),)


@row([23], real=True)
def chain_map():
    def f(d):
        d["a"] = 1
        return d["a"], d.maps

    return f, lambda: (ChainMap({}, {"a": 0}),)


@row([24], ["OrderedDict.move_to_end on d", "d['b'] = ..."])
def ordered_dict():
    def f(d):
        d.move_to_end("a")
        d["b"] = 5
        return list(d.items())

    return f, lambda: (OrderedDict(a=1, b=2),)


@row([24], ["dict.__setitem__ on d", "n['n'] = ..."])
def defaultdict_makes_what_is_missing():
    def f(d, n):
        d["k"].append(1)
        n["n"] += 1
        return d, n

    def make():
        return defaultdict(list), defaultdict(int, n=1)

    return f, make


@row([24], ["counts['a'] = ...", "counts['b'] = ..."])
def counter_counts():
    def f(counts):
        counts["a"] += 1
        counts["b"] += 1
        return counts

    return f, lambda: (Counter("abc"),)


@row([25])
def views_are_live():
    def f(d):
        keys = d.keys()
        d["new"] = 1
        return list(keys), len(keys)

    return f, lambda: ({"a": 1},)


@row([15], real=True)
def bytearray_and_array():
    def f(data, numbers):
        data[0] = 65
        data.append(66)
        numbers[0] = 2.5
        numbers.append(1.0)
        return data, numbers

    return f, lambda: (bytearray(b"xyz"), array.array("d", [1.0]))


# -- C: attributes -------------------------------------------------------------------------------------


@row([26, 28], ["box.value = ...", "box.other = ..."])
def attributes():
    def f(box):
        box.value = 1
        box.other = 2
        return box.value + box.other, list(box.__dict__)

    return f, lambda: (Box(),)


@row([26], real=True)
def a_store_that_fails():
    def f(box):
        try:
            box.__weakref__ = None
        except AttributeError:
            return "refused"

    return f, lambda: (Box(),)


@row([27], ["s.left = ...", "del s.right"])
def slots():
    def f(s):
        s.left = 5
        del s.right
        return s.left, hasattr(s, "right")

    return f, lambda: (Slotted(),)


@row([28], ["self._value = ..."])
def properties():
    class Guarded:
        _value = 0

        @property
        def value(self):
            return self._value

        @value.setter
        def value(self, new):
            self._value = new * 2

    def f(g):
        g.value = 3
        return g.value

    return f, lambda: (Guarded(),)


@row([29], real=True)
def own_setattr():
    class Noisy:
        log = []

        def __setattr__(self, name, value):
            self.log.append(name)
            object.__setattr__(self, name, value)

    def f(noisy):
        noisy.a = 1
        return noisy.a, noisy.log[-1]

    return f, lambda: (Noisy(),)


@row([30], ["del box.value"])
def attribute_deletes():
    def f(box):
        del box.value
        try:
            return box.value
        except AttributeError:
            return "gone"

    return f, lambda: (Box(),)


@row([31])
def frozen_dataclass():
    @dataclass(frozen=True)
    class Point:
        x: int
        y: int

    def f(x):
        p = Point(x, 2)
        return p.x + p.y

    return f, lambda: (1,)


@row([32], real=True)
def exceptions_keep_their_traceback():
    def f(x):
        try:
            raise ValueError(x)
        except ValueError as error:
            error.add_note("note")
            return error.__traceback__ is not None, error.__notes__, error.__context__

    return f, lambda: (1,)


@row([33], real=True)
def context_managers():
    log = []

    @contextlib.contextmanager
    def open_it():
        log.append("in")
        try:
            yield 5
        finally:
            log.append("out")

    def f(x):
        with open_it() as value, contextlib.ExitStack() as stack:
            stack.callback(log.append, "callback")
            log.append("body")
            if x > 1:
                raise KeyError(x)
        return value, log[-4:]

    values = iter([1, 2, 1, 2])
    return f, lambda: (next(values),)


@row([34], real=True)
def class_attributes():
    class Counted:
        count = 0

    def f(x):
        Counted.count += x
        return Counted.count

    return f, lambda: (2,)


@row([35], real=True)
def function_attributes():
    def helper():
        return helper.calls

    def f(x):
        helper.calls = x
        return helper()

    return f, lambda: (2,)


@row([28], ["d['value'] = ...", "box.value = ..."])
def instance_dict_and_attributes_are_one():
    def f(box, d):
        d["value"] = 5
        first = box.value
        box.value = 6
        return first, d["value"]

    def make():
        box = Box()
        return box, box.__dict__

    return f, make


# -- D: cells and globals ------------------------------------------------------------------------------


@row([36, 37], ["nonlocal count = ...", "nonlocal count = ..."])
def cells_of_an_inlined_function():
    count = 0

    def bump(x):
        nonlocal count
        count += x
        return count

    def f(x):
        bump(x)
        return bump(x)

    return f, lambda: (2,)


@row([36], ["nonlocal total = ..."])
def cells_of_the_function_itself():
    total = 1

    def f(x):
        nonlocal total
        total = total + x
        return total

    return f, lambda: (2,)


@row([38, 39, 40])
def new_cells_and_closures():
    def f(x):
        def add(y):
            return x + y

        x = x + 1
        return add(1)

    return f, lambda: (2,)


@row([36], ["del x"])
def deleted_cells():
    def f(x):
        def get():
            return x  # noqa: F821

        del x
        try:
            return get()
        except NameError as error:
            return str(error)

    return f, lambda: (2,)


@row([41, 42], ["global N = ...", "global new = ...", "del global N"])
def globals_change():
    namespace = {"__name__": "here", "__builtins__": __builtins__, "N": 1}
    source = "def f(x):\n    global N, new\n    N = N + x\n    new = N\n    r = N\n    del N\n    N = 1\n    return r"
    exec(source, namespace)
    return namespace["f"], lambda: (2,)


# -- E: objects born in the trace ------------------------------------------------------------------------


@row([43, 44, 45], ["list.append on out"])
def objects_that_escape():
    def f(out, x):
        box = Box(x)
        out.append(box)
        box.value = 5
        return out[0].value, out[0] is box

    return f, lambda: ([], 2)


@row([46], ["list.append on out", "list.append on out"])
def identity_of_what_escapes():
    def f(out):
        pair = [1]
        out.append(pair)
        out.append(pair)
        pair.append(2)
        return out[0] is out[1], out

    return f, lambda: ([],)


# -- F: iterators, generators, random -----------------------------------------------------------------------


@row([47, 48], real=True)
def iterators_from_outside():
    def f(it):
        first = next(it)
        rest = list(it)
        return first, rest, next(it, "done")

    return f, lambda: (iter([1, 2, 3]),)


@row([49])
def builtin_iterators():
    def f(a, b):
        total = 0
        for i, (x, y) in enumerate(zip(a, b)):  # noqa: B905 - strict zip is not modelled
            total += i * x * y
        return total

    return f, lambda: ((1, 2, 3), [4, 5, 6])


@row([47], ["list.append on items"])
def a_list_that_grows_while_it_is_walked():
    def f(items):
        seen = 0
        for x in items:
            seen += x
            if len(items) < 6:
                items.append(x + 1)
        return seen

    return f, lambda: ([1, 2],)


@row([50])
def generators_are_suspended_and_closed():
    log = []

    def numbers(n):
        try:
            for i in range(n):
                log.append(i)
                yield i
        finally:
            log.append("closed")

    def f(n):
        for x in numbers(n):
            if x == 1:
                break
        return log[-3:]

    return f, lambda: (4,)


@row([51], real=True)
def random_state():
    source = random.Random(5)

    def f(items):
        source.shuffle(items)
        return items, source.random()

    return f, lambda: ([1, 2, 3, 4],)


@row([47], real=True)
def caches_and_context_variables():
    variable = contextvars.ContextVar("variable", default=0)
    calls = []

    @functools.lru_cache
    def cached(x):
        calls.append(x)
        return x * 2

    class Lazy:
        @functools.cached_property
        def value(self):
            calls.append("value")
            return 5

    def f(x):
        token = variable.set(x)
        lazy = Lazy()
        result = cached(x) + cached(x) + lazy.value + lazy.value + variable.get()
        variable.reset(token)
        return result, list(calls), variable.get()

    return f, lambda: (2,)


@row([8], real=True)
def weak_references_die_in_order():
    log = []

    def f(x):
        box = Box(x)
        reference = weakref.ref(box, lambda _: log.append("dead"))
        log.append("made")
        box = None
        log.append("after")
        return reference() is None, log[-3:]

    return f, lambda: (1,)


__all__ = ["CASES", "put", "types"]
