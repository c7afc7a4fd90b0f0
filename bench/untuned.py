"""What plain statements lose against an expert who knows the data: docs/untuned.md.

    python bench/untuned.py [--draws 20] [--only NAME] [--without DATA] [--keep FOLDER] [--jobs 1] [--advise EPSILON]
        [--found FILE] [--only-print]

Each statement of `untuned_data.py` is asked as it stands, at two prices, with real noise. Its rivals cost the same:
each mechanism by name; for sums and counts a clamp of a unit's total, for other aggregates one of each value, both on
a grid of powers of two (of four for large data); caps of a unit's rows and groups, on the same grid; and the best clamp
with each cap. Which rival is best is known in hindsight, from its errors: nobody could choose so well. All are drawn a
few times, the best of these more often; the one that errs the least is then drawn anew, as often as the plain
statement, so that it is not best by luck of its draws. Where the plain statement errs the least, the ratio is 1.

The error is the root mean square over draws and groups of answer - truth; the truth is DuckDB's, over the bounded
tables. A group that the answer leaves out counts as 0. Ratios of two errors have a lower limit: they are lower with a
chance of 2.5%, by resampling draws.
"""

from __future__ import annotations

import argparse
import math
import pickle
import re
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from page import ROOT, circumstances, kept, table, write
from untuned_data import DATA, DataSet, Question

import dpsql
import dpsql.testing
from dpsql.advising import advise
from dpsql.audit.remembering import Remembering
from dpsql.mechanisms import MECHANISMS
from dpsql.plan.known.stability import rows_per_unit
from dpsql.plan.types import Type
from dpsql.prepare import Prepared
from dpsql.session import Session
from dpsql.sql.parse import parse

PAGE = ROOT / "docs" / "untuned.md"
PRICES = (0.2, 1.0)
FIRST = 3  # Draws of each rival, to find the best ones.
KEPT = 3  # Rivals that are drawn more often, to find the best.
AGAIN = 10  # Draws more of each of them.
MOST = 1e6  # The largest ratio: beside errors of nothing but 0, it is this one.
RESAMPLED = 1000  # Times that draws are resampled for a limit.
LEVEL = 0.025  # The chance that a ratio is below its lower limit.
NAMED = tuple(m.name for m in MECHANISMS if m.name not in ("public", "random_dp", "metric"))
TOTALS = re.compile(r"\{((SUM|COUNT)\()([^{}]*)\)\}")
VALUES = re.compile(r"\{((?!SUM|COUNT)\w+\()([^{},]*)(,[^{}]*)?\)\}")


@dataclass(frozen=True)
class Rival:
    """One way to ask.

    Attributes:
        label: What an expert wrote.
        sql: The text.
        options: Keyword options.
    """

    label: str
    sql: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Errors:
    """What came of a rival.

    Attributes:
        rival: How it was asked.
        mechanisms: What answered.
        squares: The mean square over the groups, draw after draw.
        covered: For each draw the share of its 95% intervals that hold the truth.
        zeros: Draws that showed nothing but zeros, or no group.
        fingerprint: What tells it from what is asked otherwise.
    """

    rival: Rival
    mechanisms: str = ""
    fingerprint: str = ""
    squares: list[float] = field(default_factory=list)
    covered: list[float] = field(default_factory=list)
    zeros: int = 0

    @property
    def root(self) -> float:
        """The root of the mean square over all draws."""
        return math.sqrt(float(np.mean(self.squares))) if self.squares else math.inf


@dataclass(frozen=True)
class Compared:
    """A plain statement beside the best in hindsight.

    Attributes:
        data, question, epsilon: Which.
        plain, best: What came of both.
        least: The lower limit of the ratio of their errors.
        floor: What an error counts as at least: half of 1 for what is a whole number.
        seconds: What all of it took.
    """

    data: str
    question: Question
    epsilon: float
    plain: Errors
    best: Errors
    least: float
    floor: float
    seconds: float

    @property
    def ratio(self) -> float:
        """The error of the plain statement over that of the best one."""
        if self.plain is self.best:
            return 1.0
        return max(self.plain.root, self.floor) / max(self.best.root, self.floor, self.plain.root / MOST, 1e-300)


class Asked:
    """One data set, and what is asked of it.

    Args:
        session: Whose raw numbers are remembered.
        bounded: The bounded tables, for the truth.
        draws: How often the plain statement is drawn.
        every: As in `DataSet`.
    """

    def __init__(self, session: Session, bounded: duckdb.DuckDBPyConnection, draws: int, every: int) -> None:
        self._session, self._bounded, self._draws, self._every = session, bounded, draws, every
        self._seen = set[str]()  # what was drawn for the statement at hand: an option may change nothing

    def compared(self, data: str, question: Question, epsilon: float) -> Compared:
        """The plain statement and its rivals."""
        began, truth = time.monotonic(), self._truth(question)
        as_it_stands = Rival("as it stands", f"{question.sql} {question.picks}")
        plain = self.drawn(as_it_stands, question, epsilon, truth, self._draws)
        if plain is None:
            raise SystemExit(f"{data}: {question.sql} is refused")
        self._seen = {plain.fingerprint}
        least, most, rows, floor = self._facts(question)
        found = self._all(rivals(question, (least, most), rows, self._every), question, epsilon, truth)
        clamps = [one for one in found if "clamp" in one.rival.label]
        if clamps:
            best = min(clamps, key=lambda one: one.root)
            found += self._all(capped(question, best.rival, rows, self._every), question, epsilon, truth)
        found = sorted(found, key=lambda one: one.root)[:KEPT]
        for one in found:
            self.drawn(one.rival, question, epsilon, truth, AGAIN, one)
        best = min([plain, *found], key=lambda one: one.root)
        if best is not plain:
            best = self.drawn(best.rival, question, epsilon, truth, self._draws) or best
        least_of_both = least_ratio(plain, best, floor)
        return Compared(data, question, epsilon, plain, best, least_of_both, floor, time.monotonic() - began)

    def _facts(self, question: Question) -> tuple[float, float, int, float]:
        """The least value of the arguments, the most that a unit's total can be, its most rows, and the floor."""
        plan: Any = self._session._plan(parse(question.sql).select, ())
        facts = [aggregate.argument.facts for aggregate in plan.aggregates if aggregate.argument is not None]
        rows = rows_per_unit(plan.relation)
        low = min((float(own.low) for own in facts if own.low is not None), default=0.0)
        high = max((max(float(own.high), -low) for own in facts if own.high is not None), default=1.0)
        whole = all(
            own.function.startswith(("count", "quantile"))
            and (own.argument is None or own.function.startswith("count") or own.argument.facts.type is Type.INTEGER)
            for own in plan.aggregates
        )
        total = high * (rows if "SUM" in question.sql or "COUNT" in question.sql else 1)
        return low, total, rows, 0.5 if whole and "/" not in question.sql else 0.0

    def _all(
        self, asked: Sequence[Rival], question: Question, epsilon: float, truth: Mapping[Any, Any]
    ) -> list[Errors]:
        found = []
        for rival in asked:
            one = self.drawn(rival, question, epsilon, truth, 0)
            if one is not None and one.fingerprint not in self._seen:
                self._seen.add(one.fingerprint)
                found.append(self.drawn(rival, question, epsilon, truth, FIRST, one) or one)
        return found

    def _truth(self, question: Question) -> dict[tuple[Any, ...], float]:
        """Each group's true value; groups without one are left out."""
        rows = self._bounded.execute(question.sql).fetchall()
        found = {row[: question.keys]: row[-1] for row in rows}
        return {group: float(value) for group, value in found.items() if value is not None and math.isfinite(value)}

    def drawn(
        self,
        rival: Rival,
        question: Question,
        epsilon: float,
        truth: Mapping[tuple[Any, ...], float],
        draws: int,
        so_far: Errors | None = None,
    ) -> Errors | None:
        """Some draws; None where it is refused."""
        found = so_far or Errors(rival)
        try:
            plan = self._session._plan(parse(rival.sql).select, ())
            prepared = self._session._prepare(plan, {"epsilon": epsilon, **rival.options})
        except dpsql.Error:
            return None
        found.fingerprint = prepared.fingerprint("ana", 1)
        found.mechanisms = ", ".join(dict.fromkeys(m.choice.release.mechanism for m in prepared.measured))
        for _ in range(draws):
            self._one(prepared, question, truth, found)
        return found

    def _one(
        self, prepared: Prepared, question: Question, truth: Mapping[tuple[Any, ...], float], found: Errors
    ) -> None:
        answer = self._session._finish(prepared, self._session._release(prepared), replayed=False)
        shown = {row[: question.keys]: row[-1] for row in answer.rows}
        additive = any(f"{name}(" in question.sql for name in ("COUNT", "SUM")) and "/" not in question.sql
        wanted = {group: 0.0 for group in shown if additive} | {
            group: true for group, true in truth.items() if group in shown or not question.picks
        }
        squares = [(float(shown.get(group) or 0.0) - true) ** 2 for group, true in wanted.items()]
        found.squares.append(float(np.mean(squares)) if squares else 0.0)
        found.zeros += not any(shown.values())
        held = []
        for row, (low, high) in zip(answer.rows, answer.interval("x", 0.95) if answer.rows else (), strict=True):
            true = wanted.get(row[: question.keys])
            if true is not None:
                slack = 1e-9 * abs(true)  # DuckDB adds up floats
                held.append(low is not None and high is not None and low - slack <= true <= high + slack)
        if held:
            found.covered.append(sum(held) / len(held))


def rivals(question: Question, facts: tuple[float, float], rows: int, every: int) -> list[Rival]:
    """What an expert may write: a mechanism, a clamp, a cap."""
    plain = f"{question.sql} {question.picks}"
    found = [Rival(name, plain, {"mechanism": name}) for name in NAMED]
    return [*found, *clamped(question, facts, every), *capped(question, Rival("", plain), rows, every)]


def clamped(question: Question, facts: tuple[float, float], every: int) -> Iterator[Rival]:
    """A clamp of each unit's total, or of each value, on a grid of powers of two up to its bound."""
    least, most = facts
    for power in range(-2, 1 + math.ceil(math.log2(max(1.0, most))), every):
        top = 2**power if power >= 0 else 2.0**power
        for low in (0, -top) if least < 0 else (0,):
            sql = TOTALS.sub(rf"\1\3, contribution_bounds_per_group => ({low}, {top}))", question.marked)
            sql = VALUES.sub(rf"\1\2\3, contribution_bounds_per_row => ({low}, {top}))", sql)
            if sql != question.marked:
                yield Rival(f"clamp {low:g} to {top:g}", f"{plainly(sql)} {question.picks}")


def capped(question: Question, rival: Rival, rows: int, every: int) -> list[Rival]:
    """A cap of each unit's rows or groups, on the same grid, beside what else was written.

    Args:
        question: What is asked.
        rival: What else was written.
        rows: The most rows of a unit, which a cap is below.
        every: As in `DataSet`.
    """
    names = ("max_groups_per_unit", "max_rows_contributed") if question.keys else ("max_rows_contributed",)
    return [
        Rival(f"{rival.label} {name} {2**power}".strip(), rival.sql, {**rival.options, name: 2**power})
        for name in names
        for power in range(0, (rows - 1).bit_length(), every)
    ]


def plainly(sql: str) -> str:
    """Without the braces that are left."""
    return sql.replace("{", "").replace("}", "")


def least_ratio(plain: Errors, best: Errors, floor: float) -> float:
    """The lower limit of the ratio, by resampling draws of both; the seed is fixed, for a page made again."""
    if plain is best:
        return 1.0
    random = np.random.default_rng(1)
    means = [
        np.asarray(own.squares)[random.integers(0, len(own.squares), (RESAMPLED, len(own.squares)))].mean(axis=1)
        for own in (plain, best)
    ]
    means = [np.maximum(own, floor**2) for own in means]
    ratios = np.sqrt(means[0] / np.maximum(means[1], means[0] / MOST**2 + 1e-300))
    return float(np.quantile(ratios, LEVEL))


def asked_of(
    data: DataSet, questions: Sequence[Question], draws: int, folder: Path, facts: Fraction | None
) -> Iterator[Compared]:
    """Every statement of a data set, at every price; after ``dpsql advise`` at a price of facts, where there is one."""
    home = Path(tempfile.mkdtemp(prefix="dpsql-untuned-"))
    try:
        data.make(home / f"{data.name}.duckdb", folder)
        (home / f"{data.name}.yaml").write_text(data.policy)
        if facts is not None:
            advise(home / f"{data.name}.yaml", epsilon=facts)
        opened = dpsql.testing.open if facts is None else dpsql.open
        with opened(home / f"{data.name}.yaml") as proxy:
            bounded = next(proxy._cache.rglob("bounded.duckdb"))
            backend = replace(proxy._backend, engine=Remembering(proxy._backend.engine))
            with duckdb.connect(str(bounded), read_only=True) as connection:
                asked = Asked(Session(backend, "ana"), connection, draws, data.every)
                for question in questions:
                    for epsilon in PRICES:
                        yield asked.compared(data.name, question, epsilon)
    finally:
        shutil.rmtree(home)


def line(one: Compared) -> str:
    """A statement, for a terminal."""
    return (
        f"{one.ratio:8.2f} (at least {one.least:.2f})  {one.data}  epsilon {one.epsilon:g}  {one.plain.mechanisms}  "
        f"±{one.plain.root:.4g}, best ±{one.best.root:.4g}: {one.best.rival.label} by {one.best.mechanisms}  "
        f"covered {_mean(one.plain.covered):.0%}  {one.question.sql} {one.question.picks}".rstrip()
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def _geometric(found: Sequence[Compared]) -> float:
    return math.exp(_mean([math.log(max(1e-3, one.ratio)) for one in found]))


def _row(name: str, own: Sequence[Compared]) -> list[str]:
    covered = [_mean(one.plain.covered) for one in own if one.plain.covered]
    draws = sum(len(one.plain.squares) for one in own)
    return [
        name,
        str(len(own)),
        f"{_geometric(own):.2f}",
        f"{max(one.ratio for one in own):.2f}",
        f"{max(one.least for one in own):.2f}",
        f"{_mean(covered):.1%}",
        f"{min(covered, default=math.nan):.0%}",
        f"{sum(one.plain.zeros for one in own) / draws:.1%}",
    ]


def summary(found: Sequence[Compared]) -> list[str]:
    """A row for each class of statement and each data set, and one for all."""
    titles = (
        "", "statements and prices", "ratio, geometric mean", "worst", "worst, at least", "coverage", "worst coverage",
        "draws of zeros",
    )  # fmt: skip
    kinds, sets = defaultdict[str, list[Compared]](list), defaultdict[str, list[Compared]](list)
    for one in found:
        kinds[one.question.kind].append(one)
        sets[one.data].append(one)
    rows = [_row(name, own) for own_kind in (kinds, sets) for name, own in own_kind.items()]
    return table(titles, [*rows, _row("**all**", found)])


def worst(found: Sequence[Compared], most: int) -> list[str]:
    """The statements that lose most."""
    titles = ("statement", "data", "epsilon", "taken", "best in hindsight", "ratio", "at least")
    ordered = sorted(found, key=lambda one: -one.least)[:most]
    rows = [
        [
            f"`{one.question.sql} {one.question.picks}`".replace(" `", "`"),
            one.data,
            f"{one.epsilon:g}",
            one.plain.mechanisms,
            f"{one.best.rival.label} ({one.best.mechanisms})",
            f"{one.ratio:.2f}",
            f"{one.least:.2f}",
        ]
        for one in ordered
    ]
    return table(titles, rows)


def picture(found: Sequence[Compared], path: Path) -> None:
    """The ratio of each statement, in rising order, by price."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "untuned"
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3.5))
    for epsilon in PRICES:
        ratios = sorted(min(one.ratio, 1e4) for one in found if one.epsilon == epsilon)
        axes.plot(np.linspace(0, 100, len(ratios)), ratios, drawstyle="steps-post", label=f"epsilon {epsilon:g}")
    axes.set(yscale="log", xlabel="statements, %", ylabel="error of the plain statement\nover the best in hindsight")
    axes.axhline(1, color="grey", linewidth=0.8)
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")


def chosen(only: str | None, without: str | None) -> list[tuple[DataSet, list[Question]]]:
    """Data sets with their statements: all, or those of a data set, a class, or a text in them; but for one set."""
    found = []
    for data in (data for data in DATA if data.name != without):
        own = [q for q in data.questions if only is None or only in (data.name, q.kind) or only in q.sql]
        if own:
            found.append((data, own))
    return found


def lines_of(
    name: str, questions: Sequence[Question], draws: int, folder: Path, facts: Fraction | None
) -> list[Compared]:
    """The same as a list, each printed when it is there; in a process of its own."""
    (data,) = (data for data in DATA if data.name == name)
    found = []
    for one in asked_of(data, questions, draws, folder, facts):
        print(line(one), flush=True)
        found.append(one)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--only", help="a data set, a class of statements, or a text that they hold")
    parser.add_argument("--without", help="a data set that is left out")
    parser.add_argument("--keep", type=Path, help="where the files of TPC-H are, or stay")
    parser.add_argument("--advise", type=Fraction, help="dpsql advise at this epsilon before, for all statements")
    parser.add_argument("--found", type=Path, help="a file that keeps what was found, for parts that run one by one")
    parser.add_argument("--jobs", type=int, default=1, help="data sets that are asked at once")
    parser.add_argument("--worst", type=int, default=20, help="how many statements are listed")
    parser.add_argument("--only-print", action="store_true", help="leave the page as it is")
    given = parser.parse_args()
    made, began = circumstances(), time.monotonic()
    with kept(given.keep) as folder:
        parts = chosen(given.only, given.without)
        with ProcessPoolExecutor(given.jobs) as pool:
            work = [
                pool.submit(lines_of, data.name, questions, given.draws, folder, given.advise)
                for data, questions in parts
            ]
            found = [one for done in work for one in done.result()]
    if given.found is not None:
        found += pickle.loads(given.found.read_bytes()) if given.found.exists() else []  # noqa: S301 - a file of its own
        given.found.write_bytes(pickle.dumps(found))
    asked, sets = {(one.data, one.question) for one in found}, {one.data for one in found}
    lines = [
        f"{len(asked)} statements over {len(sets)} data sets, "
        f"each at epsilon {' and '.join(f'{x:g}' for x in PRICES)}, {given.draws} draws each.",
        "",
        *summary(found),
        "",
        "The worst, by the lower limit of their ratio:",
        "",
        *worst(found, given.worst),
        "",
        made,
    ]
    whole = ((given.only or given.without) is None or given.found is not None) and not given.only_print
    if whole:
        picture(found, ROOT / "docs" / "figures" / "untuned.svg")
    write("untuned", lines, page=PAGE, only_print=not whole)
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
