"""Synthetic tables: made once for a price, read for nothing, dropped without refund.

A table is stored in the ledger under the charge that paid for it, by its distinct rows. What is asked of it runs in the
worker without data: it is post-processing of what was released. `creation` makes them for a `payers`, `stored`
is what is kept, `reading` lists, answers and drops an analyst's, with the intervals of `bounds`; `sharing` is what the
owner does.

Tests: tests/unit/releasing.
"""

from dpsql.releasing.creation import SILENT, Agree, Creation, Progress, create_text
from dpsql.releasing.reading import Releases

__all__ = ["SILENT", "Agree", "Creation", "Progress", "Releases", "create_text"]
