"""Random statements over random policies, replayed on neighbouring databases with all audits; in one process.

The bounded tables are built and asked by the code that the owner's process and the worker run, without the processes:
thousands of policies would start too many.

    python -m tests.attacks.random_replay 1000 [FIRST SEED]
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from dpsql.answers.computed.postprocess import PostProcess
from dpsql.audit.audits import AUDITS, fresh_noise, of_whole_tables
from dpsql.audit.replay import Promise, Replay
from dpsql.audit.seen import answered, control_flow
from dpsql.audit.shares import class_shares
from dpsql.audit.watched import asked
from dpsql.backend import Backend
from dpsql.charging import Charging
from dpsql.engine.base import EngineStatement, PublicTable
from dpsql.engine.dialect import Dialect
from dpsql.engine.duckdb.database import DuckDBDatabase
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.public_columns import PublicColumns
from dpsql.ledger.beside import Beside
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.served import Served
from dpsql.ledger.waiting import Waiting
from dpsql.mechanisms.metric.row_metric import build_metrics
from dpsql.owner.building.facts import public_table
from dpsql.owner.building.views import build_tables
from dpsql.owner.catalog import build_catalog
from dpsql.owner.shape import shape_of
from dpsql.plan.options import Options
from dpsql.policy import Policy
from dpsql.privacy.tables import RawTable
from dpsql.proxy import limits_of, pinned_of
from dpsql.testing_samplers import FixedSampler
from dpsql.worker import wire
from dpsql.worker.__main__ import Desk
from dpsql.worker.client import _message, _read
from tests.attacks.random_policies import NAMES, PUBLIC, Drawn, draw
from tests.attacks.random_rows import Drawn as Rows
from tests.attacks.random_rows import Maker, Schema
from tests.attacks.templates import Template
from tests.settled import settled

__all__ = ["InProcess", "audited", "backend_over", "statements"]

KEY = bytes(32)
REMOVED = NAMES[:3]
LAST: Mapping[str, set[str]] = {f"only {NAMES[0]}": {NAMES[0]}, "nobody": set()}
QUESTIONS = 6
"""Statements that are asked under each policy."""


Public = Mapping[str, tuple[str, Sequence[tuple[Any, ...]]]]
"""Public tables: their columns with types, and their rows."""


class InProcess:
    """An `Engine` over the bounded tables of one state of the data, in this process."""

    version = 1

    def __init__(self, drawn: Drawn, present: Collection[str], public: Public = PUBLIC) -> None:
        self._connection = duckdb.connect(config={"threads": 1})
        self._connection.execute("ATTACH ':memory:' AS source; ATTACH ':memory:' AS bounded")
        for name, (types, rows) in public.items():
            self._fill(name, types, rows)
        for table in drawn.tables:
            types = ", ".join(f"{column} {kind}" for column, kind in table.columns.items())
            there = [row for owner, row in table.rows if owner is None or owner in present]
            random.Random(f"{drawn.seed} {table.name} {sorted(present)}").shuffle(
                there
            )  # where a row lies says nothing
            self._fill(table.name, types, there)
        database = DuckDBDatabase(self._connection, KEY.hex())
        with tempfile.TemporaryDirectory() as into:
            facts = build_tables(database, shape_of(drawn.policy), lambda *_: None, [], Path(into))
        self.public: Mapping[str, PublicTable] = {name: public_table(name, own) for name, own in facts.items()}
        self._desk = Desk(self._connection, ("bounded", "main"))
        self.dialect: Dialect = DUCKDB

    def _fill(self, name: str, types: str, rows: Sequence[tuple[Any, ...]]) -> None:
        self._connection.execute(f"CREATE TABLE source.main.{name} ({types})")
        if rows:
            row = f"({', '.join('?' * len(rows[0]))})"
            flat = [value for values in rows for value in values]
            self._connection.execute(f"INSERT INTO source.main.{name} VALUES {', '.join([row] * len(rows))}", flat)

    def verify(self, statement: EngineStatement) -> None:
        """Returns if DuckDB reads the statement as it was meant."""
        self._desk.verify(_request(statement))

    def stand(self) -> None:
        """It is in this process."""

    def run(self, statement: EngineStatement) -> RawTable:
        """The statement's exact result."""
        sent = self._desk.answer(_request(statement), ())
        return RawTable(_read([memoryview(bytes(part)) for part in sent], statement))

    def run_all(self, statements: Sequence[EngineStatement]) -> list[RawTable]:
        """Those of several statements."""
        return [self.run(statement) for statement in statements]

    def close(self) -> None:
        """Ends the engine."""
        self._connection.close()


def _request(statement: EngineStatement) -> Any:
    """The statement as the worker receives it."""
    return wire.decode(_message(statement, 60, {}))


PUBLIC_ROWS = (
    Rows("SELECT * FROM towns", {"name": "text", "zone": "number"}),
    Rows("SELECT * FROM zones", {"zone": "number", "kind": "text"}),
    Rows("SELECT DISTINCT zone FROM zones", {"zone": "number"}),
)
AGGREGATES = {
    "number": (
        "COUNT({})", "SUM({})", "AVG({})", "VAR_POP({})", "STDDEV({})", "MEDIAN({})", "MAX({})", "COUNT(DISTINCT {})",
        "SUM({}, contribution_bounds_per_row => (-1, 2))", "SUM({}, contribution_bounds_per_group => (-1, 3))",
        "AVG({}, contribution_bounds_per_row => (0, 2))", "QUANTILE_CONT({}, 0.25)", "SUM({}) FILTER (WHERE {} > 0)",
        "SUM({}, contribution_bounds_per_group => (0, 1)) FILTER (WHERE [])", "AVG({}) FILTER (WHERE [])",
        "SUM(CASE WHEN [] THEN {} ELSE 1 END)", "AVG(CASE WHEN [] THEN {} WHEN [] THEN -1 END)",
        "SUM(CASE WHEN {} > 1 THEN {} END, contribution_bounds_per_group => (-2, 2))", "MIN({}) FILTER (WHERE [])",
    ),
    "text": ("COUNT({})", "COUNT(DISTINCT {})", "MODE({})", "COUNT({}) FILTER (WHERE [])"),
    "flag": ("COUNT_IF({})", "BOOL_OR({})"),
    "unit": ("COUNT(DISTINCT {})", "COUNT(DISTINCT {})", "COUNT({})"),
    "link": ("COUNT(DISTINCT {})", "COUNT({})"),
    "day": ("COUNT({})", "MAX({})", "COUNT(DISTINCT {})", "QUANTILE_DISC({}, 0.5)", "MIN({}) FILTER (WHERE [])"),
    "moment": ("COUNT({})",),
}  # fmt: skip
CONDITIONS = {
    "number": (
        "{} > 0", "{} BETWEEN 0 AND 2", "{} IN (1, 2)", "NOT ({} <= 1)", "({} < 1 OR {} > 2)", "{} = 9",
        "({} >= 2 AND {} < 3)", "{} IS NULL", "COALESCE({}, 1) >= 1",
    ),
    "text": ("{} = 'a'", "{} IN ('a', 'b')", "{} <> 'b'"),
    "flag": ("{}", "NOT {}"),
    "day": ("{} >= DATE '2024-01-03'", "{} < DATE '2024-01-03'"),
}  # fmt: skip
"""What stands in WHERE, in FILTER and in CASE; ``[]`` of an aggregate is one of these."""
KEYS = {
    "number": ("{}", "floor({} / 2)", "{} IS NULL"),
    "text": ("{}", "upper({})", "{} = 'a'"),
    "flag": ("{}",),
    "day": ("{}", "month({})"),
}
SETS = ("ROLLUP ({})", "CUBE ({})", "GROUPING SETS (({}), ())", "GROUPING SETS ((1), ({}))")
SEVERAL = (
    "SELECT COUNT(*) FROM ({}) AS x UNION ALL SELECT COUNT(*) FROM ({}) AS y",
    "SELECT * FROM ({}) AS x CROSS JOIN ({}) AS y",
)
"""Statements over two answers."""
OPEN = {"epsilon": 6, "delta": 1e-3}
GAUSSIAN = {"epsilon": 1, "delta": 1e-6, "mechanism": "gaussian"}
OPTIONS: tuple[dict[str, Any], ...] = (
    {}, {}, {}, OPEN, {**OPEN, "mechanism": "gaussian_threshold"}, {**OPEN, "mechanism": "threshold"}, GAUSSIAN,
    {"rho": 0.1}, {"max_groups_per_unit": 1},
    {"max_rows_per_group": 1}, {"max_rows_contributed": 2}, {**OPEN, "max_groups_per_unit": 2},
    {"mechanism": "preprocessing", "sensitivity": 3},
)  # fmt: skip


def statements(drawn: Drawn, count: int = QUESTIONS) -> list[Template]:
    """Random statements over a policy's tables."""
    chance = random.Random(f"statements {drawn.seed}")
    maker = Maker(chance.choice, Schema(drawn.kinds, PUBLIC_ROWS))
    cells = [_cells(name, section.base_partition, drawn, chance) for name, section in drawn.policy.random_dp.items()]
    asked = [_statement(maker, chance) for _ in range(count)]
    return [*asked, *cells, *(_several(asked, shape, chance) for shape in SEVERAL)]


def _several(asked: Sequence[Template], shape: str, chance: random.Random) -> Template:
    """Two statements in one, at the options of the second; sometimes the same twice."""
    one, two = chance.choice(asked), chance.choice(asked)
    return Template(shape.format(one.sql, two.sql), options=two.options)


def _cells(table: str, columns: Sequence[str], drawn: Drawn, chance: random.Random) -> Template:
    """A question of random differential privacy: counts over some of the declared cells."""
    kinds = {column: drawn.kinds[table][column] for column in columns}
    keys = chance.sample(list(columns), chance.randint(0, len(columns)))
    text = f"SELECT {', '.join([*keys, 'COUNT(*)'])} FROM {table}"
    text += f" WHERE {_condition(kinds, chance)}" if chance.random() < 0.5 else ""
    return Template(text + (f" GROUP BY {', '.join(keys)}" if keys else ""), options={"mechanism": "random_dp"})


def _statement(maker: Maker, chance: random.Random) -> Template:
    source, names = _source(maker, chance)
    by = chance.choice((0, 0, 1, 1, 2))
    fit = [name for name, kind in names.items() if kind.split()[0] in KEYS]
    keys = [chance.choice(KEYS[names[name]]).format(name) for name in chance.sample(fit, min(by, len(fit)))]
    asked = [_aggregate(names, chance) for _ in range(chance.randint(1, 3))]
    text = f"SELECT {', '.join([*keys, *asked])} FROM {source}{_where(source, names, chance)}"
    if keys:
        places = ", ".join(str(at + 1) for at in range(len(keys)))
        text += f" GROUP BY {chance.choice(SETS).format(places) if chance.random() < 0.2 else places}"
    return Template(text, options=chance.choice(OPTIONS))


def _where(source: str, names: Mapping[str, str], chance: random.Random) -> str:
    """A condition for some of the sources: beside those of a join, or after it."""
    if chance.random() < 0.6:
        return ""
    if source[-1:] == "q":
        return f" WHERE {_condition(names, chance)}"
    return f" {'AND' if ' , ' in source or chance.random() < 0.3 else 'WHERE'} {_condition(names, chance)}"


def _condition(names: Mapping[str, str], chance: random.Random) -> str:
    """A condition on one column, or on two."""
    fit = [name for name, kind in names.items() if kind.split()[0] in CONDITIONS] or ["1 = 1"]
    found = []
    for name in chance.choices(fit, k=chance.choice((1, 1, 2))):
        shape = chance.choice(CONDITIONS[names[name].split()[0]]) if name in names else "{}"
        found.append(shape.replace("{}", name))
    return found[0] if len(found) == 1 else f"({chance.choice((' AND ', ' OR ')).join(found)})"


def _source(maker: Maker, chance: random.Random) -> tuple[str, dict[str, str]]:
    """What stands after FROM, and the columns there with their kinds: a table, a join, or a sub-query."""
    how = chance.random()
    if how < 0.5:
        a, b = maker.rows(chance.choice((0, 0, 0, 1))), maker.rows(0)
        names = {f"{alias}.{name}": kind for alias, own in (("a", a), ("b", b)) for name, kind in own.columns.items()}
        return maker.join(a, b), names
    rows = maker.rows(0 if how < 0.65 else chance.choice((1, 1, 2)))
    return maker.named(rows, "q"), {f"q.{name}": kind for name, kind in rows.columns.items()}


def _aggregate(names: Mapping[str, str], chance: random.Random) -> str:
    if chance.random() < 0.3:
        return "COUNT(*)"
    name = chance.choice(list(names))
    text = chance.choice(AGGREGATES[names[name].split()[0]]).replace("{}", name)
    for _ in range(text.count("[]")):
        text = text.replace("[]", _condition(names, chance), 1)
    return text


def replayed(drawn: Drawn, asking: Sequence[Template], after: PostProcess) -> Replay:
    """Every statement on every database of a policy, with the same noise."""
    promise = Promise(drawn.policy.neighbours, drawn.policy.budget.composition)
    states = {f"without {name}": set(NAMES) - {name} for name in REMOVED}
    if promise.neighbours == "add_remove":
        states = {**states, "everybody": set(NAMES), **(LAST if drawn.seed % 4 == 0 else {})}
    return Replay({(promise, name): _runs(drawn, there, asking, promise, after) for name, there in states.items()})


def _runs(
    drawn: Drawn, present: Collection[str], asking: Sequence[Template], promise: Promise, after: PostProcess
) -> list[Any]:
    engine = InProcess(drawn, present)
    try:
        backend = settled(backend_over(drawn.policy, engine, after))
        return [asked(backend, template, promise, str(template)) for template in asking]
    finally:
        engine.close()


def backend_over(policy: Policy, engine: InProcess, after: PostProcess) -> Backend:
    """What a session over such an engine is made of, on a ledger of its own."""
    ledger = Ledger.open(None, pinned=pinned_of(policy), limits=limits_of(policy))
    ledger._state.contribution_key = KEY  # neighbours share it: the proofs hold for each value of it
    catalog = build_catalog(policy, engine.public, 1)
    defaults = Options(epsilon=Fraction(1), delta=Fraction(1, 10**6))
    public = PublicColumns(engine, catalog)
    owners, metrics = Beside(None), build_metrics(policy, engine.public, public)
    charging = Charging(ledger, Waiting(owners), None, 1)
    return Backend(
        catalog, ledger, engine, after, FixedSampler(0), defaults, False, metrics, public, charging, Served(owners)
    )


def audited(seed: int, after: PostProcess, seen: Counter[str] | None = None) -> Iterator[str]:
    """What the audits convict under the policy of a seed; ``seen`` counts what was asked and answered."""
    drawn = draw(seed)
    asking = statements(drawn)
    replay = replayed(drawn, asking, after)
    if seen is not None:
        seen["policies"] += 1
        for _, run in list(replay.all())[: len(asking)]:
            seen["answered" if run.error is None else run.error[0]] += 1
    if drawn.classes:
        found = [*answered(replay), *control_flow(replay), *class_shares(replay, drawn.classes)]
    else:
        audits: dict[str, Callable[[Replay], list[str]]] = {
            **AUDITS,
            "fresh noise": partial(fresh_noise, whole=of_whole_tables(drawn.policy)),
        }
        found = [f"{name}: {problem}" for name, audit in audits.items() for problem in audit(replay)]
    yield from (f"policy {seed}: {problem}" for problem in found)


def main() -> None:
    """Audits as many policies as the first argument says, from the seed that the second says; Ctrl-C ends it early."""
    from_seeds("policy", audited)


def assert_none_convicts(
    what: str, audit: Callable[[int, PostProcess], Iterator[str]], after: PostProcess, seeds: range, command: str
) -> None:
    """No problem is found in many worlds; a failure says how to repeat it.

    Args:
        what: One of them is.
        audit: The problems of the one that a seed draws.
        after: Computes over released values.
        seeds: Of the worlds.
        command: The module that audits so many from a seed on.
    """
    again = f"to repeat it: python -m {command} {len(seeds)} {seeds[0]}"
    for number in seeds:
        try:
            found = list(audit(number, after))
        except Exception as error:
            raise AssertionError(f"{what} {number} fails; {again}") from error
        assert found == [], again


def from_seeds(what: str, audit: Callable[[int, PostProcess, Counter[str]], Iterator[str]]) -> None:
    """Tells the problems of each of many worlds, by the arguments of the command line.

    Args:
        what: One of them is.
        audit: The problems of the one that a seed draws; it counts what was asked and answered.
    """
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(2**31)
    seen, convicted = Counter[str](), 0
    after = PostProcess(2 << 30)
    try:
        for seed in range(first, first + count):
            try:
                problems = list(audit(seed, after, seen))
            except Exception as error:  # noqa: BLE001 - told with its seed, and the next one is audited
                problems = [f"{what} {seed}: {type(error).__name__}: {error}"]
            convicted += bool(problems)
            print("\n".join(problem[:600] for problem in problems[:2]), end="\n" if problems else "", flush=True)
    except KeyboardInterrupt:
        print()
    finally:
        after.close()
    print(f"from {what} {first} on: {dict(seen)}; convicted: {convicted}")


if __name__ == "__main__":
    main()
