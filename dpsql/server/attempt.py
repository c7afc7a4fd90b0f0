"""Somebody at a door who is to prove who they are.

Tests: tests/unit/server/test_core.py.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from dpsql.server.events import Seldom, tell
from dpsql.server.lockout import WRONG, Lockout
from dpsql.server.refusals import NotAdmitted
from dpsql.server.users import User, Verifier

__all__ = ["Attempt"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """Somebody who says who they are.

    Attributes:
        lockout: Counts wrong tokens.
        strangers: Writes what they bring about into the owner's log.
        name: Whom they say they are.
        door: The door's name.
        address: From where.
        user: The user of that name, if there is one: not for the door to tell.
        verifier: What their token is checked against; nothing fits it where there is no such user.
    """

    lockout: Lockout
    strangers: Seldom
    name: str
    door: str
    address: str
    user: User | None
    verifier: Verifier

    def by_token(self, token: str) -> User:
        """The user, if it is their token.

        Raises:
            NotAdmitted: It is not.
        """
        return self.ended(self.verifier.fits(token))

    def by_key(self, stored_key: bytes) -> User:
        """The user, if the SCRAM proof that came gives their StoredKey.

        Raises:
            NotAdmitted: It does not.
        """
        return self.ended(hmac.compare_digest(stored_key, self.verifier.stored_key))

    def ended(self, right: bool) -> User:
        """The user, where the proof was right; otherwise it is counted.

        Raises:
            NotAdmitted: It was not, or the pair is locked meanwhile.
        """
        self.lockout.check(self.name, self.address)
        if self.user is None or not right:
            self.lockout.wrong(self.name, self.address)
            self.strangers.tell("wrong token", door=self.door, name=self.name, address=self.address)
            raise NotAdmitted(WRONG)
        self.lockout.right(self.name, self.address)
        tell("admitted", door=self.door, analyst=self.user.name, address=self.address)
        return self.user
