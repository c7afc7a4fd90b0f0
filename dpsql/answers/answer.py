"""What leaves: answers with their errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsql.answers.copied import deep, pickled, shallow
from dpsql.answers.shown.costs import cost_text
from dpsql.answers.shown.ends import footnote, with_ends
from dpsql.answers.shown.extras import of_extra
from dpsql.answers.shown.grouped import grouped
from dpsql.answers.shown.notebook import card, folded, known, small, stamp, values
from dpsql.answers.shown.noted import said_once
from dpsql.answers.shown.screen import Ends, legend, percent, plain, safe, text_table, with_error
from dpsql.errors import DataError, ProgrammingError
from dpsql.plan.over_answers.roles import ColumnRole
from dpsql.plan.types import ListOf, Shown
from dpsql.privacy.loss import PrivacyLoss

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from dpsql.answers.plots.picture import Picture

__all__ = [
    "NOT_PRIVATE",
    "Answer",
    "IntervalsOf",
    "Measurement",
    "ReleaseSummary",
    "public",
]

NOT_PRIVATE = "NOT PRIVATE: test sampler"
"""The stamp on every answer that was made without real noise."""

_SHOWN = 60  # Rows of a printed table; the rest is counted. It is a choice: about one screen.
_NOTHING = PrivacyLoss()

IntervalsOf = Callable[[int, float], list[Ends]]
"""Column, from 0, and confidence to one interval a row; empty for a column without noise."""


@dataclass(frozen=True, slots=True)
class ReleaseSummary:
    """What quotes and answers both say of one release.

    Attributes:
        name: The output column in a quote, the aggregate in the analyst's spelling in an answer.
        mechanism: What makes it.
        loss: What it costs.
        sensitivity: In the column's unit; None where it rests on several measurements.
        scale: Noise scale in the column's unit; None where it rests on several measurements.
        half_width: Expected half width of a 95% interval, in the column's unit.
    """

    name: str
    mechanism: str
    loss: PrivacyLoss
    sensitivity: float | None
    scale: float | None
    half_width: float


@dataclass(frozen=True, slots=True)
class Measurement(ReleaseSummary):
    """One release behind an answer.

    Attributes:
        notes: What else its reader must know, one sentence each.
        subjects: Of what each note is, where that is not the release's own name: of an aggregate, or its column's name.
    """

    notes: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """Released values. Printing shows the error beside each, with digits rounded to it; `rows` are not rounded.

    Attributes:
        columns: Column names.
        types: Their types.
        rows: One tuple a row; NULL is None.
        cost: What was charged for this answer.
        measurements: The releases behind it.
        replayed: Whether it was released before and came from the store, free.
        private: False only where a test sampler stood in for the noise.
        confidence: The level of printed errors.
        released_from: The synthetic tables that it was computed from, for nothing.
        notices: What its charge made worth saying: how much of the budget is spent.
        caps: How many rows of each unit the policy uses, in a sentence, where that bears on it.
    """

    columns: tuple[str, ...]
    types: tuple[Shown, ...]
    rows: list[tuple[Any, ...]]
    cost: PrivacyLoss
    measurements: tuple[Measurement, ...]
    replayed: bool
    private: bool
    confidence: float
    _intervals: IntervalsOf = field(compare=False)
    released_from: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    _roles: tuple[ColumnRole, ...] = field(default=(), compare=False)
    """What each column is; empty where only the intervals tell."""
    _wide: bool = field(default=False, compare=False)
    """Whether the ends of its intervals are columns of it."""
    _left: Callable[[], str] | None = field(default=None, compare=False)
    """What its analyst has left now, in a sentence, for notebooks; None where nobody can tell."""
    caps: tuple[str, ...] = ()
    __copy__, __deepcopy__, __reduce__ = shallow, deep, pickled

    @property
    def paid(self) -> str:
        """What it cost, in words: nothing, where it was released before."""
        return "nothing, this was released before" if self.replayed else cost_text(self.cost)

    @property
    def paid_briefly(self) -> str:
        """The same as a value of a log or of metadata."""
        return "nothing: released before" if self.replayed else cost_text(self.cost)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> list[Any]:
        """The values of one column, by its name.

        Raises:
            ProgrammingError: For an unknown or an ambiguous column.
        """
        column = self._named(name)
        return [row[column] for row in self.rows]

    def interval(self, name: str, confidence: float | None = None) -> list[Ends]:
        """One ``(low, high)`` a row around the noise-free answer, from public quantities only.

        Args:
            name: An output column that holds noise.
            confidence: Between 0 and 1; the answer's own, 0.95 unless the query said otherwise, where absent.

        Returns:
            Ends in the column's unit; ``(None, None)`` where the row has no value. Of a list either end is a list.

        Raises:
            ProgrammingError: For an unknown, an ambiguous or an exact column.
            DataError: For a confidence outside (0, 1).
        """
        level = self.confidence if confidence is None else confidence
        if not isinstance(level, float) or not 0 < level < 1:  # between 0 and 1 there is no whole number
            raise DataError("confidence is no such number; write a number between 0 and 1, such as 0.95.")
        column = self._named(name)
        ends = self._intervals(column, level)
        if not ends and self.rows and self.released_from:
            raise ProgrammingError(f"Nothing is proved of {name!r}, which tells of synthetic rows.")
        if not ends and self.rows and self.roles[column] is ColumnRole.OTHER:
            raise ProgrammingError(f"{name!r} is no number: what noise makes of it has no interval.")
        if not ends and self.rows:
            raise ProgrammingError(f"{name!r} holds no noise, so it has no interval.")
        return ends

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know beside the errors: the measurements' distinct notes, the caps, and the notices."""
        noted = said_once(
            pair for m in self.measurements for pair in zip(m.subjects or repeat(m.name), m.notes, strict=False)
        )
        return (*noted, *self.caps, *self.notices)

    @property
    def roles(self) -> tuple[ColumnRole, ...]:
        """What each column is: a key, a number that holds noise, and so on."""
        return self._roles or tuple(
            ColumnRole.VALUE if self.ends(i) else ColumnRole.KEY for i in range(len(self.columns))
        )

    def ends(self, column: int) -> list[Ends]:
        """The intervals of a column, counted from 0, at the answer's own confidence; empty where it is exact."""
        return self._intervals(column, self.confidence)

    def first(self, count: int) -> Answer:
        """The same answer, cut after so many rows, which it says."""
        if len(self.rows) <= count:
            return self
        told = f"These are the first {count:,} of {len(self.rows):,} rows: the server lets no more leave."
        return replace(self.cut(slice(count)), notices=(*self.notices, told))

    def cut(self, kept: slice) -> Answer:
        """Some of the rows."""
        ends = self._intervals
        return replace(self, rows=self.rows[kept], _intervals=lambda column, level: ends(column, level)[kept])

    def with_intervals(self) -> Answer:
        """The same answer with the ends of the intervals, ``n_low`` and ``n_high``, beside each noised column ``n``.

        Columns that share a name get ``_1``, ``_2`` ..., and so does an end whose name a column has. An end that is not
        known, or has no bound, is NULL.
        """
        if self._wide:
            return self
        held, intervals = [self.ends(i) for i in range(len(self.columns))], self._intervals
        wide = with_ends(self.columns, self.types, [role.barred for role in self.roles])

        def of(column: int, level: float) -> list[Ends]:
            origin = wide.origin[column]
            return [] if origin is None else intervals(origin, level)

        rows = wide.rows(self.rows, held)
        own = tuple(ColumnRole.END if origin is None else self.roles[origin] for origin in wide.origin)
        known = replace(self, columns=wide.columns, types=wide.types, rows=rows)
        return replace(known, _intervals=of, _roles=own, _wide=True)

    @property
    def footnote(self) -> str:
        """In one sentence how wide the intervals are, for frames and files without them; empty without noise."""
        return footnote(self.columns, [self.ends(i) for i in range(len(self.columns))], self.confidence)

    def to_arrow(self, intervals: bool = False) -> pyarrow.Table:
        """The rows as a `pyarrow.Table`, unrounded; needs the extra ``arrow``.

        Repeated column names get ``_1``, ``_2`` ... The schema's metadata have the `footnote` under ``dpsql_errors``
        where the intervals are left out, and say under ``dpsql`` where an answer is not private.

        Args:
            intervals: Whether `with_intervals` adds its columns.

        Raises:
            MissingExtra: If pyarrow is not installed.
        """
        of_extra("pyarrow", "arrow")
        from dpsql.answers.shown.arrow import arrow_table

        shown = self.with_intervals() if intervals else self
        table = arrow_table(shown.columns, shown.types, shown.rows)
        told = {"dpsql": "" if self.private else NOT_PRIVATE, "dpsql_errors": "" if intervals else self.footnote}
        return table.replace_schema_metadata({name: text for name, text in told.items() if text} or None)

    def to_pandas(self, intervals: bool = False) -> pandas.DataFrame:
        """The rows as a `pandas.DataFrame`; needs the extra ``pandas``. ``attrs`` has the metadata of `to_arrow`. Days
        are datetimes, as DuckDB has them: pandas has no type for days.

        Args:
            intervals: Whether `with_intervals` adds its columns.

        Raises:
            MissingExtra: If pandas is not installed.
        """
        of_extra("pandas", "pandas")
        table = self.to_arrow(intervals)
        frame: pandas.DataFrame = table.to_pandas(date_as_object=False)
        frame.attrs.update({name.decode(): text.decode() for name, text in (table.schema.metadata or {}).items()})
        return frame

    df = to_pandas

    def to_polars(self, intervals: bool = False) -> polars.DataFrame:
        """The rows as a `polars.DataFrame`, which has no place for a footnote; needs the extra ``polars``.

        Args:
            intervals: Whether `with_intervals` adds its columns.

        Raises:
            MissingExtra: If polars is not installed.
        """
        frame: polars.DataFrame = of_extra("polars", "polars").from_arrow(self.to_arrow(intervals))
        return frame

    def plot(
        self, file: str | Path | None = None, *, title: str = "", units: Mapping[str, str] | None = None
    ) -> Picture:
        """A picture of what the answer is: bars, a line over time, points; each number with its interval.

        Lists are left out: ask for a column for each element that it shall show.

        Args:
            file: Where to write it, too: a name that ends in ``.png`` or ``.svg``.
            title: Above the picture; the columns' names where absent.
            units: What columns are counted in, by their names: ``{"weight": "kg"}``.

        Returns:
            A figure of matplotlib's that shows itself in notebooks. Needs the extra ``plot``.

        Raises:
            MissingExtra: If matplotlib is not installed.
            ProgrammingError: The answer holds no number, or a name is none of its columns or of a picture.
        """
        of_extra("matplotlib", "plot")
        from dpsql.answers.plots.picture import Telling, picture
        from dpsql.answers.plots.series import Series, units_given

        of = {self._named(name): unit for name, unit in units_given(units).items()}
        columns = []
        for place, (name, kind, role) in enumerate(zip(self.columns, self.types, self.roles, strict=True)):
            if isinstance(kind, ListOf):
                continue
            # Two coordinates are inside both of their intervals with the answer's confidence where each interval fails
            # half as often (Bonferroni).
            level = (1 + self.confidence) / 2 if role is ColumnRole.COORDINATE else self.confidence
            values, ends = [row[place] for row in self.rows], self._intervals(place, level)
            columns.append(Series(name, kind, role, values, ends, of.get(place, "")))
        stamp = "" if self.private else NOT_PRIVATE
        drawn = picture(columns, Telling(self.confidence, [self._price()], title, stamp))
        if file is not None:
            drawn.save(file)
        return drawn

    def to_text(self, limit: int | None = None) -> str:
        """The printed table: each noised value beside its error, then the cost.

        Args:
            limit: Most rows shown; None for all.
        """
        ends = [self.ends(i) for i in range(len(self.columns))]
        body = text_table(self.columns, self._cells(limit, ends), right=self.numeric) if self.columns else ""
        about = [*self._about(limit, ends), *(f"Note: {safe(note)}" for note in grouped(self.notes))]
        return "\n".join([*([NOT_PRIVATE] if not self.private else []), body, *about])

    def __str__(self) -> str:
        return self.to_text(_SHOWN)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        ends = [self.ends(i) for i in range(len(self.columns))]
        left, (first, *about) = self._left, self._about(_SHOWN, ends)
        return card(
            *([] if self.private else [stamp(NOT_PRIVATE)]),
            *([values(self.columns, self._cells(_SHOWN, ends), self.numeric)] if self.columns else []),
            small(first),
            *([] if left is None else known(lambda: [small(left())])),
            *map(small, about),
            folded("What else there is to know", grouped(self.notes)),
        )

    def _named(self, name: str) -> int:
        """The column of that name, from 0."""
        match self.columns.count(name):
            case 0:
                named = ", ".join(self.columns)
                raise ProgrammingError(f"The answer has no column {name!r}. Its columns are {named}.")
            case 1:
                return self.columns.index(name)
            case _:
                raise ProgrammingError(f"Several columns are called {name!r}. Name each with AS in the query.")

    @property
    def numeric(self) -> list[bool]:
        """Which columns are numbers, or lists of them."""
        return [kind.numeric or isinstance(kind, ListOf) for kind in self.types]

    def _cells(self, limit: int | None, ends: Sequence[Sequence[Ends]]) -> list[list[str]]:
        columns = []
        for i, own in enumerate(ends):
            values = [row[i] for row in self.rows[:limit]]
            columns.append(
                [with_error(*pair) for pair in zip(values, own[:limit], strict=True)] if own else map(plain, values)
            )
        return [list(cells) for cells in zip(*columns, strict=True)]

    def _about(self, limit: int | None, ends: Sequence[Sequence[Ends]]) -> list[str]:
        """How many rows there are, what they cost, and what ± means where a column has intervals."""
        count = len(self.rows)
        hidden = "" if limit is None or count <= limit else f", the first {limit} shown"
        lines = [f"{count} row{'' if count == 1 else 's'}{hidden}. {self._price()}"]
        cells = [(row[i], end) for i, own in enumerate(ends) for row, end in zip(self.rows, own, strict=False)]
        if self.measurements and (told := legend(percent(self.confidence), cells)):
            lines.append(told)
        return lines

    def _proved(self) -> str:
        """What is known of an answer from synthetic rows."""
        if any(self.ends(i) for i in range(len(self.columns))):
            return f"± is proved, at {percent(self.confidence)}%, of what the released rows stand for."
        return "Synthetic rows have errors of their own, of which nothing is proved here."

    def _price(self) -> str:
        names = safe(", ".join(self.released_from))
        if names and self.measurements:
            return f"Cost: {self.paid}. It tells of {names}, too: synthetic rows have errors of their own."
        if names:
            paid = "nothing" if self.cost == _NOTHING else f"{cost_text(self.cost)}, for the first reading"
            return f"Cost: {paid}: it tells of {names}. {self._proved()}"
        return f"Cost: {self.paid}."


def public(columns: tuple[str, ...], types: tuple[Shown, ...], rows: list[tuple[Any, ...]]) -> Answer:
    """An answer that costs nothing, because it rests on public facts alone."""
    return Answer(columns, types, rows, _NOTHING, (), False, True, 0.95, lambda column, confidence: [])
