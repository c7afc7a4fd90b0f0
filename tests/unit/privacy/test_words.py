"""One uniform number and many, from the same bytes."""

from __future__ import annotations

import numpy as np
import pytest

from dpsql.errors import InvariantBroken
from dpsql.privacy.sampling import ExactSampler
from dpsql.privacy.words import number_below, numbers_below, of_digits, uniform, word
from tests.unit.privacy.tapes import Tape


def test_a_word_beyond_64_bits_is_made_of_every_byte_once() -> None:
    tape = Tape(bytes([0, 0, 0, 0, 0, 7, 0xFF, 0xFF, 3, 0, 0, 2]))  # 48 bits, then 32 below them
    assert word(tape, 80) == 7 << 72 | 2 << 24 | 3


@pytest.mark.parametrize("bits", [1, 4, 8, 9, 32, 33, 63, 64, 80, 95, 96, 128, 160, 224])
def test_a_word_is_made_of_the_bytes_of_one_of_several(bits: int) -> None:
    data = bytes(range(1, 41))
    assert word(Tape(data), bits) == int(uniform(Tape(data), bits, 1)[0])


@pytest.mark.parametrize("many", [0, 1, 7, 8, 9, 31, 61, 63])
def test_numbers_have_the_digits_that_they_are_made_of(many: int) -> None:
    digits = np.random.default_rng(many).integers(0, 2, (many, 50)).astype(np.bool_)
    numbers = of_digits(digits)
    assert numbers.dtype == np.int64
    assert numbers.tolist() == [sum(1 << at for at in np.flatnonzero(own).tolist()) for own in digits.T]


@pytest.mark.parametrize("m", [1, 2, 3, 200, 256, 257, 2**20 + 7, 2**40 + 1, 2**62 + 5, 2**63 + 9, 2**100 + 1])
def test_one_number_below_m_is_the_first_of_several_from_the_same_bytes(m: int) -> None:
    for seed in range(20):
        data = np.random.default_rng(seed).bytes(10_000)
        one, several = Tape(data), Tape(data)
        assert number_below(one, m) == ExactSampler(several).integers(m, 1)[0]
        assert one.at == several.at


@pytest.mark.parametrize("m", [1, 2, 3, 200, 2**20 + 7, 2**62 + 5])
def test_numbers_below_one_m_are_each_the_first_of_several_from_the_same_bytes(m: int) -> None:
    for seed in range(20):
        data = np.random.default_rng(seed).bytes(10_000)
        several, each = Tape(data), Tape(data)
        rows = uniform(several, (m - 1).bit_length(), 3 * 18).reshape(3, 18).astype(np.int64)
        first = [next((word for word in row if word < m), None) for row in rows.tolist()]
        found = numbers_below(each, np.full(3, m)).tolist()
        assert [own for own, wanted in zip(found, first, strict=True) if wanted not in (None, own)] == []


def test_numbers_below_different_m_keep_to_their_own() -> None:
    most = np.array([1, 5, 2**61 + 3, 2, 1])
    found = numbers_below(Tape(bytes(range(1, 200)) * 40), most)
    assert ((found >= 0) & (found < most)).all()
    assert len(numbers_below(Tape(b""), np.array([], dtype=np.int64))) == 0


def test_a_number_is_read_again_where_no_word_is_below_m() -> None:
    assert number_below(Tape(bytes([3, 7] * 9 + [3, 0xF2] * 9)), 3) == 2


def test_a_source_that_runs_dry_gives_no_number() -> None:
    def dry(size: int) -> bytes:
        return bytes(size - 1)

    with pytest.raises(InvariantBroken):
        word(dry, 8)
    with pytest.raises(InvariantBroken):
        number_below(dry, 3)
