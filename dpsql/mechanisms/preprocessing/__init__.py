"""Sensitivity preprocessing: statistics of unbounded data, moved just enough to have a wanted sensitivity.

Each function takes exact numbers, public sensitivities and a public centre (its value for an empty table), and gives an
exact number g of which one unit more or less changes no more than its sensitivity. `output_steps` makes it an integer
for discrete noise. Under ``replace_one`` a unit goes and another comes: noise has to serve twice the sensitivity.

The general rule, of which every function here is a fast form. For a set D of units, a function f and sensitivities
Delta_i >= 0, let g(empty) = f(empty) = c, and else

    g(D) = clip(f(D), max_i g(D - i) - Delta_i, min_i g(D - i) + Delta_i),    D - i being D without its unit i.

Theorem. 1. The interval is never empty, so |g(D) - g(D - i)| <= Delta_i for every D and every i in D, whatever f is.
2. |g(D) - f(D)| is at most the greatest sum, over all orders s_1, s_2, ... in which D may fill up, of what each step
has too much: max(|f(s_1..s_k) - f(s_1..s_(k-1))| - Delta_(s_k), 0).

Proof of 1. By induction g(D - i) <= g(D - i - j) + Delta_j and g(D - i - j) <= g(D - j) + Delta_i, which add up to
g(D - i) - Delta_i <= g(D - j) + Delta_j: no lower end exceeds an upper one.  QED

Source: Cummings, Durfee 2020, "Individual Sensitivity Preprocessing for Data Privacy", Algorithm 1, Theorems 3.3, 3.5.

They are mathematics that is of use without SQL, and may be imported. Centre and sensitivity must not come from the
private table, unless paid for. How long a call takes depends on the data: on the number of distinct values, and on how
many lie far out.
"""

from dpsql.mechanisms.preprocessing.counts import Counts
from dpsql.mechanisms.preprocessing.extremes import maximum, minimum, total
from dpsql.mechanisms.preprocessing.mean import TailsTooShortError, mean, mean_of
from dpsql.mechanisms.preprocessing.median import median
from dpsql.mechanisms.preprocessing.ordered import ordered, trimmed_mean
from dpsql.mechanisms.preprocessing.output import output_steps, sensitivity_steps
from dpsql.mechanisms.preprocessing.quantile import quantile
from dpsql.mechanisms.preprocessing.variance import variance, variance_of

__all__ = [
    "Counts",
    "TailsTooShortError",
    "maximum",
    "mean",
    "mean_of",
    "median",
    "minimum",
    "ordered",
    "output_steps",
    "quantile",
    "sensitivity_steps",
    "total",
    "trimmed_mean",
    "variance",
    "variance_of",
]
