"""The methods of Blum, Ligett and Roth, and MWEM, as SQL names them: `intervals`, `smalldb`, `mwem`.

Neighbours, loss and theorem are those of the modules that release: `intervals`, `smalldb`, `smalldb_paths`, `mwem`.

**SmallDB's number of rows** n must be public, and the same for all neighbours: it is asked of a whole table alone in
which, under ``replace_one``, every unit has exactly one row. Rows in no listed cell are one more cell, the last, so
that n is that of the table whatever the values; it is released with the others, and its rows are left out afterwards.

What it answers is the questions of `Wanted.masks`: a range is the difference of two of them, a rectangle of d columns
adds and takes away 2^d, and errs by as many times more at the most.

**Intervals** of a noised number n~ of rows in s = n~ / (J + 1) a part: where n~ is within r of n and no probe's noise
is above t, the last part holds up to s + r rows, every other up to s + t, so that ranges are within 2 (s + max(t, r))
(`intervals`, Theorem 2, with n~ for n).

**Expected errors** of methods with a bound for all questions at once are taken as if errors were spread evenly up to
the bound: the bound over sqrt(3), but no more than a table without any rows errs by. They are rarely the least. That of
MWEM is at most that of a table without any rows, too; that of boxes is `rectangles.expected_error`.

Tests: tests/unit/mechanisms/releases/test_table.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpsql.mechanisms.releases.cells import TOTAL_SHARE
from dpsql.mechanisms.releases.intervals import BETA, best_parts, guaranteed_error, noisy_cuts
from dpsql.mechanisms.releases.methods import BYTES_OF_A_CELL, MOST_CELLS, Exact, Made, histogram, made_of, too_many
from dpsql.mechanisms.releases.mwem import MOST_ENTRIES, best_rounds, learnt_histogram
from dpsql.mechanisms.releases.mwem import error_of as mwem_error
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.proofs import MOST_PROVED, boxes_proofs, uniform_proof
from dpsql.mechanisms.releases.rectangles import MOST_AXES, MOST_BOXES, best_slabs, expected_error, noisy_boxes
from dpsql.mechanisms.releases.rectangles import guaranteed_error as boxes_error
from dpsql.mechanisms.releases.shares import Floats, Whole, shared_out
from dpsql.mechanisms.releases.smalldb import BLOCK, MOST_CANDIDATES, error_of, small_database
from dpsql.mechanisms.releases.smalldb_paths import MOST_STEPS, cap_of, small_ordered_database
from dpsql.mechanisms.releases.waiting import Told, unheard
from dpsql.mechanisms.releases.workload import Wanted
from dpsql.privacy.sampling import Sampler

__all__ = ["ByIntervals", "ByMwem", "BySmallDb"]

MOST_GRID = 10**12  # Cells of two or three columns that are cut in turn: none of them is listed. It is a choice.
EVENLY = math.sqrt(3)  # The root mean square of what lies evenly in -1 ... 1 is its inverse.
SMALL_ROWS = (5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 500, 1000)
"""Numbers of rows that a small database is tried with where none was said. It is a choice."""


@dataclass(frozen=True, slots=True)
class ByIntervals:
    """Cuts of one ordered column, or of two or three in turn, into parts of equal numbers of rows."""

    name: str = "intervals"

    def unfit(self, asked: Wanted, payment: Payment) -> str:
        if len(asked.sizes) == 1:
            return too_many(asked) if asked.asks("ranges") else "its workload is the ranges of that column."
        if len(asked.sizes) > MOST_AXES:
            return f"it releases one to {MOST_AXES} ordered columns, and there are {len(asked.sizes)}."
        if asked.asks("rectangles") and all(len(part.columns) == len(asked.sizes) for part in asked.workload):
            return too_many(asked, MOST_GRID)
        return f"of {len(asked.sizes)} columns its workload is rectangles({', '.join(asked.names)}), of all of them."

    def deviation(self, asked: Wanted, payment: Payment) -> float:
        if len(asked.sizes) == 1:
            return min(self.largest(asked, payment, BETA), asked.rows_about) / EVENLY
        left = 1 - TOTAL_SHARE
        slabs = best_slabs(asked.rows_about, asked.sizes, payment, left)
        return expected_error(asked.rows_about, asked.sizes, payment, slabs, left)

    def largest(self, asked: Wanted, payment: Payment, beta: float) -> float:
        if len(asked.sizes) == 1:
            return self._within(asked, payment, asked.rows_about, beta)
        left, of_total = 1 - TOTAL_SHARE, payment.number_noise(TOTAL_SHARE, numbers=1).quantile(1 - beta / 2)
        slabs = best_slabs(asked.rows_about, asked.sizes, payment, left)
        return boxes_error(asked.rows_about, asked.sizes, payment, slabs, beta / 2, left, of_total)

    def memory(self, asked: Wanted) -> int:
        if len(asked.sizes) == 1:
            return BYTES_OF_A_CELL * asked.cells
        return BYTES_OF_A_CELL * (MOST_BOXES + asked.rows_about * len(asked.sizes)) + 8 * min(asked.cells, MOST_PROVED)

    def release(self, asked: Wanted, payment: Payment, exact: Exact, sampler: Sampler, told: Told = unheard) -> Made:
        if len(asked.sizes) > 1:
            boxes = noisy_boxes(np.repeat(exact.codes, exact.weights, axis=0), asked.sizes, None, payment, sampler)
            codes, rows = np.unique(boxes.placed(), axis=0, return_counts=True)
            return Made(codes, rows, boxes_proofs(boxes))
        up_to = np.cumsum(histogram(asked, exact))
        found = noisy_cuts(lambda cell: int(up_to[cell - 1]), asked.cells, payment, sampler)
        within = self._within(asked, payment, found.total, BETA)
        return made_of(asked, _in_order(found.counts()), uniform_proof(found.counts(), within))

    @staticmethod
    def _within(asked: Wanted, payment: Payment, rows: int, beta: float) -> float:
        """Rows within which all ranges are, the number of rows being noised."""
        left = 1 - TOTAL_SHARE
        parts = best_parts(rows, asked.cells, payment, left)
        of_total = payment.number_noise(TOTAL_SHARE, numbers=1).quantile(1 - beta / 2)
        return max(guaranteed_error(rows, asked.cells, payment, parts, left, beta / 2), 2 * (rows / parts + of_total))


@dataclass(frozen=True, slots=True)
class BySmallDb:
    """The small database that answers the workload best: of one ordered column by counting paths, else one by one."""

    name: str = "smalldb"

    def unfit(self, asked: Wanted, payment: Payment) -> str:
        if payment.neighbours != "replace_one" or not asked.rows_public:
            return (
                "it is proved under replace_one, for a whole table with exactly one row a unit (every_unit), whose "
                f"number of rows is public; not for this one under {payment.neighbours}."
            )
        if asked.rows is not None:
            return self._beyond(asked, payment, asked.rows)
        beyond = [self._beyond(asked, payment, rows) for rows in SMALL_ROWS]
        return beyond[0] if all(beyond) else ""

    def deviation(self, asked: Wanted, payment: Payment) -> float:
        return self.largest(asked, payment, BETA) / EVENLY

    def largest(self, asked: Wanted, payment: Payment, beta: float) -> float:
        return self._within(asked, payment, asked.rows_about, self.rows(asked, payment), beta)

    def memory(self, asked: Wanted) -> int:
        if _ordered(asked):
            return 2 * BYTES_OF_A_CELL * asked.cells * (asked.rows or SMALL_ROWS[-1])
        of_a_candidate = 4 * asked.questions() + 2 * (asked.rows or SMALL_ROWS[-1]) + 8
        return 8 * BLOCK * of_a_candidate + 8 * asked.questions() * asked.cells

    def rows(self, asked: Wanted, payment: Payment) -> int:
        """m: what was said, else that with the best guarantee among those that can be gone through."""
        if asked.rows is not None:
            return asked.rows
        fit = [rows for rows in SMALL_ROWS if not self._beyond(asked, payment, rows)]
        return min(fit, key=lambda rows: self._within(asked, payment, asked.rows_about, rows, BETA))

    def release(self, asked: Wanted, payment: Payment, exact: Exact, sampler: Sampler, told: Told = unheard) -> Made:
        counts = np.append(histogram(asked, exact), exact.unlisted)
        rows, total = self.rows(asked, payment), int(counts.sum())
        if not total:
            return made_of(asked, counts[:-1])
        if _ordered(asked):
            chosen = small_ordered_database(counts, rows, payment, sampler, told)
        else:
            questions = np.concatenate([asked.masks(), np.zeros((asked.questions(), 1), dtype=bool)], axis=1)
            chosen = small_database(counts, questions.astype(np.int64), rows, payment, sampler, told)
        shown = np.asarray(chosen[:-1] * (total / rows), dtype=np.float64)
        if not _ordered(asked):
            return made_of(asked, _whole(shown))
        within = self._within(asked, payment, total, rows, BETA)
        return made_of(asked, _in_order(shown), uniform_proof(shown, within))

    @staticmethod
    def _beyond(asked: Wanted, payment: Payment, rows: int) -> str:
        """Why so many rows are too many to go through; '' where they are not."""
        cells = asked.cells + 1
        if _ordered(asked):
            steps = cells * (rows + 1) * cap_of(cells, rows, _epsilon(payment)) if cells <= MOST_CELLS else math.inf
            if steps <= MOST_STEPS:
                return ""
            return f"{rows} rows over {asked.cells:,} cells take {steps:,} sums, more than {MOST_STEPS:,}."
        if cells > MOST_CANDIDATES or (candidates := math.comb(cells + rows - 1, rows)) > MOST_CANDIDATES:
            shown = f"more than {MOST_CANDIDATES:,}" if cells > MOST_CANDIDATES else f"{candidates:,}"
            return f"{rows} rows over {asked.cells:,} cells are {shown} databases; it goes through {MOST_CANDIDATES:,}."
        return ""

    @staticmethod
    def _within(asked: Wanted, payment: Payment, total: int, rows: int, beta: float) -> float:
        """Rows within which all questions are (`smalldb`, `smalldb_paths`: Usefulness)."""
        cells, epsilon = asked.cells + 1, _epsilon(payment)
        if not _ordered(asked):
            return asked.terms * total * error_of(max(1, total), cells, asked.questions(), rows, epsilon, beta)
        paths = math.lgamma(cells + rows) - math.lgamma(rows + 1) - math.lgamma(cells)
        return total / rows + 2 + 4 / epsilon * (paths - math.log(beta))


@dataclass(frozen=True, slots=True)
class ByMwem:
    """A histogram learnt from the questions of the workload that it answers worst."""

    name: str = "mwem"

    def unfit(self, asked: Wanted, payment: Payment) -> str:
        if why := too_many(asked):
            return why
        if (entries := asked.questions() * asked.cells) <= MOST_ENTRIES:
            return ""
        return f"{asked.questions():,} questions over {asked.cells:,} cells are {entries:,}; it takes {MOST_ENTRIES:,}."

    def deviation(self, asked: Wanted, payment: Payment) -> float:
        rows, questions = asked.rows_about, asked.questions()
        rounds = best_rounds(rows, asked.cells, questions, payment)
        bound = mwem_error(rows, max(2, asked.cells), max(2, questions), _epsilon(payment) / payment.rows, rounds)
        return min(bound, rows) / EVENLY

    def largest(self, asked: Wanted, payment: Payment, beta: float) -> float | None:
        return None  # its theorem is for the mean of all rounds without replays, and says little

    def memory(self, asked: Wanted) -> int:
        return 10 * asked.questions() * asked.cells + BYTES_OF_A_CELL * asked.cells

    def release(self, asked: Wanted, payment: Payment, exact: Exact, sampler: Sampler, told: Told = unheard) -> Made:
        found = learnt_histogram(histogram(asked, exact), asked.masks(), payment, sampler, told=told).cells
        return made_of(asked, _whole(found))


def _in_order(cells: Floats) -> Whole:
    """The same histogram in whole rows, every range of it within one row."""
    found: Whole = np.diff(np.rint(np.cumsum(cells)).astype(np.int64), prepend=0)
    return found


def _whole(cells: Floats) -> Whole:
    """The same histogram in whole rows."""
    found: Whole = shared_out(cells[None], np.array([round(float(cells.sum()))]))[0]
    return found


def _ordered(asked: Wanted) -> bool:
    """Whether it is one column whose ranges are asked."""
    return len(asked.sizes) == 1 and asked.asks("ranges")


def _epsilon(payment: Payment) -> float:
    """The price as epsilon; of rho the loss of one choice, sqrt(8 rho)."""
    return float(payment.amount) if payment.epsilon is not None else math.sqrt(8 * float(payment.amount))
