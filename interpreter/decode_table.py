"""What each opcode of the running version is called in the neutral set, and what its argument means."""

from __future__ import annotations

import opcode as cpython
from collections.abc import Callable
from types import CodeType
from typing import Any

from minijit.interpreter.opcodes import BACKWARD_JUMPS, JUMPS, OPCODE, VERSION

BINARY: list[str] = [text for _, text in cpython._nb_ops]  # type: ignore[attr-defined]
COMPARE_SHIFT = {(3, 11): 0, (3, 12): 4, (3, 13): 5}[VERSION]
COMPARE_TO_BOOL = 16 if VERSION >= (3, 13) else 0
CONVERSION = ("", "s", "r", "a")
UNARY = {"UNARY_NEGATIVE": "-", "UNARY_INVERT": "~", "UNARY_POSITIVE": "+", "UNARY_NOT": "not"}

Row = tuple[str, Any]
"""Neutral name and payload."""
Reader = Callable[[CodeType, int], Row]


def nothing(op: str) -> Reader:
    """The argument means nothing."""
    row = (op, None)
    return lambda code, arg: row


def number(op: str) -> Reader:
    """The argument is a count, a depth, a slot or flags."""
    return lambda code, arg: (op, arg)


def flag(op: str) -> Reader:
    """The argument is yes or no."""
    return lambda code, arg: (op, bool(arg & 1))


def name(op: str) -> Reader:
    """The argument is an index into the names."""
    return lambda code, arg: (op, code.co_names[arg])


def fixed(op: str, payload: Any) -> Reader:
    """The opcode says it all."""
    return lambda code, arg: (op, payload)


def _constant(code: CodeType, arg: int) -> Row:
    return "LOAD_CONST", code.co_consts[arg]


def _global(code: CodeType, arg: int) -> Row:
    return "LOAD_GLOBAL", (code.co_names[arg >> 1], bool(arg & 1))


def _attribute(code: CodeType, arg: int) -> Row:
    return "LOAD_METHOD" if arg & 1 else "LOAD_ATTR", code.co_names[arg >> 1]


def _super(code: CodeType, arg: int) -> Row:
    return "LOAD_SUPER_METHOD" if arg & 1 else "LOAD_SUPER_ATTR", (code.co_names[arg >> 2], bool(arg & 2))


def _binary(code: CodeType, arg: int) -> Row:
    return "BINARY_OP", BINARY[arg]


def _compare(code: CodeType, arg: int) -> Row:
    return "COMPARE_OP", (cpython.cmp_op[arg >> COMPARE_SHIFT], bool(arg & COMPARE_TO_BOOL))


def _unpack_ex(code: CodeType, arg: int) -> Row:
    return "UNPACK_EX", (arg & 0xFF, arg >> 8)


def _format_value(code: CodeType, arg: int) -> Row:
    return "FORMAT", (CONVERSION[arg & 3], bool(arg & 4))


def _convert_value(code: CodeType, arg: int) -> Row:
    return "CONVERT", CONVERSION[arg]


def _intrinsic(names: str) -> Reader:
    rows = [_intrinsic_row(text.removeprefix("INTRINSIC_")) for text in getattr(cpython, names, ())]
    return lambda code, arg: rows[arg]


def _intrinsic_row(text: str) -> Row:
    if text in UNARY:
        return "UNARY_OP", UNARY[text]
    same_as_opcode = ("LIST_TO_TUPLE", "PREP_RERAISE_STAR", "ASYNC_GEN_WRAP", "STOPITERATION_ERROR")
    return (text, None) if text in same_as_opcode else ("INTRINSIC", text)


WORDS = {
    nothing: """
        NOP PUSH_NULL POP_TOP GET_ITER GET_LEN END_FOR END_SEND TO_BOOL RETURN_VALUE RETURN_GENERATOR BINARY_SUBSCR
        STORE_SUBSCR DELETE_SUBSCR BINARY_SLICE STORE_SLICE LOAD_LOCALS LOAD_BUILD_CLASS LOAD_ASSERTION_ERROR
        LIST_TO_TUPLE PUSH_EXC_INFO POP_EXCEPT CHECK_EXC_MATCH CHECK_EG_MATCH PREP_RERAISE_STAR WITH_EXCEPT_START
        BEFORE_WITH BEFORE_ASYNC_WITH CLEANUP_THROW MATCH_MAPPING MATCH_SEQUENCE MATCH_KEYS IMPORT_STAR GET_AITER
        GET_ANEXT END_ASYNC_FOR GET_YIELD_FROM_ITER ASYNC_GEN_WRAP SETUP_ANNOTATIONS PRINT_EXPR FOR_ITER SEND
        JUMP_BACKWARD JUMP_BACKWARD_NO_INTERRUPT JUMP_IF_TRUE_OR_POP JUMP_IF_FALSE_OR_POP INTERPRETER_EXIT
        EXIT_INIT_CHECK RESERVED""",
    number: """
        RESUME LOAD_FAST LOAD_FAST_CHECK LOAD_FAST_AND_CLEAR STORE_FAST DELETE_FAST MAKE_CELL LOAD_CLOSURE LOAD_DEREF
        STORE_DEREF DELETE_DEREF LOAD_CLASSDEREF LOAD_FROM_DICT_OR_DEREF COPY_FREE_VARS COPY SWAP BUILD_TUPLE
        BUILD_LIST BUILD_SET BUILD_MAP BUILD_CONST_KEY_MAP BUILD_STRING BUILD_SLICE LIST_APPEND SET_ADD MAP_ADD
        LIST_EXTEND SET_UPDATE DICT_UPDATE DICT_MERGE UNPACK_SEQUENCE MAKE_FUNCTION SET_FUNCTION_ATTRIBUTE
        RAISE_VARARGS RERAISE MATCH_CLASS YIELD_VALUE GET_AWAITABLE""",
    flag: "IS_OP CONTAINS_OP CALL_FUNCTION_EX",
    name: """
        LOAD_NAME STORE_NAME DELETE_NAME STORE_GLOBAL DELETE_GLOBAL LOAD_FROM_DICT_OR_GLOBALS LOAD_METHOD STORE_ATTR
        DELETE_ATTR IMPORT_NAME IMPORT_FROM""",
}
SPECIAL: dict[str, Reader] = {
    "LOAD_CONST": _constant,
    "LOAD_GLOBAL": _global,
    "LOAD_ATTR": name("LOAD_ATTR") if VERSION == (3, 11) else _attribute,
    "LOAD_SUPER_ATTR": _super,
    "BINARY_OP": _binary,
    "COMPARE_OP": _compare,
    "UNPACK_EX": _unpack_ex,
    "FORMAT_VALUE": _format_value,
    "FORMAT_SIMPLE": fixed("FORMAT", ("", False)),
    "FORMAT_WITH_SPEC": fixed("FORMAT", ("", True)),
    "CONVERT_VALUE": _convert_value,
    "CALL_INTRINSIC_1": _intrinsic("_intrinsic_1_descs"),
    "CALL_INTRINSIC_2": _intrinsic("_intrinsic_2_descs"),
    "JUMP_FORWARD": nothing("JUMP"),
    **{text: fixed("UNARY_OP", payload) for text, payload in UNARY.items()},
}


def _conditional_jumps() -> dict[int, Reader]:
    """POP_JUMP_IF_x, and the two directions 3.11 has of each."""
    readers = {}
    for text, opcode in OPCODE.items():
        if text.startswith("POP_JUMP_") and opcode in JUMPS:
            neutral = "POP_JUMP_IF_" + text.split("IF_")[1]
            readers[opcode] = fixed(neutral, opcode in BACKWARD_JUMPS)
    return readers


def _table() -> list[Reader | None]:
    readers = _conditional_jumps()
    for make, words in WORDS.items():
        readers.update({OPCODE[text]: make(text) for text in words.split() if text in OPCODE})
    readers.update({OPCODE[text]: reader for text, reader in SPECIAL.items() if text in OPCODE})
    return [readers.get(opcode) for opcode in range(256)]


READERS: list[Reader | None] = _table()
"""By opcode; None where `decode` does more than rename (calls, pairs of slots) or nothing can."""
