"""How many items an instruction uses on the stack, whether it leaves them there or not."""

from __future__ import annotations

from collections.abc import Callable

from minijit.interpreter.opcodes import OPCODE, VERSION

FIXED = {
    1: """
        UNARY_NEGATIVE UNARY_INVERT UNARY_POSITIVE UNARY_NOT TO_BOOL LOAD_ATTR LOAD_METHOD UNPACK_SEQUENCE UNPACK_EX
        CONVERT_VALUE FORMAT_SIMPLE GET_ITER FOR_ITER GET_LEN LIST_TO_TUPLE ASYNC_GEN_WRAP PUSH_EXC_INFO
        CALL_INTRINSIC_1 BEFORE_WITH BEFORE_ASYNC_WITH MATCH_MAPPING MATCH_SEQUENCE IMPORT_FROM YIELD_VALUE
        GET_AWAITABLE GET_AITER GET_ANEXT GET_YIELD_FROM_ITER LOAD_FROM_DICT_OR_DEREF LOAD_FROM_DICT_OR_GLOBALS
        JUMP_IF_TRUE_OR_POP JUMP_IF_FALSE_OR_POP RETURN_VALUE""",
    2: """
        BINARY_OP BINARY_SUBSCR COMPARE_OP IS_OP CONTAINS_OP FORMAT_WITH_SPEC CHECK_EXC_MATCH CHECK_EG_MATCH
        PREP_RERAISE_STAR CALL_INTRINSIC_2 IMPORT_NAME SEND END_SEND END_ASYNC_FOR MATCH_KEYS
        SET_FUNCTION_ATTRIBUTE""",
    3: "BINARY_SLICE LOAD_SUPER_ATTR CLEANUP_THROW MATCH_CLASS",
    4: "WITH_EXCEPT_START",
}
ALL_ARGUMENTS = "BUILD_TUPLE BUILD_LIST BUILD_SET BUILD_STRING BUILD_SLICE COPY SWAP RAISE_VARARGS"
ONE_MORE = "LIST_APPEND SET_ADD LIST_EXTEND SET_UPDATE DICT_UPDATE RERAISE BUILD_CONST_KEY_MAP"
PER_ARGUMENT: dict[str, tuple[int, int]] = {
    **dict.fromkeys(ALL_ARGUMENTS.split(), (0, 1)),
    **dict.fromkeys(ONE_MORE.split(), (1, 1)),
    "BUILD_MAP": (0, 2),
    "MAP_ADD": (2, 1),
    "DICT_MERGE": (3, 1),  # it names the callable in its error message
    "PRECALL": (2, 1),
    "CALL": (2, 0) if VERSION == (3, 11) else (2, 1),  # 3.11 takes the arguments off at PRECALL
    "CALL_KW": (3, 1),
}
SPECIAL: dict[str, Callable[[int], int]] = {
    "FORMAT_VALUE": lambda arg: 2 if arg & 4 else 1,
    "CALL_FUNCTION_EX": lambda arg: 3 + (arg & 1),
    "MAKE_FUNCTION": lambda arg: 1 + arg.bit_count(),
}


def _linear(base: int, factor: int) -> Callable[[int], int]:
    return lambda arg: base + factor * arg


def _table() -> list[Callable[[int], int] | None]:
    needs = dict(SPECIAL)
    for count, words in FIXED.items():
        needs.update(dict.fromkeys(words.split(), _linear(count, 0)))
    needs.update({name: _linear(*pair) for name, pair in PER_ARGUMENT.items()})
    table: list[Callable[[int], int] | None] = [None] * 256
    for name, need in needs.items():
        if name in OPCODE:
            table[OPCODE[name]] = need
    return table


NEEDS = _table()
"""By opcode, from the argument; None where it uses only what it pops."""
