"""The line table: a source position for every code unit."""

from __future__ import annotations

from collections.abc import Sequence

from minijit.interpreter.ir import Position

FIRST = 0x80
NO_LOCATION = 15
LONG = 14
NO_COLUMNS = 13
ONE_LINE = 10
MOST_UNITS = 8


def write_lines(positions: Sequence[Position], sizes: Sequence[int], line: int) -> bytes:
    """Encode `co_linetable`: positions of instructions of so many code units, after `co_firstlineno`."""
    table = bytearray()
    for position, size in zip(positions, sizes, strict=True):
        while size > MOST_UNITS:
            line = _write(table, position, MOST_UNITS, line)
            size -= MOST_UNITS
        line = _write(table, position, size, line)
    return bytes(table)


def _write(table: bytearray, position: Position, size: int, before: int) -> int:
    """Append one entry; gives the line it leaves the reader at."""
    line, end_line, column, end_column = position
    if line is None:
        table.append(FIRST | NO_LOCATION << 3 | size - 1)
        return before
    delta = line - before
    if column is None or end_column is None or end_line is None:
        table.append(FIRST | NO_COLUMNS << 3 | size - 1)
        _signed(table, delta)
    elif delta == 0 and end_line == line and column < 80 and 0 <= end_column - column < 16:
        table.append(FIRST | column >> 3 << 3 | size - 1)
        table.append((column & 7) << 4 | end_column - column)
    elif 0 <= delta <= 2 and end_line == line and column < 128 and end_column < 128:
        table += bytes((FIRST | (ONE_LINE + delta) << 3 | size - 1, column, end_column))
    else:
        table.append(FIRST | LONG << 3 | size - 1)
        _signed(table, delta)
        for number in (end_line - line, column + 1, end_column + 1):
            _unsigned(table, number)
    return line


def _unsigned(table: bytearray, number: int) -> None:
    while number >= 64:
        table.append(64 | number & 63)
        number >>= 6
    table.append(number)


def _signed(table: bytearray, number: int) -> None:
    _unsigned(table, -number << 1 | 1 if number < 0 else number << 1)
