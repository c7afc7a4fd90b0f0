"""How several queries share the metric: weights w with A w <= 1, by the paper's three strategies and at the optimum.

A has a row for each move and a column for each query, cost_k / d (`several`). Query k is answered with noise of scale
1 / w_k. All numbers here are float64, and the weights feasible up to rounding: `several.scales_of` makes them certain.

    strategy 1    every query alone, an equal part of the metric each: w_k = 1 / (K max A_k)
    strategy 2    one scale for all: w_k = 1 / max of the rows' sums
    strategy 3    what is left of each move's distance is shared among the queries that need it, until nobody gains
    optimum       the least sum of c_k / w_k^2 (or of -c_k log w_k): a convex problem, as the rows are linear in w

Strategy 3. With r what is left, u_k = 1 / max_ij (A_k / r) is the weight that query k could have alone. Move ij gives
query k the part u_k A_k / sum_l u_l A_l of what it has left; the query takes the least weight that any move grants.
No move spends more than it has, for the parts add up to 1.

Source: Kamalaruban, Perrier, Asghar, Kaafar 2018, section 3.3: strategies 1 to 3. The paper says that the best weights
are the solution of a problem that is not convex: it is, in the inverse scales.

Tests: tests/unit/mechanisms/metric/release/test_together.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpsql.mechanisms.metric.distances.exact import Floats

__all__ = ["RATIO", "VARIANCE", "Goal", "optimum", "strategy_1", "strategy_2", "strategy_3"]

ROUNDS = 200
"""How many rounds strategy 3 has at most; each leaves at most a part of what was left. A guess."""
GAIN = 1e-9  # As a share of a weight: a round of strategy 3 that gives nobody more is the last. It is a choice.
FEASIBLE = 1 + 1e-7
"""The length of a row under the weights, 1 but for rounding: the optimum is found where no row left is longer. It is a
choice."""
CUTS = 60
"""How many rounds the optimum has at most. A guess."""
ADDED = 20
"""How many rows one round of the optimum adds at most. A guess."""
SMALLEST = 1e-9
"""The least weight that the optimum may give a query, as a multiple of the weight in strategy 3. A guess."""
EXHAUSTED = 1e-12
"""What a move is taken to have left at least, as a share of its distance, so that nothing is divided by 0."""


def strategy_1(rows: Floats) -> Floats:
    """(K,) weights: every query alone, at a K-th of the metric.

    >>> strategy_1(np.array([[1.0, 0.0], [0.0, 2.0]]))
    array([0.5 , 0.25])
    """
    return np.asarray(1 / (rows.shape[1] * rows.max(axis=0)))


def strategy_2(rows: Floats) -> Floats:
    """(K,) weights: the same for all.

    >>> strategy_2(np.array([[1.0, 0.0], [0.0, 2.0]]))
    array([0.5, 0.5])
    """
    return np.full(rows.shape[1], 1 / rows.sum(axis=1).max())


def strategy_3(rows: Floats) -> Floats:
    """(K,) weights: what is left is shared again and again.

    >>> strategy_3(np.array([[1.0, 0.0], [0.0, 2.0]]))
    array([1. , 0.5])
    """
    left, weights = np.ones(len(rows)), np.zeros(rows.shape[1])
    for _ in range(ROUNDS):
        alone = 1 / (rows / np.maximum(left, EXHAUSTED)[:, None]).max(axis=0)
        wanted = rows * alone
        shares = np.divide(wanted, wanted.sum(axis=1)[:, None], out=np.zeros_like(rows), where=rows > 0)
        granted = np.divide(shares * left[:, None], rows, out=np.full_like(rows, np.inf), where=rows > 0).min(axis=0)
        weights, left = weights + granted, np.maximum(left - rows @ granted, 0)
        if np.all(granted <= GAIN * weights):
            break
    return weights


@dataclass(frozen=True, slots=True)
class Goal:
    """What the best weights make least: a convex function of them.

    Attributes:
        value: Of weights and how much each query counts, both (K,).
        slope: Its derivative by the weights.
    """

    value: Callable[[Floats, Floats], float]
    slope: Callable[[Floats, Floats], Floats]


VARIANCE = Goal(lambda w, counts: float((counts / w**2).sum()), lambda w, counts: -2 * counts / w**3)
"""The variance of the noises, but for a factor: that of a scale 1 / w is 2 / w^2."""
RATIO = Goal(lambda w, counts: -float((counts * np.log(w)).sum()), lambda w, counts: -counts / w)


def optimum(rows: Floats, counts: Floats, goal: Goal = VARIANCE) -> Floats:
    """(K,) weights that reach the goal best, to a relative 1e-6 or so.

    Args:
        rows: (n, K), every column with a number above 0.
        counts: (K,) > 0: how much a query counts.
        goal: VARIANCE makes the sum of counts / w^2 least, RATIO the product of all scales (the paper's score).

    Few rows decide: those that the last solution broke are added, and it is solved again (cutting planes).
    """
    start = strategy_3(rows)
    scaled = rows * start  # weights in multiples of the start: all numbers are near 1
    worth = counts / start**2 if goal is VARIANCE else counts
    worth = worth / worth.sum()
    chosen = np.unique(np.concatenate([scaled.argmax(axis=0), np.argsort(-scaled.sum(axis=1))[:ADDED]]))
    best = np.ones(rows.shape[1])
    for _ in range(CUTS):
        found = _solved(scaled[chosen], worth, best, goal)
        lengths = scaled @ found
        broken = np.setdiff1d(np.flatnonzero(lengths > FEASIBLE), chosen)
        feasible = found / lengths.max()
        if goal.value(feasible, worth) < goal.value(best, worth):
            best = feasible
        if not len(broken):
            break
        chosen = np.concatenate([chosen, broken[np.argsort(-lengths[broken])[:ADDED]]])
    return np.asarray(best * start)


def _solved(rows: Floats, worth: Floats, start: Floats, goal: Goal) -> Floats:
    """The goal's least value with rows @ w <= 1."""
    from scipy.optimize import minimize  # here: a start that needs none of it is quicker

    solution = minimize(
        lambda w: goal.value(w, worth),
        start / (rows @ start).max(),
        jac=lambda w: goal.slope(w, worth),
        bounds=[(SMALLEST, None)] * len(start),
        constraints={"type": "ineq", "fun": lambda w: 1 - rows @ w, "jac": lambda w: -rows},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    return np.asarray(np.maximum(solution.x, SMALLEST))
