"""Raw instructions to bytes and back: byte for byte what CPython's compiler wrote."""

import os

import bytecode
import pytest
from bytecode.instr import UNSET

from minijit.codegen.assemble import assemble
from minijit.codegen.line_table import write_lines
from minijit.interpreter.exception_table import Region, covering, read_regions, write_regions
from minijit.interpreter.opcodes import CACHES, OPCODE, OPNAME
from minijit.interpreter.raw import CannotEmbed, Raw, read


def in_indices(code, raw):
    """The exception table, counted in instructions."""
    return [
        Region(raw.index(r.start), raw.index(r.end), raw.index(r.target), r.depth, r.lasti)
        for r in read_regions(code.co_exceptiontable)
    ]


def round_trip(code):
    raw = read(code)
    offsets, where = raw.offsets, raw.where
    result = assemble(raw, in_indices(code, raw), raw.positions(code), code.co_firstlineno)
    assert (raw.offsets, raw.where) == (offsets, where)
    return result


def test_library_round_trip(library_codes):
    assert len(library_codes) > 1000
    for code in library_codes:
        result = round_trip(code)
        assert result.code == code.co_code, code
        assert result.exceptions == code.co_exceptiontable, code
        new = code.replace(co_linetable=result.lines)
        assert list(new.co_positions()) == list(code.co_positions()), code
        assert list(new.co_lines()) == list(code.co_lines()), code


@pytest.mark.skipif(not os.environ.get("MINIJIT_SWEEP"), reason="prints the counts of a full sweep")
def test_sweep_counts(library_codes):
    count = sum(len(read(code).opcodes) for code in library_codes)
    print(f"\n{len(library_codes)} code objects, {count} instructions")


def test_library_agrees_with_the_bytecode_package(library_codes):
    for code in library_codes[::3]:
        raw = read(code)
        expected = [
            (instruction.name, 0 if instruction.arg is UNSET else instruction.arg)
            for instruction in bytecode.ConcreteBytecode.from_code(code)
            if instruction.name != "CACHE"
        ]
        assert [(OPNAME[op], arg) for op, arg in zip(raw.opcodes, raw.args, strict=True)] == expected, code


def long_function(count):
    body = "\n".join(f"    total = total + a[{number % 300}]" for number in range(count))
    source = f"def f(a):\n  total = 0\n  while a:\n{body}\n    if total: continue\n    break\n  return total\n"
    namespace = {}
    exec(source, namespace)
    return namespace["f"].__code__


@pytest.mark.parametrize("count", [5, 18, 19, 20, 21, 22, 300, 6000])
def test_long_jumps(count):
    code = long_function(count)
    assert round_trip(code).code == code.co_code


def test_jump_grows_where_its_target_moves_away():
    """254 + a growing one in between: the first jump grows only because the second one does."""
    nop, forward = OPCODE["NOP"], OPCODE["JUMP_FORWARD"]
    raw = Raw([forward, forward, *[nop] * 255, nop, nop], [0] * 259, [257, 258] + [-1] * 257)
    result = assemble(raw, [], [(None,) * 4] * 259, 1)
    extended = OPCODE["EXTENDED_ARG"]
    assert result.code[:8] == bytes((extended, 1, forward, 1, extended, 1, forward, 0))


def test_jump_the_wrong_way_is_refused():
    raw = Raw([OPCODE["NOP"], OPCODE["JUMP_FORWARD"]], [0, 0], [-1, 0])
    with pytest.raises(ValueError, match="wrong way"):
        assemble(raw, [], [(None,) * 4] * 2, 1)


def test_arguments_of_every_size():
    load, args = OPCODE["LOAD_CONST"], [0, 255, 256, 65535, 65536, 1 << 24, (1 << 31) - 1]
    raw = Raw([load] * len(args), list(args), [-1] * len(args))
    result = assemble(raw, [], [(None,) * 4] * len(args), 1)
    sizes = [(end - start) // 2 for start, end in zip(raw.offsets, raw.offsets[1:], strict=False)]
    assert sizes == [1, 1, 2, 2, 3, 4, 4]
    again = read(long_function(1).replace(co_code=result.code))
    assert (again.opcodes, again.args) == (raw.opcodes, args)


def test_caches_are_zero():
    attribute = OPCODE["LOAD_ATTR"]
    result = assemble(Raw([attribute], [3], [-1]), [], [(None,) * 4], 1)
    assert result.code == bytes((attribute, 3)) + bytes(2 * CACHES[attribute])


POSITIONS = [
    (1, 1, 0, 0), (1, 1, 79, 94), (1, 1, 80, 81), (2, 2, 127, 127), (4, 4, 5, 127), (4, 4, 128, 130), (3, 9, 4, 2),
    (None, None, None, None), (1, 1, None, None), (1000, 1003, 1000, 2000), (1, 1, 5, 3), (90000, 90000, 1, 2),
]  # fmt: skip


@pytest.mark.parametrize("size", [1, 8, 9, 20])
def test_line_table(size):
    nops = bytes((OPCODE["NOP"], 0)) * (size * len(POSITIONS))
    table = write_lines(POSITIONS, [size] * len(POSITIONS), 10)
    code = long_function(1).replace(co_code=nops, co_linetable=table, co_firstlineno=10, co_exceptiontable=b"")
    assert list(code.co_positions()) == [position for position in POSITIONS for _ in range(size)]


def test_exception_table_numbers_of_every_size():
    regions = []
    start = 0
    for size in (1, 63, 64, 4095, 4096, 262143, 262144):
        regions.append(Region(2 * start, 2 * (start + size), 2 * size, size, bool(size & 1)))
        start += size
    assert read_regions(write_regions(regions)) == regions


def test_covering():
    def function(a):
        try:
            a()
        except KeyError:
            return 1

    code = function.__code__
    regions = read_regions(code.co_exceptiontable)
    assert covering(code, regions[0].start) == regions[0]
    assert covering(code, regions[0].end) not in regions[:1]
    assert covering(code, 0) is None


def test_no_resume_is_refused():
    code = long_function(1)
    with pytest.raises(CannotEmbed, match="no RESUME"):
        read(code.replace(co_code=bytes((OPCODE["RETURN_VALUE"], 0)))).prologue()
