"""What a ledger puts on record from some moment on."""

from __future__ import annotations

import json

from dpsql.ledger.ledger import Ledger
from dpsql.privacy.kinds import Loss
from dpsql.privacy.loss import decode

__all__ = ["Charged"]


class Charged:
    """The charges of a ledger since this was made. Only their records are read: `Ledger.log` reads all of them anew."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        with ledger._reading():
            self._since = ledger._state.sequence, ledger._state.digest

    def losses(self) -> tuple[Loss, ...]:
        """Of each charge, oldest first."""
        with self._ledger._reading():
            records = list(self._ledger._file.records(*self._since))
        return tuple(decode(json.loads(record.loss)) for record in records if record.loss)
