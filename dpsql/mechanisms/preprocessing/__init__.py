"""Sensitivity preprocessing: statistics of unbounded data, moved just enough to have a wanted sensitivity.

Each function takes exact numbers, public sensitivities and a public centre (its value for an empty table), and gives an
exact number g of which one unit more or less changes no more than its sensitivity. `output_steps` makes it an integer
for discrete noise. Under ``replace_one`` a unit goes and another comes: noise has to serve twice the sensitivity.

Centre and sensitivity must not come from the private table, unless paid for. How long a call takes depends on the data:
on the number of distinct values, and on how many lie far out.
"""

from dpsql.mechanisms.preprocessing.counts import Counts
from dpsql.mechanisms.preprocessing.extremes import maximum, minimum, total
from dpsql.mechanisms.preprocessing.general import preprocess, preprocess_2d
from dpsql.mechanisms.preprocessing.mean import TailsTooShortError, mean, mean_of
from dpsql.mechanisms.preprocessing.median import median
from dpsql.mechanisms.preprocessing.ordered import ordered, trimmed_mean
from dpsql.mechanisms.preprocessing.output import output_steps, sensitivity_steps
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
    "preprocess",
    "preprocess_2d",
    "sensitivity_steps",
    "total",
    "trimmed_mean",
    "variance",
    "variance_of",
]
