"""The ledger: durable, append-only charges. A charge is on the disk before anybody looks at private data.

    charge    one immediate transaction: read what others charged, ask both filters, append, write the mark beside the
              one in force, commit; then put the mark in place
    replay    an answer once released is stored, and free for ever after
    keep      a table or facts are on the disk, too, before anybody sees anything of them: see `once`
    refund    does not exist

Every way to die in between leaves a charge without an answer, never an answer without a charge. The owner's commands
are in `owner`; the file is in `file`, its high-water mark in `mark`, what the records add up to in `state`, how one is
written after the other, and after a failure, in `writing`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from dpsql.errors import InvariantBroken, LedgerError, OperationalError, PolicyError
from dpsql.ledger.file import LedgerFile
from dpsql.ledger.granting import Granting
from dpsql.ledger.meanings import LISTED
from dpsql.ledger.opening import KEY_IN_MEMORY, create, marks_for, write_opening
from dpsql.ledger.refusals import ChargeStands, NotBegun, NotKept, ReleasedMeanwhile
from dpsql.ledger.state import LedgerState, Pinned
from dpsql.ledger.views import AccountState, Entry, Release, entry_of
from dpsql.ledger.writing import WrittenLedger
from dpsql.privacy.account import Composition
from dpsql.privacy.accounting import PolicyLimits
from dpsql.privacy.kinds import Loss
from dpsql.privacy.loss import decode, encode

__all__ = ["FACTS", "FAILPOINTS", "AccountState", "Entry", "Ledger", "Pinned", "PolicyLimits", "Release"]

FAILPOINTS = (
    "before-begin",
    "after-begin",
    "after-check",
    "after-insert",
    "mark-written",
    "after-commit",
    "after-mark",
)
"""Where a test may let a process die, in the order in which a charge passes them."""

FACTS = "facts"  # The kind of release that `dpsql advise` makes.


class Ledger(WrittenLedger):
    """An open ledger; threads may share it, processes open their own. Made by `open`."""

    @classmethod
    def open(
        cls,
        path: Path | None,
        *,
        pinned: Pinned,
        limits: PolicyLimits,
        mark: Path | None = None,
        begins: Loss | None = None,
        failpoint: Callable[[str], None] = lambda _: None,
    ) -> Ledger:
        """The ledger at ``path``, made where there is none and never was; None for one in memory, for tests,
        whose contribution key is always the same: what a test sees must not hang on which rows a new key would keep.

        Args:
            pinned: What its numbers mean; must be what it was made for.
            limits: May change, on record, as long as past charges are within them.
            mark: The folder of its high-water mark; by default the user's state directory for dpsql.
            begins: What facts cost whose consequences the policy holds: a ledger that knows of none begins with it.
            failpoint: Called with each name of `FAILPOINTS` that is passed; tests alone give one.

        Raises:
            LedgerError: If it is missing, behind its mark, damaged, or cannot be written.
            PolicyError: If the policy changed what is pinned, or allows less than was spent.
        """
        if path is None:
            file = LedgerFile(None)
            write_opening(file, pinned, limits, KEY_IN_MEMORY)
            return cls(file, LedgerState.of(file), limits, None, failpoint)
        path = path.resolve()
        marks = marks_for(path, mark, failpoint)
        with marks.locked():
            if not path.exists():
                create(path, marks, pinned, limits)
            file = LedgerFile(path)
            try:
                ledger = cls(file, LedgerState.of(file), limits, (marks, path), failpoint)
                ledger._state.refuse_changed(pinned)
                ledger._adopt_limits(begins)
                marks.remember(path, ledger._state.ledger)
            except BaseException:
                file.close()
                raise
        return ledger

    def adopt(self, limits: PolicyLimits) -> None:
        """Takes up new limits of the policy, on record where they are new: as if it was opened again under them.

        Raises:
            PolicyError: They allow less than was spent, or cannot be compared; those before stay in force.
            LedgerError: They could not be written; a `NotBegun` may be tried again.
        """
        with self._usable(), self._marks_locked():
            before = self._limits, self._granting
            self._limits, self._granting = limits, Granting(limits, self._state)
            try:
                self._file.refuse_replaced()
                self._adopt_limits(None)
            except (NotBegun, PolicyError):
                self._limits, self._granting = before
                raise
            except LedgerError:
                self._broken = True
                raise

    def charge(
        self,
        analyst: str,
        loss: Loss,
        *,
        statement: str,
        fingerprint: str,
        beside: Sequence[str] = (),
        mechanisms: Sequence[str] = (),
        listed: Mapping[str, str] | None = None,
    ) -> int:
        """The id of the charge, once it is durable. Only then may anybody look at private data.

        Args:
            analyst: Who asks.
            loss: What is paid.
            statement: What is asked, for people to read.
            fingerprint: Of the answer that it pays for.
            beside: Of the other answers, where one charge pays for several.
            mechanisms: Names of those that answer, for people to read.
            listed: Of each metric, a digest of the values that it goes by and a public table lists.

        Raises:
            BudgetExceeded: If the analyst's account, or all together, have too little left. Nothing was spent.
            PolicyError: If a metric that is paid in went by other values before. Nothing was spent.
            ReleasedMeanwhile: One of the answers is stored already. Nothing was spent.
            LedgerError: If the charge could not be written, or the ledger is no longer the one that was opened.
        """
        asked = loss.account(self.composition)
        goes_by = {name: (listed or {})[name] for name, _ in asked.metric if name in (listed or {})}
        with self._writing():
            if any(self._file.find(own) for own in (fingerprint, *beside)):
                raise ReleasedMeanwhile
            account = self._granting.account_for(analyst, asked)
            self._state.metrics.refuse_relisted(goes_by)
            self._failpoint("after-check")
            told: dict[str, object] = {"statement": statement, "fingerprint": fingerprint, "beside": list(beside)}
            told |= {"mechanisms": list(mechanisms), LISTED: goes_by}
            detail = {name: value for name, value in told.items() if value}
            record = self._file.append(
                "charge", analyst=analyst, account=account, loss=json.dumps(encode(loss)), detail=detail
            )
        return record.sequence

    def publish(self, kind: str, version: int, loss: Loss, *, statement: str, parts: Sequence[str]) -> int:
        """The id of a charge to the total and to every account, for what all may read, once it is durable.

        An account that begins later pays for it at its beginning, as long as nothing newer of its kind was published.

        Args:
            kind: What it is, such as ``facts``.
            version: The table version that it tells of.
            loss: What everybody pays.
            statement: What it is, for people to read.
            parts: The fingerprints that it pays for; each may be stored once.

        Raises:
            BudgetExceeded: Naming who cannot pay. Nothing was spent.
            LedgerError: As `charge`.
        """
        with self._writing():
            self._granting.refuse_everybody(loss.account(self.composition))
            return self._publish(kind, version, loss, statement, parts)

    def note_written(self) -> None:
        """Puts on record that the policy holds what all publications until now told: whoever comes pays for all."""
        with self._writing():
            self._file.append("written", detail={})

    def releases(self, kind: str) -> list[Release]:
        """What was published of a kind, oldest first."""
        with self._reading():
            return [own for own in self._state.releases if own.kind == kind]

    def store(self, charge: int, fingerprint: str, answer: bytes) -> None:
        """Keeps a released answer, so that the same question is free from now on; a cut of power may lose it.

        Nothing is ever made again under its charge: where it is lost, the same question is charged anew.

        Raises:
            InvariantBroken: If that charge did not pay for that fingerprint.
            ChargeStands: If it cannot be written.
        """
        with self._usable():  # no record is added, so nothing is decided anew, and the mark stays where it is
            record = self._file.record(charge)
            paid = [] if record is None else [record.details.get("fingerprint"), *record.details.get("beside", ())]
            if record is None or record.kind != "charge" or fingerprint not in paid:
                raise InvariantBroken("an answer can only be stored under the charge that paid for it")
            try:
                with self._file.transaction(durable=False):
                    self._file.store(fingerprint, record, answer)
                    self._failpoint("after-insert")
            except LedgerError as failure:
                self._broken = self._unanswered = True
                raise ChargeStands(failure) from failure
            self._unanswered = False

    def owes(self, fingerprint: str) -> bool:
        """Whether a table or facts were paid for, and nobody ever saw anything of them: then they may be made, free."""
        with self._reading():
            return fingerprint in self._state.once.owed

    def keep(self, charge: int, fingerprint: str, made: bytes) -> None:
        """Keeps a table or facts, on record and on the disk; only then may anybody see, or read, anything of them.

        What another process kept first stays.

        Raises:
            InvariantBroken: If that charge did not pay for that fingerprint.
            NotKept: They could not be kept, or the ledger came to owe nothing for that charge meanwhile.
        """
        try:
            with self._writing():
                once, record = self._state.once, self._file.record(charge)
                paid = {} if record is None else record.details
                if record is None or fingerprint not in (paid.get("fingerprint"), *paid.get("beside", ())):
                    raise InvariantBroken("what was made can only be kept under the charge that paid for it")
                if fingerprint in once.kept:
                    return
                if once.owed.get(fingerprint) != charge:
                    raise LedgerError("The ledger owes nothing for that charge.")
                self._file.append("kept", detail={"charge": charge, "fingerprint": fingerprint})
                self._file.store(fingerprint, record, made)
            self._unanswered = False
        except LedgerError as failure:
            self._unanswered = True
            raise NotKept(failure) from failure

    def find(self, fingerprint: str) -> tuple[bytes, Loss] | None:
        """The answer stored under a fingerprint and what was paid for it, or None."""
        with self._reading():
            found = self._file.find(fingerprint)
        return None if found is None else (found[0], decode(json.loads(found[1].loss)))

    def budget(self, analyst: str | None) -> AccountState:
        """Where an analyst's account stands, or, for None, all analysts together.

        Raises:
            BudgetExceeded: If the analyst has no account.
        """
        with self._reading():
            return self._granting.standing(analyst)

    def repeats_left(self, analyst: str, loss: Loss) -> int | None:
        """How often this loss would still be granted; None where it costs nothing.

        Raises:
            BudgetExceeded: If the analyst has no account.
        """
        asked = loss.account(self.composition)
        with self._reading():
            return self._granting.repeats_left(analyst, asked)

    @property
    def composition(self) -> Composition:
        """How losses add up here."""
        return self._state.pinned.composition

    @property
    def id(self) -> str:
        """The ledger's own name, for its life and in all its copies."""
        return self._state.ledger

    @property
    def epoch(self) -> int:
        """How often the owner restored it, or reset it unusable: of what came after a backup, something may be lost."""
        return self._state.epoch

    @property
    def contribution_key(self) -> bytes:
        """32 random bytes, made with the ledger, that key the choice of the rows each unit keeps."""
        return self._state.contribution_key

    def version(self) -> int:
        """The current table version; 0 before the first."""
        with self._reading():
            return self._state.version

    def new_version(self, reason: str, version: int) -> None:
        """Puts the next table version, which was built, on record. No budget is refreshed by it.

        Raises:
            OperationalError: If it is not the next one: another process was faster.
        """
        with self._writing():
            if version != self._state.version + 1:
                raise OperationalError(
                    f"While version {version} of the tables was built, the ledger came to version "
                    f"{self._state.version}. Run dpsql refresh again."
                )
            self._file.append("refresh", detail={"version": version, "reason": reason})

    def refuse_relisted(self, listed: Mapping[str, str]) -> None:
        """Nothing, where metrics still go by the values that they went by when multiples of them were spent.

        Args:
            listed: Of each metric, the digest that a charge would say.

        Raises:
            PolicyError: Naming one that does not.
        """
        with self._reading():
            self._state.metrics.refuse_relisted(listed)

    def record_overrun(self, analyst: str) -> None:
        """Counts a deadline overrun or engine failure; the third suspends the analyst until a reset.

        Whose account the owner took away while a statement ran has overrun all the same: that refuses nothing.
        """
        with self._writing():
            account = self._limits.account(analyst) or analyst
            self._file.append("overrun", analyst=analyst, account=account, detail={})

    def suspended(self, analyst: str) -> bool:
        """Whether overruns have suspended the analyst."""
        with self._reading():
            return self._state.suspended(analyst)

    def log(self) -> list[Entry]:
        """All records, oldest first."""
        with self._reading():
            records = list(self._file.records())
        return [entry_of(record) for record in records]

    def backup(self, to: Path) -> None:
        """Copies the ledger, while it is in use, to a new file of mode 0600; leaves a record in both.

        Raises:
            LedgerError: If there is a file already, or the ledger is in memory.
        """
        if self._marks is None:
            raise LedgerError("A ledger in memory cannot be backed up.")
        if to.exists():
            raise LedgerError(f"There is a file at {to} already. Name a new one.")
        with self._writing():
            self._file.append("backup", detail={"to": str(to)})
        with self._reading(), LedgerFile.draft(to.absolute(), source=self._marks[1]):
            pass

    def _adopt_limits(self, begins: Loss | None) -> None:
        """Puts the policy's limits on record where they are new, and what it begins with. Under the marks' lock."""
        with self._marked():
            self._state.catch_up(self._file)
            self._check_mark()
            if self._state.limits != self._limits.encoded:
                self._granting.refuse_overspent()
                self._state.refuse_incomparable(self._limits)
                self._state.refuse_redefined(self._limits)
                self._file.append("limits", detail={"limits": self._limits.encoded})
                self._state.catch_up(self._file)
            if begins is not None and not self._state.releases:
                self._granting.refuse_everybody(begins.account(self.composition))
                self._publish(FACTS, 0, begins, "facts whose consequences stand in the policy", ())

    def _publish(self, kind: str, version: int, loss: Loss, statement: str, parts: Sequence[str]) -> int:
        first, *beside = parts or ("",)
        told = {"statement": statement, "release": kind, "version": version, "fingerprint": first, "beside": beside}
        told["once"] = True
        return self._file.append("release", loss=json.dumps(encode(loss)), detail=told).sequence
