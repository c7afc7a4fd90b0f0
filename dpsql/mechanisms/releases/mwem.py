"""MWEM: a histogram learnt from the few questions of a workload that it answers worst.

Neighbours: ``add_remove`` (the number of rows is noised) and ``replace_one`` (`payment`). Loss: `Pure` with
permute-and-flip and discrete Laplace noise, `Concentrated` with the exponential mechanism and discrete Gaussian noise.

The questions are numbers of rows whose cell is in a public set; A is a histogram over the domain, n / N in every cell
at first. In each of T rounds:

1. Half of the price, over all rounds: one question not measured before is chosen by the score
   |Q(x) - Q(A)|, Q(A) rounded to a whole number.
2. The other half: Q(x) + noise.
3. A is multiplied by exp((measured - Q(A)) / (2 n)) in the cells of the question, and scaled to n; once for the new
   measurement and then `REPLAYS` times for all of them, in their order. This costs nothing.

Theorem. This is epsilon-DP, or rho-zCDP, under the neighbours of its payment.

Proof. Given A, a score moves by at most what Q(x) moves, r rows for units of r rows, and so does the number measured: T
choices and T numbers (`payment`, 3, 4 and 5). A follows from what was measured and from n, public or noised.  QED

**Usefulness**, one row a unit and n public, without replays and for the mean of the A of all rounds: all questions are
within 2 n sqrt(ln N / T) + 10 T ln K / epsilon but for a probability of 2 T / K (`error_of`, with its best T).

**By a metric** (`payment`): with epsilon = 1 / alpha, alpha the largest Lipschitz constant of the questions.

**Noisy cells mostly beat it** (docs/releases.md): a question over M cells of `cells` errs by about sqrt(2 M) / epsilon
rows, MWEM by a share of n. It is for workloads over domains with so many cells that those would drown.

Source: Hardt, Ligett, McSherry 2012, Figure 1 and Theorem 2.2; add_remove and the price in rho are above. The metric:
Kamalaruban, Perrier, Asghar, Kaafar 2018, section 3.4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.releases.cells import noisy_total
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.shares import Floats
from dpsql.mechanisms.releases.waiting import Told, unheard
from dpsql.privacy.sampling import Sampler, noised

__all__ = ["LearntHistogram", "best_rounds", "error_of", "learnt_histogram"]

MOST_CELLS = 10**6  # Cells of the domain: the histogram lies in memory. It is a choice.
MOST_ENTRIES = 2 * 10**8  # Cells of all questions together, a byte each. It is a choice.
REPLAYS = 10  # How often all measurements are learnt again in each round. It is a choice: 5 to 100 are in use.
MOST_ROUNDS = 40
"""Rounds that are taken unasked. It is a choice: docs/releases.md shows little gained beyond 20 to 40."""
STEEPEST = 5.0  # The largest exponent of one step: noise far beyond n would overflow. It is a choice.
Masks = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class LearntHistogram:
    """What was learnt.

    Attributes:
        cells: (N,) float64 numbers of rows, > 0, with the sum n.
        asked: The questions that were measured, in their order.
        measured: Their noised numbers.
    """

    cells: Floats
    asked: tuple[int, ...]
    measured: tuple[int, ...]


def learnt_histogram(
    counts: npt.NDArray[np.int64],
    questions: Masks,
    payment: Payment,
    sampler: Sampler,
    total: int | None = None,
    rounds: int | None = None,
    told: Told = unheard,
) -> LearntHistogram:
    """A histogram that answers the questions about as well as the price allows.

    Args:
        counts: (N,) exact numbers of rows.
        questions: (K, N) whether a cell's rows are counted.
        payment: The price and the neighbours.
        sampler: Of choices and noise.
        total: The number of rows where it is public (``replace_one``, one row a unit).
        rounds: T, from 1 to K; without it that of the best guarantee, at most 40.
        told: Before each round.

    Raises:
        ValueError: If the domain or the workload is too large, a round has no question left, or a total is named where
            it is private.
    """
    if len(counts) > MOST_CELLS or questions.size > MOST_ENTRIES:
        raise ValueError(
            f"{len(questions)} questions over {len(counts)} cells: mwem takes {MOST_CELLS} cells, and {MOST_ENTRIES} "
            "of all questions together; take fewer, or `marginals`"
        )
    rows, left = noisy_total(int(counts.sum()), payment, sampler, total)
    rounds = best_rounds(rows, len(counts), len(questions), payment) if rounds is None else rounds
    if not 1 <= rounds <= len(questions):
        raise ValueError(f"{rounds} rounds for {len(questions)} questions; each round measures another: give as many")
    law = payment.number_noise(left / 2, numbers=rounds)
    exact, shown = questions @ counts, np.full(len(counts), rows / len(counts))
    asked: list[int] = []
    measured: list[int] = []
    for done in range(rounds):
        told(done / rounds)
        open_questions = [k for k in range(len(questions)) if k not in asked]
        scores = np.abs(exact - np.rint(questions @ shown).astype(np.int64))[open_questions]
        chosen = open_questions[payment.choose(scores.tolist(), sampler, left / 2, rounds, moved=payment.rows)]
        asked.append(chosen)
        measured.append(int(noised([int(exact[chosen])], law.draw(sampler, 1))[0]))
        shown = _learn(shown, questions, asked[-1:], measured[-1:], rows)
        for _ in range(REPLAYS):
            shown = _learn(shown, questions, asked, measured, rows)
    return LearntHistogram(shown, tuple(asked), tuple(measured))


def _learn(shown: Floats, questions: Masks, asked: Sequence[int], measured: Sequence[int], rows: int) -> Floats:
    """The histogram after one step for each measurement (3)."""
    for question, number in zip(asked, measured, strict=True):
        cells = questions[question]
        step = (number - float(shown[cells].sum())) / (2 * max(1, rows))
        shown = np.where(cells, shown * math.exp(max(-STEEPEST, min(STEEPEST, step))), shown)
        shown *= rows / max(float(shown.sum()), 1e-300)
    return shown


def error_of(rows: int, cells: int, questions: int, epsilon: float, rounds: int) -> float:
    """Rows within which all answers of the plain form are, but for a probability of 2 T / K."""
    return 2 * rows * math.sqrt(math.log(cells) / rounds) + 10 * rounds * math.log(questions) / epsilon


def best_rounds(rows: int, cells: int, questions: int, payment: Payment) -> int:
    """T of the least `error_of`, (n epsilon sqrt(ln N) / (10 ln K))^(2/3), at most 40; rho counts as epsilon^2 / 2.

    >>> from fractions import Fraction
    >>> best_rounds(10000, 1024, 960, Payment("replace_one", epsilon=Fraction(1)))
    40
    """
    price = float(payment.amount) if payment.epsilon is not None else math.sqrt(2 * float(payment.amount))
    wanted = rows * price / payment.rows * math.sqrt(math.log(max(2, cells))) / (10 * math.log(max(2, questions)))
    return int(min(questions, MOST_ROUNDS, max(1.0, wanted ** (2 / 3))))
