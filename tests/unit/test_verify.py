"""The verifier accepts what CPython's compiler writes and finds each planted fault."""

import sys
from opcode import opname
from types import CodeType

import pytest

from minijit.codegen.assemble import assemble
from minijit.codegen.emitter import Emitter
from minijit.codegen.stack_depth import Depths
from minijit.codegen.verify import VerifyError, verify
from minijit.interpreter.exception_table import Region, read_regions, write_regions
from minijit.interpreter.opcodes import OPCODE
from minijit.interpreter.raw import Raw, read

VERSION = sys.version_info[:2]


def test_library_is_accepted(library_codes):
    for code in library_codes:
        verify(code)


def test_stack_size_is_the_compilers(library_codes):
    """The walk finds the number that CPython computed, who also counts some paths that nothing takes."""
    equal = 0
    for code in library_codes:
        raw = read(code)
        regions = [
            Region(raw.index(r.start), raw.index(r.end), raw.index(r.target), r.depth, r.lasti)
            for r in read_regions(code.co_exceptiontable)
        ]
        deepest = Depths(raw, regions, 0, len(raw.opcodes)).deepest
        assert deepest <= code.co_stacksize, code
        equal += max(deepest, 1) == max(code.co_stacksize, 1)
    assert equal > 0.98 * len(library_codes)


def template(a, b):
    return a.name(1, b)


def code_of(*steps, regions=(), **changes):
    """A code object of (opcode name, arg[, target index]) steps after a RESUME."""
    steps = [("RESUME", 0), *steps]
    raw = Raw(
        [OPCODE[step[0]] for step in steps],
        [step[1] if len(step) > 1 else 0 for step in steps],
        [step[2] if len(step) > 2 else -1 for step in steps],
    )
    made = assemble(raw, regions, [(1, 1, 0, 0)] * len(steps), 1)
    changes = {"co_stacksize": 5, "co_consts": (None, 1), "co_names": ("x",)} | changes
    return template.__code__.replace(co_code=made.code, co_exceptiontable=made.exceptions, **changes)


RETURN = ("RETURN_VALUE",)
NONE = ("LOAD_CONST", 0)
A = ("LOAD_FAST", 0)
LOCALS = {"co_nlocals": 3, "co_varnames": ("a", "b", "c")}


def rejects(code, pattern, offset=None):
    with pytest.raises(VerifyError, match=pattern) as info:
        verify(code)
    assert offset is None or info.value.offset == offset


def test_sound_code_is_accepted():
    verify(code_of(NONE, RETURN))
    verify(code_of(A, ("LOAD_FAST", 1), ("BINARY_OP", 0), RETURN))


def test_unknown_opcode():
    code = code_of(NONE, RETURN)
    for name in ("CACHE", "<255>", "INTERPRETER_EXIT"):
        if name in opname:
            wrong = bytes((opname.index(name), 0))
            rejects(code.replace(co_code=code.co_code[:2] + wrong + code.co_code[4:]), "does not belong", 2)


def test_cut_off_caches(isolated):
    """In a process of its own: CPython writes past the end of such a code object when it makes one."""

    def work():
        code = code_of(A, A, ("BINARY_OP", 0))
        rejects(code.replace(co_code=code.co_code[:-2]), "cut off")

    assert isolated(work) is None


def test_jump_into_a_cache():
    code = code_of(("JUMP_FORWARD", 0, 2), A, A, ("BINARY_OP", 0), RETURN)
    wrong = bytearray(code.co_code)
    wrong[3] = 3
    rejects(code.replace(co_code=bytes(wrong)), "no instruction begins", 2)


def test_jump_behind_the_end():
    code = code_of(("JUMP_FORWARD", 0, 2), NONE, RETURN)
    wrong = bytearray(code.co_code)
    wrong[3] = 2
    rejects(code.replace(co_code=bytes(wrong)), "no instruction begins", 2)


def test_jump_behind_extended_arg():
    code = code_of(("JUMP_FORWARD", 0, 2), ("LOAD_CONST", 256), RETURN, co_consts=(None,) * 300)
    wrong = bytearray(code.co_code)
    wrong[3] = 1
    rejects(code.replace(co_code=bytes(wrong)), "no instruction begins", 2)


def test_execution_falls_off():
    rejects(code_of(NONE, ("POP_TOP",)), "falls off")


def test_underflow():
    rejects(code_of(("POP_TOP",), NONE, RETURN), "not there|wants")


def test_operand_missing():
    """The effect alone, -1, would be fine here."""
    rejects(code_of(NONE, ("BINARY_OP", 0), NONE, RETURN), "wants 2 items", 4)
    rejects(code_of(NONE, ("SWAP", 2), RETURN), "wants 2 items", 4)
    rejects(code_of(NONE, ("COPY", 2), ("POP_TOP",), RETURN), "wants 2 items", 4)


def test_paths_meet_with_different_depths():
    jump = "POP_JUMP_FORWARD_IF_NONE" if VERSION == (3, 11) else "POP_JUMP_IF_NONE"
    rejects(code_of(A, (jump, 0, 4), NONE, NONE, RETURN), "reached with")


def test_loop_that_grows_the_stack():
    rejects(code_of(NONE, ("JUMP_BACKWARD", 0, 1)), "reached with", 2)


def test_stack_size_too_small():
    rejects(code_of(NONE, NONE, ("BUILD_TUPLE", 2), RETURN, co_stacksize=1), "on a stack of 1")


def test_stack_size_too_small_for_a_handler():
    regions = [Region(1, 2, 3, 0, True)]
    code = code_of(NONE, RETURN, ("POP_TOP",), ("POP_TOP",), NONE, RETURN, regions=regions, co_stacksize=1)
    rejects(code, "on a stack of 1")


def test_return_with_more_on_the_stack():
    rejects(code_of(NONE, NONE, RETURN), "returns with 2", 6)


def test_handler_deeper_than_the_stack():
    regions = [Region(1, 2, 3, 1, False)]
    rejects(code_of(NONE, RETURN, ("POP_TOP",), RETURN, regions=regions), "handler wants 1", 2)


def test_handler_reached_with_wrong_depth():
    """With `lasti` the handler has one more item than it takes off."""
    regions = [Region(1, 2, 3, 0, True)]
    verify(code_of(NONE, RETURN, ("SWAP", 2), ("POP_TOP",), RETURN, regions=regions))
    rejects(code_of(NONE, RETURN, RETURN, regions=regions), "returns with 2", 6)


@pytest.mark.parametrize(
    "regions",
    [
        [Region(4, 6, 6, 0, False), Region(2, 4, 6, 0, False)],
        [Region(2, 6, 6, 0, False), Region(4, 6, 6, 0, False)],
        [Region(2, 2, 6, 0, False)],
    ],
)
def test_exception_table_out_of_order(regions):
    code = code_of(NONE, ("NOP",), RETURN, RETURN)
    rejects(code.replace(co_exceptiontable=write_regions(regions)), "out of order")


@pytest.mark.parametrize(
    "region", [Region(6, 8, 10, 0, False), Region(2, 100, 10, 0, False), Region(2, 4, 8, 0, False)]
)
def test_exception_table_cuts_an_instruction(region):
    code = code_of(A, A, ("BINARY_OP", 0), RETURN)
    verify(code)
    rejects(code.replace(co_exceptiontable=write_regions([region])), "cuts through")


@pytest.mark.parametrize(
    "step",
    [
        ("LOAD_CONST", 2), ("LOAD_GLOBAL", 2), ("LOAD_FAST", 2), ("LOAD_DEREF", 2), ("STORE_NAME", 1),
        ("LOAD_ATTR", 1 if VERSION == (3, 11) else 2),
    ],
)  # fmt: skip
def test_index_out_of_range(step):
    rejects(code_of(NONE, step, RETURN), "out of range", 4)


@pytest.mark.skipif(VERSION < (3, 13), reason="no such instruction")
def test_paired_slot_out_of_range():
    rejects(code_of(("LOAD_FAST_LOAD_FAST", 2), ("BINARY_OP", 0), RETURN), "out of range", 2)


def test_torn_generator_start():
    rejects(code_of(("RETURN_GENERATOR",), ("NOP",), RETURN), "torn")


def test_torn_yield():
    rejects(code_of(NONE, ("YIELD_VALUE", 0), RETURN), "torn", 4)


@pytest.mark.skipif(VERSION > (3, 12), reason="no KW_NAMES")
def test_torn_keyword_names():
    call = [("PRECALL", 1), ("CALL", 1)] if VERSION == (3, 11) else [("CALL", 1)]
    names = {"co_consts": (None, ("x",))}
    start = [("PUSH_NULL",), A, NONE, ("KW_NAMES", 1)]
    verify(code_of(*start, *call, RETURN, **names))
    rejects(code_of(*start, ("NOP",), *call, RETURN, **names), "torn", 8)


@pytest.mark.skipif(VERSION == (3, 11), reason="loops end differently")
def test_loop_without_end():
    loop = [A, ("GET_ITER",), ("FOR_ITER", 0, 6), ("POP_TOP",), ("JUMP_BACKWARD", 0, 3)]
    ends = {(3, 12): [("END_FOR",)], (3, 13): [("END_FOR",), ("POP_TOP",)]}
    verify(code_of(*loop, *ends[VERSION], NONE, RETURN))
    rejects(code_of(*loop, ("POP_TOP",), ("POP_TOP",), NONE, RETURN), "does not lead to END_FOR", 6)


@pytest.mark.skipif(VERSION < (3, 13), reason="END_FOR stands alone")
def test_loop_end_torn():
    loop = [A, ("GET_ITER",), ("FOR_ITER", 0, 6), ("POP_TOP",), ("JUMP_BACKWARD", 0, 3)]
    rejects(code_of(*loop, ("END_FOR",), ("NOP",), ("POP_TOP",), NONE, RETURN), "torn", 16)


needs_bound = pytest.mark.skipif(VERSION == (3, 11), reason="LOAD_FAST checks")


@needs_bound
def test_unbound_local():
    rejects(code_of(("LOAD_FAST", 2), RETURN, **LOCALS), "local 2 may be unbound", 2)
    verify(code_of(("LOAD_FAST_CHECK", 2), RETURN, **LOCALS))
    verify(code_of(NONE, ("STORE_FAST", 2), ("LOAD_FAST", 2), RETURN, **LOCALS))


@needs_bound
def test_local_deleted():
    rejects(code_of(("DELETE_FAST", 0), A, RETURN), "local 0 may be unbound", 4)
    rejects(code_of(("LOAD_FAST_AND_CLEAR", 0), ("POP_TOP",), A, RETURN), "local 0 may be unbound", 6)


@needs_bound
def test_local_bound_on_one_path_only():
    rejects(
        code_of(A, ("POP_JUMP_IF_NONE", 0, 5), NONE, ("STORE_FAST", 2), ("LOAD_FAST", 2), RETURN, **LOCALS), "local 2"
    )


@needs_bound
def test_local_deleted_in_a_loop():
    steps = [A, ("POP_TOP",), ("DELETE_FAST", 0), ("JUMP_BACKWARD", 0, 1)]
    rejects(code_of(*steps), "local 0 may be unbound", 2)


@needs_bound
def test_local_unbound_in_a_handler():
    """The handler may be reached before the store."""
    regions = [Region(1, 4, 4, 0, False)]
    steps = [NONE, ("STORE_FAST", 2), ("JUMP_FORWARD", 0, 5), ("POP_TOP",), ("LOAD_FAST", 2), RETURN]
    rejects(code_of(*steps, regions=regions, **LOCALS), "local 2 may be unbound", 10)


@needs_bound
def test_constant_that_binds():
    """A check stores what it loaded into locals, in C."""
    code = code_of(("LOAD_CONST", 1), ("POP_TOP",), ("LOAD_FAST", 2), RETURN, **LOCALS)
    rejects(code, "local 2")
    verify(code, lambda constant: (2,) if constant == 1 else ())


@pytest.mark.skipif(VERSION < (3, 13), reason="no such instructions")
def test_locals_in_pairs():
    load = ("LOAD_FAST_LOAD_FAST", 2)
    rejects(code_of(load, ("BINARY_OP", 0), RETURN, **LOCALS), "local 2 may be unbound", 2)
    both = code_of(NONE, NONE, ("STORE_FAST_STORE_FAST", 0x12), load, ("BINARY_OP", 0), RETURN, **LOCALS)
    verify(both)
    verify(code_of(NONE, ("STORE_FAST_LOAD_FAST", 0x22), RETURN, **LOCALS))
    rejects(code_of(NONE, ("STORE_FAST_LOAD_FAST", 0x12), RETURN, **LOCALS), "local 2 may be unbound", 4)


def test_exit_to_an_original_that_wants_a_local():
    """Generated code that unbinds a local, then goes where the original relies on it."""
    emitter = Emitter(template.__code__)
    emitter.delete_fast(0)
    emitter.jump_original(read(template.__code__).offsets[1])
    code = emitter.finish()
    if VERSION == (3, 11):
        verify(code)
    else:
        rejects(code, "local 0 may be unbound")


def test_exit_with_wrong_depth():
    emitter = Emitter(template.__code__)
    emitter.load_const(1)
    emitter.jump_original(read(template.__code__).offsets[1])
    rejects(emitter.finish(), "returns with 2|reached with|on a stack of")


def flipped(code: CodeType):
    """Every code object with the argument of one instruction made one more or less."""
    for at in range(2, len(code.co_code), 2):
        for by in (1, 255):
            data = bytearray(code.co_code)
            data[at + 1] = (data[at + 1] + by) & 0xFF
            yield at, code.replace(co_code=bytes(data))


def test_most_random_changes_of_jumps_are_found():
    """Not all: a jump may go to another place that happens to be sound."""

    def function(a, b):
        for item in a:
            if item in b:
                a[item] = [item, *b]
        return a

    code = function.__code__
    raw = read(code)
    jumps = {raw.where[index] for index, target in enumerate(raw.targets) if target >= 0}
    found = missed = 0
    for at, wrong in flipped(code):
        if at not in jumps:
            continue
        try:
            verify(wrong)
            missed += 1
        except VerifyError:
            found += 1
    assert found > missed
