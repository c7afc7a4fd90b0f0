"""`dpsql advise`: the owner's measured facts, from a policy file to a policy file."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR
from fractions import Fraction
from os import PathLike
from pathlib import Path

from dpsql.answers.shown.screen import number
from dpsql.engine.log import keep_in
from dpsql.errors import ProgrammingError, door
from dpsql.ledger.ledger import FACTS, Ledger
from dpsql.ledger.standing import Standing
from dpsql.owner.advice.advise import ROWS_OF_A_UNIT, Foretold, ReleasedFacts, data_now, foretold, measure, newest, paid
from dpsql.owner.advice.advised import unresolved, with_bounds
from dpsql.owner.advice.recommend import recommended
from dpsql.owner.building.builder import alone, data_digest_of
from dpsql.owner.jobs import Progress
from dpsql.policy import Policy, load_policy
from dpsql.policy.editing import edited
from dpsql.policy.table import ROWS_ABOUT
from dpsql.privacy.account import DELTA_UNIT, UNIT
from dpsql.privacy.sampling import ExactSampler, Sampler
from dpsql.proxy import cache_directory, open_ledger, owners_folder

__all__ = ["EPSILON", "AdviceReport", "advise", "facts_of"]

EPSILON = Fraction(1, 20)
"""The price of facts where the owner names none. It is a choice: little beside what analysts get, and enough for some
thousands of people."""

LITTLE = Fraction(1, 10)
"""The part of an account's epsilon: where facts leave less, that is told. It is a choice."""

MOST_NAMED = 5  # Columns of a table in a sentence; of more it says how many they are. It is a choice.
COLUMN = 4  # Keys of a column's place in a policy: tables, a name, columns, a name.
IN_ADDITION = " That is in addition to what facts of these data have cost before."
OWED = (
    "The facts of these data were bought before, and their process was lost: dpsql advise, at the price that stands in "
    "`dpsql log POLICY`, draws them under that charge, for nothing more."
)


@dataclass(frozen=True, slots=True)
class AdviceReport:
    """What `advise` did.

    Attributes:
        quote: What the facts cost and what stays empty; before the charge.
        lines: What was found, table by table; empty for a quote.
        changes: What was written into the policy, or would be: its places and values, a column in a line.
        charged: Whether facts were charged now; not where they were stored.
        written: Whether the policy file was changed.
        version: The table version that the ledger is at; 0 before the first.
        thin: Whether what was charged was said before, for something stays empty.
        unresolved: The columns, as table.column, whose ``bounds: auto`` the facts do not find: until they are written
            the policy does not open, and totals wait.
        unseen: The tables of which nothing stands above the noise.
    """

    quote: str
    lines: tuple[str, ...]
    changes: tuple[str, ...]
    charged: bool
    written: bool
    version: int
    thin: bool = False
    unresolved: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()


@door
def advise(
    path: str | PathLike[str],
    *,
    epsilon: Fraction | None = None,
    delta: Fraction = Fraction(0),
    write: bool = False,
    narrow: bool = False,
    quote: bool = False,
    sampler: Sampler | None = None,
    progress: Progress | None = None,
    warned: Callable[[str], None] = lambda _: None,
) -> AdviceReport:
    """Measures facts privately, at a price that the total and every account pay; the owner's.

    A table version pays once, unless a larger epsilon than what was paid is named: that buys better facts, in addition.

    Args:
        path: The policy file.
        epsilon: The price; without one, 0.05, which is refused where something would stay empty.
        delta: Buys the frequent values of open text columns, and less noise where there are many columns.
        write: Whether to write what the facts say into the policy file; comments are kept.
        narrow: Whether that is also for caps and bounds that the owner wrote; else they stay.
        quote: Whether to say the price alone. Nothing is read or charged.
        sampler: The source of noise; tests alone give one.
        progress: Told each public step and the share done.
        warned: Told before the charge what will stay empty at a price that was named.

    Raises:
        BudgetExceeded: Naming who cannot pay. Nothing was charged.
        ProgrammingError: Something would stay empty at the price that was not named; or the price is too small.
        PolicyError, LedgerError, OperationalError: As `proxy.open`.
    """
    policy = load_policy(path)
    if not 0 <= delta < 1:
        raise ProgrammingError(f"delta is {float(delta):g}. Write a number from 0 to below 1, such as 1e-9.")
    wanted = foretold(policy, EPSILON if epsilon is None else epsilon, delta)
    with open_ledger(policy) as ledger:
        if quote:
            return _price(policy, ledger, wanted, named=epsilon is not None)
        end_log = keep_in(owners_folder(policy))
        try:
            return _advised(
                Path(path),
                policy,
                ledger,
                wanted,
                None if epsilon is None else warned,
                write,
                narrow,
                sampler,
                progress,
            )
        finally:
            end_log()


def _price(policy: Policy, ledger: Ledger, wanted: Foretold, *, named: bool) -> AdviceReport:
    """What facts would cost, for nothing."""
    text, version = _quoted(policy, wanted) + _leaves(ledger, wanted), ledger.version()
    facts, digest = newest(ledger), data_digest_of(cache_directory(policy, ledger), version)
    of_these, bought = facts is not None and facts.data == digest, paid(ledger, digest, wanted if named else None)
    if bought is not None:
        text = "The facts of these data were bought before: dpsql advise prints them, free." if of_these else OWED
    elif of_these:
        text += IN_ADDITION
    return AdviceReport(text, (), (), charged=False, written=False, version=version)


def _advised(
    path: Path,
    policy: Policy,
    ledger: Ledger,
    wanted: Foretold,
    warned: Callable[[str], None] | None,
    write: bool,
    narrow: bool,
    sampler: Sampler | None,
    progress: Progress | None,
) -> AdviceReport:
    cache, written = cache_directory(policy, ledger), False

    def between(facts: ReleasedFacts) -> Policy | None:
        """The policy under which totals are drawn: as it will be; None where it would not open."""
        nonlocal written
        written = write and _write(path, policy, ledger, facts, narrow)
        then = load_policy(path)
        return None if unresolved(then, facts) else with_bounds(then, facts)

    with alone(cache, progress):
        data = data_now(policy, ledger, cache)
        release = paid(ledger, data, wanted if warned is not None else None)
        new, before = release is None, newest(ledger)
        price = _quoted(policy, wanted) + (_leaves(ledger, wanted) if new else "")
        price += IN_ADDITION if before is not None and before.data == data else ""
        if new and wanted.advice is None:
            raise ProgrammingError(f"epsilon {float(wanted.epsilon):g} buys no facts. Write a larger --epsilon.")
        if new and wanted.thin and warned is not None:
            warned(price)
        elif new and wanted.thin:
            raise ProgrammingError(
                f"{_quoted(policy, wanted)} Nothing was charged. To pay all the same, name a price: --epsilon."
            )
        facts = measure(policy, ledger, cache, data, wanted, release, sampler or ExactSampler(), between, progress)
        if write and not written:
            written = _write(path, policy, ledger, facts, narrow)
    advised = recommended(policy, facts, narrow=narrow)
    spent = price if new else "These facts were bought before: they are free."
    return AdviceReport(
        spent,
        advised.lines,
        _listed(advised.changes),
        charged=new,
        written=written,
        version=ledger.version(),
        thin=new and bool(wanted.thin),
        unresolved=tuple(map(".".join, unresolved(policy, facts))),
        unseen=advised.unseen,
    )


def facts_of(policy: Policy) -> ReleasedFacts | None:
    """The newest facts of a policy's ledger, where there is one."""
    if not policy.resolve(policy.budget.ledger).exists():
        return None
    with open_ledger(policy) as ledger:
        return newest(ledger)


def _quoted(policy: Policy, wanted: Foretold) -> str:
    price = f"epsilon {float(wanted.epsilon):g}" + (f" and delta {float(wanted.delta):g}" if wanted.delta else "")
    text = f"Facts cost {price}, once a table version, charged to the total and to every account."
    if wanted.advice is not None:
        taken = ", ".join(f"{table} about {units:,}" for table, units in wanted.units.items())
        text += f" Counts of units are off by up to {wanted.advice.likely:,}: a table of fewer than {wanted.needs:,} "
        text += "units may stay empty, and half as many take twice the price. By rows_about, of "
        text += f"{ROWS_OF_A_UNIT} rows each or rows_per_unit if that is less, there are taken to be: {taken}."
    text += _unwritten(policy, wanted.units)
    if wanted.thin:
        text += f" So these would stay empty: {_briefly(wanted.thin)}. "
        text += f"{_served(policy, wanted.serves)} {_by_hand(policy, wanted.thin)}"
    return text


def _unwritten(policy: Policy, asked: Collection[str]) -> str:
    """Which tables' numbers of rows nobody wrote, so that what is foretold of them rests on a default."""
    names = [name for name in asked if "rows_about" not in policy.tables[name].model_fields_set]
    if not names:
        return ""
    return (
        f" No rows_about is written for {', '.join(names)}: it is taken to be {ROWS_ABOUT:,}, or rows_at_least where "
        "that is more. Write about how many rows there are, if that is public."
    )


def _leaves(ledger: Ledger, wanted: Foretold) -> str:
    """Whom the charge would leave little or nothing, and who cannot pay it; '' where there is nobody."""
    found = []
    for left in Standing(ledger).after(wanted.advice.loss) if wanted.advice is not None else ():
        name = {"": "all together", "*": "everybody else"}.get(left.account, left.account)
        if left.epsilon is None:
            found.append(f"{name} cannot pay it")
        elif left.epsilon < LITTLE * left.limit:
            found.append(f"it leaves {name} {number(left.epsilon, rounding=ROUND_FLOOR)} of {number(left.limit)}")
    told = "; ".join(found)
    return told and f" {told[0].upper()}{told[1:]}."


def _served(policy: Policy, serves: Fraction | None) -> str:
    """The price at which nothing stays empty, and whether every account has as much."""
    if serves is None:
        return "No usual price would serve."
    least = min(limit.epsilon for limit in (policy.budget.total, *policy.budget.analysts.values()))
    beyond = f", more than the {float(least):g} that an account has" if serves > least else ""
    return f"Epsilon {float(serves):g} would serve so many{beyond}."


def _by_hand(policy: Policy, thin: Sequence[str]) -> str:
    """What the owner can write in the place of facts, at no price."""
    unbounded, capped = [], []
    for name in thin:
        table, _, column = name.partition(".")
        if column and policy.tables[table].columns[column].auto:
            unbounded.append(name)
        elif not column and policy.tables[table].most_rows > ROWS_OF_A_UNIT:
            capped.append(name)
    told = [f"bounds: [LOW, HIGH] for {_briefly(unbounded)}"] if unbounded else []
    told += [f"for {', '.join(capped)} a rows_per_unit that hardly anybody passes"] if capped else []
    written = f"What is publicly known costs nothing: write {', and '.join(told)}. " if told else ""
    opens = "" if unbounded else "The policy opens without facts. "
    return f"{written}{opens}Correct rows_about where it is wrong."


def _briefly(names: Sequence[str]) -> str:
    """The names of tables and of their columns; of a table's columns the number alone, where they are many.

    >>> _briefly(["orders", "orders.price", "survey.a", "survey.b", "survey.c", "survey.d", "survey.e", "survey.f"])
    'orders, orders.price, 6 columns of survey'
    """
    of = Counter(name.partition(".")[0] for name in names if "." in name)
    many = {table: f"{count} columns of {table}" for table, count in of.items() if count > MOST_NAMED}
    return ", ".join(dict.fromkeys(many.get(name.partition(".")[0], name) if "." in name else name for name in names))


def _listed(changes: Mapping[tuple[str, ...], str]) -> tuple[str, ...]:
    """Places and values, those of one column in a line.

    >>> _listed({("tables", "t", "rows_about"): "9", ("tables", "t", "columns", "x", "bounds"): "[0, 1]"})
    ('tables.t.rows_about: 9', 'tables.t.columns.x: {bounds: [0, 1]}')
    """
    columns: dict[tuple[str, ...], list[str]] = {}
    for place, value in changes.items():
        if len(place) > COLUMN:
            columns.setdefault(place[:COLUMN], []).append(f"{place[-1]}: {value}")
        else:
            columns[place] = [value]
    return tuple(
        f"{'.'.join(place)}: {'{' + ', '.join(values) + '}' if len(place) == COLUMN else values[0]}"
        for place, values in columns.items()
    )


def _write(path: Path, policy: Policy, ledger: Ledger, facts: ReleasedFacts, narrow: bool) -> bool:
    """Writes what facts say into the policy file, and what all facts of the ledger cost; whether there was anything."""
    changes = dict(recommended(policy, facts, narrow=narrow).changes)
    if not changes:
        return False
    accounts = [release.loss.priced() for release in ledger.releases(FACTS)]
    epsilon = sum((account.epsilon or 0) for account in accounts) * UNIT
    delta = sum(account.delta for account in accounts) * DELTA_UNIT
    price = f"epsilon: {_decimal(epsilon)}" + (f", delta: {_decimal(delta)}" if delta else "")
    changes["budget", "advised"] = f"{{{price}}}"
    text = path.read_bytes().decode("utf-8-sig")
    ledger.note_written()
    _replace(path, edited(text, changes))
    return True


def _decimal(amount: Fraction) -> str:
    """An amount of the ledger in digits, never below it."""
    from decimal import ROUND_CEILING, Context, Decimal

    short = Context(prec=15, rounding=ROUND_CEILING).divide(Decimal(amount.numerator), Decimal(amount.denominator))
    return f"{short.normalize():f}"


def _replace(path: Path, text: str) -> None:
    """Puts a new text in a file's place at once, with its mode."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False, newline="") as new:
        new.write(text)
        os.fsync(new.fileno())
    Path(new.name).chmod(path.stat().st_mode & 0o777)
    Path(new.name).replace(path)
