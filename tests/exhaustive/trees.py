"""The sampler's tree of decisions: what it returns for every string of bits up to a length.

Each word that it reads is a fork with equally likely branches. A string at whose end it still asks for more is
undecided. So what is returned by the strings of a length is a share of all strings that is not above its chance, and
its chance is not above that share with all that is undecided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpsql.privacy.sampling import ExactSampler

__all__ = ["Tree", "tree_of"]

MANY = 18
"""Words that the sampler reads at once for one uniform number: so many that it rarely reads twice."""

LOOKED_AT = 2
"""Of these, those that fork. All others are refused by it, and the first that is not is what it returns."""


class _EndedError(Exception):
    """A string has no more bits."""


@dataclass
class Tree:
    """What is returned.

    Attributes:
        returned: Each result to the share of all strings that lead to it.
        undecided: The share of those that lead to none.
        strings: How many ends the tree has.
    """

    returned: Counter[Hashable] = field(default_factory=Counter)
    undecided: Fraction = Fraction(0)
    strings: int = 0


class _Words:
    """A source of randomness that follows a path, and takes the first branch where that ends.

    Args:
        path: Words.
        bits: Most bits of a string.
        refused: What a uniform number's other words are.
    """

    def __init__(self, path: list[int], bits: int, refused: int) -> None:
        self.path, self.widths = path, list[int]()
        self._left, self._refused = bits, refused
        self.width = 1

    def __call__(self, size: int) -> bytes:
        forks = min(size, LOOKED_AT) if size >= MANY else size
        found = [self._word() for _ in range(forks)]
        return bytes([*found, *[self._refused] * (size - forks)])

    def _word(self) -> int:
        at = len(self.widths)
        if self.width > self._left:
            raise _EndedError
        self._left -= self.width
        self.widths.append(self.width)
        if at == len(self.path):
            self.path.append(0)
        return self.path[at]


class _Narrow(ExactSampler):
    """The sampler, with words of one bit; its source is told how many bits of a word count."""

    def _uniform(self, bits: int, size: int) -> object:  # type: ignore[override]  # arrays, as it says
        assert isinstance(self.read, _Words)
        self.read.width = bits
        return super()._uniform(bits, size)

    def _word(self, bits: int) -> int:
        assert isinstance(self.read, _Words)
        self.read.width = bits
        return super()._word(bits)

    def _below(self, m: int) -> int:
        assert isinstance(self.read, _Words)
        self.read.width = (m - 1).bit_length()
        return super()._below(m)

    def _below_each(self, most: Any) -> Any:
        assert isinstance(self.read, _Words)
        self.read.width = int(most.max() - 1).bit_length()
        return super()._below_each(most)


def tree_of(call: Callable[[ExactSampler], Hashable], bits: int, refused: int = 255) -> Tree:
    """What a call returns, for every string of at most so many bits.

    Args:
        call: What is asked of the sampler.
        bits: Of a string.
        refused: A word that a uniform number refuses.
    """
    tree, path = Tree(), list[int]()
    while True:
        words = _Words(path, bits, refused)
        try:
            result = call(_Narrow(read=words, word_bits=1))
        except _EndedError:
            tree.undecided += Fraction(1, 1 << sum(words.widths))
        else:
            tree.returned[result] += Fraction(1, 1 << sum(words.widths))  # type: ignore[assignment]  # shares are exact
        tree.strings += 1
        while path and path[-1] == (1 << words.widths[len(path) - 1]) - 1:
            path.pop()
        if not path:
            return tree
        path[-1] += 1
