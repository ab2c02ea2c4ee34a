"""The Emitter: every operation runs, constants keep their identity, exits and handlers arrive."""

import operator
import sys
from types import CodeType, FunctionType

import pytest

from minijit.codegen.emitter import BINARY, COMPARE, Emitter
from minijit.codegen.verify import verify
from minijit.interpreter.decode import decode
from minijit.interpreter.opcodes import OPCODE


def three(a=None, b=None, c=None):
    """A body that must not run."""
    raise AssertionError("the original ran")


def compiled(build, function=three):
    """`function` with a generated part that `build(emitter)` emits."""
    emitter = Emitter(function.__code__)
    build(emitter)
    code = emitter.finish()
    verify(code)
    new = FunctionType(code, function.__globals__, "new", function.__defaults__, function.__closure__)
    new.__kwdefaults__ = function.__kwdefaults__
    return new


def run(build, *arguments):
    """Call it."""
    return compiled(build)(*arguments)


def returning(*steps):
    """Build from (method, *arguments) steps, then return the top of the stack."""

    def build(emitter):
        for name, *arguments in steps:
            getattr(emitter, name)(*arguments)
        emitter.return_value()

    return build


A, B, C = ("load_fast", 0), ("load_fast", 1), ("load_fast", 2)

OPERATORS = [
    ("+", operator.add), ("-", operator.sub), ("*", operator.mul), ("/", operator.truediv), ("//", operator.floordiv),
    ("%", operator.mod), ("**", operator.pow), ("<<", operator.lshift), (">>", operator.rshift), ("&", operator.and_),
    ("|", operator.or_), ("^", operator.xor), ("+=", operator.iadd), ("-=", operator.isub), ("*=", operator.imul),
    ("/=", operator.itruediv), ("//=", operator.ifloordiv), ("%=", operator.imod), ("**=", operator.ipow),
    ("<<=", operator.ilshift), (">>=", operator.irshift), ("&=", operator.iand), ("|=", operator.ior),
    ("^=", operator.ixor),
]  # fmt: skip


@pytest.mark.parametrize(("text", "function"), OPERATORS)
def test_binary(text, function):
    assert run(returning(A, B, ("binary", text)), 13, 3) == function(13, 3)


def test_every_binary_operator_is_tested():
    assert {text for text, _ in OPERATORS} == set(BINARY) - {"@", "@="}


@pytest.mark.parametrize("text", COMPARE)
def test_compare(text):
    """The argument is the compiler's own, and it stays right when the instruction specialises."""
    oracle = eval(f"lambda a, b: a {text} b")
    assert bytes((OPCODE["COMPARE_OP"], COMPARE[text])) in oracle.__code__.co_code
    function = compiled(returning(A, B, ("compare", text)))
    for _ in range(20):
        for pair in [(1, 2), (2, 1), (1, 1), (1.0, float("nan")), ("a", "a"), ("a", "b"), (2.5, 2.5)]:
            try:
                expected = oracle(*pair)
            except TypeError:
                continue
            assert function(*pair) is expected


@pytest.mark.parametrize(("text", "function"), [("-", operator.neg), ("~", operator.invert), ("+", operator.pos)])
def test_unary(text, function):
    assert run(returning(A, ("unary", text)), 5) == function(5)


def test_not():
    assert run(returning(A, ("unary", "not")), []) is True
    assert run(returning(A, ("unary", "not")), [1]) is False


class Thing:
    """Something with attributes and methods."""

    size = 3

    def scale(self, factor, plus=0):
        """A method."""
        return self.size * factor + plus


RESULTS = [
    ("tuple", [A, B, ("build", "tuple", 2)], (1, 2), (1, 2)),
    ("list", [A, B, ("build", "list", 2)], (1, 2), [1, 2]),
    ("set", [A, B, ("build", "set", 2)], (1, 2), {1, 2}),
    ("map", [A, B, ("build", "map", 1)], (1, 2), {1: 2}),
    ("slice", [A, B, ("build", "slice", 2)], (1, 2), slice(1, 2)),
    ("slice3", [A, B, C, ("build", "slice", 3)], (1, 2, 3), slice(1, 2, 3)),
    ("string", [A, B, ("build", "string", 2)], ("a", "b"), "ab"),
    ("append", [A, B, ("list_append", 1)], ([1], 2), [1, 2]),
    ("set_add", [A, B, ("set_add", 1)], ({1}, 2), {1, 2}),
    ("map_add", [A, B, C, ("map_add", 1)], ({}, 1, 2), {1: 2}),
    ("extend", [A, B, ("list_extend", 1)], ([1], (2, 3)), [1, 2, 3]),
    ("set_update", [A, B, ("set_update", 1)], ({1}, (2, 3)), {1, 2, 3}),
    ("dict_update", [A, B, ("dict_update", 1)], ({1: 1}, {2: 2}), {1: 1, 2: 2}),
    ("list_to_tuple", [A, ("list_to_tuple",)], ([1, 2],), (1, 2)),
    ("is", [A, B, ("is_", False)], (None, None), True),
    ("is not", [A, B, ("is_", True)], (None, None), False),
    ("in", [A, B, ("contains", False)], (1, [1]), True),
    ("not in", [A, B, ("contains", True)], (1, [1]), False),
    ("subscript", [A, B, ("subscript",)], ({1: 2}, 1), 2),
    ("slice_item", [A, B, C, ("slice_item",)], ([1, 2, 3, 4], 1, 3), [2, 3]),
    ("store_subscript", [C, A, B, ("store_subscript",), A], ({}, 1, 2), {1: 2}),
    ("store_slice", [("load_const", [8, 9]), A, B, C, ("store_slice",), A], ([1, 2, 3], 0, 2), [8, 9, 3]),
    ("delete_subscript", [A, B, ("delete_subscript",), A], ({1: 2}, 1), {}),
    ("format", [A, ("format", "", False)], (1,), "1"),
    ("format !r", [A, ("format", "r", False)], ("x",), "'x'"),
    ("format !s", [A, ("format", "s", False)], (1,), "1"),
    ("format !a", [A, ("format", "a", False)], ("é",), "'\\xe9'"),
    ("format spec", [A, B, ("format", "", True)], (1, ">3"), "  1"),
    ("format !r spec", [A, B, ("format", "r", True)], ("x", ">5"), "  'x'"),
    ("swap", [A, B, ("swap", 2), ("build", "tuple", 2)], (1, 2), (2, 1)),
    ("copy", [A, ("copy", 1), ("build", "tuple", 2)], (1,), (1, 1)),
    ("pop", [A, B, ("pop",)], (1, 2), 1),
    ("attr", [A, ("load_attr", "size")], (Thing(),), 3),
    ("method", [A, ("load_method", "scale"), B, ("call_method", 1, ())], (Thing(), 5), 15),
    ("method kw", [A, ("load_method", "scale"), B, C, ("call_method", 2, ("plus",))], (Thing(), 5, 2), 17),
    ("builtin method", [A, ("load_method", "join"), B, ("call_method", 1)], ("-", "ab"), "a-b"),
    ("global", [("load_global", "OPERATORS")], (), OPERATORS),
    ("builtin", [("load_global", "len")], (), len),
    ("store_fast", [A, ("store_fast", 1), B], (1, 2), 1),
    ("load_fast_check", [A, ("load_fast_check", 0), ("build", "tuple", 2)], (1,), (1, 1)),
]


@pytest.mark.parametrize(("steps", "arguments", "expected"), [row[1:] for row in RESULTS], ids=[r[0] for r in RESULTS])
def test_result(steps, arguments, expected):
    function = compiled(returning(*steps))
    result = function(*arguments)
    assert result == expected
    assert type(result) is type(expected)


def call_steps(function, *arguments):
    return [("before_callable",), function, ("after_callable",), *arguments]


def show(*args, **kwargs):
    return args, kwargs


def test_calls():
    assert run(returning(*call_steps(A, B, C), ("call", 2, ())), show, 1, 2) == ((1, 2), {})
    assert run(returning(*call_steps(A, B, C), ("call", 2, ("k",))), show, 1, 2) == ((1,), {"k": 2})
    assert run(returning(*call_steps(A), ("call", 0, ())), show) == ((), {})
    assert run(returning(*call_steps(A, B, C), ("call_ex", True)), show, (1, 2), {"z": 3}) == ((1, 2), {"z": 3})
    assert run(returning(*call_steps(A, B), ("call_ex", False)), show, (1, 2)) == ((1, 2), {})


def test_dict_merge_names_the_callable():
    steps = [*call_steps(A), ("load_const", ()), ("build", "map", 0), B, ("dict_merge", 1), C, ("dict_merge", 1)]
    steps.append(("call_ex", True))
    assert run(returning(*steps), show, {"a": 1}, {"b": 2}) == ((), {"a": 1, "b": 2})
    with pytest.raises(TypeError, match=r"show\(\) got multiple values for keyword argument 'a'"):
        run(returning(*steps), show, {"a": 1}, {"a": 2})


def test_attributes_are_stored_and_deleted():
    thing = Thing()
    assert run(returning(B, A, ("store_attr", "new"), A, ("load_attr", "new")), thing, 7) == 7
    run(returning(A, ("delete_attr", "new"), B), thing)
    assert not vars(thing)


def test_globals_are_stored_and_deleted():
    run(returning(A, ("store_global", "_fresh"), A), 5)
    assert globals()["_fresh"] == 5
    run(returning(("delete_global", "_fresh"), A), 5)
    assert "_fresh" not in globals()


def test_delete_fast_unbinds():
    with pytest.raises(UnboundLocalError):
        run(returning(("delete_fast", 0), ("load_fast_check", 0)), 1)


def test_make_function_with_everything():
    def outer(q):
        def inner(a, b=1, *, c=2) -> int:
            return a, b, c, q

        return inner

    inner = next(constant for constant in outer.__code__.co_consts if isinstance(constant, CodeType))

    def build(emitter):
        emitter.load_const((8,))
        emitter.load_const("c")
        emitter.load_const(9)
        emitter.build("map", 1)
        emitter.load_const(("return", int))
        emitter.load_closure(emitter.slot(0))
        emitter.build("tuple", 1)
        emitter.load_const(inner)
        emitter.make_function(1 | 2 | 4 | 8)
        emitter.return_value()

    function = compiled(build, outer)("Q")
    assert function(7) == (7, 8, 9, "Q")
    assert function.__annotations__ == {"return": int}


def test_constants_keep_identity():
    """Equal is not enough: 1, 1.0 and True; two NaNs; strings that a code object would intern."""
    dynamic = "".join(["abc", "_", "def"])
    assert sys.intern("abc_def") is not dynamic
    items = [1, 1.0, True, 0.0, -0.0, float("nan"), float("nan"), dynamic, (dynamic, 1), frozenset([dynamic])]
    items += [[], {}, Thing(), len, dynamic + " é", (1, (2.0, dynamic)), type, None, ...]
    for item in items + items:
        assert run(returning(("load_const", item))) is item

    def build(emitter):
        for item in items:
            emitter.load_const(item)
        emitter.build("tuple", len(items))
        emitter.return_value()

    assert all(map(operator.is_, compiled(build)(), items))
    assert type(dynamic) is str
    assert items[8][0] is dynamic


def test_code_with_unhashable_constants_can_be_hashed():
    code = compiled(returning(("load_const", [1]))).__code__
    assert isinstance(hash(code), int)


def test_constant_built_late_sees_final_slots():
    def outer(a):
        cell = a
        return lambda: cell

    slots = []

    def build(emitter):
        own = emitter.slot(outer.__code__.co_nlocals)
        first = emitter.temporary()
        emitter.load_const_later(lambda resolve: slots.extend(map(resolve, (0, first, own))) or "late")
        emitter.temporary()
        emitter.return_value()

    assert compiled(build, outer)(1) == "late"
    assert slots == [0, 1, 3]


def test_cells_move_up_by_the_temporaries():
    """So far that the original's own accesses need EXTENDED_ARG."""

    def make():
        free = 5

        def function(a, b):
            own = a

            def inner():
                nonlocal own
                own += 1
                return own, b, free

            return inner(), own, free

        return function

    original = make()

    def build(emitter):
        code = original.__code__
        slots = [emitter.temporary() for _ in range(300)]
        for slot in slots:
            emitter.load_const(slot)
            emitter.store_fast(slot)
        own, free = code.co_nlocals, code.co_nlocals + 1
        emitter.load_const("own")
        emitter.store_deref(emitter.slot(own))
        emitter.load_deref(emitter.slot(own))
        emitter.load_deref(emitter.slot(free))
        emitter.build("tuple", 2)
        emitter.store_fast(slots[0])
        emitter.delete_deref(emitter.slot(own))
        for slot in reversed(slots):
            emitter.delete_fast(slot)
        raw = decode(code)
        emitter.jump_original(raw.instructions[raw.prologue].offset)

    function = compiled(build, original)
    assert function(1, 2) == original(1, 2) == ((2, 2, 5), 2, 5)
    assert function.__code__.co_nlocals == original.__code__.co_nlocals + 300
    assert function.__code__.co_varnames[:2] == ("a", "b")


def test_temporary_names_are_new():
    generator = next(
        constant for constant in (lambda x: (i for i in x)).__code__.co_consts if isinstance(constant, CodeType)
    )
    emitter = Emitter(generator)
    for _ in range(3):
        emitter.temporary()
    raw = decode(generator)
    emitter.jump_original(raw.instructions[raw.prologue].offset)
    names = emitter.finish().co_varnames
    assert len(set(names)) == len(names) == generator.co_nlocals + 3


def test_temporaries_are_hidden_through_the_hook():
    seen = []

    class Hiding(Emitter):
        hide = staticmethod(lambda code, first, count: seen.append((code, first, count)))

    emitter = Hiding(three.__code__)
    slot = emitter.temporary()
    emitter.load_const(1)
    emitter.store_fast(slot)
    emitter.load_fast(slot)
    emitter.return_value()
    code = emitter.finish()
    assert seen == [(code, 3, 1)]


def counting(emitter, far=0):
    """Sum of what is iterated over in local 0; `far` makes jumps long."""
    total = emitter.temporary()
    top, done = emitter.label(), emitter.label()
    emitter.load_const(0)
    emitter.store_fast(total)
    emitter.load_fast(0)
    emitter.get_iter()
    emitter.place(top)
    emitter.for_iter(done)
    emitter.load_fast(total)
    emitter.binary("+")
    emitter.store_fast(total)
    for _ in range(far):
        emitter.load_const(None)
        emitter.pop()
    emitter.jump_backward(top)
    emitter.place(done)
    emitter.load_fast(total)
    emitter.return_value()


@pytest.mark.parametrize("far", [0, 115, 120, 125, 130, 300, 40000])
def test_loop(far):
    function = compiled(lambda emitter: counting(emitter, far))
    assert function([1, 2, 3]) == 6
    assert function([]) == 0
    assert function(i for i in range(5)) == 10


def test_loop_that_is_done_backward():
    def build(emitter):
        done, start, top = emitter.label(), emitter.label(), emitter.label()
        emitter.jump(start)
        emitter.place(done)
        emitter.load_const("done")
        emitter.return_value()
        emitter.place(start)
        emitter.load_fast(0)
        emitter.get_iter()
        emitter.place(top)
        emitter.for_iter(done)
        emitter.pop()
        emitter.jump_backward(top)

    for iterable in ([1, 2], [], (i for i in [1])):
        assert run(build, iterable) == "done"


CONDITIONS = [
    ("pop_jump_if_true", lambda value: bool(value)),
    ("pop_jump_if_false", lambda value: not value),
    ("pop_jump_if_none", lambda value: value is None),
    ("pop_jump_if_not_none", lambda value: value is not None),
]


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize(("method", "taken"), CONDITIONS)
def test_conditional_jump(method, taken, backward):
    def build(emitter):
        yes, start = emitter.label(), emitter.label()

        def place_yes():
            emitter.place(yes)
            emitter.load_const("taken")
            emitter.return_value()

        if backward:
            emitter.jump(start)
            place_yes()
        emitter.place(start)
        emitter.load_fast(0)
        getattr(emitter, method)(yes)
        emitter.load_const("not taken")
        emitter.return_value()
        if not backward:
            place_yes()

    function = compiled(build)
    for value in (None, 0, 1, [], [1], True, False, ""):
        assert function(value) == ("taken" if taken(value) else "not taken")


def test_jump_on_a_bool_needs_no_conversion():
    def build(emitter):
        yes = emitter.label()
        emitter.load_fast(0)
        emitter.load_const(None)
        emitter.is_(False)
        emitter.pop_jump_if_true(yes, is_bool=True)
        emitter.load_const("other")
        emitter.return_value()
        emitter.place(yes)
        emitter.load_const("none")
        emitter.return_value()

    assert run(build, None) == "none"
    assert run(build, 1) == "other"


def test_handler_gets_the_exception_with_an_empty_stack():
    def build(emitter):
        pad = emitter.label()
        emitter.load_const("below")
        emitter.handler = pad
        emitter.load_fast(0)
        emitter.load_fast(1)
        emitter.binary("/")
        emitter.handler = None
        emitter.build("tuple", 2)
        emitter.return_value()
        emitter.place(pad)
        emitter.return_value()

    function = compiled(build)
    assert function(6, 3) == ("below", 2.0)
    assert isinstance(function(1, 0), ZeroDivisionError)
    assert isinstance(function(1, "x"), TypeError)


def test_reraise_and_raise():
    def build(emitter):
        pad = emitter.label()
        emitter.handler = pad
        emitter.load_fast(0)
        emitter.raise_(1)
        emitter.handler = None
        emitter.place(pad)
        emitter.reraise()

    with pytest.raises(KeyError, match="k"):
        run(build, KeyError("k"))


def divided(a, b):
    try:
        return a / b
    except ZeroDivisionError:
        return "caught"
    finally:
        LOG.append((a, b))


LOG = []


def original_of(code, op):
    """The first neutral instruction of that name."""
    return next(inst for inst in decode(code).instructions if inst.op == op)


def test_exit_into_the_middle_of_the_original():
    division = original_of(divided.__code__, "BINARY_OP")

    def build(emitter):
        emitter.load_fast(1)
        emitter.load_fast(0)
        emitter.jump_original(division.offset)

    function = compiled(build, divided)
    LOG.clear()
    assert function(2, 8) == 4.0  # swapped operands show that the exit was taken
    assert function(0, 1) == "caught"
    assert LOG == [(2, 8), (0, 1)]


def test_exception_delivered_to_the_originals_handler():
    """As a pad does it: push what the handler's entry says, then go there."""
    division = original_of(divided.__code__, "BINARY_OP")

    def build(emitter):
        region = emitter.original_handler(division.offset)
        assert region.depth == 0
        if region.lasti:
            emitter.load_original_lasti(division.offset)
        emitter.load_fast(0)
        emitter.jump_original(region.target)

    function = compiled(build, divided)
    LOG.clear()
    assert function(ZeroDivisionError(), 1) == "caught"
    with pytest.raises(KeyError, match="other"):
        function(KeyError("other"), 2)
    assert len(LOG) == 2


def test_lasti_restores_the_original_line():
    def original(a):
        with a:
            first = 1
            raise KeyError(first)

    raising = original_of(original.__code__, "RAISE_VARARGS")

    def build(emitter):
        emitter.load_original_lasti(raising.offset)
        emitter.return_value()

    function = compiled(build, original)
    positions = list(function.__code__.co_positions())
    assert positions[function(None)] == raising.position


def test_no_handler_covers_a_plain_function():
    assert Emitter(three.__code__).original_handler(0) is None


def test_jump_to_no_instruction_is_refused():
    emitter = Emitter(three.__code__)
    emitter.jump_original(1)
    with pytest.raises(ValueError, match="no instruction"):
        emitter.finish()


def test_label_never_placed_is_refused():
    emitter = Emitter(three.__code__)
    emitter.jump(emitter.label())
    with pytest.raises(ValueError, match="never placed"):
        emitter.finish()


def test_label_placed_twice_is_refused():
    emitter = Emitter(three.__code__)
    label = emitter.label()
    emitter.place(label)
    with pytest.raises(ValueError, match="twice"):
        emitter.place(label)


def test_falling_off_the_end_is_refused():
    emitter = Emitter(three.__code__)
    emitter.load_const(1)
    with pytest.raises(Exception, match="falls off"):
        emitter.finish()


def test_raw_pairs_run_as_they_were():
    def original(a, b):
        def inner():
            return own

        own = print if a is None else (lambda *args, **kwargs: (args, kwargs))(a, k=b)
        return own, inner()

    decoded = decode(original.__code__)

    def build(emitter):
        labels = {inst.index: emitter.label() for inst in decoded.instructions}
        for inst in decoded.instructions[decoded.prologue :]:
            emitter.place(labels[inst.index])
            for opcode, arg in inst.raw:
                emitter.raw(opcode, arg, None if inst.target is None else labels[inst.target])
        emitter.temporary()

    function = compiled(build, original)
    assert function(None, 1) == original(None, 1)
    assert function(1, 2) == original(1, 2)


def test_positions():
    def build(emitter):
        emitter.position = (7, 8, 1, 200)
        emitter.load_fast(0)
        emitter.position = (None, None, None, None)
        emitter.load_fast(1)
        emitter.position = (5, 5, 3, 4)
        emitter.binary("/")
        emitter.return_value()

    function = compiled(build)
    code = function.__code__
    start = three.__code__.co_code.index(bytes((OPCODE["RESUME"], 0))) // 2 + 1
    positions = list(code.co_positions())
    assert positions[start : start + 3] == [(7, 8, 1, 200), (None, None, None, None), (5, 5, 3, 4)]
    assert positions[-1] == list(three.__code__.co_positions())[-1]
    with pytest.raises(ZeroDivisionError) as info:
        function(1, 0)
    assert info.tb.tb_lineno if hasattr(info, "tb") else info.traceback[-1].lineno + 1 == 5


def test_stack_size_covers_the_generated_part():
    def build(emitter):
        for number in range(50):
            emitter.load_const(number)
        emitter.build("tuple", 50)
        emitter.return_value()

    function = compiled(build)
    assert function.__code__.co_stacksize == 50
    assert function() == tuple(range(50))
