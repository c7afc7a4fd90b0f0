"""What stands around an analyst's charge: the owner's word before a large one, and alerts after it.

The word is no privacy bound: many small statements cost what a large one does, and the owner's yes or no may rest on
what the owner knows of the data. It is given without running anything, for one statement with its parameters, options,
analyst, table version and price. The limits of the accounts are tested before a statement waits, and when it runs.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock

from dpsql.answers.shown.costs import cost_text
from dpsql.engine.log import OPERATOR
from dpsql.errors import ApprovalNeeded, Error, OperationalError, ProgrammingError
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.refusals import ChargeStands
from dpsql.ledger.standing import Standing, Use
from dpsql.ledger.turns import ProcessTurns
from dpsql.ledger.waiting import Waiting
from dpsql.plan.options import Options
from dpsql.plan.parameters import values_of
from dpsql.plan.types import Parameters
from dpsql.privacy.conversions import pure_epsilon_of_rho
from dpsql.privacy.kinds import Loss
from dpsql.privacy.loss import Composed, PrivacyLoss, encode, summary
from dpsql.sql import syntax
from dpsql.sql.parse import normal

__all__ = ["ALERTS", "Charging", "Spoken", "Turns", "Wish", "check_name"]

ALERTS = (Fraction(50, 100), Fraction(80, 100), Fraction(95, 100))
"""Shares of an account at which owner and analyst are told. They are a choice: half, little left, and nearly none."""

MOST_SHOWN = 1_000  # Characters of a parameter's value that people are shown. It is a choice.
LONGEST_NAME = 200  # Characters of an analyst's name. It is a choice: a name stands in every record of the ledger.

CLOSED = (
    "The data owner has changed the limits to what this server cannot take up. Nothing was charged. What was released "
    "before can still be asked for. Tell the data owner, whose log says why."
)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A statement as it was asked.

    Attributes:
        statement: Its syntax.
        parameters: The values of its ``?``.
    """

    statement: syntax.Statement
    parameters: Parameters = ()

    @property
    def text(self) -> str:
        """For people to read.

        >>> from dpsql.sql.parse import parse
        >>> Spoken(parse("select count(*) from t where a > ?"), (3,)).text
        'SELECT count(*) FROM "t" WHERE ("a" > $1) with $1 = 3'
        """
        values = ", ".join(f"${place} = {_cut(_shown(value))}" for place, value in enumerate(self._values(), 1))
        return f"{normal(self.statement)} with {values}" if values else normal(self.statement)

    @property
    def identity(self) -> str:
        """The same for the same statement with the same values of the same types alone.

        >>> from dpsql.sql.parse import parse
        >>> one, two = (Spoken(parse("select count(*) from t where a > ?"), (value,)) for value in (3, "3"))
        >>> one.identity == two.identity, one.identity == Spoken(one.statement, [3]).identity
        (False, True)
        """
        told = repr((normal(self.statement), values_of(self.parameters, self.statement)))
        return hashlib.sha256(told.encode("utf-8", "backslashreplace")).hexdigest()

    def _values(self) -> Iterable[object]:
        """As they came; those that have names in the order of the statement."""
        return values_of(self.parameters, self.statement) if isinstance(self.parameters, Mapping) else self.parameters


@dataclass(frozen=True, slots=True)
class Wish:
    """What is about to be charged.

    Attributes:
        loss: Its price.
        parts: What tells it from all else: its fingerprints, or its text with what would be read and released.
        statements: As they were asked.
        options: In force for each of them, for people to read.
    """

    loss: Loss
    parts: Sequence[str]
    statements: Sequence[Spoken]
    options: Sequence[Options] = ()

    @property
    def text(self) -> str:
        """The statements, for people to read."""
        return ";\n".join(spoken.text for spoken in self.statements)

    @property
    def options_text(self) -> str:
        """The options, each once."""
        given = (f"{name} = {_shown(getattr(own, name))}" for own in self.options for name in own.given)
        return ", ".join(dict.fromkeys(given))


class Turns:
    """One at a time of what is the same: the second finds what the first has stored. Threads share it.

    Args:
        others: Those of other processes; None where there are none.
    """

    def __init__(self, others: ProcessTurns | None = None) -> None:
        self._others = others or ProcessTurns(None)
        self._lock = Lock()
        self._held = dict[str, Lock]()
        self._asking = Counter[str]()  # how many hold a turn, or wait for it

    @contextmanager
    def of(self, identities: Collection[str]) -> Iterator[bool]:
        """Around all that is done for these identities, told whether it waited for others; who asks meanwhile waits."""
        with ExitStack() as stack:
            waited = False
            for identity in sorted(set(identities)):  # in one order, so that no two wait for each other
                waited |= stack.enter_context(self._one(identity))
            yield waited

    @contextmanager
    def _one(self, identity: str) -> Iterator[bool]:
        with self._lock:
            turn = self._held.setdefault(identity, Lock())
            self._asking[identity] += 1
        try:
            waits = not turn.acquire(blocking=False)
            if waits:
                turn.acquire()
            try:
                with self._others.of(identity) as waited:
                    yield waits or waited
            finally:
                turn.release()
        finally:
            with self._lock:
                self._asking[identity] -= 1
                if not self._asking[identity]:
                    del self._held[identity], self._asking[identity]


class Charging:
    """Charges of analysts under one policy.

    Args:
        ledger: What is charged.
        waiting: What waits for the owner.
        above: The epsilon above which a statement waits; None where none does.
        version: Of the tables.
        classes: The policy's classes of units.

    Attributes:
        turns: Of those who ask the same at the same moment.
        above: The epsilon above which a statement waits; None where none does.
        closed: Why nothing is charged for the time being: the policy was changed to what cannot be taken up; or None.
    """

    def __init__(
        self,
        ledger: Ledger,
        waiting: Waiting,
        above: Fraction | None,
        version: int,
        classes: Collection[str] = (),
    ) -> None:
        self._ledger, self._waiting, self._version = ledger, waiting, version
        self._classes = classes
        self._nothing = summary(Composed(()), ledger.composition, classes)
        self.turns, self.above = Turns(ledger.turns), above
        self.closed: str | None = None
        self._standing = Standing(ledger)

    @contextmanager
    def of(self, analyst: str, wish: Wish) -> Iterator[list[str]]:
        """Around the one charge of a wish: what it yields holds the notices for the analyst, afterwards.

        Raises:
            ApprovalNeeded: It waits for the owner. Nothing was charged.
            BudgetExceeded: It could not be paid anyway.
            OperationalError: Nothing is charged for the time being.
        """
        if self.closed is not None:
            raise OperationalError(CLOSED)
        approval = self._approved(analyst, wish)
        try:
            with self.granted(analyst) as notices:
                yield notices
        except ChargeStands:  # it was charged: to charge it again takes the owner's word again
            raise
        except Error:
            if approval is not None:
                self._waiting.give_back(approval)
            raise

    @contextmanager
    def granted(self, analyst: str) -> Iterator[list[str]]:
        """As `of`, around what needs no word of the owner's: the first reading of a table that the owner granted."""
        if self.closed is not None:
            raise OperationalError(CLOSED)
        before, notices = self._standing.use(analyst), list[str]()
        yield notices
        with suppress(Error):  # what was charged is answered, whatever becomes of an alert
            self._alert(analyst, before, notices)

    def _alert(self, analyst: str, then: Callable[[], Use], notices: list[str]) -> None:
        """Tells the owner, and the analyst, which shares of the budget a charge has crossed since ``then``."""
        after = self._standing.use(analyst)()
        if max(after.own, after.total) < ALERTS[0]:
            return
        before = then()
        own = f"analyst {analyst!r}" if after.account == analyst else "the analysts without one of their own"
        for share in _crossed(before.own, after.own):
            notices.append(f"{share:.0%} of the budget of {own} is spent.")
            OPERATOR.warning("%s", notices[-1])
        for share in _crossed(before.total, after.total):
            OPERATOR.warning("%s of the budget of all analysts together is spent.", f"{share:.0%}")

    def payable(self, analyst: str, loss: Loss) -> PrivacyLoss:
        """A loss as a price, which the budget would grant now.

        Raises:
            BudgetExceeded: It would not, as the charge would say.
        """
        price = summary(loss, self._ledger.composition, self._classes)
        if price == self._nothing:
            return PrivacyLoss()
        self._standing.refuse_unpayable(analyst, loss)
        return price

    def _approved(self, analyst: str, wish: Wish) -> str | None:
        """The approval that is used up, where one is needed."""
        above = self.above  # read once: the owner may change it meanwhile
        if above is None:
            return None
        price = summary(wish.loss, self._ledger.composition, self._classes)
        if not waits(price, above):
            return None
        identity = self._identity(analyst, wish)
        if approval := self._waiting.take(identity):
            return approval
        self._standing.refuse_unpayable(analyst, wish.loss)
        cost = cost_text(price)
        own = self._waiting.ask(identity, analyst, self._version, wish.text, wish.options_text, cost)
        raise ApprovalNeeded(
            f"This costs {cost}, and waits for the data owner, as all above epsilon {float(above):g} does "
            f"(owner_approves_above, in the policy's server section). Nothing was charged. It waits as {own}: once the "
            f"owner has written `dpsql approve POLICY {own}`, ask the same again within a day; or ask for less.",
            id=own,
        )

    def _identity(self, analyst: str, wish: Wish) -> str:
        """Of what an approval is for; after a restore a version of the same number may be one of other tables."""
        which = (self._ledger.id, self._ledger.epoch, self._version)
        told = (*which, analyst, repr(encode(wish.loss)), *wish.parts)
        return hashlib.sha256(repr(told).encode()).hexdigest()


def waits(price: PrivacyLoss, above: Fraction) -> bool:
    """Whether a price is above an epsilon; one in rho alone counts as the pure loss that has this rho.

    A price by a metric, or with a gamma, is none of epsilon: it always is.

    >>> waits(PrivacyLoss(epsilon=0.5), Fraction(1, 2)), waits(PrivacyLoss(epsilon=float("inf"), rho=0.5), Fraction(1))
    (False, True)
    """
    if price.metric or price.gamma:
        return True
    if price.epsilon != float("inf"):
        return price.epsilon > above
    return price.rho is None or pure_epsilon_of_rho(Fraction(price.rho)) > above


def check_name(analyst: object) -> None:
    """Refuses what cannot be the name of one analyst in the record of charges.

    Raises:
        ProgrammingError: It is empty, ``*``, too long, or holds what cannot be printed.
    """
    if not analyst or not isinstance(analyst, str):
        raise ProgrammingError("analyst is empty. Write the name of an account in the policy.")
    if analyst == "*":
        raise ProgrammingError("analyst is *, which stands for everybody without an account. Write a name.")
    if len(analyst) > LONGEST_NAME or not analyst.isprintable():
        raise ProgrammingError(
            f"The analyst's name is longer than {LONGEST_NAME} characters, or holds one that cannot be printed. "
            "Write the name of an account in the policy."
        )


def _crossed(before: Fraction, after: Fraction) -> list[float]:
    """The alert that a charge has crossed; the last one where it crossed several."""
    return [float(share) for share in ALERTS if before < share <= after][-1:]


def _cut(text: str) -> str:
    """A value, which may be long, as far as people read it.

    >>> _cut("'" + "x" * 5000 + "'")[-30:]
    'xxxxxxx... (5,002 characters)'
    """
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}... ({len(text):,} characters)"


def _shown(value: object) -> str:
    """A value or an option, as SQL has it.

    >>> _shown(Fraction(1, 4)), _shown("it's"), _shown((Fraction(1), Fraction(2)))
    ('0.25', "'it''s'", '(1, 2)')
    """
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case Fraction():
            return f"{float(value):g}"
        case tuple():
            return f"({', '.join(map(_shown, value))})"
        case int() | float():
            return str(value)
    return "'" + str(value).replace("'", "''") + "'"
