"""Uniform numbers from a source of random bytes, one or many from the same words.

Tests: tests/unit/privacy/test_words.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.errors import InvariantBroken

__all__ = [
    "SPARE",
    "Integers",
    "Read",
    "number_below",
    "numbers_below",
    "of_digits",
    "uniform",
    "whole_numbers",
    "word",
]

Integers = npt.NDArray[Any]
"""(size,) exact integers: int64 where every one lies strictly within +-2^62, otherwise objects (Python ints)."""

Read = Callable[[int], bytes]
"""``read(n)`` returns n fresh uniform bytes."""
MOST = 63  # Bits that are read at once: what lies above them is read before, and the rest 32 at a time.
PLACES = np.arange(8, dtype=np.uint8)[:, np.newaxis]  # Of the digits of an octet, the lowest first.
SPARE = 16
"""Numbers that are read besides two for each that is wanted below m: so many that a second round is rare, whatever m
is."""


def uniform(read: Read, bits: int, size: int) -> npt.NDArray[Any]:
    """(size,) uniform integers of so many bits: the narrowest unsigned type, or Python ints above 63 bits."""
    if bits > MOST:
        high, low = uniform(read, bits - 32, size), uniform(read, 32, size)
        return np.asarray((high.astype(object) << 32) + low.astype(object))
    width = _width(bits)
    words: npt.NDArray[Any] = np.frombuffer(_all_of(read, width * size), dtype=f"<u{width}")
    return words if bits == 8 * width else words & ((1 << bits) - 1)


def of_digits(digits: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    """(size,) int64 of their binary digits: a row for each, at most 63, the lowest first.

    >>> of_digits(np.array([[True, False], [False, False], [True, True]])).tolist()
    [5, 4]
    """
    octets = np.zeros((digits.shape[1], 8), dtype=np.uint8)
    for first in range(0, len(digits), 8):
        own = digits[first : first + 8].view(np.uint8)
        octets[:, first // 8] = np.bitwise_or.reduce(own << PLACES[: len(own)], axis=0)
    numbers: npt.NDArray[Any] = octets.view("<i8")[:, 0]
    return numbers


def word(read: Read, bits: int) -> int:
    """What `uniform` finds for one, without an array."""
    more = -(-max(0, bits - MOST) // 32)
    bits -= 32 * more
    number = int.from_bytes(_all_of(read, _width(bits)), "little") & ((1 << bits) - 1)
    for _ in range(more):
        number = number << 32 | int.from_bytes(_all_of(read, 4), "little")
    return number


def number_below(read: Read, m: int) -> int:
    """A uniform number from 0 to m - 1: the first below m of words with as many bits."""
    bits = (m - 1).bit_length()
    while True:
        if bits > MOST:
            words = uniform(read, bits, 2 + SPARE).tolist()
        else:
            width = _width(bits)
            found = _all_of(read, (2 + SPARE) * width)
            words = [int.from_bytes(found[at : at + width], "little") for at in range(0, len(found), width)]
        for number in words:
            if (kept := number & ((1 << bits) - 1)) < m:
                return int(kept)


def numbers_below(read: Read, most: Integers) -> Integers:
    """(n,) int64, uniform from 0 to most[i] - 1: what `number_below` finds for each of (n,) int64, which are >= 1."""
    masks = most - 1
    for shift in (1, 2, 4, 8, 16, 32):
        masks |= masks >> shift
    found = np.zeros(len(most), dtype=np.int64)
    left, bits = np.arange(len(most)), int(masks.max(initial=0)).bit_length()
    while len(left):
        words = uniform(read, bits, len(left) * (2 + SPARE)).reshape(len(left), -1).astype(np.int64)
        words &= masks[left, None]
        fits = words < most[left, None]
        first = fits.argmax(axis=1)
        some = fits[np.arange(len(left)), first]
        found[left[some]] = words[some, first[some]]
        left = left[~some]
    return found


def whole_numbers(values: Sequence[int] | Integers) -> Integers:
    """(n,) the same integers: int64 where all lie strictly within +-2^62 (no sum of two overflows), or objects."""
    whole = np.asarray(values)
    if whole.dtype.kind not in "iu" or whole.ndim != 1:  # numpy holds whole numbers of one width as they are
        whole = np.array([index(value) for value in values], dtype=object)
    if len(whole) == 0 or (whole.min() > -(2**62) and whole.max() < 2**62):
        return whole.astype(np.int64, copy=False)
    return whole.astype(object)


def _width(bits: int) -> int:
    """The bytes of the narrowest of numpy's types that holds so many bits."""
    return 1 if bits <= 8 else 2 if bits <= 16 else 4 if bits <= 32 else 8


def _all_of(read: Read, size: int) -> bytes:
    found = read(size)
    if len(found) != size:
        raise InvariantBroken("the source of randomness returned too few bytes; nothing was drawn")
    return found
