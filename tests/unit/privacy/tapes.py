"""Scripted randomness for the sampler, whole trees of it, and an independent exponential."""

from __future__ import annotations

import itertools
import math
import struct
from collections import defaultdict
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

from dpsql.privacy.probabilities import DigitOf, Probability, Ratio
from dpsql.privacy.sampling import ExactSampler, ExpOf, _Coins


@cache
def exp_minus(x: Fraction) -> Fraction:
    """exp(-x) to some 1,900 bits by Taylor's series: a formula that shares nothing with the sampler's."""
    one = term = total = 1 << 2000 + 2 * math.ceil(x)
    n = 1
    while term:
        term = term * x.numerator // (x.denominator * n)
        total += term
        n += 1
    return Fraction(one, total)


def value(p: Probability) -> Fraction:
    """The probability itself."""
    match p:
        case ExpOf(x):
            return exp_minus(x)
        case DigitOf(x):
            return exp_minus(x) / (1 + exp_minus(x))
        case Ratio(ratio):
            return ratio
    raise AssertionError(p)


class TapeEndedError(Exception):
    def __init__(self, wanted: int) -> None:
        self.wanted = wanted


class Tape:
    """A byte source that plays what it was given and then ends."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def __call__(self, size: int) -> bytes:
        if self.at + size > len(self.content):
            raise TapeEndedError(self.at + size - len(self.content))
        self.at += size
        return self.content[self.at - size : self.at]


def words(*values: int) -> Tape:
    """A tape of 32-bit words."""
    return Tape(struct.pack(f"<{len(values)}I", *values))


def walk(run: Callable[[ExactSampler], Any], bits: int, depth: int) -> Mapping[Any, Fraction]:
    """The probability of every outcome over all tapes of up to depth words; None where that is not enough."""
    masses: defaultdict[Any, Fraction] = defaultdict(Fraction)
    pending: list[bytes] = [b""]
    while pending:
        tape = pending.pop()
        try:
            outcome = run(ExactSampler(read=Tape(tape), word_bits=bits))
        except TapeEndedError as end:
            if len(tape) + end.wanted <= depth:
                pending += [tape + bytes(more) for more in itertools.product(range(1 << bits), repeat=end.wanted)]
                continue
            outcome = None
        masses[outcome] += Fraction(1, 1 << bits * len(tape))
    return masses


def flip(sampler: ExactSampler, p: Probability) -> bool:
    """One decision U < p."""
    return bool(sampler._flip(_Coins.of([p], sampler.word_bits), 1)[0, 0])
