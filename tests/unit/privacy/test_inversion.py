"""One of several intervals, or one of each of several groups: what floats decide is what whole numbers do."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsql.privacy import inversion
from dpsql.privacy.inversion import (
    MOST_GROUPS,
    _located_by_floats,
    _located_exactly,
    gaps_of_each,
    located,
    located_in_each,
)
from dpsql.privacy.sampling import ExactSampler
from dpsql.testing_samplers import FixedSampler

INTERVALS = st.lists(st.tuples(st.integers(0, 2**50), st.integers(-(2**20), 2**20)), min_size=1, max_size=12)


@settings(max_examples=3 * settings().max_examples, deadline=None)
@given(
    intervals=st.lists(st.tuples(st.integers(0, 2**50), st.integers(-(2**20), 2**20)), min_size=1, max_size=40),
    exponent=st.fractions(min_value=0, max_value=3),
    share=st.fractions(min_value=0, max_value=1),
    bits=st.sampled_from([4, 16, 128]),
    block=st.sampled_from([1, 3, inversion.BLOCK]),
)
def test_floats_decide_as_whole_numbers_do_or_not_at_all(
    intervals: list[tuple[int, int]], exponent: Fraction, share: Fraction, bits: int, block: int
) -> None:
    widths = np.array([width for width, _ in intervals], dtype=np.int64)
    if not widths.any():
        return
    scores = np.array([score for _, score in intervals], dtype=np.int64)
    gaps = np.where(widths > 0, scores[widths > 0].max() - scores, 0)
    u = min(int(share * 2**bits), 2**bits - 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inversion, "BLOCK", block)
        decided = _located_by_floats(u, bits, widths, gaps, exponent)
    exact = _located_exactly(u, bits, widths.tolist(), gaps.tolist(), exponent)
    assert decided in (None, exact)


def test_floats_decide_among_many_intervals_block_after_block() -> None:
    many = 3 * inversion.BLOCK + 5
    widths, gaps = np.ones(many, dtype=np.int64), np.zeros(many, dtype=np.int64)
    for place in (0, 1, inversion.BLOCK - 1, inversion.BLOCK, 2 * inversion.BLOCK + 7, many - 1):
        u = (2 * place + 1 << 128) // (2 * many)  # in the middle of its interval
        assert _located_by_floats(u, 128, widths, gaps, Fraction(1)) == place


def test_floats_leave_to_whole_numbers_what_lies_at_an_edge() -> None:
    widths, gaps = np.array([1, 1], dtype=np.int64), np.zeros(2, dtype=np.int64)
    assert _located_by_floats(2**127 - 1, 128, widths, gaps, Fraction(1)) is None
    assert _located_exactly(2**127 - 1, 128, [1, 1], [0, 0], Fraction(1)) == 0
    assert _located_by_floats(0, 128, widths, gaps, Fraction(1)) == 0
    assert _located_by_floats(2**126, 128, widths, gaps, Fraction(1)) == 0
    assert located(2**127, 128, widths, gaps, Fraction(1)) == 1


@settings(max_examples=3 * settings().max_examples, deadline=None)
@given(
    groups=st.lists(INTERVALS.filter(lambda own: any(width for width, _ in own)), min_size=1, max_size=6),
    exponent=st.fractions(min_value=0, max_value=3),
    shares=st.lists(st.fractions(min_value=0, max_value=1), min_size=6, max_size=6),
    bits=st.sampled_from([1, 4, 16, 32]),
)
def test_floats_decide_in_each_group_as_whole_numbers_do_or_not_at_all(
    groups: list[list[tuple[int, int]]], exponent: Fraction, shares: list[Fraction], bits: int
) -> None:
    starts = np.cumsum([0, *map(len, groups)])
    widths, scores = (np.array([pair[at] for own in groups for pair in own], dtype=np.int64) for at in (0, 1))
    words = np.array([min(int(share * 2**bits), 2**bits - 1) for share, _ in zip(shares, groups, strict=False)])
    gaps = gaps_of_each(starts, widths, scores)
    found = located_in_each(words.astype(np.uint32), bits, starts, widths, gaps, exponent).tolist()
    for place, u, (begin, end) in zip(found, words.tolist(), pairwise(starts.tolist()), strict=True):
        own = widths[begin:end].tolist(), gaps[begin:end].tolist()
        for more in (1, 2**63, 2**64 - 2):  # U, to 64 bits more
            exact = _located_exactly((u << 64) + more, bits + 64, *own, exponent)
            assert place == -1 or exact in (None, place)


def test_floats_decide_nearly_all_of_many_groups() -> None:
    starts = np.arange(0, 16 * 4000 + 1, 16)
    widths, scores = np.arange(1, 16 * 4000 + 1), -(np.arange(16 * 4000) % 16)
    words = (np.arange(4000, dtype=np.uint64) * 1_073_741).astype(np.uint32)
    found = located_in_each(words, 32, starts, widths, gaps_of_each(starts, widths, scores), Fraction(1, 4))
    assert (found >= 0).mean() > 0.99
    assert len(set(found.tolist()) - {-1}) == 16


def test_floats_decide_nothing_of_more_groups_than_their_error_is_known_for() -> None:
    many = MOST_GROUPS + 1
    starts, ones, words = np.arange(many + 1), np.ones(many, dtype=np.int64), np.zeros(many, dtype=np.uint32)
    assert (located_in_each(words, 32, starts, ones, ones - 1, Fraction(1)) == -1).all()
    index, offset = FixedSampler(1).intervals_of_each(starts, ones, ones, Fraction(1))
    assert not index.any()
    assert not offset.any()


def test_what_floats_leave_open_is_read_on() -> None:
    third, starts = np.array([1, 2, 1, 2]), np.array([0, 2, 4])
    for more, place in ((bytes(4), 0), (b"\xff" * 4, 1)):  # U is about 1/3 in the first group, and 0 in the second
        read = iter([b"\x55" * 4 + bytes(4), more, bytes(36)])
        index, _ = ExactSampler(lambda size, read=read: next(read)).intervals_of_each(  # type: ignore[misc]
            starts, third, 0 * third, Fraction(1)
        )
        assert index.tolist() == [place, 0]


@pytest.mark.parametrize(
    ("starts", "widths"),
    [([0, 0, 1], [1]), ([0, 2], [2, -1]), ([0, 2, 3], [0, 0, 1])],
    ids=["none", "below 0", "all 0"],
)
def test_groups_without_a_point_are_refused(starts: list[int], widths: list[int]) -> None:
    with pytest.raises(ValueError, match="a group has none"):
        ExactSampler().intervals_of_each(np.array(starts), np.array(widths), np.array(widths), Fraction(1))


def test_numbers_of_any_size_are_drawn_from() -> None:
    starts, scores = np.array([0, 2, 3]), np.array([0, 2**80, 7], dtype=object)
    index, offset = FixedSampler(1).intervals_of_each(starts, np.array([5, 1, 1]), scores, Fraction(1))
    assert index.tolist() == [1, 0]
    assert offset.tolist() == [0, 0]
