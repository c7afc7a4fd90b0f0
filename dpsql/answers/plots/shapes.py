"""Which picture an answer is: a table, from what is known of its columns.

| what there is | what is drawn |
| --- | --- |
| no rows | nothing but words |
| the rows of dp_covariance | an ellipse for each pair of columns |
| a point in several columns | points with ellipses, one panel for each pair of columns |
| one row without keys | each number as a point with its interval |
| a key of times, or of more numbers than there is room for bars | a line with a band |
| a key of numbers | upright bars, in the order of the numbers |
| any other key | lying bars with their names, in the order of the answer |

The first that fits is taken. Further keys and columns are small multiples of it. Whole numbers are bars from 0; other
numbers are points, since a bar from 0 says nothing of a mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dpsql.answers.plots.series import Seen
from dpsql.plan.over_answers.roles import ColumnRole
from dpsql.plan.types import Type

__all__ = ["MOST_GROUPS", "SHAPES", "PictureShape", "shape_of"]

MOST_GROUPS = 40
"""Bars of one panel. A choice: as many names as a page has lines."""


@dataclass(frozen=True, slots=True)
class PictureShape:
    """One kind of picture.

    Attributes:
        name: What it is called.
        holds: What its caption says of the intervals.
        fits: Whether an answer is drawn so.
    """

    name: str
    holds: str
    fits: Callable[[Seen], bool]


def _is_matrix(answer: Seen) -> bool:
    names = [own.name for own in answer.values]
    rows = [answer.keys[0].values[row] for row in range(answer.count)] if len(answer.keys) == 1 else []
    return _are(answer, ColumnRole.COVARIANCE) and len(names) > 1 and rows == names


def _are(answer: Seen, role: ColumnRole) -> bool:
    return all(own.role is role for own in answer.values)


def _is_line(answer: Seen) -> bool:
    axis = answer.axis
    if axis is None or not answer.ordered:
        return False
    return axis.type in (Type.DATE, Type.TIMESTAMP) or len(set(axis.values)) > MOST_GROUPS


_WHISKER = "Each whisker holds the noise-free value with {level} confidence."
_BAND = "At each place the band holds the noise-free value with {level} confidence."
_ELLIPSE = "Each ellipse holds the noise-free point with at least {level} confidence."

SHAPES: Sequence[PictureShape] = (
    PictureShape("nothing", "", lambda answer: not answer.count),
    PictureShape("matrix", "", _is_matrix),
    PictureShape("points", _ELLIPSE, lambda answer: _are(answer, ColumnRole.COORDINATE) and len(answer.values) > 1),
    PictureShape("single", _WHISKER, lambda answer: answer.count == 1 and not answer.keys),
    PictureShape("line", _BAND, _is_line),
    PictureShape("histogram", _WHISKER, lambda answer: answer.ordered),
    PictureShape("groups", _WHISKER, lambda answer: True),
)
"""All kinds, the first that fits before the others."""


def shape_of(answer: Seen) -> PictureShape:
    """The picture that an answer is."""
    return next(shape for shape in SHAPES if shape.fits(answer))
