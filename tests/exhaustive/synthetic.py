"""Synthetic tables of every tiny table of cells: each method by name, draw by draw; small databases by their law.

So are the releases that Python alone can call, and what `mbi` measures: which pairs its library would let follow is
another public choice, and what it makes of the noised numbers is post-processing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np

from dpsql.mechanisms.releases.graphical import SmallModel
from dpsql.mechanisms.releases.halfplanes import noisy_angles
from dpsql.mechanisms.releases.marginals import Pair, noisy_marginals
from dpsql.mechanisms.releases.methods import Exact
from dpsql.mechanisms.releases.payment import Payment, Relation
from dpsql.mechanisms.releases.projected import circle, projected_points
from dpsql.mechanisms.releases.rectangles import noisy_boxes
from dpsql.mechanisms.releases.smalldb_paths import small_ordered_database
from dpsql.mechanisms.releases.table import WAYS
from dpsql.mechanisms.releases.workload import Wanted, read_workload
from dpsql.privacy.sampling import Sampler
from tests.exhaustive.branching import Window, law_of
from tests.exhaustive.in_step import Pairs
from tests.exhaustive.verdicts import Claim, Verdict, compared

__all__ = ["ASKED", "PYTHON", "TABLES_OF", "Synthetic", "pairs_of", "released_table"]

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
        most: Rows of the largest table.
        listed: Whether every row is in a cell, and there is one: it is a function of Python, which is given cells.
    """

    method: str
    domains: tuple[tuple[int, ...], ...]
    workload: str
    epsilon: Fraction | None = None
    rho: Fraction | None = None
    swaps: bool = False
    most: int = TABLES_OF
    listed: bool = False

    def __str__(self) -> str:
        return f"{self.method} for {self.workload} at {self.epsilon or self.rho}"

    @property
    def asked(self) -> Wanted:
        """What is to be released."""
        names = tuple("xyz"[: len(self.domains)])
        workload = read_workload(self.workload, list(names))
        return Wanted(names, self.domains, workload, rows_about=self.most, rows_public=self.swaps)


def released_table(case: Synthetic, relation: str) -> Verdict:
    """Every pair of neighbours, in both directions."""
    payment = Payment(_relation(relation), epsilon=case.epsilon, rho=case.rho)
    asked, claim = case.asked, Claim(case.epsilon, rho=case.rho)
    made = ALONE.get(case.method) or _by_name(case.method, asked, payment)

    def released(table: Cells) -> Callable[[Sampler], bytes]:
        exact = _exact(asked, table)
        return lambda sampler: made(asked, payment, exact, sampler)

    pairs, total = Pairs(), Verdict()
    for one, two in _neighbours(case, relation):
        if case.method in DATABASES:  # of equal scores a place is another database in another table
            laws = [law_of(released(table), Window(Fraction(0), claim.reach)) for table in (one, two)]
            total += compared(laws[0], laws[1], claim)
        else:
            total += pairs.verdict((released(one), released(two)), (one, two), claim)
    return total


Made = Callable[[Wanted, Payment, Exact, Sampler], bytes]
"""All that is left of one release."""


def _by_name(method: str, asked: Wanted, payment: Payment) -> Made:
    """What SQL calls so."""
    way = next(way for way in WAYS if way.name == method)
    assert not way.unfit(asked, payment), way.unfit(asked, payment)
    return lambda asked, payment, exact, sampler: _written(way.release(asked, payment, exact, sampler))


class AllPairs:
    """As many pairs as `mbi` takes, each of which may follow."""

    def pairs(self, columns: int) -> int:
        """As its model has."""
        return SmallModel().pairs(columns)

    def candidates(self, chosen: Sequence[Pair], sizes: Sequence[int]) -> Sequence[Pair]:
        """All that are not chosen."""
        return [pair for pair in combinations(range(len(sizes)), 2) if pair not in chosen]


def _measured(asked: Wanted, payment: Payment, exact: Exact, sampler: Sampler) -> bytes:
    found = noisy_marginals(exact.codes, asked.sizes, payment, sampler, weights=exact.weights, graph=AllPairs())
    pairs = [(pair, table.tolist()) for pair, table in found.pairs.items()]
    return repr((found.total, [own.tolist() for own in found.columns], pairs)).encode()


def _boxes(asked: Wanted, payment: Payment, exact: Exact, sampler: Sampler) -> bytes:
    found = noisy_boxes(np.repeat(exact.codes, exact.weights, axis=0), asked.sizes, 2, payment, sampler)
    return repr((found.boxes.tolist(), found.numbers.tolist(), found.total)).encode()


def _points(asked: Wanted, exact: Exact) -> Any:
    return asked.points((0, 1))[
        np.ravel_multi_index(tuple(np.repeat(exact.codes, exact.weights, axis=0).T), asked.sizes)
    ]


def _angles(asked: Wanted, payment: Payment, exact: Exact, sampler: Sampler) -> bytes:
    found = noisy_angles(_points(asked, exact), payment, sampler, sectors=4)
    return repr(found.cells.counts.tolist()).encode()


def _projections(asked: Wanted, payment: Payment, exact: Exact, sampler: Sampler) -> bytes:
    matrices = np.array([[[1.0, 1.0], [1.0, -1.0]], [[-1.0, 1.0], [1.0, 1.0]]]) / np.sqrt(2)
    found = projected_points(_points(asked, exact), matrices, circle(3), payment, sampler)
    return repr(found.numbers.tolist()).encode()


def _path(asked: Wanted, payment: Payment, exact: Exact, sampler: Sampler) -> bytes:
    counts = np.bincount(exact.codes[:, 0], weights=exact.weights, minlength=asked.cells).astype(np.int64)
    return repr(small_ordered_database(counts, 2, payment, sampler).tolist()).encode()


ALONE: Mapping[str, Made] = {
    "mbi": _measured,
    "rectangles": _boxes,
    "halfplanes": _angles,
    "projected": _projections,
    "smalldb_paths": _path,
}
"""What Python alone can call, and what `mbi` measures."""

PYTHON = ALONE.keys() - {"mbi"}
"""What SQL cannot name."""

DATABASES = {"smalldb", "smalldb_paths"}
"""Methods that choose a whole database."""


def _relation(relation: str) -> Relation:
    """The same, as a payment takes it."""
    return "replace_one" if relation == "replace_one" else "add_remove"


def pairs_of(case: Synthetic, relation: str) -> int:
    """How many pairs there are."""
    return sum(1 for _ in _neighbours(case, relation))


def _neighbours(case: Synthetic, relation: str) -> Iterator[tuple[Cells, Cells]]:
    """Every ordered pair of tables with at most so many rows; one row more or less, or another one."""
    cells = range(case.asked.cells + (not case.listed))
    tables = [t for n in range(case.listed, case.most + 1) for t in combinations_with_replacement(cells, n)]
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
LINE, SQUARE, CUBE, PLANE, ORIGIN = ((0, 1, 2),), ((0, 1),) * 2, ((0, 1),) * 3, ((-1, 1), (1,)), ((0, 1), (0,))

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
    Synthetic("smalldb", LINE, "ranges(x)", epsilon=ONE, swaps=True, most=2),
    Synthetic("mbi", CUBE, "marginals(2)", epsilon=ONE),
    Synthetic("rectangles", SQUARE, "marginals(2)", epsilon=ONE),
    Synthetic("halfplanes", PLANE, "halfspaces(x, y)", epsilon=ONE),
    Synthetic("projected", ORIGIN, "halfspaces(x, y)", epsilon=ONE),
    Synthetic("projected", ORIGIN, "halfspaces(x, y)", rho=HALF),
    Synthetic("smalldb_paths", LINE, "ranges(x)", epsilon=ONE, swaps=True, most=3, listed=True),
)
"""Each method that SQL can name, and those of Python alone."""
