"""Neutral instructions, with `dis` as the oracle for what arguments mean."""

import dis
import sys

import pytest

from minijit.interpreter.decode import decode
from minijit.interpreter.decode_table import READERS
from minijit.interpreter.opcodes import OPCODE, OPNAME
from minijit.interpreter.raw import CannotEmbed, read

VERSION = sys.version_info[:2]
SAME_ARGUMENT = """
    LOAD_CONST LOAD_NAME STORE_NAME DELETE_NAME STORE_GLOBAL DELETE_GLOBAL LOAD_FROM_DICT_OR_GLOBALS STORE_ATTR
    DELETE_ATTR IMPORT_NAME IMPORT_FROM BUILD_TUPLE BUILD_LIST BUILD_SET BUILD_MAP BUILD_CONST_KEY_MAP BUILD_STRING
    BUILD_SLICE LIST_APPEND SET_ADD MAP_ADD LIST_EXTEND SET_UPDATE DICT_UPDATE DICT_MERGE UNPACK_SEQUENCE COPY SWAP
    RAISE_VARARGS RERAISE COPY_FREE_VARS MATCH_CLASS GET_AWAITABLE RESUME"""
SLOTS = """
    LOAD_FAST LOAD_FAST_CHECK LOAD_FAST_AND_CLEAR STORE_FAST DELETE_FAST MAKE_CELL LOAD_CLOSURE LOAD_DEREF STORE_DEREF
    DELETE_DEREF LOAD_CLASSDEREF LOAD_FROM_DICT_OR_DEREF"""
LOOP_END = {(3, 11): 0, (3, 12): 2, (3, 13): 4}[VERSION]


def slot_names(code):
    """Names in localsplus order."""
    own = [name for name in code.co_cellvars if name not in code.co_varnames]
    return [*code.co_varnames, *own, *code.co_freevars]


def oracle(code):
    """By the offset of the opcode itself: what dis says."""
    return {inst.offset: inst for inst in dis.get_instructions(code)}


def opcode_offset(code, offset):
    """Skip EXTENDED_ARG."""
    while code.co_code[offset] == OPCODE["EXTENDED_ARG"]:
        offset += 2
    return offset


def expected_argument(code, inst, known):
    """Neutral argument that dis's own reading of the instruction leads to."""
    if inst.op in SAME_ARGUMENT.split():
        return known.argval
    if inst.op in SLOTS.split():
        return inst.arg if slot_names(code)[inst.arg] == known.argval else known.argval
    return ARGUMENTS.get(inst.op, lambda known: inst.arg)(known)


def is_method(known):
    return known.opname == "LOAD_METHOD" or "NULL|self" in known.argrepr


ARGUMENTS = {
    "LOAD_ATTR": lambda known: None if is_method(known) else known.argval,
    "LOAD_METHOD": lambda known: known.argval if is_method(known) else None,
    "LOAD_SUPER_ATTR": lambda known: None if is_method(known) else (known.argval, bool(known.arg & 2)),
    "LOAD_SUPER_METHOD": lambda known: (known.argval, bool(known.arg & 2)) if is_method(known) else None,
    "LOAD_GLOBAL": lambda known: (known.argval, "NULL + " in known.argrepr or " + NULL" in known.argrepr),
    "BINARY_OP": lambda known: known.argrepr,
    "COMPARE_OP": lambda known: (known.argrepr.removeprefix("bool(").removesuffix(")"), "bool(" in known.argrepr),
    "IS_OP": lambda known: bool(known.arg),
    "CONTAINS_OP": lambda known: bool(known.arg),
    "CALL_FUNCTION_EX": lambda known: bool(known.arg & 1),
}


def check_against_dis(code):
    decoded, says = decode(code), oracle(code)
    instructions = decoded.instructions
    for inst in instructions:
        if inst.offset is None or inst.next_offset is None:
            continue
        known = says[opcode_offset(code, inst.offset)]
        expected = expected_argument(code, inst, known)
        assert inst.arg is expected or inst.arg == expected, (code, known)  # a NaN is not equal to itself
        if inst.target is not None:
            skipped = LOOP_END if inst.op == "FOR_ITER" else 0
            assert instructions[inst.target].offset == known.argval + skipped, (code, known)
            assert (inst.target <= inst.index) == ("BACKWARD" in known.opname)


def test_library_agrees_with_dis(library_codes):
    for code in library_codes[::2]:
        check_against_dis(code)


def test_library_structure(library_codes):
    """Offsets follow one another, indices count, raw pairs are the instructions, handlers are dis's."""
    for code in library_codes:
        decoded, raw = decode(code), read(code)
        instructions = decoded.instructions
        offset = 0
        for index, inst in enumerate(instructions):
            assert inst.index == index
            if inst.next_offset is None:
                second = instructions[index + 1]
                assert inst.offset == offset
                assert second.offset is None
                offset = second.next_offset
            elif inst.offset is not None:
                assert inst.offset == offset
                offset = inst.next_offset
        assert offset == len(code.co_code)
        whole = [pair for i in instructions if i.offset is not None and i.next_offset is not None for pair in i.raw]
        split = ("RETURN_CONST", "LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST")
        pairs = zip(raw.opcodes, raw.args, strict=True)
        assert whole == [pair for pair in pairs if OPNAME[pair[0]] not in split]
        assert instructions[decoded.prologue - 1].op == "RESUME"
        handlers = [
            (instructions[h.start].offset, instructions[h.target].offset, h.depth, h.lasti) for h in decoded.handlers
        ]
        entries = dis.Bytecode(code).exception_entries
        assert handlers == [(e.start, e.target, e.depth, e.lasti) for e in entries]


def test_library_positions(library_codes):
    for code in library_codes[::5]:
        positions = list(code.co_positions())
        for inst in decode(code).instructions:
            if inst.op == "CALL" or inst.offset is None:
                continue
            assert inst.position == positions[opcode_offset(code, inst.offset) // 2]


def test_every_opcode_can_be_decoded():
    grouped = {"KW_NAMES", "PRECALL", "CALL", "CALL_KW", "RETURN_CONST"}
    grouped |= {"LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST"}
    never = {"CACHE", "EXTENDED_ARG", "ENTER_EXECUTOR"}
    for name, opcode in OPCODE.items():
        if name not in grouped | never and not name.startswith("INSTRUMENTED"):
            assert READERS[opcode] is not None or name == "LOAD_FAST", name


def ops(function):
    """(op, arg) from the prologue on."""
    decoded = decode(function.__code__)
    return [(inst.op, inst.arg) for inst in decoded.instructions[decoded.prologue :]]


def test_call_with_keywords_is_one_instruction():
    calls = [inst for inst in decode((lambda f: f(1, a=2, b=3)).__code__).instructions if inst.op == "CALL"]
    assert [call.arg for call in calls] == [(3, ("a", "b"))]
    assert len(calls[0].raw) == {(3, 11): 3, (3, 12): 2, (3, 13): 2}[VERSION]
    assert not [op for op, _ in ops(lambda f: f(a=1)) if op in ("KW_NAMES", "PRECALL", "CALL_KW")]


def test_plain_call_after_a_keyword_call_has_no_names():
    assert [arg for op, arg in ops(lambda f: f(f(a=1))) if op == "CALL"] == [(1, ("a",)), (1, ())]


def test_call_offset_is_where_it_begins():
    code = (lambda f: f(1, a=2)).__code__
    call = next(inst for inst in decode(code).instructions if inst.op == "CALL")
    first = {(3, 11): "KW_NAMES", (3, 12): "KW_NAMES", (3, 13): "LOAD_CONST"}[VERSION]
    assert code.co_code[call.offset] == OPCODE[first]


def test_keyword_value_that_jumps():
    """The join before the call lands on the call as a whole."""
    decoded = decode((lambda f, c: f(a=1 if c else 2)).__code__)
    call = next(inst for inst in decoded.instructions if inst.op == "CALL")
    assert call.arg == (1, ("a",))
    targets = {inst.target for inst in decoded.instructions}
    if VERSION == (3, 11):  # later versions copy the call into both arms
        assert call.index in targets


def test_return_of_a_constant():
    def function():
        return 5

    assert ops(function) == [("LOAD_CONST", 5), ("RETURN_VALUE", None)]


def test_pairs_of_slots_are_split():
    def function(a, b):
        c, d = b, a
        return c, d

    words = ops(function)
    assert [word for word in words if "FAST_" in word[0]] == []
    assert ("LOAD_FAST", 1) in words
    assert {("STORE_FAST", 2), ("STORE_FAST", 3)} <= set(words)
    last = decode(function.__code__).instructions
    halves = [inst for inst in last if inst.offset is None]
    assert bool(halves) == (VERSION == (3, 13))
    for inst in last:
        assert inst.op in ("BUILD_TUPLE", "SWAP", "RESUME", "RETURN_VALUE") or len(inst.raw) == 1


def test_for_loop_leads_behind_its_end():
    def function(a):
        for item in a:
            item()
        return 1

    decoded = decode(function.__code__)
    loop = next(inst for inst in decoded.instructions if inst.op == "FOR_ITER")
    assert decoded.instructions[loop.target].op == "LOAD_CONST"


def test_operators():
    assert ("UNARY_OP", "+") in ops(lambda a: +a)
    assert ("UNARY_OP", "-") in ops(lambda a: -a)
    assert ("UNARY_OP", "~") in ops(lambda a: ~a)
    assert ("UNARY_OP", "not") in ops(lambda a: not a)
    assert ("BINARY_OP", "**") in ops(lambda a: a**2)
    assert ("COMPARE_OP", ("<=", False)) in ops(lambda a: a <= 2)
    assert ("IS_OP", True) in ops(lambda a: a is not None.x)


def test_formatting():
    expected = [("CONVERT", "r"), ("FORMAT", ("", False))] if VERSION == (3, 13) else [("FORMAT", ("r", False))]
    words = ops(lambda a: f"{a!r}")
    assert [word for word in words if word in expected] == expected
    assert ("FORMAT", ("", True)) in ops(lambda a: f"{a:>3}")


def test_unpacking():
    def function(a):
        first, *middle, last = a
        return first, middle, last

    assert ("UNPACK_EX", (1, 1)) in ops(function)


def test_closures():
    def function(a):
        b = a

        def inner():
            return a, b

        return inner

    decoded = decode(function.__code__)
    closures = [inst.arg for inst in decoded.instructions if inst.op == "LOAD_CLOSURE"]
    assert [slot_names(function.__code__)[slot] for slot in closures] == ["a", "b"]


def test_list_to_tuple_is_no_intrinsic():
    assert ("LIST_TO_TUPLE", None) in ops(lambda f, a: f(*a, 1))


def test_text():
    def function(a):
        while a:
            a.b(1, k="x")

    text = str(decode(function.__code__))
    for line in ("LOAD_METHOD b", "LOAD_CONST 'x'", "CALL (2, ('k'))", "-> "):
        assert line in text


def test_no_resume_is_refused():
    code = (lambda: 1).__code__
    with pytest.raises(CannotEmbed):
        decode(code.replace(co_code=bytes((OPCODE["LOAD_CONST"], 0, OPCODE["RETURN_VALUE"], 0))))
