"""Random statements, bought together and one by one over a random world: what is drawn is charged, and what is stored
answers for what it is alone; in one process.

A few aggregates, keys, conditions and prices are drawn for each world, and all statements are made of these: so many
share a release, or a part of one, or nearly do.

    python -m tests.attacks.random_batches 1000 [FIRST SEED]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from dpsql.answers.answer import Answer
from dpsql.answers.computed.postprocess import PostProcess
from dpsql.audit.charged import Charged
from dpsql.backend import Backend
from dpsql.errors import EngineFailed, Error, InvariantBroken
from dpsql.prepare import Measured
from dpsql.prepare.batch import Batch
from dpsql.privacy.kinds import Loss
from dpsql.privacy.loss import Composed, PrivacyLoss
from dpsql.privacy.tables import Group, RawTable, ReleasedTable
from dpsql.session import Session
from dpsql.sql import syntax
from dpsql.sql.parse import parse
from dpsql.testing_samplers import FixedSampler
from tests.attacks.random_replay import InProcess, backend_over, from_seeds
from tests.attacks.random_worlds import CONDITIONS, KEYS, NUMBERS, World, world
from tests.settled import settled

__all__ = ["audited", "but_the_last", "statements", "told"]

ASKED = 40
"""Statements of each world."""
ROUNDS = 4
"""Batches of them, after each other."""
AGGREGATES = (
    "SUM({})", "AVG({})", "COUNT({})", "COUNT(*)", "MEDIAN({})", "MIN({})", "VAR_POP({})", "STDDEV({})", "SUM({} + 1)",
    "SUM({}, epsilon => 0.3)", "COUNT(*, epsilon => 0.3)", "SUM({}) FILTER (WHERE {} > 1)", "COUNT_IF({} > 1)",
    "AVG({}, contribution_bounds_per_row => (0, 2))", "SUM({}, contribution_bounds_per_group => (0, 2))",
    "COUNT(DISTINCT person)", "COUNT(DISTINCT {})", "QUANTILE_DISC({}, [0.25, 0.75])", "AVG({}, epsilon => 0.5)",
    "BOOL_OR({} > 1)", "SUM({} * 2)", "MAX({}) FILTER (WHERE {} > 1)", "QUANTILE_CONT({}, 0.5)",
)  # fmt: skip
AROUND = (
    "{}", "{}", "{}", "SELECT COUNT(*) FROM ({}) AS q", "SELECT * FROM ({}) AS q ORDER BY 1 DESC LIMIT 1",
    "SELECT * FROM ({}) AS q UNION ALL SELECT * FROM ({}) AS r",
)  # fmt: skip
OPENLY = "epsilon = 6, delta = 0.001, group_selection_strategy = LAPLACE_THRESHOLD"
PRICES = (
    "epsilon = 1", "epsilon = 2", "epsilon = 1, confidence = 0.9", "mechanism = 'laplace'",
    "epsilon = 6, delta = 0.001",
    OPENLY, f"{OPENLY}, rest = TRUE", f"{OPENLY}, min_privacy_units_per_group = 3", "max_groups_per_unit = 1",
    "rho = 0.1", "rho = 0.2", "epsilon = 2, delta = 0.000001", "mechanism = 'gaussian', delta = 0.000001",
    "mechanism = 'gaussian', epsilon = 2, delta = 0.000001", "mechanism = 'clamped'",
    "mechanism = 'clamped', epsilon = 2", "mechanism = 'capped'", "mechanism = 'located'",
    "mechanism = 'preprocessing', sensitivity = 3", "max_rows_contributed = 2", "max_rows_per_group = 1",
    f"{OPENLY}, mechanism = 'gaussian_threshold'",
)  # fmt: skip
SETS = ("GROUP BY 1",) * 5 + ("GROUP BY ROLLUP (1)", "GROUP BY GROUPING SETS ((1), ())")


class Watched(Session):
    """A session that keeps what each draw loses."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend, "ana")
        self.drawn: list[Loss] = []

    def _noised(
        self, measured: Measured, raw: Sequence[RawTable], keys: Sequence[str], groups: Sequence[Group]
    ) -> ReleasedTable:
        self.drawn.append(measured.choice.release.loss)
        return super()._noised(measured, raw, keys, groups)


def statements(own: World) -> list[str]:
    """Some that are nearly one another."""
    chance = own.chance
    numbers = [name for name in own.columns if name in NUMBERS]
    listed = [name for name in own.columns if name in "gbdzm"] or ["n"]
    shapes, prices = chance.sample(AGGREGATES, 3), chance.sample(PRICES, 2)
    where = ["", *(f" WHERE {chance.choice(CONDITIONS[name])}" for name in chance.sample(own.columns, 2))]
    where += [f" WHERE {name} > (SELECT AVG({name}) FROM t)" for name in numbers[:1]]
    found = []
    for _ in range(ASKED):
        keys = [chance.choice(KEYS[name]) for name in chance.sample(listed, chance.choice((0, 0, 1)))]
        asked = [chance.choice(shapes).replace("{}", chance.choice(numbers)) for _ in range(chance.randint(1, 2))]
        text = f"SELECT {', '.join([*keys, *asked])} FROM t{chance.choice(where)}"
        text += f" {chance.choice(SETS)}" if keys else ""
        text = chance.choice(AROUND).replace("{}", text)
        options = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({chance.choice(prices)}) "
        found.append(options + text.removeprefix("SELECT "))
    return found


def audited(seed: int, after: PostProcess, seen: Counter[str] | None = None) -> Iterator[str]:
    """What is wrong in the world of a seed; ``seen`` counts what was looked at."""
    own, seen = world(seed), Counter[str]() if seen is None else seen
    engine = InProcess(own.drawn, own.units)
    try:
        asked = list(_accepted(Session(_fresh(own, engine, after), "ana"), statements(own), seen))
        yield from (f"world {seed}: {problem}" for problem in _bought(own, asked, engine, after, seen))
        yield from (f"world {seed}: {problem}" for problem in _stored(own, asked, engine, after, seen))
    finally:
        engine.close()


def _fresh(own: World, engine: InProcess, after: PostProcess) -> Backend:
    """On a ledger of its own; all of them draw the same noise."""
    return replace(settled(backend_over(own.drawn.policy, engine, after)), sampler=FixedSampler("batches"))


def _accepted(session: Session, asked: Sequence[str], seen: Counter[str]) -> Iterator[str]:
    for sql in dict.fromkeys(asked):
        try:
            session.explain(sql)
        except InvariantBroken:
            raise
        except Error:
            seen["refused"] += 1
        else:
            yield sql


def _bought(
    own: World, asked: Sequence[str], engine: InProcess, after: PostProcess, seen: Counter[str]
) -> Iterator[str]:
    """Batches after each other: one charge for what is drawn, and nothing else; each answer stays what it is."""
    backend = _fresh(own, engine, after)
    session, known = Watched(backend), dict[str, Answer]()
    for _ in range(ROUNDS if asked else 0):
        batch = own.chance.choices(asked, k=own.chance.randint(1, 6))
        charged, before = Charged(backend.ledger), len(session.drawn)
        try:
            quote = session.quote(batch)
            answers = session.query_all(batch)
        except (InvariantBroken, EngineFailed) as failure:
            yield f"{batch}: {failure!r}"
            continue
        except Error:
            seen["batches refused"] += 1
            if charged.losses() or len(session.drawn) > before:
                yield f"{batch}: charged or drawn, and then refused"
            continue
        seen["batches"] += 1
        charges = charged.losses()
        if problem := _unlike(charges, session.drawn[before:], backend):
            yield f"{batch}: {problem}"
        if charges and backend.summary(charges[0]) != quote.cost:
            yield f"{batch}: charged {charges[0]}, quoted {quote.cost}"
        if any(
            together > alone * (1 + 1e-9)
            for together, alone in zip(*map(_amounts, (quote.cost, quote.alone)), strict=True)
        ):
            yield f"{batch}: together they cost {quote.cost}, one by one {quote.alone}"
        for sql, answer in zip(batch, answers, strict=True):
            if told(known.setdefault(sql, answer)) != told(answer):
                yield f"{sql}: it was answered otherwise before"
    charged = Charged(backend.ledger)
    for sql, answer in known.items():
        if told(session.query(sql)) != told(answer):
            yield f"{sql}: alone it is answered otherwise"
    if charged.losses():
        yield f"{[*known]}: charged for what was released"


def _amounts(price: PrivacyLoss) -> tuple[float, float]:
    return price.epsilon, price.rho or 0.0


def _unlike(charges: Sequence[Loss], drawn: Sequence[Loss], backend: Backend) -> str:
    """How charges are not what draws lose together; '' where they are."""
    composition = backend.ledger.composition
    if len(charges) != 1 and (charges or drawn):
        return f"{len(charges)} charges for {len(drawn)} draws"
    # A new answer that is made of known numbers alone is on record, at no price.
    if not charges or charges[0].account(composition) == Composed(tuple(drawn)).account(composition):
        return ""
    return f"charged {charges[0]}, drawn {drawn}"


def _stored(
    own: World, asked: Sequence[str], engine: InProcess, after: PostProcess, seen: Counter[str]
) -> Iterator[str]:
    """Of statements that one stored answer is for, each is answered as it is by itself, with the same noise."""
    by_print: dict[tuple[str, ...], list[str]] = {}
    backend = _fresh(own, engine, after)
    for sql in asked:
        by_print.setdefault(_prints(Session(backend, "ana"), sql), []).append(sql)
    for first, *others in by_print.values():
        price = Session(backend, "ana").explain(first).cost
        for sql in others[:3]:
            if Session(backend, "ana").explain(sql).cost != price:  # its parts are one release where they are alike
                continue
            alone = Session(_fresh(own, engine, after), "ana").query(sql)
            session = Session(_fresh(own, engine, after), "ana")
            session.query(first)
            again = session.query(sql)
            seen["pairs"] += 1
            if not again.replayed or told(again) != told(alone):
                yield f"{sql}: after {first} it is answered otherwise"


def _prints(session: Session, sql: str) -> tuple[str, ...]:
    statement = parse(sql)
    assert isinstance(statement, syntax.QueryStatement)
    return session._backend.fingerprints(session._ask(statement, (), {}).priced, "ana")


def told(answer: Answer) -> Any:
    """All of an answer that rests on what was released."""
    return repr((answer.columns, answer.rows, [answer.ends(at) for at in range(len(answer.columns))]))


def but_the_last(batch: Batch) -> Loss:
    """A planted bug, in the place of `Batch.loss`: the last statement of several that are new is not charged."""
    return Composed(tuple(batch.paid[index] for index in batch.fresh[: max(1, len(batch.fresh) - 1)]))


def main() -> None:
    """Audits as many worlds as the first argument says, from the seed that the second says on."""
    from_seeds("world", audited)


if __name__ == "__main__":
    main()
