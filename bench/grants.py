"""How many queries at one price `zcdp` grants, after one small Gaussian answer with a pair and after one without.

    python bench/grants.py

A Gaussian without a pair (a price in rho alone) closes the sum of epsilon. So did every Gaussian while there was one
sum of delta: that column is what was granted before.
"""

from __future__ import annotations

from fractions import Fraction

from page import ROOT, table, write

from dpsql.privacy.account import Account
from dpsql.privacy.accounting import Limits, PrivacyFilter
from dpsql.privacy.kinds import Concentrated, Loss, Pure

EPSILON, DELTA = Fraction(8), Fraction(1, 10**6)
PRICES = (Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))
RHO = Fraction(1, 10**6)  # about what epsilon 0.01 and delta 1e-9 buy
GAUSSIAN = Concentrated(RHO, Fraction(1, 100), Fraction(1, 10**9))


def granted(first: Loss | None, price: Fraction) -> int:
    """How many pure queries at that price are granted after the first loss."""
    budget = PrivacyFilter.of(Limits(EPSILON, DELTA), "zcdp")
    spent = Account() if first is None else first.account("zcdp")
    return budget.repeats_left(spent, Pure(price).account("zcdp")) or 0


def main() -> None:
    """Prints the table, and writes it into docs/guarantee.md."""
    rows = [
        [f"epsilon {float(price):g}", *(str(granted(first, price)) for first in (None, GAUSSIAN, Concentrated(RHO)))]
        for price in PRICES
    ]
    titles = ("queries at", "alone", "after a Gaussian of epsilon 0.01, delta 1e-9", "after one priced in rho alone")
    write("grants", table(titles, rows), page=ROOT / "docs" / "guarantee.md")


if __name__ == "__main__":
    main()
