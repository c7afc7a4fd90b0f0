"""What multiples of metrics are multiples of: definitions in the policy, and the values that public tables list.

Multiples add up only as long as every two rows are as far apart as they were when the first of them was spent. What the
policy says is known when a ledger is opened, and is on record with the limits. What a public table lists is known with
a version of the tables: each charge of a metric says by a digest which values, in which order, decided its distances.

Tests: tests/unit/ledger/test_limits.py, tests/unit/mechanisms/metric/test_row_metric.py.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

from dpsql.errors import PolicyError

__all__ = ["LISTED", "Meanings"]

LISTED = "listed"  # The key of a charge's detail under which the digests are.

_REMEDY = (
    "Give the new one a name of its own, or start the ledger's accounts afresh with "
    "`dpsql budget POLICY --reset --reason TEXT`."
)


class Meanings:
    """What a ledger's records say of metrics.

    Attributes:
        defined: What each is in the policy, as last recorded.
        listed: The digest of the values that it goes by and a public table lists, of each that was charged.
    """

    def __init__(self) -> None:
        self.defined: dict[str, str] = {}
        self.listed: dict[str, str] = {}

    def charged(self, detail: str) -> None:
        """Goes on by a charge, whose detail this is: most are of no metric, and are not read."""
        if f'"{LISTED}"' in detail:
            self.listed |= json.loads(detail).get(LISTED, {})

    def refuse_redefined(self, spent: Collection[str], defined: Mapping[str, str]) -> None:
        """Nothing, where every metric of which multiples were spent is in the policy what it was then.

        Raises:
            PolicyError: Naming one that is not.
        """
        for name in sorted(spent):
            if defined.get(name, self.defined.get(name)) != self.defined.get(name):
                raise PolicyError(f"metrics.{name} is not what it was when multiples of it were spent. {_REMEDY}")

    def refuse_relisted(self, listed: Mapping[str, str]) -> None:
        """Nothing, where every metric that was charged goes by the values that it went by then, in their order.

        Args:
            listed: Digests of the values that public tables list now.

        Raises:
            PolicyError: Naming one that does not.
        """
        for name, digest in sorted(listed.items()):
            if self.listed.get(name, digest) != digest:
                raise PolicyError(
                    f"metrics.{name} goes by the places of values that a public table lists, and it lists others than "
                    f"when multiples of it were spent: other rows are now as far apart. Nothing was charged. {_REMEDY}"
                )
