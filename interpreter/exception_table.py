"""The exception table: which instructions a handler covers, how deep it cuts the stack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import CodeType

START = 0x80
MORE = 0x40


@dataclass(frozen=True, slots=True)
class Region:
    """Instructions at byte offsets start <= offset < end go to `target` when they raise.

    The stack is cut to `depth`; then the instruction's index is pushed if `lasti`, then the exception.
    """

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


def read_regions(table: bytes) -> list[Region]:
    """Decode `co_exceptiontable`."""
    numbers = _numbers(table)
    regions = []
    for start in numbers:
        length, target, depth = next(numbers), next(numbers), next(numbers)
        regions.append(Region(2 * start, 2 * (start + length), 2 * target, depth >> 1, bool(depth & 1)))
    return regions


def _numbers(table: bytes) -> Iterator[int]:
    value = 0
    for byte in table:
        value = value << 6 | byte & 0x3F
        if not byte & MORE:
            yield value
            value = 0


def write_regions(regions: Iterable[Region]) -> bytes:
    """Encode `co_exceptiontable`; regions must be in order and must not overlap."""
    table = bytearray()
    for region in regions:
        _write(table, region.start // 2, START)
        _write(table, (region.end - region.start) // 2)
        _write(table, region.target // 2)
        _write(table, region.depth << 1 | region.lasti)
    return bytes(table)


def _write(table: bytearray, value: int, first: int = 0) -> None:
    shift = max(value.bit_length() - 1, 0) // 6 * 6
    while shift:
        table.append(first | MORE | value >> shift & 0x3F)
        first = 0
        shift -= 6
    table.append(first | value & 0x3F)


def covering(code: CodeType, offset: int) -> Region | None:
    """Find the region that covers a byte offset."""
    for region in read_regions(code.co_exceptiontable):
        if region.start <= offset < region.end:
            return region
    return None
