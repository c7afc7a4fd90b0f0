"""SmallDB, exactly: one small database, chosen among all of its size by how well it answers a class of questions.

Neighbours: ``replace_one`` alone, with one row a unit and the number of rows n public. Under ``add_remove`` scores
would compare tables of different sizes, for which the proof is not made: refused. Loss: `Pure`, or `Concentrated`.

The candidates are all multisets of m rows over N cells, binom(N + m - 1, m) of them. The questions are numbers of rows
whose cell is in a public set; the score of a candidate y for the table x is -max over them of |m Q(x) - n Q(y)|, a
whole number. One candidate is chosen with probability proportional to exp(epsilon score / (2 m)).

Theorem. This is epsilon-DP, and epsilon^2 / 8-zCDP: a swap moves each Q(x) by at most 1, so a score by at most m.

*Drawn exactly*, in two passes over all candidates, block by block: the first counts how many have each score, so that
`Sampler.intervals` draws a score and a place among those of that score; the second finds it. No candidate is kept, and
nothing is approximated. Chains of random steps (Markov chain Monte Carlo) are another mechanism: after any number of
steps they are at an unknown distance from this law, and no epsilon is proved for them.

**Usefulness.** m = floor(ln(2 K) / (2 a^2)) + 1 rows answer K questions within a (`rows_for`: Hoeffding's inequality
and a union bound over rows drawn from x, both sides; the paper's ln(K) / a^2 is nearly twice that). Then all answers
are within a + (2 / (epsilon n)) (ln(candidates) + ln(1 / beta)) but for a probability of beta (`error_of`).

**By a metric**: with epsilon = 1 / alpha, alpha the largest Lipschitz constant of the questions, it is d-private
(`payment`).

Source: Blum, Ligett, Roth 2013, section 3; multisets and the two passes are ours. The metric: Kamalaruban, Perrier,
Asghar, Kaafar 2018, section 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.releases.payment import Payment, root_below
from dpsql.mechanisms.releases.waiting import Told, unheard
from dpsql.privacy.sampling import Sampler

__all__ = ["MOST_CANDIDATES", "check_swaps", "error_of", "rows_for", "small_database"]

MOST_CANDIDATES = 10**7  # Databases that are gone through twice: minutes for a hundred questions. It is a choice.
BLOCK = 1 << 14  # Candidates that are scored together. It is a choice: with 100 questions they take 13 MB.
Codes = npt.NDArray[np.int64]


def small_database(
    counts: Codes, questions: Codes, rows: int, payment: Payment, sampler: Sampler, told: Told = unheard
) -> Codes:
    """(N,) the chosen small database: how many of its rows each cell has.

    Args:
        counts: (N,) exact numbers of rows.
        questions: (K, N) 0 or 1: whether a cell's rows are counted.
        rows: m >= 1, of the small database.
        payment: The price; the neighbours are ``replace_one`` with one row a unit.
        sampler: Of the choice.
        told: After each block of candidates that was counted.

    Raises:
        ValueError: If the neighbours are others, or there are more than ten million candidates.
    """
    check_swaps("smalldb", payment)
    cells = len(counts)
    candidates = math.comb(cells + rows - 1, rows)
    if rows < 1 or candidates > MOST_CANDIDATES:
        raise ValueError(
            f"{rows} rows over {cells} cells are {candidates} databases; smalldb goes through 1 to {MOST_CANDIDATES}. "
            "Take fewer rows or cells, `smalldb_paths` for an ordered domain, or `cells` or `tree`"
        )
    n = int(counts.sum())
    wanted, places = rows * (questions @ counts), questions.T * n
    held: dict[int, int] = {}
    for block, (_, misses) in enumerate(_blocks(cells, rows, wanted, places), 1):
        told(min(1.0, block * BLOCK / candidates) / 2)
        values, often = np.unique(misses, return_counts=True)
        for value, number in zip(values.tolist(), often.tolist(), strict=True):
            held[value] = held.get(value, 0) + number
    scores = sorted(held)
    loss = payment.epsilon if payment.epsilon is not None else root_below(8 * payment.amount)
    chosen, place = sampler.intervals(
        [held[score] for score in scores], [-score for score in scores], loss / (2 * rows)
    )
    for members, misses in _blocks(cells, rows, wanted, places):
        (found,) = np.nonzero(misses == scores[chosen])
        if place < len(found):
            return np.bincount(members[found[place]], minlength=cells)
        place -= len(found)
    raise InvariantBroken("fewer databases of that score than were counted")


def rows_for(questions: int, accuracy: float) -> int:
    """How many rows answer so many questions within ``accuracy``, a share.

    >>> rows_for(100, 0.1), rows_for(1000, 0.025)
    (265, 6081)
    """
    return math.floor(math.log(2 * questions) / (2 * accuracy**2)) + 1


def error_of(n: int, cells: int, questions: int, rows: int, epsilon: float, beta: float = 0.05) -> float:
    """A share within which all answers are but for a probability beta: of m rows, and of their choice."""
    candidates = math.comb(cells + rows - 1, rows)
    best = math.sqrt(math.log(2 * questions) / (2 * rows))
    return best + 2 / (epsilon * n) * (math.log(candidates) - math.log(beta))


def check_swaps(method: str, payment: Payment) -> None:
    """ValueError unless the neighbours are ``replace_one`` with one row a unit."""
    if payment.neighbours != "replace_one" or payment.rows != 1:
        raise ValueError(
            f"{method} is proved under replace_one with one row a unit, where the number of rows is public; not under "
            f"{payment.neighbours} with {payment.rows} rows a unit. Take `cells` or `tree`"
        )


def _blocks(cells: int, rows: int, wanted: Codes, places: Codes) -> Iterator[tuple[Codes, Codes]]:
    """All multisets in a fixed order, block by block: (b, m) their cells and (b,) the largest miss of each, >= 0.

    The multiset c_1 <= ... <= c_m has the number binom(c_1, 1) + binom(c_2 + 1, 2) + ... + binom(c_m + m - 1, m): the
    combinatorial number system for the strictly rising c_i + i - 1.
    """
    ladders = [np.array([math.comb(c, i) for c in range(cells + rows)], dtype=np.int64) for i in range(1, rows + 1)]
    for start in range(0, math.comb(cells + rows - 1, rows), BLOCK):
        left = np.arange(start, min(start + BLOCK, math.comb(cells + rows - 1, rows)), dtype=np.int64)
        members = np.empty((len(left), rows), dtype=np.int64)
        answers = np.zeros((len(left), len(wanted)), dtype=np.int64)
        for i in range(rows, 0, -1):
            rising = np.searchsorted(ladders[i - 1], left, side="right") - 1
            left = left - ladders[i - 1][rising]
            members[:, i - 1] = rising - (i - 1)
            answers += places[members[:, i - 1]]
        yield members, np.abs(answers - wanted).max(axis=1)
