"""The policy file: what the owner promises the protected people, and what analysts may ask.

Field names are the keys of the file. Everything is frozen, numbers are exact, and unknown keys are errors.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, PrivateAttr, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from dpsql.errors import PolicyError
from dpsql.policy.classes import PrivacyClasses, broken_classes
from dpsql.policy.column import ColumnPolicy
from dpsql.policy.engine import AnyEngine
from dpsql.policy.mechanisms import ColumnMechanisms
from dpsql.policy.metrics import MetricPolicy, broken_metrics
from dpsql.policy.random_dp import RandomDPPolicy, broken_random_dp
from dpsql.policy.section import (
    Ceiling,
    Chance,
    ColumnName,
    Duration,
    FilePath,
    Loss,
    Name,
    Positive,
    Section,
    seconds,
    twins,
    wrong,
)
from dpsql.policy.server import ServerSection
from dpsql.policy.table import TablePolicy
from dpsql.policy.units import broken_chains, identities, misnamed_units, unit_column

__all__ = ["AdvisedPrice", "BudgetSection", "DefaultPrice", "Limit", "Policy"]

Place = tuple[str | int, ...]
"""Where in the file: the keys and positions that lead there."""


def _analyst(name: str) -> str:
    if name != "*" and not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,99}", name):
        raise wrong(f"{name!r} is not an analyst's name", 'write letters, digits and _ . @ + -, or "*" for all others')
    return name


Analyst = Annotated[str, AfterValidator(_analyst), WithJsonSchema({"type": "string"})]


class Limit(Section):
    """The most that may ever be spent."""

    epsilon: Positive = Field(examples=[1])
    """Pure-DP loss, above 0."""
    delta: Chance = Field(default=0, validate_default=True)
    """Probability of a larger loss, from 0 to below 1."""
    gamma: Chance = Field(default=0, validate_default=True)
    """Probability of failure of random differential privacy, from 0 to below 1."""


class DefaultPrice(Section):
    """What a query costs when it does not say: epsilon or rho, and a ceiling on delta."""

    epsilon: Loss | None = None
    """Pure-DP loss, from 1e-9 to 1e6."""
    delta: Ceiling = Field(default=0, validate_default=True)
    """The most delta that one query may use: 0, or from 1e-18 to below 1."""
    rho: Loss | None = None
    """zCDP loss, from 1e-9 to 1e6, instead of epsilon."""

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if (self.epsilon is None) == (self.rho is None):
            raise wrong("a query is priced by epsilon or by rho", "write one of them, such as epsilon: 0.5")
        return self


class AdvisedPrice(Section):
    """What facts cost whose consequences stand in this file."""

    epsilon: Positive = Field(examples=[0.05])
    """Pure-DP loss, above 0."""
    delta: Chance = Field(default=0, validate_default=True)
    """Probability of a larger loss, from 0 to below 1."""


class BudgetSection(Section):
    """The promise in numbers, and where spending is recorded."""

    ledger: FilePath = Field(examples=["hospital.ledger.db"])
    """The SQLite file of every charge; created when it is first used."""
    mark: FilePath | None = None
    """Where the ledger's high-water mark lives; by default in the user's state directory."""
    composition: Literal["basic", "zcdp"] = Field(examples=["zcdp"])
    """How losses add: basic (sums), or zcdp (many small queries cost less; needs delta)."""
    total: Limit = Field(examples=[{"epsilon": 20, "delta": 1e-5}])
    """The limit of all analysts together."""
    analysts: dict[Analyst, Limit] = Field(min_length=1, examples=[{"ana": {"epsilon": 8, "delta": 1e-6}}])
    """The limit of each analyst; "*" is one account shared by everyone not named."""
    per_query: DefaultPrice = Field(examples=[{"epsilon": 0.5, "delta": 1e-9}])
    """The price of a query that names none."""
    advised: AdvisedPrice | None = None
    """What `dpsql advise --write` put into this file has cost: every account of a new ledger begins with it."""

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if pair := twins(self.analysts):
            raise wrong(f"{pair[0]} and {pair[1]} differ in case alone", "rename one", "analysts", pair[1])
        if self.composition == "zcdp" and self.total.delta == 0:
            raise wrong("zcdp needs a delta", "write one, such as delta: 1.0e-6, or composition: basic", "total")
        price = self.per_query
        if price.rho is not None and self.composition == "basic":
            raise wrong(
                "rho needs composition: zcdp", "write epsilon instead, or composition: zcdp", "per_query", "rho"
            )
        if price.epsilon is not None:
            accounts = {"the total": self.total} | {f"analyst {name}": own for name, own in self.analysts.items()}
            for whose, limit in accounts.items():
                if price.epsilon > limit.epsilon:
                    raise wrong(
                        f"a query costs more than the limit {limit.epsilon} of {whose}",
                        f"write at most {limit.epsilon}",
                        *("per_query", "epsilon"),
                    )
        if price.delta > self.total.delta:
            raise wrong(
                f"the delta of a query is above the total {self.total.delta}",
                f"write at most {self.total.delta}",
                *("per_query", "delta"),
            )
        return self


class Policy(Section):
    """One policy file."""

    version: Literal[1] = Field(examples=[1])
    """The version of this format: 1."""
    name: Name = Field(examples=["hospital"])
    """A short name for the policy."""
    engine: AnyEngine
    """The database engine and its limits."""
    neighbours: Literal["add_remove", "replace_one"] = Field(examples=["add_remove"])
    """What must be hard to tell apart: a unit's being there or not, or a unit's being exchanged for another."""
    budget: BudgetSection = Field(
        examples=[
            {
                "ledger": "hospital.ledger.db",
                "composition": "basic",
                "total": {"epsilon": 20},
                "analysts": {"ana": {"epsilon": 8}},
                "per_query": {"epsilon": 0.5},
            }
        ]
    )
    """The promise in numbers."""
    tables: dict[Name, TablePolicy] = Field(
        min_length=1,
        examples=[
            {
                "patients": {
                    "unit": "patient_id",
                    "rows_per_unit": 1,
                    "columns": {"age": {"type": "integer", "bounds": [0, 110]}},
                }
            }
        ],
    )
    """The tables that analysts may use. Others do not exist for them."""
    metrics: dict[Name, MetricPolicy] = Field(default_factory=dict)
    """d_X privacy: named metrics on the rows of a table."""
    random_dp: dict[Name, RandomDPPolicy] = Field(default_factory=dict)
    """Random differential privacy, per table."""
    privacy_classes: PrivacyClasses | None = None
    """Personalised privacy: classes of units that lose a share of each query's epsilon."""
    idealised_numerics: bool = False
    """true admits mechanisms whose exact arithmetic is not proved (covariances), and labels their answers."""
    server: ServerSection = Field(default_factory=ServerSection)
    """What is asked over a server, and by an agent."""
    answer_times: list[Duration] = Field(default_factory=list, examples=[["100ms", "1s", "10s"]])
    """Answers and refusals leave at these times after a question alone, and at multiples of the last."""
    mechanisms: dict[ColumnName, ColumnMechanisms] = Field(default_factory=dict)
    """The owner's defaults and bans per table.column."""

    _file: Path | None = PrivateAttr(default=None)
    _lines: Mapping[Place, int] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        for problem in _contradictions(self):
            raise problem
        for name, table in self.tables.items():
            table._unit_column = None if table.public else unit_column(self.tables, name)
        for problem in misnamed_units(self.tables):
            raise problem
        if self.privacy_classes is not None:
            for problem in broken_classes(self.privacy_classes, self.tables):
                raise problem
        return self

    @property
    def file(self) -> Path | None:
        """The file that the policy was loaded from, or None."""
        return self._file

    @property
    def classes(self) -> Mapping[str, Fraction]:
        """Each class of units and the share of a loss that it agrees to; none without ``privacy_classes``."""
        return {} if self.privacy_classes is None else self.privacy_classes.shares

    @property
    def grid(self) -> tuple[float, ...]:
        """`answer_times`, in seconds."""
        return tuple(map(seconds, self.answer_times))

    def resolve(self, path: Path) -> Path:
        """The absolute path: a relative one starts at the policy file's directory, `~` at the user's home."""
        base = Path.cwd() if self._file is None else self._file.absolute().parent
        try:
            whole = base / path.expanduser()
            os.fsencode(whole)
        except RuntimeError:
            raise PolicyError(f"{path} starts at a home directory, and there is none. Write the whole path.") from None
        except UnicodeEncodeError:
            raise PolicyError(
                f"{path} has letters that this process's locale cannot write. Set LC_ALL=C.UTF-8 where dpsql runs."
            ) from None
        try:
            whole.resolve()
        except RuntimeError:  # before Python 3.13, which says nothing: the file is not there then
            raise PolicyError(f"{path} is a link that leads to itself. Write the path of what it stands for.") from None
        return whole

    def located(self, *place: str | int) -> str:
        """The file and the line of a key, as messages begin."""
        line = self._lines.get(place)
        return f"{self._file or self.name}{f':{line}' if line else ''}"

    def identities(self, table: str) -> dict[str, str | None]:
        """What each unit, key or reference column of a private table's data identifies; see `units.identities`."""
        return identities(self.tables, table)

    def wrong_at(self, place: Place, problem: str) -> PolicyError:
        """The error of a problem that shows only beside the public tables, with its place in the file."""
        line = self._lines.get(place)
        return PolicyError(
            f"{self.file or self.name}{f':{line}' if line else ''}: {'.'.join(map(str, place))}: {problem}"
        )


def _contradictions(policy: Policy) -> Iterator[PydanticCustomError]:
    """What no section can see alone: each problem at its place in the whole policy."""
    if pair := twins(policy.tables):
        yield wrong(f"{pair[0]} and {pair[1]} are one name in SQL", "rename one, in a view", "tables", pair[1])
    if all(table.public for table in policy.tables.values()):
        yield wrong("no table is private, so there is nobody to protect", "write unit: ... for one", "tables")
    for name, table in policy.tables.items():
        at = ("tables", name)
        if (problem := policy.engine.without_data(table.file)) is not None:
            yield wrong(f"{name} {problem[0]}", problem[1], *at)
        if table.csv is not None and policy.engine.kind != "duckdb":
            yield wrong("csv is for files that DuckDB reads", "remove it", *at, "csv")
        if table.every_unit and policy.neighbours != "replace_one":
            yield wrong(
                "under add_remove the number of units is private",
                "remove every_unit, or write neighbours: replace_one",
                *(*at, "every_unit"),
            )
        for key, column in table.columns.items():
            if column.values_from is not None:
                yield from _broken_domain(policy, column, (*at, "columns", key, "values_from"))
    if not all(a < b for a, b in pairwise((0.0, *policy.grid))):
        yield wrong("times of answers rise from above 0", "write such as [100ms, 1s, 10s]", "answer_times")
    yield from broken_chains(policy.tables)
    yield from broken_metrics(policy.metrics, policy.tables, policy.neighbours)
    yield from broken_random_dp(policy.random_dp, policy.tables, policy.neighbours)
    yield from _broken_later_sections(policy)


def _broken_domain(policy: Policy, column: ColumnPolicy, at: Place) -> Iterator[PydanticCustomError]:
    """A domain must come from a public table."""
    source, _, name = (column.values_from or "").partition(".")
    table = policy.tables.get(source)
    if table is None or not table.public:
        yield wrong(
            f"{source} is not a public table of this policy",
            f"declare it under tables, {source}: {{public: true, key: {name}}}, or list values: [...]",
            *at,
        )
    elif table.columns and name not in {*table.columns, table.key_column}:
        yield wrong(f"{source} has no column {name}", f"add it to the columns of {source}", *at)
    elif name in table.columns and table.columns[name].type != column.type:
        yield wrong(
            f"{source}.{name} is {table.columns[name].type}, this column is {column.type}", "make the types equal", *at
        )


def _broken_later_sections(policy: Policy) -> Iterator[PydanticCustomError]:
    """The sections that build on tables must name columns that exist there."""
    classes = policy.privacy_classes
    if classes is not None and (policy.metrics or policy.random_dp):
        other = "metrics" if policy.metrics else "random_dp"
        yield wrong(f"privacy_classes and {other} cannot go together", "keep one of them", "privacy_classes")
    if pair := twins(policy.metrics):
        yield wrong(f"{pair[0]} and {pair[1]} are one name", "rename one", "metrics", pair[1])
    named: list[tuple[str, str, Place]] = []
    for full in policy.mechanisms:
        table, _, column = full.partition(".")
        named.append((table, column, ("mechanisms", full)))
    for table, column, at in named:
        owner = policy.tables.get(table)
        if owner is None or owner.public or column not in owner.columns:
            yield wrong(f"{table}.{column} is not a column of a private table", "name one under tables", *at)
