"""How far weighted sums of independent noises reach: tails of the continuous laws, and what the discrete ones add.

A discrete draw X has a continuous one Y of the same law and spread beside it, on the same chance, with |X - Y| at most
`STEPS_APART`; so a sum of w_i X_i is at most that times the sum of |w_i| away from the sum of w_i Y_i.

- Laplace, one step: two geometric numbers are the whole parts of two exponential ones, and X and Y their differences.
- Gaussian, two steps: for Y > 0 (below 0 alike) X is the number of the points y_1 < y_2 < .. at or below Y, where P(Y
  >= y_k) = P(X >= k). With f(x) = exp(-x^2 / (2 s^2)) and T its sum over the integers, T >= s sqrt(2 pi), P(X >= k) is
  at most the integral of f / T from k - 1 on, which is at most P(Y >= k - 1): so y_k >= k - 1. And y_k <= k + 1: P(X
  >= k) is at least the integral of f / T from k on. For s >= 1 T is at most (1 + 6e-9) s sqrt(2 pi) (Poisson's sum),
  and the integral from k to k + 1 is more than that share of the one from k + 1 on. For s < 1 T <= 1 + s sqrt(2 pi) <
  3.6, so that P(X >= k) >= f(k) / 3.6, and P(Y >= k + 1) <= f(k + 1) / 2 <= f(k) e^-1.5 / 2. So where X = k, Y is
  within k - 1 and k + 2.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

__all__ = ["STEPS_APART", "gaussian_tail_of_sum", "laplace_tail_of_sum"]

Floats = npt.NDArray[np.float64]

STEPS_APART = 2.0  # Grid steps between a discrete draw and the continuous one beside it, at most.
APART = 1.02
"""Ratio of two scales at least: the terms of a sum of Laplace noises grow as they come together. It is a choice: six
equal ones are taken for up to 10% more, and 10 of the 16 digits stay."""
LEAST_PART = 1e-4  # Of the largest scale: a smaller one is taken for it. It is a choice, and moves no digit shown.
NONE = 1e-100  # Grid steps: a sum of noises that is less is 0.


def laplace_tail_of_sum(scales: Floats, width: Floats) -> Floats:
    """P(|sum of Y_i| > width) for independent Laplace Y_i, or a little more, never less but for 1e-9.

    With different scales a_i it is the sum of c_i exp(-width / a_i), c_i the product over j != i of a_i^2 / (a_i^2 -
    a_j^2): their characteristic function, a product of 1 / (1 + a_i^2 t^2), in partial fractions. Scales too near to
    one another are made larger. That makes no tail smaller: each Y_i is symmetric and unimodal, and so is the sum of
    the others; a wider Y_i makes their sum less peaked (Birnbaum 1948).

    Args:
        scales: (k, ...) >= 0.
        width: (...) >= 0.
    """
    a = np.sort(scales, axis=0)
    a = np.maximum(a, np.maximum(LEAST_PART * a[-1], NONE))
    for i in range(1, len(a)):
        a[i] = np.maximum(a[i], APART * a[i - 1])
    squares = a * a
    tail = np.zeros(np.broadcast_shapes(a.shape[1:], width.shape))
    for i in range(len(a)):
        part = np.exp(-width / a[i])
        for j in range(len(a)):
            if j != i:
                part = part * (squares[i] / (squares[i] - squares[j]))
        tail += part
    return tail


def gaussian_tail_of_sum(deviations: Floats, width: Floats) -> Floats:
    """P(|sum of Y_i| > width) for independent normal Y_i.

    Args:
        deviations: (k, ...) >= 0.
        width: (...) >= 0.
    """
    from scipy.special import erfc  # here: a start that needs none of it is quicker

    tail: Floats = erfc(width / (math.sqrt(2) * np.maximum(np.sqrt((deviations * deviations).sum(axis=0)), NONE)))
    return tail
