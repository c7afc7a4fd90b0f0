"""What `dpsql check` finds, and public columns for it: the parent's side, without a database.

Tests: tests/unit/owner/checking/test_check.py, tests/unit/owner/checking/test_guess_report.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from dpsql.owner.jobs import of_source
from dpsql.plan.types import Value

if TYPE_CHECKING:
    from dpsql.policy.model import Policy

__all__ = ["HEADS", "MUCH", "RIGHT", "Finding", "Severity", "public_columns", "rows_of", "verdict"]

HEADS = ("severity", "where", "what", "count", "share")
RIGHT = (False, False, False, True, True)

MUCH = Fraction(1, 100)
"""Of values, rows or units: where so many are beyond bounds or a cap, answers are about others, and that is told. A
guess."""

TENTH = 0.001  # A share, above which tenths of a percent tell enough. It is a choice.

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One way in which data and policy differ.

    Attributes:
        table: The table; None for what concerns several.
        column: The column, or None.
        what: What was found and what follows, without any value of a row but those of `sentinels`.
        count: How many rows or units, or None where it is not about numbers.
        share: Their exact share of the table's rows or units, or None.
        severity: ``error``: the policy cannot be used, or a promise is false. ``warning``: answers suffer.
            ``note``: good to know.
        read_as: What these values of a column are taken for in every answer, such as ``NULL``; None elsewhere.
        of_total: Which part of all that a column's values add up to, each by its size, is lost with these; None
            elsewhere.
        left_out: Why these rows are in no answer, where many of a table's may be; None elsewhere.
        lacks: Whether nothing is wrong, but bounds that are ``auto`` have not been found.
    """

    table: str | None
    column: str | None
    what: str
    count: int | None
    share: Fraction | None
    severity: Severity
    read_as: str | None = None
    of_total: float | None = None
    left_out: str | None = None
    lacks: bool = False

    def message(self) -> dict[str, Any]:
        """The finding as `wire.encode` takes it."""
        return asdict(self)


def rows_of(findings: Sequence[Finding]) -> list[tuple[str, ...]]:
    """The cells of a table of findings, under `HEADS`: what several columns of a table have alike is said once.

    >>> alike = [Finding("visits", name, "has no bounds.", None, None, "error") for name in ("cost", "days")]
    >>> rows_of(alike)
    [('error', 'visits', 'Each of 2 columns (cost, days): has no bounds.', '', '')]
    """
    alike: dict[object, list[Finding]] = {}
    for place, one in enumerate(findings):
        once = one.column is not None and one.count is None
        alike.setdefault((one.table, one.what, one.severity, one.share) if once else place, []).append(one)
    rows = list[tuple[str, ...]]()
    for first, *others in alike.values():
        where, what = ".".join(filter(None, (first.table, first.column))), first.what
        if others:
            names = ", ".join(str(one.column) for one in (first, *others))
            where, what = str(first.table), f"Each of {1 + len(others)} columns ({names}): {what}"
        count = "" if first.count is None else str(first.count)
        rows.append((first.severity, where, what, count, "" if first.share is None else f"{float(first.share):.4%}"))
    return rows


def verdict(findings: Sequence[Finding], refused: bool) -> str:
    """The last words of a check without errors: what becomes of many rows and values, and whether all can be asked.

    Args:
        findings: All of them.
        refused: Whether queries are refused until the tables are built anew; a finding says so.
    """
    if refused:
        start = "The policy is sound, but queries are refused until you run dpsql refresh."
    elif findings:
        start = "The policy is sound. It can be used as it is."
    else:
        start = "The policy is sound. The data fit it."
    cut = [
        f"{_percent(one.share)} of the values of {one.table}.{one.column} count as {one.read_as}{_of_total(one)}"
        for one in findings
        if one.read_as is not None and one.share is not None and max(one.share, one.of_total or 0) >= MUCH
    ]
    lost = [
        f"{_percent(one.share)} of the rows of {one.table}, which {one.left_out}"
        for one in findings
        if one.left_out is not None and one.share is not None and one.share >= MUCH
    ]
    if not cut and not lost:
        return start
    empty = [f"{one.table}.{one.column}" for one in findings if one.read_as == "NULL" and one.share == 1]
    if empty:
        start = f"The policy opens, but nothing can be asked of {', '.join(empty)}: all values are NULL."
    words = [start if refused or empty else "The policy can be used."]
    if cut:
        words.append(f"Answers are about other values than the data hold: {'; '.join(cut)}.")
    if lost:
        words.append(f"Answers leave out {'; '.join(lost)}.")
    return f"{' '.join(words)} See the warnings above."


def _percent(share: float | Fraction) -> str:
    """A share in percent, to a tenth; a small one, which may be of large values, to its first digit.

    >>> _percent(0.16), _percent(0.00034), _percent(Fraction(0))
    ('16.0%', '0.03%', '0.0%')
    """
    known = float(share)
    return f"{known:.1%}" if known >= TENTH or not known else f"{float(f'{known:.1g}') * 100:g}%"


def _of_total(one: Finding) -> str:
    return f", which takes {one.of_total:.0%} off their total" if one.of_total and one.of_total >= MUCH else ""


def public_columns(policy: Policy, table: str, names: Sequence[str]) -> Mapping[str, Sequence[Value]]:
    """Whole columns of a public table of the source, row by row; read in a process of its own.

    Raises:
        PolicyError: If they are not there.
        OperationalError: If the data cannot be read.
    """
    columns: Mapping[str, Sequence[Value]] = of_source(policy, "columns", table=table, names=list(names))
    return columns
