"""Random statements under a metric, bought together with each other and with plain ones, on a random street.

A statement under a metric has one price for all of its numbers, so it is bought whole. Of each statement of a batch it
is kept what the sampler was asked for: whoever pays nothing draws nothing, whoever pays its own price draws what it
draws alone, and all that is paid is charged once, as it was quoted.

    python -m tests.attacks.random_metric_batches 1000 [FIRST SEED]
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from dpsql.answers.answer import Answer
from dpsql.answers.computed.postprocess import PostProcess
from dpsql.answers.released.release import Released
from dpsql.audit.charged import Charged
from dpsql.backend import Backend
from dpsql.charging import Spoken
from dpsql.errors import EngineFailed, Error, InvariantBroken
from dpsql.prepare import Prepared
from dpsql.prepare.batch import Batch
from dpsql.privacy.account import Account
from dpsql.privacy.loss import Composed
from dpsql.privacy.tables import ReleasedTable
from dpsql.session import Session
from dpsql.testing_samplers import FixedSampler
from tests.attacks.random_batches import told
from tests.attacks.random_metrics import TOWNS, TYPES, Street, draw
from tests.attacks.random_policies import Drawn, DrawnTable
from tests.attacks.random_replay import InProcess, backend_over, from_seeds
from tests.attacks.random_under_metrics import statements
from tests.settled import settled

__all__ = ["audited"]

ASKED = 20
"""Statements of each street, of a few that are alike but for their price."""
ROUNDS = 4
"""Batches of them, after each other."""
NEAR = "metric = 'home', multiple = 0.75"
PRICES = (
    NEAR, NEAR, f"{NEAR}, confidence = 0.9", "metric = 'home', multiple = 1.5", "epsilon = 1", "epsilon = 2",
    "epsilon = 1, mechanism = 'laplace'",
)  # fmt: skip
AROUND = ("{}",) * 6 + (
    "SELECT * FROM ({}) AS q ORDER BY 1 DESC LIMIT 1", "SELECT * FROM ({}) AS q UNION ALL SELECT * FROM ({}) AS r",
)  # fmt: skip
Call = tuple[str, str]
"""What the sampler was asked: by which law, and with what."""


class Heard(FixedSampler):
    """Says what it was asked for."""

    def __init__(self) -> None:
        super().__init__("batches")
        self.calls: list[Call] = []

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name.startswith("_") or not callable(found):
            return found

        def asked(*args: Any, **named: Any) -> Any:
            self.calls.append((name, repr((args, named))))
            return found(*args, **named)

        return asked


class Watched(Session):
    """A session that keeps its last batch, and what each of its statements drew."""

    def __init__(self, backend: Backend, heard: Heard) -> None:
        super().__init__(backend, "ana")
        self._heard = heard
        self.batch: Batch | None = None
        self.drawn: list[Counter[Call]] = []

    def _released(
        self, asked: Sequence[tuple[Prepared, Spoken]], batch: Batch, stored: dict[int, Released]
    ) -> Sequence[str]:
        self.batch, self.drawn = batch, []
        return super()._released(asked, batch, stored)

    def _release(
        self, prepared: Prepared, draws: Any = None, drawn: dict[str, ReleasedTable] | None = None
    ) -> Released:
        before = len(self._heard.calls)
        released = super()._release(prepared, draws, drawn)
        self.drawn.append(Counter(self._heard.calls[before:]))
        return released


def questions(street: Street, chance: random.Random) -> list[str]:
    """Some that are nearly one another."""
    bodies = [sql for sql in statements(chance, street.columns, 4) if " UNION ALL " not in sql]
    bodies = [sql.removeprefix("SELECT ") for sql in bodies if sql.startswith("SELECT ")] or ["COUNT(*) FROM people"]
    found = []
    for _ in range(ASKED):
        text = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({chance.choice(PRICES)}) {chance.choice(bodies)}"
        found.append(chance.choice(AROUND).replace("{}", text))
    return list(dict.fromkeys(found))


def audited(seed: int, after: PostProcess, seen: Counter[str] | None = None) -> Iterator[str]:
    """What is wrong on the street of a seed; ``seen`` counts what was looked at."""
    street, chance, seen = draw(seed), random.Random(f"batches {seed}"), Counter[str]() if seen is None else seen
    rows = [(None, person) for person in street.people]
    table = DrawnTable("people", TYPES, [*rows, *((name, row) for name, row in street.rows.items() if row)])
    engine = InProcess(Drawn(street.policy, [table], {}, {}, 0), {"row 0"}, TOWNS)
    try:
        yield from (f"street {seed}: {problem}" for problem in _bought(street, chance, engine, after, seen))
    finally:
        engine.close()


def _fresh(street: Street, engine: InProcess, after: PostProcess) -> Watched:
    """A session on a ledger of its own; all of them draw the same noise."""
    heard = Heard()
    return Watched(replace(settled(backend_over(street.policy, engine, after)), sampler=heard), heard)


def _bought(
    street: Street, chance: random.Random, engine: InProcess, after: PostProcess, seen: Counter[str]
) -> Iterator[str]:
    asked, refusing = list[str](), _fresh(street, engine, after)
    for sql in questions(street, chance):
        try:
            refusing.explain(sql)
            asked.append(sql)
        except InvariantBroken:
            raise
        except Error:
            seen["refused"] += 1
    session, known = _fresh(street, engine, after), dict[str, Answer]()
    charged = Charged(session._backend.ledger)
    for _ in range(ROUNDS if asked else 0):
        batch, paid = chance.choices(asked, k=chance.randint(2, 6)), len(charged.losses())
        session.batch = None
        try:
            quote, answers = session.quote(batch), session.query_all(batch)
        except (InvariantBroken, EngineFailed) as failure:
            yield f"{batch}: {failure!r}"
            continue
        except Error as refusal:
            seen["batches refused"] += 1
            if len(charged.losses()) > paid:
                yield f"{batch}: charged, and then refused: {refusal}"
            continue
        seen["batches"] += 1
        losses = charged.losses()[paid:]
        if [session._backend.summary(loss) for loss in losses] != ([quote.cost] if session.batch else []):
            yield f"{batch}: charged {losses}, quoted {quote.cost}"
        if session.batch is not None:
            yield from (f"{batch}: {problem}" for problem in _drawn(session, session.batch, street, engine, after))
        for sql, answer in zip(batch, answers, strict=True):
            if told(known.setdefault(sql, answer)) != told(answer):
                yield f"{sql}: it was answered otherwise before"
    paid = len(charged.losses())
    for sql, answer in known.items():
        if told(session.query(sql)) != told(answer):
            yield f"{sql}: alone it is answered otherwise"
    if len(charged.losses()) > paid:
        yield f"{[*known]}: charged for what was released"


def _drawn(session: Watched, batch: Batch, street: Street, engine: InProcess, after: PostProcess) -> Iterator[str]:
    """How what the statements of a batch drew is not what they paid for."""
    composition = session._backend.ledger.composition
    for index, calls in zip(batch.fresh, session.drawn, strict=True):
        paid, own = batch.paid[index].account(composition), batch.together[index]
        if paid == Account() and calls:
            yield f"statement {index} draws {calls} for nothing"
        if paid != Account() and own.loss == batch.own[index].loss:
            alone = _fresh(street, engine, after)
            alone._release(own)
            if calls - alone.drawn[0]:
                yield f"statement {index} draws {calls - alone.drawn[0]} that it does not draw alone"
            if paid == own.loss.account(composition) and (left := {*alone.drawn[0]} - {*calls}):
                yield f"statement {index} pays for {left}, and does not draw it"  # of two alike one is enough
    whole = Composed(tuple(batch.paid[index] for index in batch.fresh))
    if batch.loss.account(composition) != whole.account(composition):
        yield "not all that is paid is charged"


def main() -> None:
    """Audits as many streets as the first argument says, from the seed that the second says on."""
    from_seeds("street", audited)


if __name__ == "__main__":
    main()
