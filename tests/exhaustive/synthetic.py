"""Synthetic tables of every tiny table of cells: each method by name, draw by draw; small databases by their law."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from dpsql.mechanisms.releases.methods import Exact
from dpsql.mechanisms.releases.payment import Payment, Relation
from dpsql.mechanisms.releases.table import WAYS
from dpsql.mechanisms.releases.workload import Wanted, read_workload
from dpsql.privacy.sampling import Sampler
from tests.exhaustive.branching import Window, law_of
from tests.exhaustive.in_step import Pairs
from tests.exhaustive.verdicts import Claim, Verdict, compared

__all__ = ["ASKED", "TABLES_OF", "Synthetic", "pairs_of", "released_table"]

TABLES_OF = 1
"""Rows of the largest table. It is a choice: on one processor tables of two rows take minutes for a method."""

Cells = tuple[int, ...]
"""The cell of each row, rising; behind the last lies whatever no list holds."""


@dataclass(frozen=True)
class Synthetic:
    """One method at one price, for tables over a few cells in which every unit has one row.

    Attributes:
        method: What makes the table.
        domains: The lists of its columns.
        workload: The questions.
        epsilon: The price, or None.
        rho: The same.
        swaps: Whether it is for replace_one alone.
    """

    method: str
    domains: tuple[tuple[int, ...], ...]
    workload: str
    epsilon: Fraction | None = None
    rho: Fraction | None = None
    swaps: bool = False

    def __str__(self) -> str:
        return f"{self.method} for {self.workload} at {self.epsilon or self.rho}"

    @property
    def asked(self) -> Wanted:
        """What is to be released."""
        names = tuple("xy"[: len(self.domains)])
        workload = read_workload(self.workload, list(names))
        return Wanted(names, self.domains, workload, rows_about=TABLES_OF, rows_public=self.swaps)


def released_table(case: Synthetic, relation: str, most: int = TABLES_OF) -> Verdict:
    """Every pair of neighbours, in both directions."""
    way = next(way for way in WAYS if way.name == case.method)
    payment = Payment(_relation(relation), epsilon=case.epsilon, rho=case.rho)
    asked, claim = case.asked, Claim(case.epsilon, rho=case.rho)
    assert not way.unfit(asked, payment), way.unfit(asked, payment)

    def released(table: Cells) -> Callable[[Sampler], bytes]:
        exact = _exact(asked, table)
        return lambda sampler: _written(way.release(asked, payment, exact, sampler))

    pairs, total = Pairs(), Verdict()
    for one, two in _neighbours(asked.cells, relation, most):
        if case.method == "smalldb":  # of equal scores a place is another database in another table
            laws = [law_of(released(table), Window(Fraction(0), claim.reach)) for table in (one, two)]
            total += compared(laws[0], laws[1], claim)
        else:
            total += pairs.verdict((released(one), released(two)), (one, two), claim)
    return total


def _relation(relation: str) -> Relation:
    """The same, as a payment takes it."""
    return "replace_one" if relation == "replace_one" else "add_remove"


def pairs_of(case: Synthetic, relation: str) -> int:
    """How many pairs there are."""
    return sum(1 for _ in _neighbours(case.asked.cells, relation, TABLES_OF))


def _neighbours(cells: int, relation: str, most: int) -> Iterator[tuple[Cells, Cells]]:
    """Every ordered pair of tables with at most so many rows; one row more or less, or another one."""
    tables = [t for n in range(most + 1) for t in combinations_with_replacement(range(cells + 1), n)]
    for one in tables:
        for two in tables:
            gone, came = Counter(one) - Counter(two), Counter(two) - Counter(one)
            moved = gone.total(), came.total()
            if moved == (1, 1) if relation == "replace_one" else moved in {(0, 1), (1, 0)}:
                yield one, two


def _exact(asked: Wanted, table: Cells) -> Exact:
    listed, weights = np.unique([cell for cell in table if cell < asked.cells], return_counts=True)
    codes = np.stack(np.unravel_index(listed.astype(np.int64), asked.sizes), axis=1)
    return Exact(codes, weights.astype(np.int64), sum(cell >= asked.cells for cell in table))


def _written(made: Any) -> bytes:
    """All that a release leaves, for answers and for their intervals."""
    proofs = [proof.told() for proof in made.proofs]
    return repr((made.codes.tolist(), made.rows.tolist(), proofs)).encode()


ONE, HALF = Fraction(1), Fraction(1, 2)
LINE, SQUARE, PLANE = ((0, 1, 2),), ((0, 1), (0, 1)), ((-1, 1), (1,))

ASKED: tuple[Synthetic, ...] = (
    Synthetic("cells", LINE, "ranges(x)", epsilon=ONE),
    Synthetic("cells", LINE, "ranges(x)", rho=HALF),
    Synthetic("tree", LINE, "ranges(x)", epsilon=ONE),
    Synthetic("tree", LINE, "ranges(x)", rho=HALF),
    Synthetic("intervals", ((0, 1),), "ranges(x)", epsilon=ONE),
    Synthetic("mwem", ((0, 1),), "ranges(x)", epsilon=ONE),
    Synthetic("mwem", ((0, 1),), "ranges(x)", rho=HALF),
    Synthetic("marginals", SQUARE, "marginals(2)", epsilon=ONE),
    Synthetic("halfspaces", PLANE, "halfspaces(x, y)", epsilon=ONE),
    Synthetic("smalldb", LINE, "ranges(x)", epsilon=ONE, swaps=True),
)
"""Each method that SQL can name, but the one that needs the extra of libraries."""
