"""Friendships as matrices: every graph on few rows, random ones on more, and the filters' probabilities on them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.bool_]


def every_graph(n: int) -> Iterator[Matrix]:
    """All reflexive, symmetric relations on n rows."""
    pairs = list(combinations(range(n), 2))
    for code in range(1 << len(pairs)):
        matrix = np.eye(n, dtype=bool)
        for bit, (i, j) in enumerate(pairs):
            matrix[i, j] = matrix[j, i] = bool(code >> bit & 1)
        yield matrix


def random_graph(n: int, rng: np.random.Generator) -> Matrix:
    """Dense, sparse or clustered, with a row that knows nobody or everybody now and then."""
    matrix = rng.random((n, n)) < rng.choice([0.3, 0.5, 0.6, 0.8, 0.95])
    if rng.random() < 0.5:
        side = np.arange(n) < rng.integers(1, n + 1)
        matrix = side[:, None] == side[None, :]
        matrix ^= np.triu(rng.random((n, n)) < 0.1)
    matrix = np.triu(matrix) | np.triu(matrix).T
    last = rng.choice(["as it is", "alone", "known to all"])
    if last != "as it is":
        matrix[-1, :] = matrix[:, -1] = last == "known to all"
    np.fill_diagonal(matrix, val=True)
    return np.asarray(matrix, dtype=bool)


def without(matrix: Matrix, row: int) -> Matrix:
    return np.delete(np.delete(matrix, row, axis=0), row, axis=1)


def friendly(matrix: Matrix, rows: list[int]) -> bool:
    """Whether every two of these rows have a common friend in the graph."""
    return all((matrix[a] & matrix[b]).any() for a, b in combinations(rows, 2))


def basic_probabilities(matrix: Matrix, alpha: Fraction) -> list[Fraction]:
    """p_i straight from the definition."""
    n = len(matrix)
    surplus = [(Fraction(int(z), n) - Fraction(1, 2)) / (Fraction(1, 2) - alpha) for z in matrix.sum(axis=1)]
    return [min(Fraction(1), max(Fraction(0), p)) for p in surplus]


def swap_probabilities(matrix: Matrix, alpha: Fraction) -> list[Fraction]:
    n = len(matrix) - 1
    surplus = [(Fraction(int(z) - 1, n) - Fraction(1, 2)) / (Fraction(1, 2) - alpha) for z in matrix.sum(axis=1)]
    return [min(Fraction(1), max(Fraction(0), p)) for p in surplus]


def size_law(probabilities: list[Fraction]) -> npt.NDArray[np.float64]:
    """(n + 1,) the law of how many independent rows stay."""
    law = np.array([1.0])
    for p in probabilities:
        law = np.convolve(law, [1 - float(p), float(p)])
    return law
