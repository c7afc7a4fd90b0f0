"""What an analyst passes beside the statement: values for its ``?`` or ``$name``, and functions' numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from dpsql.errors import ProgrammingError
from dpsql.given import sql_given
from dpsql.plan.options import MOST, as_given
from dpsql.plan.types import Passed, Value
from dpsql.sql.parameters import parameters_in
from dpsql.sql.syntax import Node
from dpsql.sql.tokens import fold

__all__ = ["call_text", "named_alone", "values_of"]

MOST_LISTED_VALUES = 1_000
"""Values of a list that is a parameter. It is a choice: about as many as the longest statement could hold itself."""


def values_of(parameters: Any, query: Node) -> tuple[Passed, ...]:
    """The values that a statement's ``?`` stand for: None, bool, int, Decimal, str, date or datetime, or lists of them.

    Args:
        parameters: What came with the statement: a list, or a mapping of names where the statement has ``$name``.
        query: The statement.

    Raises:
        ProgrammingError: It is neither, holds something else, or what no engine could take, or too few or too many.
    """
    wanted, lists, names = parameters_in(query)
    if names:
        parameters = _by_name(parameters, names)
    elif isinstance(parameters, Mapping) and not parameters:
        parameters = ()
    if isinstance(parameters, str | bytes | Mapping) or not isinstance(parameters, Iterable):
        raise ProgrammingError(
            f"The parameters came as one value of type {type(parameters).__name__}. Write a list with one value for "
            "each ? in the statement, such as [30] or [30, 'north']."
        )
    values = tuple(_list(value) if at in lists else _parameter(value) for at, value in enumerate(parameters))
    if wanted != len(values):
        takes = f"{wanted} value{'s' * (wanted != 1)}"
        raise ProgrammingError(f"The statement takes {takes} for parameters; {len(values)} came with it.")
    return values


def _by_name(parameters: Any, names: Sequence[str]) -> list[Any]:
    """The values of a mapping in the order of a statement's names, whatever the case of their letters, as in DuckDB."""
    if not isinstance(parameters, Mapping):
        raise named_alone(names)
    given = {fold(str(name)): value for name, value in parameters.items()}
    if len(given) < len(parameters):
        raise ProgrammingError("Two parameters have one name, but for the case of its letters. Pass each once.")
    for name in names:
        if name not in given:
            raise ProgrammingError(f"No value came for ${name}. Pass one for each of: {', '.join(names)}.")
    if extra := [name for name in given if name not in names]:
        raise ProgrammingError(f"The statement has no ${extra[0]:.60}. Its parameters are {', '.join(names)}.")
    return [given[name] for name in names]


def named_alone(names: Sequence[str]) -> ProgrammingError:
    """The refusal of a statement whose parameters have names, where values come without."""
    told = ", ".join(f"{name!r}: .." for name in names)
    return ProgrammingError(
        f"The statement names its parameters. Pass a mapping of their values, {{{told}}}, or write ? for each."
    )


def call_text(function: str, query: str, named: Mapping[str, Any]) -> str:
    """A statement that is one function of a whole table.

    Args:
        function: Its name.
        query: The SELECT that it takes.
        named: Its named arguments: a finite number each, or several of them as a tuple; None for what is left out.

    Raises:
        ProgrammingError: An argument is no finite number, or the query no text.

    >>> call_text("dp_kmeans", "SELECT x FROM t", {"k": 2, "scale": (0.1, 9), "parts": None})
    'SELECT * FROM dp_kmeans((SELECT x FROM t), k => 2, scale => (0.1, 9))'
    """
    sql_given(query)
    written = [f", {name} => {_written(value)}" for name, value in named.items() if value is not None]
    return f"SELECT * FROM {function}(({query}){''.join(written)})"


def _written(value: Any) -> str:
    """A finite number, or several, as SQL writes them."""
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_number, value))})"
    return _number(value)


def _number(value: Any) -> str:
    known = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    if not known or not Decimal(value).is_finite() or abs(value) > MOST:
        raise ProgrammingError(f"An argument is {as_given(value)}. Pass a finite number.")
    return f"{Decimal(repr(float(value)) if isinstance(value, float) else value):f}"


def _of_numpy(value: Any) -> Any:
    """One of numpy's scalars as Python's own value, times in microseconds; anything else as it is."""
    if type(value).__module__ != "numpy" or getattr(value, "shape", None) != ():
        return value
    plain = value.item()
    if value.dtype.kind == "M" and isinstance(plain, int):  # nanoseconds, which Python's times do not have
        return value.astype("datetime64[us]").item()
    return plain


def _list(value: Any) -> Passed:
    """The values of a list, where ``= ANY(?)`` takes one; NULL is a list of which nothing is known."""
    value = value.tolist() if type(value).__module__ == "numpy" and hasattr(value, "tolist") else value
    if value is None:
        return (None,)
    if not isinstance(value, list | tuple):
        several = isinstance(value, Iterable) and not isinstance(value, str | bytes)
        cure = "Pass list(..) of it." if several else f"Pass [{value!a:.40}]."
        raise ProgrammingError(f"A parameter is of type {type(value).__name__}, and = ANY (?) takes a list. {cure}")
    if not 1 <= len(value) <= MOST_LISTED_VALUES:
        raise ProgrammingError(
            f"A parameter is a list of {len(value)} values. Pass 1 to {MOST_LISTED_VALUES:,} of them."
        )
    return tuple(map(_parameter, value))


def _parameter(value: Any) -> Value:
    value = str(value) if isinstance(value, UUID) else _of_numpy(value)
    if isinstance(value, float):
        if value - value != 0:
            raise ProgrammingError(f"A parameter is {value}. Pass finite numbers.")
        value = Decimal(repr(float(value)))  # numpy's floats are floats, and print otherwise
    if value is None or isinstance(value, bool | int | Decimal | str | datetime | date):
        if isinstance(value, Decimal) and not value.is_finite():
            raise ProgrammingError(f"A parameter is {value}. Pass finite numbers.")
        if isinstance(value, datetime) and value != value:
            raise ProgrammingError("A parameter is NaT, which is no time. Pass None for NULL.")
        if isinstance(value, datetime) and value.tzinfo is not None:
            return _in_utc(value)
        if isinstance(value, int | Decimal) and not _moderate(value):
            raise ProgrammingError("A parameter is beyond 10^300, or nearer to 0 than 10^-300. Pass a number within.")
        if isinstance(value, str) and not _encodes(value):
            raise ProgrammingError("A parameter holds half of a surrogate pair, which is no character. Pass text.")
        return value
    if isinstance(value, list | tuple | set | frozenset):
        raise ProgrammingError(
            f"A parameter is a {type(value).__name__}. Write = ANY (?) for all its values, or one ? for each: IN (?)."
        )
    raise ProgrammingError(
        f"A parameter is of type {type(value).__name__}. "
        "Pass None, bool, int, float, Decimal, str, UUID, date or datetime."
    )


def _in_utc(value: datetime) -> datetime:
    """The same moment without its zone, in UTC: so data with zones are read, and TIMESTAMPTZ '..' in a statement.

    >>> from datetime import timezone
    >>> _in_utc(datetime(2024, 6, 15, 0, 30, tzinfo=timezone(timedelta(hours=2))))
    datetime.datetime(2024, 6, 14, 22, 30)
    """
    try:
        return value.replace(tzinfo=None) - (value.utcoffset() or timedelta())
    except OverflowError:
        raise ProgrammingError("A parameter is beyond the years 1 to 9999 in UTC. Pass a time within.") from None


def _moderate(value: int | Decimal) -> bool:
    """Whether a number is a double of full precision (0, or 10^-300 to 10^300), and its exact fraction is small."""
    if isinstance(value, int):
        return abs(value) < 10**300
    inside = -300 <= value.adjusted() < 300 or not value
    return inside and abs(int(value.as_tuple().exponent)) <= 1000


def _encodes(text: str) -> bool:
    """Whether a text is Unicode that can be written: engine, ledger and answer take UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
