"""Synthetic rows from noisy marginals: consistent, non-negative, and sampled down the tree of pairs.

All of this is post-processing of one release (`marginals`); the sampler only puts rows into a random order.

1. *Columns.* A column's noised histogram and the sums of every noised pair that it is in are unbiased for the same
   numbers. Their mean, weighted by the inverse of the variances, is made whole rows of the total (`shares`).
2. *Pairs.* The nearest table of whole rows to a noised pair, with a thousandth of what independence would give added,
   is scaled to its two columns in turn, rows and columns (iterative proportional fitting: the table nearest to the
   start in relative entropy among those with these margins; Csiszar 1975, Theorem 3.2).
3. *Rows.* The root's column holds its numbers of rows. Down the tree, the rows with one value of the parent are shared
   out among the child's values in the pair's proportions, as whole numbers, and put in a random order: columns that are
   not neighbours in the tree are independent given those between them, and pairs of the tree are off by less than one
   row a cell, where drawing each row alone would add noise of the size of a sample.
4. *Codes* of columns that were cut: those of each part as often as was released of the column, in a random order
   (`parts`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.releases.marginals import NoisyMarginals
from dpsql.mechanisms.releases.reach import deviation_of
from dpsql.mechanisms.releases.shares import Floats, shared_out
from dpsql.privacy.sampling import Sampler

__all__ = ["consistent_columns", "consistent_pairs", "synthetic_rows"]

FITTINGS = 30  # Rounds of proportional fitting. It is a choice: margins of Adult are then off by a few rows.
INDEPENDENT = 1e-3  # What independence adds to the start of a fit, as a share of it. It is a choice.
LEAST = 1e-9  # In rows: sums below it are empty, and nothing is divided by them. It is a choice.


def synthetic_rows(released: NoisyMarginals, sampler: Sampler) -> npt.NDArray[np.int64]:
    """(total, d) codes of synthetic rows.

    Args:
        released: The noisy marginals.
        sampler: Of the order of rows.
    """
    columns = consistent_columns(released)
    pairs = consistent_pairs(released, columns)
    rows = np.zeros((released.total, len(released.sizes)), dtype=np.int64)
    (root,) = shared_out(columns[0][None], np.array([released.total]))
    rows[sampler.order(len(rows)).astype(np.int64), 0] = np.repeat(np.arange(released.sizes[0]), root)
    known, left = {0}, dict(pairs)
    while left:
        a, b = next(pair for pair in left if (pair[0] in known) != (pair[1] in known))
        table = left.pop((a, b))
        parent, child, table = (a, b, table) if a in known else (b, a, table.T)
        held = np.bincount(rows[:, parent], minlength=released.sizes[parent])
        scaled = table * (held / np.maximum(table.sum(axis=1), LEAST))[:, None]
        given = shared_out(scaled, held)
        order = sampler.order(len(rows)).astype(np.int64)
        by_parent = order[np.argsort(rows[order, parent], kind="stable")]
        values = np.tile(np.arange(released.sizes[child]), released.sizes[parent])
        rows[by_parent, child] = np.repeat(values, given.ravel())
        known.add(child)
    for j, cut in released.cuts.items():
        rows[:, j] = cut.filled(rows[:, j], sampler)
    return rows


def consistent_columns(released: NoisyMarginals) -> list[Floats]:
    """Each column's (s_j,) numbers of rows, >= 0, from all that was released of it (1)."""
    of_pair = deviation_of(released.pair_law) ** 2
    found = []
    for j, (own, variances) in enumerate(zip(released.columns, released.variances, strict=True)):
        seen, precision = [np.asarray(own, dtype=np.float64)], [1 / variances]
        for pair, table in released.pairs.items():
            if j in pair:
                across = 1 - pair.index(j)
                seen.append(np.asarray(table.sum(axis=across), dtype=np.float64))
                precision.append(np.full(len(own), 1 / (of_pair * table.shape[across])))
        mean = np.average(seen, axis=0, weights=precision)
        found.append(shared_out(mean[None], np.array([released.total]))[0].astype(np.float64))
    return found


def consistent_pairs(released: NoisyMarginals, columns: list[Floats]) -> dict[tuple[int, int], Floats]:
    """Each pair's (s_a, s_b) numbers of rows, >= 0, with its columns' margins but for a few rows (2)."""
    found = {}
    for (a, b), table in released.pairs.items():
        flat = np.asarray(table, dtype=np.float64).reshape(1, -1)
        nearest = shared_out(flat, np.array([released.total])).reshape(table.shape)
        fit = nearest + INDEPENDENT * np.outer(columns[a], columns[b]) / max(1, released.total)
        for _ in range(FITTINGS):
            fit *= (columns[a] / np.maximum(fit.sum(axis=1), LEAST))[:, None]
            fit *= columns[b] / np.maximum(fit.sum(axis=0), LEAST)
        found[a, b] = fit
    return found
