"""What is put on record of a replay: the same questions with the same noise on neighbouring databases.

A `World` (see `world`) asks the templates on a database and its neighbours and returns the runs: which statements the
engine saw, which noise was drawn from which law, which exact numbers went in and which released ones came out, what the
ledger charged, what the analyst got. The audits compare the runs.

Source: Re:cord-play (arXiv 2602.17454) found violations in most libraries this way: same noise on neighbours, and the
sensitivity that is declared beside the one that occurs.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpsql.answers.answer import Answer
from dpsql.audit.template import Template
from dpsql.errors import EngineFailed, Error, InvariantBroken
from dpsql.mechanisms.base import Offer
from dpsql.mechanisms.choice.groups import Whole
from dpsql.mechanisms.clamped.release import Sizes
from dpsql.privacy.kinds import Loss
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import Group, RawTable, ReleasedTable

__all__ = [
    "BOTH", "CROSSED", "FREE", "Drawing", "Pick", "Promise", "Replay", "Run", "RunPart", "is_failure", "neighbours_of",
    "spoken",
]  # fmt: skip


@dataclass(frozen=True)
class Promise:
    """What a policy's answers are proved under."""

    neighbours: str
    composition: str

    def __str__(self) -> str:
        return f"{self.neighbours}, {self.composition}"


BOTH = (Promise("add_remove", "zcdp"), Promise("replace_one", "basic"))
CROSSED = (Promise("add_remove", "basic"), Promise("replace_one", "zcdp"))


@dataclass(frozen=True)
class Drawing:
    """One call of the sampler.

    Attributes:
        law: ``laplace``, ``gaussian``, ...
        parameter: Scale or variance, in grid steps.
        noise: What it returned.
    """

    law: str
    parameter: Any
    noise: tuple[int, ...]


FREE = "nothing private"
"""In the place of what was spent: the statement reads public tables alone, and may run before any charge."""


@dataclass(frozen=True)
class Pick:
    """One use of the exponential mechanism, or of permute-and-flip.

    Attributes:
        law: ``intervals`` or ``permute_and_flip``.
        exponent: What one unit of a score weighs.
        widths: How many candidates have each score.
        scores: The scores.
    """

    law: str
    exponent: Fraction
    widths: tuple[int, ...]
    scores: tuple[int, ...]


@dataclass(frozen=True)
class RunPart:
    """One release within a run.

    Attributes:
        release: The offer that was taken.
        selects: Whether it chose the groups.
        discovered: Whether the groups come from the data rather than from a declared domain.
        groups: The groups it released, in order.
        raw: The exact integers of every group that occurs (listed ones only where the groups are listed).
        released: What came out, column by column.
        draws: The sampler's noise meanwhile.
        choices: The sampler's choices meanwhile: as many for each group, group after group.
        values: Of a preprocessed statistic: each group's distinct values, and how many rows hold each.
        cells: Of the row for what stays hidden: the exact integers of every group that occurs.
        shown: Of that row: the groups that it leaves out.
        drawn: Whether its groups were drawn from those that are listed.
        ranked: Of a cap or a place that is found: the exact counts by value, and by rank for a cap.
        again: Makes the release once more from the same raw numbers, with the noise of another sampler.
    """

    release: Offer
    selects: bool
    discovered: bool
    groups: tuple[Group, ...]
    raw: Mapping[Group, tuple[int, ...]]
    released: Mapping[str, Sequence[Any]]
    draws: tuple[Drawing, ...]
    choices: tuple[Pick, ...]
    values: Mapping[Group, tuple[Whole, Whole]] = field(default_factory=dict)
    cells: Mapping[Group, tuple[int, ...]] = field(default_factory=dict)
    shown: frozenset[Group] = frozenset()
    sizes: Sizes | None = None
    drawn: bool = False
    ranked: RawTable | None = None
    again: Callable[[Sampler], ReleasedTable] | None = field(default=None, compare=False, repr=False)

    def over(self, cells: Mapping[Group, tuple[int, ...]]) -> Mapping[Group, tuple[int, ...]]:
        """These groups as this release reads them: all together but for those shown, where it is of what is hidden."""
        if not self.cells and not self.shown:
            return cells
        hidden = [numbers for group, numbers in cells.items() if group not in self.shown]
        return {(): tuple(map(sum, zip(*hidden, strict=True)))} if hidden else {}


@dataclass(frozen=True)
class Run:
    """One template on one database.

    Attributes:
        statements: For each engine statement: text, parameters, and what the analyst had spent when it ran, or `FREE`.
        parts: The releases, in order.
        charges: The losses that the ledger put on record.
        answer: What the analyst got, or None.
        error: The error's type and text, or None.
        spent: The analyst's account afterwards.
        failed: Whether the error is a failure, and no refusal.
    """

    template: Template
    promise: Promise
    statements: tuple[tuple[str, tuple[Any, ...], str], ...]
    parts: tuple[RunPart, ...]
    charges: tuple[Loss, ...]
    answer: Answer | None
    error: tuple[str, str] | None
    spent: str
    failed: bool = False


def spoken(error: Exception) -> tuple[str, str]:
    """An error's type and text; with its place in the source where it was raised by mistake."""
    *_, last = traceback.extract_tb(error.__traceback__)
    place = "" if isinstance(error, Error) else f" ({Path(last.filename).name}, line {last.lineno})"
    return type(error).__name__, f"{error}{place}"


def is_failure(error: Exception) -> bool:
    """Whether an error is no refusal: a bug, or an engine that gave no answer."""
    return not isinstance(error, Error) or isinstance(error, InvariantBroken | EngineFailed)


@dataclass(frozen=True)
class Replay:
    """The runs of one replay: promise and database to its runs, in the order of the templates."""

    runs: Mapping[tuple[Promise, str], Sequence[Run]]

    def pairs(self) -> Iterator[tuple[str, Run, Run]]:
        """Every pair of runs on neighbours, with what is between them."""
        promises = dict.fromkeys(promise for promise, _ in self.runs)
        for promise in promises:
            for one, two in neighbours_of([name for own, name in self.runs if own == promise], promise):
                sides = self.runs[promise, one], self.runs[promise, two]
                for first, second in zip(*sides, strict=True):
                    yield f"{promise}; {one} | {two}; {first.template}", first, second

    def parts(self, found: list[str]) -> Iterator[tuple[str, Run, RunPart, RunPart]]:
        """The releases of every pair of runs on neighbours, one beside the other, with what is between them.

        Args:
            found: Where one run has more of them than the other, which is a conviction, it is put in here.
        """
        for where, one, two in self.pairs():
            if len(one.parts) != len(two.parts):
                found.append(f"{where}: {len(one.parts)} releases on one side, {len(two.parts)} on the other")
            yield from ((where, one, *both) for both in zip(one.parts, two.parts, strict=False))

    def all(self) -> Iterator[tuple[str, Run]]:
        """Every run."""
        for (promise, name), runs in self.runs.items():
            yield from ((f"{promise}; {name}; {run.template}", run) for run in runs)


def neighbours_of(names: Sequence[str], promise: Promise) -> Iterator[tuple[str, str]]:
    """With everybody and without one; or, where units are replaced, without one and without another."""
    if promise.neighbours == "add_remove":
        yield from (("everybody", name) for name in names if name.startswith("without"))
        if "nobody" in names:
            yield from ((name, "nobody") for name in names if name.startswith("only"))
        return
    for kind in ("without", "only"):
        same = [name for name in names if name.startswith(kind)]
        yield from ((one, two) for at, one in enumerate(same) for two in same[at + 1 :])
