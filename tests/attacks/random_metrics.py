"""Random metrics, statements under them, and tables that differ in one row, with the audits of `row_neighbours`.

Metrics are of every kind and combination, with and without presence, over tables of nobody, of a few and of many;
statements have conditions that keep all rows, some or none. The engine is in this process, as in `random_replay`.

    python -m tests.attacks.random_metrics 1000 [FIRST SEED]
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpsql.answers.computed.postprocess import PostProcess
from dpsql.mechanisms.metric.row_metric import RowMetric
from dpsql.policy import Policy
from tests.attacks.random_policies import Drawn, DrawnTable
from tests.attacks.random_replay import InProcess, Public, backend_over, from_seeds
from tests.attacks.random_under_metrics import statements
from tests.attacks.row_neighbours import ABSENT, Run, asked_of, convicted
from tests.unit.mechanisms.metric.homes import Row

__all__ = ["Street", "audited", "draw", "questions", "replayed"]

TOWNS: Public = {
    "towns": (
        "name VARCHAR, x DOUBLE, y DOUBLE, region VARCHAR, height INTEGER",
        [
            ("Alm", 0.0, 0.0, "hills", 100), ("Bach", 3.0, 4.0, "hills", 60), ("Cern", 30.0, 40.0, "plain", 10),
            ("Dorf", 33.0, 44.0, None, 12),
        ],
    )
}  # fmt: skip
NAMES = ("Alm", "Bach", "Cern", "Dorf")
TYPES = {"id": "INTEGER", "age": "INTEGER", "sex": "VARCHAR", "town": "VARCHAR"}
OLDEST = 4
SEXES = ("F", "M", "X")
VALUES: Mapping[str, Sequence[Any]] = {
    "age": (0, 1, 2, 3, 4, 99, -5, None), "sex": (*SEXES, "?", None), "town": (*NAMES, "Rome", None),
}  # fmt: skip
KNOWN: Mapping[str, Sequence[Any]] = {"age": range(OLDEST + 1), "sex": SEXES, "town": NAMES}
ROWS = 5
"""So many rows are exchanged for each other."""
QUESTIONS = 8
"""Statements that are asked under each policy."""
PLENTY = 10**6


@dataclass(frozen=True)
class Street:
    """A policy with one metric, its table, and rows that may stand in it.

    Attributes:
        policy: The policy.
        people: Who is there always.
        rows: Names to one row more; without values where it is absent.
        places: Where the metric puts these.
        columns: The attributes.
    """

    policy: Policy
    people: Sequence[Row]
    rows: Mapping[str, Row]
    places: Mapping[str, Row]
    columns: Sequence[str]


def _loss(chance: random.Random) -> Decimal:
    return chance.choice((Decimal("0.1"), Decimal("0.5"), Decimal(1), Decimal("2.5")))


def _attribute(chance: random.Random, column: str) -> dict[str, Any]:
    """How far apart the values of a column are."""
    own = _loss(chance)
    listed: list[dict[str, Any]] = [{"kind": "discrete", "epsilon": own}]
    edges = [("F", "M", own), ("M", "X", _loss(chance))]
    match column:
        case "age":
            listed += [
                {"kind": "chain", "epsilon": own}, {"kind": "chain", "gaps": [_loss(chance) for _ in range(OLDEST)]},
                {"kind": "threshold", "epsilon": own, "within": chance.choice((1, 2))},
                {"kind": "smooth", "epsilon": own, "within": chance.choice((1, 2))},
            ]  # fmt: skip
        case "sex":
            a, b = _loss(chance), _loss(chance)
            listed += [
                {"kind": "star", "parts": [(sex, _loss(chance)) for sex in SEXES]}, {"kind": "tree", "edges": edges},
                {"kind": "graph", "edges": [*edges, ("F", "X", _loss(chance))]}, {"kind": "chain", "gaps": [a, b]},
                {"kind": "matrix", "distances": [[0, a, a + b], [a, 0, b], [a + b, b, 0]]},
            ]  # fmt: skip
        case _:
            listed += [{"kind": "euclidean", "of": ["towns.x", "towns.y"], "epsilon": own}] * 2
            listed += [{"kind": "euclidean", "of": ["towns.height"], "epsilon": own}]
    found = chance.choice(listed)
    if (how := chance.random()) < 0.25:
        return found | {"missing": _loss(chance)}
    return found | ({"outside": chance.choice(KNOWN[column])} if how < 0.4 else {})


def draw(seed: int) -> Street:
    """The street of a seed."""
    chance = random.Random(f"street {seed}")
    neighbours = chance.choice(("add_remove", "replace_one"))
    presence = neighbours == "add_remove" or chance.random() < 0.5
    columns = sorted(chance.sample(list(VALUES), chance.choice((1, 2, 2, 3))))
    attributes = {column: _attribute(chance, column) for column in columns}
    combine = chance.choice(("sum", "sum", "sup", "l2"))
    parts = [*columns, *(["presence"] if presence else [])]
    declared: dict[str, dict[str, Any]] = {
        "age": {"type": "integer", "bounds": [0, OLDEST]},
        "sex": {"type": "text", "values": list(SEXES)},
        "town": {"type": "text", "values_from": "towns.name"},
    }
    for column, own in declared.items():
        told = attributes.get(column, {})
        own["nullable"] = "missing" in told or (
            chance.random() < 0.5 and ("outside" in told or told.get("kind", "discrete") == "discrete")
        )
    metric: dict[str, Any] = {"table": "people", "combine": combine, "attributes": attributes}
    metric["limit"] = dict.fromkeys(parts, PLENTY) if combine == "sum" else PLENTY
    whole = {"total": {"epsilon": PLENTY}, "analysts": {"ana": {"epsilon": PLENTY}}, "per_query": {"epsilon": 1}}
    policy = Policy.model_validate(
        {
            "version": 1,
            "name": "street",
            "engine": {"kind": "duckdb", "database": "street.duckdb"},
            "neighbours": neighbours,
            "budget": {"ledger": "street.ledger.db", "composition": "basic"} | whole,
            "tables": {
                "people": {"unit": "id", "rows_per_unit": 1, "columns": declared}
                | ({} if presence else {"every_unit": True}),
                "towns": {"public": True, "key": "name"},
            },
            "metrics": {"home": metric | ({"presence": _loss(chance)} if presence else {})},
        }
    )
    people = [_row(chance, at) for at in range(chance.choice((0, 1, 4, 12)))]
    rows = {f"row {at}": _row(chance, 100) for at in range(ROWS)}
    if presence:
        rows[ABSENT] = ()
    places = {name: _place(row, attributes, declared) for name, row in rows.items()}
    return Street(policy, people, rows, places, columns)


def _row(chance: random.Random, unit: int) -> Row:
    return (unit, *(chance.choice(values) for values in VALUES.values()))


def _place(row: Row, attributes: Mapping[str, Mapping[str, Any]], declared: Mapping[str, Mapping[str, Any]]) -> Row:
    """The values that the metric sees, by what docs/metric.md says of those that are none of a column's."""
    if not row:
        return ()
    found = []
    for column, attribute in attributes.items():
        value = row[list(TYPES).index(column)]
        discrete = attribute["kind"] == "discrete" and declared[column]["nullable"] and "outside" not in attribute
        if column == "age" and isinstance(value, int):
            value = min(max(value, 0), OLDEST)
        if value not in KNOWN[column]:
            apart = "missing" in attribute or discrete
            value = None if apart else attribute.get("outside", KNOWN[column][0])
        found.append(value)
    return tuple(found)


def questions(seed: int, street: Street) -> list[str]:
    """What is asked on the street of a seed."""
    chance = random.Random(f"statements {seed}")
    return list(dict.fromkeys(statements(chance, street.columns, QUESTIONS)))


def replayed(
    street: Street,
    asking: Sequence[str],
    after: PostProcess,
    broken: Callable[[RowMetric], RowMetric] = lambda metric: metric,
) -> tuple[RowMetric, dict[str, dict[str, Run]]]:
    """The metric, and every statement's runs by the row that is there, with the same noise.

    Args:
        street: The street.
        asking: The statements.
        after: The worker without data.
        broken: What is done to the metric before anything is asked: a seeded bug.
    """
    always = [(None, person) for person in street.people]
    table = DrawnTable("people", TYPES, [*always, *((name, row) for name, row in street.rows.items() if row)])
    drawn = Drawn(street.policy, [table], {}, {}, 0)
    found: dict[str, dict[str, Run]] = {sql: {} for sql in asking}
    for name in street.rows:
        engine = InProcess(drawn, {name}, TOWNS)
        try:
            backend = backend_over(street.policy, engine, after)
            metric = backend.metrics["home"]
            backend = replace(backend, metrics={"home": broken(metric)})
            for sql in asking:
                found[sql][name] = asked_of(backend, sql, OPTIONS)
        finally:
            engine.close()
    return metric, found


OPTIONS: Mapping[str, Any] = {"mechanism": "metric", "metric": "home", "multiple": Fraction(3, 4)}


def audited(seed: int, after: PostProcess, seen: Counter[str] | None = None) -> Iterator[str]:
    """What convicts on the street of a seed; ``seen`` counts what was asked and answered."""
    street = draw(seed)
    metric, replay = replayed(street, questions(seed, street), after)
    if seen is not None:
        seen["streets"] += 1
        for runs in replay.values():
            (run, *_) = runs.values()
            seen["answered" if run.error is None else run.error[0]] += 1
    yield from (f"street {seed}: {problem}" for problem in convicted(metric, replay, street.places))


def main() -> None:
    """Audits as many streets as the first argument says, from the seed that the second says; Ctrl-C ends it early."""
    from_seeds("street", audited)


if __name__ == "__main__":
    main()
