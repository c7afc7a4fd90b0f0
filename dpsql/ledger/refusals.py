"""What a ledger says when it refuses: amounts needed rounded up, amounts left rounded down, so that both hold.

Tests: tests/unit/ledger/test_ledger.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from dpsql.errors import BudgetExceeded, LedgerError, OperationalError, PolicyError
from dpsql.privacy.account import UNIT, Account
from dpsql.privacy.accounting import Shortfall

__all__ = [
    "STANDS", "ChargeStands", "LimitsChanged", "NotBegun", "NotKept", "ReleasedMeanwhile", "cannot_all_pay",
    "exceeded", "no_account", "overspent", "stopped", "suspended", "tightest",
]  # fmt: skip

STANDS = "What was charged stays charged, and there is no answer to it: to ask the same again costs again."

NOT_KEPT = (
    "What was charged stays charged, and nothing was shown: ask the same again. It costs nothing more as long as the "
    "ledger is the same one."
)

DIGITS = 4  # Significant digits of an amount; a larger one keeps all before its point. It is a choice.


class ChargeStands(LedgerError):  # noqa: N818 - named as its sisters in dpsql.errors
    """The ledger failed after a charge was on record, so that there is no answer to it.

    Args:
        why: What failed.
    """

    def __init__(self, why: object) -> None:
        super().__init__(f"{why} {STANDS}")


class NotKept(ChargeStands):
    """A table or facts could not be kept after their charge was on record; nobody saw anything of them.

    Args:
        why: What failed.
    """

    def __init__(self, why: object) -> None:
        LedgerError.__init__(self, f"{why} {NOT_KEPT}")


class LimitsChanged(LedgerError):  # noqa: N818 - named as its sisters in dpsql.errors
    """Another process has put other limits on record than those that this one was opened under."""

    def __init__(self) -> None:
        super().__init__(
            "The ledger's limits were changed by another process. Nothing was read. Ask again in a moment, or open it "
            "again."
        )


class NotBegun(LedgerError):  # noqa: N818
    """A transaction could not begin, as where another process holds the file: nothing was written."""


class ReleasedMeanwhile(OperationalError):  # noqa: N818 - named as its sisters in dpsql.errors
    """Another process has charged for this very answer and stored it: it is there to be read, for nothing."""

    def __init__(self) -> None:
        super().__init__("This was released a moment ago. Nothing was charged. Ask again: the answer is free.")


def tightest(own: tuple[str, Shortfall | None], total: tuple[str, Shortfall | None]) -> Iterator[tuple[str, Shortfall]]:
    """The shortfalls, the analyst's own first; the total's before it where even less of the same quantity is left."""
    found = [(who, short) for who, short in (own, total) if short is not None]
    if len(found) == 2 and found[0][1].quantity == found[1][1].quantity:
        found.sort(key=lambda pair: pair[1].remaining)
    yield from found


def exceeded(who: str, short: Shortfall, unit: str) -> BudgetExceeded:
    """Not enough is left.

    >>> short = Shortfall("epsilon", needed=Fraction(2, 5), remaining=Fraction(1, 4), limit=Fraction(2),
    ...                   affordable=Fraction(1, 4))
    >>> print(exceeded("analyst 'ana' has", short, "patient_id"))
    This query costs epsilon 0.4; analyst 'ana' has 0.25 of 2 left for unit 'patient_id'. Nothing was read. \
Ask again with epsilon = 0.25 or less.
    >>> short = Shortfall("delta", needed=Fraction(1, 2000), remaining=Fraction(1, 10**7), limit=Fraction(1, 10**7))
    >>> print(exceeded("analyst 'ana' has", short, "patient_id"))
    This query costs delta 0.0005; analyst 'ana' has 1e-7 of 1e-7 left for unit 'patient_id'. Nothing was read. \
Ask again with delta = 1e-7 or less.
    """
    part = f" Of the delta {_down(short.declared)} of the policy, a quarter pays for queries." if short.declared else ""
    if short.limit == 0:
        hint = f" The policy sets no limit for {short.quantity}, so none of it may be spent."
    elif short.affordable > 0:
        hint = f" Ask again with epsilon = {_down(short.affordable)} or less."
    elif short.quantity == "delta" and short.remaining > 0:
        hint = f" Ask again with delta = {_down(short.remaining)} or less."
    else:
        hint = " Only the owner can allow more, in the policy."
    return BudgetExceeded(
        f"This query costs {short.quantity} {_up(short.needed)}; {who} {_down(short.remaining)} of {_down(short.limit)}"
        f" left for unit {unit!r}. Nothing was read.{part}{hint}",
        needed=short.needed,
        remaining=short.remaining,
    )


def cannot_all_pay(short: Sequence[tuple[str, Shortfall]], unit: str, what: str) -> BudgetExceeded:
    """What several may read is charged to each: who has not enough left for it, by name; told to the owner alone.

    >>> short = Shortfall("epsilon", needed=Fraction(1, 20), remaining=Fraction(1, 50), limit=Fraction(2),
    ...                   affordable=Fraction(1, 50))
    >>> print(cannot_all_pay([("analyst 'ana' has", short)], "patient_id", "Facts are charged to every account"))
    Facts are charged to every account, epsilon 0.05 here; analyst 'ana' has 0.02 of 2 left for unit 'patient_id'. \
Nothing was read. Ask again with epsilon = 0.02 or less, or allow more in the policy.
    """
    least = min((one for _, one in short), key=lambda one: one.affordable)
    first = short[0][1]
    who = ", ".join(
        f"{holder} {_down(one.remaining)} of {_down(one.limit)}"
        + (f" in {one.quantity}" if one.quantity != first.quantity else "")
        for holder, one in short
    )
    lower = f"Ask again with epsilon = {_down(least.affordable)} or less, or allow" if least.affordable > 0 else "Allow"
    return BudgetExceeded(
        f"{what}, {first.quantity} {_up(first.needed)} here; {who} left for unit {unit!r}. "
        f"Nothing was read. {lower} more in the policy.",
        needed=first.needed,
        remaining=first.remaining,
    )


def no_account(analyst: str) -> BudgetExceeded:
    """The policy names neither the analyst nor ``"*"``."""
    return BudgetExceeded(
        f"Analyst {analyst!r} has no budget. Nothing was read. "
        f'The owner can name {analyst!r}, or "*" for everybody else, under budget.analysts in the policy.',
        needed=Fraction(0),
        remaining=Fraction(0),
    )


def stopped(why: str, asked: Account) -> BudgetExceeded:
    """Nothing is granted until the owner's reset."""
    return BudgetExceeded(
        f"{why} Nothing was read. The owner can lift that with `dpsql budget POLICY --reset --reason TEXT`.",
        needed=(asked.rho if asked.epsilon is None else asked.epsilon) * UNIT,
        remaining=Fraction(0),
    )


def suspended(analyst: str) -> OperationalError:
    """Three of the analyst's queries ran past the deadline or failed, so that the next is not even looked at."""
    return OperationalError(
        f"Analyst {analyst!r} is suspended after three queries that the engine did not finish. "
        "The data owner can lift this: dpsql budget POLICY --analyst NAME --reset --reason TEXT"
    )


def overspent(place: str, short: Shortfall, *, shared: bool = False) -> PolicyError:
    """A policy's new limits are below what was spent already, or, for ``shared``, what a new name begins with."""
    by = ', by "*", with which a name begins that leaves it' if shared else ""
    return PolicyError(
        f"budget: {place} allows {short.quantity} {_down(short.limit)}, but {_up(short.needed)} was spent already{by}. "
        "Allow more, or start the ledger's accounts afresh with `dpsql budget POLICY --reset --reason TEXT`."
    )


def _up(amount: Fraction) -> str:
    return _text(amount, ROUND_CEILING)


def _down(amount: Fraction) -> str:
    return _text(amount, ROUND_FLOOR)


def _text(amount: Fraction, rounding: str) -> str:
    context = Context(prec=max(DIGITS, len(str(int(amount)))), rounding=rounding)
    short = context.divide(Decimal(amount.numerator), Decimal(amount.denominator)).normalize()
    return f"{short:f}" if short == 0 or Decimal("1e-4") <= short < Decimal("1e7") else f"{short:e}"
