"""Thousands of random statements under a policy of the corpus: what is wrong with how they are taken (see `fuzzing`).

Most are only explained, which is nearly all of the way to an answer and costs a tenth of it: text to syntax to plan to
offers, prices and the engine's SQL. Of 20 statements 12 are words of statements in another order, which are refused
where they stop to be any; 5 have odd options, parameters and post-processing around a statement of the corpus, and 3
around a random one of the grammar. Of those that are explained every fourth is asked as well.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import hypothesis
from hypothesis import Phase, given

import dpsql.testing
from dpsql.session import Session
from dpsql.testing import FixedSampler
from tests.attacks.fuzzing import Asked, asked_around, complaint, explaining, watched
from tests.sql.corpus import blocks
from tests.sql.databases import build
from tests.sql.generate import examples, statements
from tests.unit.sql.mutating import mutated

__all__ = ["asked", "explained", "opened"]

RICH = "{epsilon: 1.0e+9, delta: 0.9, gamma: 0.9}"
CORPUS, GRAMMAR, ALL = 5, 3, 20  # Of ALL statements; the rest are mutated ones.
EVERY = 4  # Of the statements that are explained, each so many-th is asked.


@contextmanager
def opened(name: str, folder: Path, seed: int, moved: Callable[[Path], Path] | None = None) -> Iterator[Session]:
    """A session whose budget does not run out; its noise is the same for the same seed. The policy may be `moved`, with
    the DuckDB file beside it, to another engine.
    """
    policy = build(name, folder)
    text = re.sub(r"(total|ana|\"\*\"): +\{epsilon[^}]*\}", rf"\1: {RICH}", policy.read_text(encoding="utf-8"))
    policy.write_text(text, encoding="utf-8")
    with dpsql.testing.open(moved(policy) if moved else policy, FixedSampler(seed)) as proxy:
        yield proxy.session(analyst="ana")


def _corpus(name: str) -> list[Asked]:
    own = [block for block in blocks("accepted.sql") if block.policy == name]
    return [Asked(block.sql, tuple(block.parameters), dict(block.options)) for block in own]


def _of_the_grammar(session: Session, seed: int, count: int, use: Callable[[str], None]) -> None:
    """Does something with each of so many random statements."""

    @hypothesis.seed(seed)
    @examples(count, [Phase.generate])
    @given(statements(session._backend.catalog))
    def drawn(sql: str) -> None:
        use(sql)

    drawn()


def asked(session: Session, name: str, seed: int, count: int) -> Counter[str]:
    """How many are answered of so many statements around those of the corpus, and as many around random ones.

    Raises:
        AssertionError: One was charged and failed, or worse.
    """
    session, engine = watched(session)
    rng, corpus = random.Random(f"{name} {seed}"), _corpus(name)
    complaints, seen = [], Counter[str]()

    def ask(base: Asked) -> None:
        own = asked_around(session, base, rng)
        wrong, well = complaint(session, engine, own)
        seen["answered" if well else "refused"] += 1
        if wrong:
            complaints.append(f"{wrong}\n    {own}")

    for _ in range(count):
        ask(rng.choice(corpus))
    _of_the_grammar(session, seed, count, lambda sql: ask(Asked(sql)))
    assert not complaints, "\n".join(complaints)
    assert complaint(session, engine, corpus[0]) == ("", True)  # what was refused was not refused for what came before
    return seen


def explained(session: Session, name: str, seed: int, count: int) -> Counter[str]:
    """How many of so many statements are explained and refused, and of those asked as well, how many answered.

    Raises:
        AssertionError: One read, spent or broke something.
    """
    session, engine = watched(session)
    rng, corpus = random.Random(f"explained {name} {seed}"), _corpus(name)
    texts, complaints, seen = [own.sql for own in corpus], [], Counter[str]()

    def explain(own: Asked) -> None:
        wrong, well = complaint(session, engine, own, explaining)
        seen["explained" if well else "refused"] += 1
        if well and seen["explained"] % EVERY == 0 and not wrong:
            wrong, answered = complaint(session, engine, own)
            seen["answered" if answered else "refused when asked"] += 1
        if wrong:
            complaints.append(f"{wrong}\n    {own}")

    def of_the_grammar(sql: str) -> None:
        texts.append(sql)
        explain(asked_around(session, Asked(sql), rng))

    _of_the_grammar(session, seed, count * GRAMMAR // ALL, of_the_grammar)
    around = count * CORPUS // ALL
    for _ in range(around):
        explain(asked_around(session, rng.choice(corpus), rng))
    while seen["explained"] + seen["refused"] < count:
        explain(Asked(mutated(rng, texts)))
    assert not complaints, "\n".join(complaints[:50])
    return seen
