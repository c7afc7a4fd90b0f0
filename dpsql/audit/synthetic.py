"""Synthetic tables on record: what a release read, and how it is made again with other noise.

Tests: tests/unit/audit/test_synthetic.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, product

from dpsql.audit.replay import RunPart
from dpsql.mechanisms.releases.methods import Made
from dpsql.mechanisms.releases.table import TablePlan
from dpsql.mechanisms.releases.waiting import Told, unheard
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import Group, RawTable, ReleasedTable

__all__ = ["MOST_COMPARED", "WatchedTable", "watched_table"]

MOST_COMPARED = 64
"""Cells whose numbers of rows are compared. It is a choice: tables that audits ask for have fewer."""


@dataclass(frozen=True, slots=True)
class WatchedTable(TablePlan):
    """A way to release a table that tells what it was made of. It changes none of it.

    Attributes:
        hear: Told each release.
    """

    hear: Callable[[RunPart], None] = field(default=lambda _: None)

    def release(
        self, raw: RawTable, keys: Sequence[str], sampler: Sampler, told: Told = unheard
    ) -> tuple[ReleasedTable, Made]:
        """As of `TablePlan`."""
        released, made = TablePlan.release(self, raw, keys, sampler, told)
        self.hear(self._part(raw, keys, released))
        return released, made

    def _part(self, raw: RawTable, keys: Sequence[str], released: ReleasedTable) -> RunPart:
        """Every cell of the domain is listed, with its exact number of rows and with that of the synthetic table."""
        cells = tuple(islice(product(*self.asked.domains), MOST_COMPARED))
        exact = dict(zip(raw.groups(keys), (int(rows) for rows in raw.column("m0")), strict=True))
        return RunPart(
            release=self,  # type: ignore[arg-type]  # it answers no request: only its loss and its method are read
            selects=False,
            discovered=False,
            groups=cells,
            raw={cell: (exact.get(cell, 0),) for cell in cells},
            released=_by_cell(released, keys, cells).columns,
            draws=(),
            choices=(),
            again=partial(self._again, raw, keys, cells),
        )

    def _again(self, raw: RawTable, keys: Sequence[str], cells: Sequence[Group], sampler: Sampler) -> ReleasedTable:
        return _by_cell(TablePlan.release(self, raw, keys, sampler)[0], keys, cells)


def watched_table(table: TablePlan, hear: Callable[[RunPart], None]) -> WatchedTable:
    """The same way to release a table, on record."""
    own = (table.way, table.asked, table.payment, table.loss, table.deviation, table.others)
    return WatchedTable(*own, hear)


def _by_cell(released: ReleasedTable, keys: Sequence[str], cells: Sequence[Group]) -> ReleasedTable:
    """The rows of a synthetic table by cell, those without any among them: (cells,) numbers in ``rows``."""
    rows = dict.fromkeys(cells, 0)
    for *cell, many in zip(*(released.columns[key] for key in keys), released.columns["rows"], strict=True):
        if (group := tuple(cell)) in rows:
            rows[group] += many
    return ReleasedTable({"rows": list(rows.values())})
