"""SmallDB, both ways: that every database is found once, at its own score, and the loss of the exact law."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from math import ceil

import numpy as np
import pytest

from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.smalldb import Codes, error_of, rows_for, small_database
from dpsql.mechanisms.releases.smalldb_paths import cap_of, small_ordered_database
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.chances import exponential, loss, within

PAYMENT = Payment("replace_one", epsilon=Fraction(2))
THRESHOLDS = np.tril(np.ones((3, 3), dtype=np.int64))


class Scripted(Noiseless):
    """Chooses what a test says, and keeps what it was asked."""

    def __init__(self, said: tuple[int, int] | None = None) -> None:
        self.said = said

    def intervals(self, widths: Sequence[int], scores: Sequence[int], exponent: Fraction) -> tuple[int, int]:
        self.widths, self.scores, self.exponent = list(widths), list(scores), exponent
        return self.said or super().intervals(widths, scores, exponent)


def databases(cells: int, rows: int) -> list[tuple[int, ...]]:
    """All multisets, each as the numbers of rows of its cells."""
    found = combinations_with_replacement(range(cells), rows)
    return [tuple(np.bincount(np.array(rows), minlength=cells).tolist()) for rows in found]


def drawn(release: Callable[[Scripted], Codes]) -> dict[tuple[int, ...], int]:
    """Each database that any draw can give, with the score at which it is drawn; none is given by two draws."""
    asked = Scripted()
    release(asked)  # what is asked does not depend on what is drawn
    found: dict[tuple[int, ...], int] = {}
    for index, width in enumerate(asked.widths):
        for place in range(width):
            database = tuple(release(Scripted((index, place))).tolist())
            assert database not in found
            found[database] = asked.scores[index]
    return found


def path_scores(counts: Codes, rows: int, cap: int) -> dict[tuple[int, ...], int]:
    """The definition, database by database."""
    n, found = int(counts.sum()), {}
    for database in databases(len(counts), rows):
        gaps = [
            abs(Fraction(n * int(c), rows) - int(f))
            for c, f in zip(np.cumsum(database), np.cumsum(counts), strict=True)
        ]
        found[database] = -min(max(0, ceil(max(gaps)) - n // (2 * rows)), cap)
    return found


def test_every_database_is_drawn_once_and_at_its_own_score(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for cells, rows in ((3, 2), (4, 3), (2, 5), (5, 1)):
        counts, questions = rng.integers(0, 6, cells), rng.integers(0, 2, (4, cells))
        n = int(counts.sum())
        found = drawn(lambda s, c=counts, q=questions, r=rows: small_database(c, q, r, PAYMENT, s))  # type: ignore[misc]  # bound here
        assert sorted(found) == sorted(databases(cells, rows))
        for database, score in found.items():
            assert score == -max(abs(rows * int(q @ counts) - n * int(q @ np.array(database))) for q in questions)


def test_every_path_is_drawn_once_and_at_its_own_score(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for cells, rows in ((4, 3), (3, 4), (6, 2)):
        counts = rng.integers(0, 7, cells)
        counts[0] += 1
        found = drawn(lambda s, c=counts, r=rows: small_ordered_database(c, r, PAYMENT, s))  # type: ignore[misc]  # bound here
        assert found == path_scores(counts, rows, cap_of(cells, rows, 2.0))


@pytest.mark.parametrize("paths", [False, True], ids=["all questions", "ordered"])
def test_the_exact_law_loses_no_more_than_epsilon(paths: bool) -> None:
    """All tables of three rows over three cells, and each swap of a row."""
    rows, laws = 2, {}
    for table in databases(3, 3):
        asked, counts = Scripted(), np.array(table)

        def release(sampler: Scripted, counts: Codes = counts) -> Codes:
            if paths:
                return small_ordered_database(counts, rows, PAYMENT, sampler)
            return small_database(counts, THRESHOLDS, rows, PAYMENT, sampler)

        release(asked)
        at = drawn(release)
        ordered = sorted(at)
        laws[table] = exponential([1] * len(at), [at[database] for database in ordered], asked.exponent)
    for one in laws:
        for other in laws:
            if sum(abs(a - b) for a, b in zip(one, other, strict=True)) == 2:
                assert within(loss(laws[one], laws[other]), Fraction(2))


def test_the_price_in_rho_is_that_of_the_exponential_mechanism() -> None:
    asked = Scripted()
    small_ordered_database(np.array([2, 1]), 2, Payment("replace_one", rho=Fraction(1, 8)), asked)
    assert asked.exponent == Fraction(1, 2)  # epsilon 1, of which rho is 1/8


def test_without_noise_it_is_the_best_database() -> None:
    counts = np.array([30, 0, 10, 60])
    assert small_ordered_database(counts, 10, PAYMENT, Noiseless()).tolist() == [3, 0, 1, 6]
    assert small_database(counts, np.eye(4, dtype=np.int64), 10, PAYMENT, Noiseless()).tolist() == [3, 0, 1, 6]


def test_errors_are_within_the_theorem_s(seed: int) -> None:
    counts = np.random.default_rng(seed).multinomial(5000, np.ones(32) / 32)
    path = small_ordered_database(counts, 20, PAYMENT, FixedSampler("smalldb"))
    off = np.concatenate([[0], np.cumsum(path / 20 - counts / 5000)])
    assert off.max() - off.min() <= 2 * error_of(5000, 32, 32, 20, 2.0)


def test_sizes_are_those_of_hoeffding() -> None:
    """100 questions within .1 and .025, 1,000 within .025."""
    assert [rows_for(100, 0.1), rows_for(100, 0.025), rows_for(1000, 0.025)] == [265, 4239, 6081]


@pytest.mark.parametrize(
    "payment", [Payment("add_remove", epsilon=Fraction(1)), Payment("replace_one", rho=Fraction(1), rows=2)]
)
def test_other_neighbours_are_refused_by_name(payment: Payment) -> None:
    with pytest.raises(ValueError, match=f"not under {payment.neighbours} with {payment.rows} rows a unit"):
        small_database(np.array([1, 2]), THRESHOLDS[:2, :2], 1, payment, Noiseless())
    with pytest.raises(ValueError, match="replace_one with one row a unit"):
        small_ordered_database(np.array([1, 2]), 1, payment, Noiseless())


def test_too_many_databases_are_refused() -> None:
    with pytest.raises(ValueError, match=r"are \d+ databases; .* `smalldb_paths` for an ordered domain"):
        small_database(np.ones(100, dtype=np.int64), np.ones((1, 100), dtype=np.int64), 10, PAYMENT, Noiseless())
    with pytest.raises(ValueError, match=r"sums, above 100000000; .* `tree`"):
        small_ordered_database(np.ones(10**5, dtype=np.int64), 100, PAYMENT, Noiseless())
    with pytest.raises(ValueError, match="give 1 row or more"):
        small_ordered_database(np.zeros(4, dtype=np.int64), 1, PAYMENT, Noiseless())
